// Package matrix stores the scores of every system against every reference
// as a file, one row a cell, so that aggregators are compared without scoring
// again.
//
//  1. An engine run yields [refract.SegmentScores].
//  2. [Writer.WriteSegment] turns each into rows.
//  3. [Open] reads the file back, and [Reader.Segments] yields SegmentScores
//     again, so that code for an engine's output works on a stored matrix.
//
// The file is JSON Lines or Parquet, with the columns
//
//	id              the segment
//	system          whose hypothesis it is
//	metric          canonical name, such as "bleu:tokenize=intl"
//	aggregate       null for a cell; "native" for the metric's own score against
//	                all references together
//	reference       column from 0: the originals in order, then the variants;
//	                null where aggregate is not, for a metric that needs no
//	                references, and for a segment that has none
//	references      how many references the score is of: 1 for a cell, 0 where
//	                reference is null; those that are present for a native score
//	score           a finite number; null unless status is "scored"
//	status          "scored", "missing-hypothesis", "missing-reference",
//	                "missing-source", "failed"; of judges also "unparseable",
//	                "blocked", "cut", and "unneeded" for a cell that was left out
//	direction       which scores are better: "higher" or "lower"
//	signature       the settings that the score depends on
//	output_hash     of the hypothesis: 16 hexadecimal digits, the first of its
//	                SHA-256; null where it is missing
//	reference_hash  of the reference of a cell, the same way
//
// The rows stand in the order in which they are written: a segment after the
// other; of a segment each metric's cells, by system and then by reference, and
// behind them its native scores. Segments may differ in their systems and in
// their number of references.
//
// A matrix ends with its digest: the SHA-256 of its rows, each as the line of JSON
// Lines that a Writer makes of it. That is the last line of JSON Lines,
// {"sha256":"…"}, and the entry "sha256" of Parquet's metadata. A reader refuses a
// file with another digest or without one: rows were changed, or written anew
// with other white space, or the last ones are missing.
//
// Texts, judgements and corpus statistics are not stored. What a reader
// yields therefore has systems and references without text, which still tell
// missing from present, and nothing to compute a corpus score from.
// [Reader.Match] tells by the hashes whether texts are those that were scored.
package matrix

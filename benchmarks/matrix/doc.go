// Package matrix stores the scores of every system against every reference
// in a file, one row per cell, so that aggregators can be compared without
// scoring again.
//
//  1. An engine run yields [refract.SegmentScores].
//  2. [Writer.WriteSegment] turns each into rows.
//  3. [Open] opens the file, and [Reader.Segments] yields SegmentScores again,
//     so that code for an engine's output also works on a stored matrix.
//
// The file is JSON Lines or Parquet, with the columns
//
//	id              the segment
//	system          the system of the hypothesis
//	metric          canonical name, such as "bleu:tokenize=intl"
//	aggregate       null for a cell; "native" for the metric's own score against
//	                all references together
//	reference       column from 0: the originals in order, then the variants;
//	                null where aggregate is not, for a metric that needs no
//	                references, and for a segment that has none
//	references      number of references of the score: 1 for a cell, 0 if
//	                reference is null; for a native score the number present
//	score           a finite number; null unless status is "scored"
//	status          "scored", "missing-hypothesis", "missing-reference",
//	                "missing-source", "failed"; of judges also "unparseable",
//	                "blocked", "cut", and "unneeded" for a cell that was left out
//	direction       which scores are better: "higher" or "lower"
//	signature       the settings that the score depends on
//	output_hash     of the hypothesis: the first 16 hexadecimal digits of its
//	                SHA-256; null if it is missing
//	reference_hash  of the reference of a cell, in the same form
//
// Rows are ordered by segment. Within a segment come, for each metric, its
// cells by system and then by reference, and then its native scores. Segments
// may differ in their systems and in their number of references.
//
// A matrix ends with its digest: the SHA-256 of its rows, each as the line of
// JSON Lines that a Writer makes of it. In JSON Lines it is the last line,
// {"sha256":"…"}, in Parquet the entry "sha256" of the metadata. A reader
// refuses a file with a wrong digest or none: rows were changed, rewritten with
// other white space, or are missing at the end.
//
// Texts, judgements and corpus statistics are not stored. So a reader yields
// systems and references without text, although still marked as missing or
// present, and no statistics for a corpus score. [Reader.Match] compares hashes
// to tell whether texts are the ones that were scored.
package matrix

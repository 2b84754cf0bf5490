// Package publish writes a set of references as a folder that others can load,
// score with and cite: the references in one of five formats, a dataset card
// (README.md) and a manifest that readers verify.
//
//	jsonl    references.jsonl: everything that is known about each reference
//	parquet  data/test-00000-of-00001.parquet: the same, for Hugging Face's
//	         datasets library
//	text     ref.0, ref.1 … and src: one line per segment, for sacreBLEU
//	mtme     references/LP.refA.txt …, sources, documents: for mt-metrics-eval
//	div-ref  ref.0 … for the originals, and references.diversified with the
//	         variants of a segment per line, as a Python list
//
// The last three contain only texts and not their origin. If a format cannot
// hold a text unchanged, that is an error: reading any of the folders back gives
// the same references with the same content hash. Hypotheses and judgements
// belong to others; they are counted and left out.
//
// [Publish] streams: it holds one segment, and one row group of Parquet.
package publish

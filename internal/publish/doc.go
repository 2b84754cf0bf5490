// Package publish writes a set of references as a folder that others can load,
// score with and cite: the references in one of five formats, a dataset card
// (README.md) and a manifest that readers verify.
//
//	jsonl    references.jsonl: all that is known of every reference
//	parquet  data/test-00000-of-00001.parquet: the same, as Hugging Face's
//	         datasets load it
//	text     ref.0, ref.1 … and src: a line a segment, for sacreBLEU
//	mtme     references/LP.refA.txt …, sources, documents: for mt-metrics-eval
//	div-ref  ref.0 … for the originals, and references.diversified with the
//	         variants of a segment a line, as a Python list
//
// The last three hold texts and nothing of where they came from. What a format
// cannot hold without a change of a text is an error and not an approximation:
// reading any of the folders back gives the same references, with the same
// content hash. Hypotheses and judgements are left out, and counted: they
// belong to others.
//
// [Publish] streams: it holds one segment, and one row group of Parquet.
package publish

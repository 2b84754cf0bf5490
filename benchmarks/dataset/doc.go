// Package dataset reads test sets, and writes them as JSON Lines and Parquet.
//
// A test set is named by a scheme and a place:
//
//	jsonl:FILE              one segment a line; "jsonl:-" is standard input
//	mtme:DIR/TESTSET/LP     the folders of mt-metrics-eval
//	parquet:FILE            one row a segment; or a folder of such files
//	published:DIR           a folder written by package publish, in any format
//	table:FILE,source=COLUMN,…   CSV, TSV, JSON Lines or Parquet, with the columns named
//	mqm:FILE                MQM by people, as written by Marot
//
// [Open] opens such a test set, and [OpenLines] line-aligned text files; [WithReferences]
// adds expanded references, and [WithHypotheses] outputs of systems; [StoredMetrics] reads
// the scores in an mt-metrics-eval folder; [ReadMQM] reads the errors that people marked;
// [Encoder] writes JSON Lines, and [ParquetEncoder] Parquet.
//
// # How it reads
//
// The reader mqm:, and table: with group=, hold the whole set, since its
// rows have to be joined; these sets are small. Every other reader streams: it holds one
// segment, or a few chunks of 64 KiB for each core, and memory does not grow with the number
// of segments. JSON Lines are cut by one goroutine and decoded on all cores. So are the rows of
// Parquet and tables: a goroutine for each column unpacks pages of Parquet, and one splits CSV, which
// is a fifth of the time of reading it. There are three exceptions: about thirty bytes per id in JSON Lines and Parquet, to find repeated ids;
// nine bytes per human score of an mt-metrics-eval folder; and what [WithReferences] says
// about "div-ref:". Ids are compared by 64 bits of a hash: among a million different ids,
// the probability that two are taken for the same one is 3e-8. Opening a file makes the
// cheap checks (files exist and have equal line counts, scores are numbers), so that these
// errors come before any scoring. Only "\n" ends a line.
//
// Missing is not empty: null in JSON, None in a Python list, and "[No translation
// supplied]" in an mt-metrics-eval folder are missing texts; an empty line is an empty one.
//
// Nothing is repaired silently. A byte order mark and carriage returns at line ends are
// removed with a [Warning]. There is also a warning for each system that lacks some
// segments, once the sequence ends, and for segments that get the expanded references of
// another line. Everything else that is wrong is an [Error] with file and line.
//
// # JSON Lines
//
//	{"id":"1","source":"…","references":["…",null],
//	 "variants":[{"reference":0,"prompt":"order","sample":0,"model":"m","text":"…","finish":"stop"}],
//	 "hypotheses":{"sysA":"…","refB":null},"human_systems":["refB"],
//	 "human":{"mqm":{"sysA":-1.5,"refB":null}},"document":"d1","domain":"news"}
//
// Only id is required. It is a non-empty string, or a number, whose literal text is kept.
// Hypotheses and human scores keep the order of the file. A variant must have a text; its
// reference and sample are 0 if absent. human_systems lists hypotheses that people wrote,
// such as a reference scored as a system. null means absent, except for id. Unknown fields
// and repeated keys are errors, since they would lose data. Blank lines are allowed only at
// the end of the file.
//
// A variant may also say where it came from:
//
//	{"reference":0,"prompt":"order","sample":0,"model":"m","text":"…","finish":"stop",
//	 "revision":"main","served_model":"m-0613","sampling":{"temperature":1},"raw":"1. …",
//	 "cleaned":["number"],"prompt_tokens":31,"completion_tokens":12,
//	 "created":"2024-02-29T13:00:00Z","verdict":"accepted","detail":""}
//
// Any field from revision to created that is not null makes an Origin. raw is the answer
// before it was cleaned. In an Origin without raw it is the text itself; "raw":null says
// that it is missing. sampling is any object, kept as written. created is an instant in RFC
// 3339. "rejected" holds answers that were not accepted, in the form of "variants".
//
// # Expanded references
//
// They are rows of JSON Lines, or a file of Div-Ref, whose lines are Python lists with the
// variants of a segment's first reference. A file of Div-Ref can be read in two ways.
// "div-ref:" attaches variants to texts: segments with the same first reference share the
// variants of the last such segment. This reproduces the figures of the released sets, but
// needs an extra pass over the first references. "div-ref-lines:" gives line k to segment k.
//
// # Parquet
//
// The columns are the fields of JSON Lines, without hypotheses and human scores. references
// is a list of texts, which may be null; variants and rejected are lists of records. The
// column raw_is of a variant says where its raw text is: "text", it equals the text; "raw",
// it is in the column raw; "missing"; or "", there is no Origin. sampling and created are
// texts, as in JSON Lines, and "" if absent. Unknown columns are errors.
//
// # mt-metrics-eval
//
// White space at both ends of a text is removed, by Python's rule, as in mt-metrics-eval.
// The ids are the numbers of the segments from 1. Systems are in byte order of their names.
// The k-th line of a system's block in a score file belongs to segment k.
//
// Texts may also be files of JSON Lines, with the fields source, target (of a reference)
// and hypothesis. They are not trimmed, and null is a missing text.
//
// # The sets of papers
//
// docs/reference/formats.md says which files each reader reads, and how. Known fields and
// columns without a use here, such as scores of metrics, are skipped; unknown fields of JSON
// Lines are errors. Tables may have additional columns.
package dataset

// Package dataset reads test sets, and writes them as JSON Lines and Parquet.
//
// A test set is named by a scheme and a place:
//
//	jsonl:FILE              one segment a line; "jsonl:-" is standard input
//	mtme:DIR/TESTSET/LP     the folders of mt-metrics-eval
//	parquet:FILE            a row a segment; a folder of such files
//	published:DIR           a folder that package publish wrote, of any format
//	table:FILE,source=COLUMN,…   CSV, TSV, JSON Lines or Parquet, with the columns named
//	summeval:FILE           SummEval's annotations
//	mqm:FILE                MQM by people, as Marot writes it
//
// [Open] takes such a name; [OpenLines] takes line-aligned text files;
// [WithReferences] adds expanded references to either, and [WithHypotheses]
// outputs of systems; [StoredMetrics] reads the scores that an mt-metrics-eval
// folder keeps; [ReadMQM] reads the errors that people marked; [Encoder] writes JSON Lines, and [ParquetEncoder] Parquet.
//
// # How it reads
//
// The readers summeval: and mqm:, and table: with group=, hold the
// whole set, since its rows have to be joined; these sets are small. Every
// other reader streams: it holds one segment, and memory does not grow with
// the number of segments, but for some thirty bytes per id in JSON Lines and
// Parquet, to find repeated ones, for nine bytes per human score of an
// mt-metrics-eval folder, and for what "div-ref:" needs, which [WithReferences]
// states. The ids are known by 64 bits of a hash: among a million different
// ones, two are taken for one with a probability of 3e-8. Files are checked
// when they are opened, as far as that is cheap (they exist, they have equal
// line counts, the scores are numbers), so that these errors come before any
// scoring. Only "\n" ends a line.
//
// Missing is not empty: null in JSON, None in a Python list, and
// "[No translation supplied]" in an mt-metrics-eval folder are missing texts,
// an empty line is an empty one.
//
// Nothing is repaired in silence. A byte order mark and carriage returns at
// line ends are removed with a [Warning]. A system that lacks some segments
// has one when the sequence ends, and so have segments that take the expanded
// references of another line. All else that is wrong is an [Error] with file
// and line.
//
// # JSON Lines
//
//	{"id":"1","source":"…","references":["…",null],
//	 "variants":[{"reference":0,"prompt":"order","sample":0,"model":"m","text":"…","finish":"stop"}],
//	 "hypotheses":{"sysA":"…","refB":null},"human_systems":["refB"],
//	 "human":{"mqm":{"sysA":-1.5,"refB":null}},"document":"d1","domain":"news"}
//
// Only id is required. It is a string that is not empty, or a number, of
// which the literal text is kept. The order of hypotheses and human scores is
// that of the file. A variant must state its text; its reference and sample
// are 0 where absent. human_systems lists hypotheses that people wrote, such
// as a reference scored as a system. null stands for an absent value, except
// for id. Unknown fields and repeated keys are errors, since they would lose
// data. Blank lines may stand at the end of the file only.
//
// A variant may further say where it came from:
//
//	{"reference":0,"prompt":"order","sample":0,"model":"m","text":"…","finish":"stop",
//	 "revision":"main","served_model":"m-0613","sampling":{"temperature":1},"raw":"1. …",
//	 "cleaned":["number"],"prompt_tokens":31,"completion_tokens":12,
//	 "created":"2024-02-29T13:00:00Z","verdict":"accepted","detail":""}
//
// Any field from revision to created, other than as a null, makes an Origin.
// raw is the answer before it was cleaned: where there is an Origin without
// raw, it is the text itself, and "raw":null says that it is missing. sampling
// is an object of any kind, and kept as it is written. created is an instant
// in RFC 3339. "rejected" holds answers that are no references, in the same
// form as "variants".
//
// # Expanded references
//
// They are rows of JSON Lines again, or a file of Div-Ref, with the variants
// of one segment's first reference a line as a Python list. The latter can be
// read in two ways. "div-ref:" gives variants to reference texts: segments
// with the same first reference share those of the last such segment. It
// reproduces the figures of the released sets, but goes over the first
// references beforehand. "div-ref-lines:" gives line k to segment k.
//
// # Parquet
//
// The columns are the fields of JSON Lines, without hypotheses and human
// scores. references is a list of texts, which may be null; variants and
// rejected are lists of records. The column raw_is of a variant tells what its
// raw text is: "text", the text itself; "raw", the column raw; "missing"; or
// "", where there is no Origin at all. sampling and created are texts, as JSON
// Lines has them, and "" where absent. Unknown columns are errors.
//
// # mt-metrics-eval
//
// The texts are trimmed of white space at both ends, by Python's rule, as
// mt-metrics-eval does. The ids are the numbers of the segments from 1.
// Systems are in byte order of their names. The k-th line of a system's block
// in a score file belongs to segment k.
//
// Texts may also be files of JSON Lines, with the fields source, target (of a
// reference) and hypothesis. They are not trimmed, and null is a missing text.
//
// # The sets of papers
//
// docs/reference/formats.md says which files each reader takes, and what it makes of
// them. Fields and columns that serve no purpose here, such as scores of
// metrics, are known by name and passed over; unknown fields of JSON Lines are
// errors. Tables may have further columns.
package dataset

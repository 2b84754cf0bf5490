package dataset

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

// Options are the options of all readers. The zero value reads everything except
// judgements.
type Options struct {
	// References names the references of an mt-metrics-eval folder or an mqm: file to use, in
	// order; "all" means all of them in byte order of their names. By default it is the
	// standard reference of the shared task, usually refA, or the only reference there is.
	References []string
	// NoJudgements omits the human scores at segment level.
	NoJudgements bool
	// JudgementNames restricts human scores to these names; nil means all.
	JudgementNames []string
	// Warn receives each warning once, on the goroutine that opens or iterates; nil ignores
	// them.
	Warn func(Warning)
	// Sourceless reports, when all is read, whether nothing used the sources: then nobody is
	// warned of them. It may be nil.
	Sourceless func() bool
	// Stdin is what "jsonl:-" reads; nil means os.Stdin.
	Stdin io.Reader
}

// Warning is something about the input that does not stop a run but that its owner should
// know.
type Warning struct {
	Pos     refract.Position
	Message string
}

// String returns "file:line: message".
func (w Warning) String() string {
	if where := w.Pos.String(); where != "" {
		return where + ": " + w.Message
	}
	return w.Message
}

// Error is a fault of the input, with its position.
type Error struct {
	Pos    refract.Position
	Column int // byte of the line, from 1; 0 if unknown
	Err    error
}

// Error returns "file:line:column: cause".
func (e *Error) Error() string {
	where := e.Pos.String()
	switch {
	case where == "":
		return e.Err.Error()
	case e.Column > 0:
		return fmt.Sprintf("%s:%d: %v", where, e.Column, e.Err)
	default:
		return where + ": " + e.Err.Error()
	}
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func failAt(pos refract.Position, column int, format string, args ...any) error {
	return &Error{Pos: pos, Column: column, Err: fmt.Errorf(format, args...)}
}

func failFile(file, format string, args ...any) error {
	return failAt(refract.Position{File: file}, 0, format, args...)
}

// placed adds a position to an error.
func placed(err error, pos refract.Position) error {
	if err == nil {
		return nil
	}
	switch e := err.(type) {
	case *Error:
		return e
	case *jsonline.Error:
		return &Error{Pos: pos, Column: e.Offset + 1, Err: e}
	}
	return &Error{Pos: pos, Err: err}
}

// scheme is an entry in the table of one kind of spec.
type scheme[T any] struct {
	name  string
	usage string
	open  T
}

// schemes lists the dataset formats that Open knows.
func schemes() []scheme[func(place string, o Options) (*set, error)] {
	return []scheme[func(place string, o Options) (*set, error)]{
		{"jsonl", "jsonl:FILE", openJSONL},
		{"mtme", "mtme:DIR/TESTSET/LP", openMTME},
		{"parquet", "parquet:FILE", openParquet},
		{"published", "published:DIR", openPublished},
		{"table", "table:FILE,source=COLUMN,…", openTable},
		{"mqm", "mqm:FILE", openMQM},
	}
}

// Open returns the dataset that spec names: "jsonl:FILE", where "-" is standard input and
// can be read once, "mtme:DIR/TESTSET/LP", "parquet:FILE" or a folder of such files,
// "published:DIR", a table with its columns named, or a set in its authors' format; the
// package comment lists them. The files must exist. Segments are read while iterating; sets
// in their authors' format are also checked here. A spec with an unknown scheme or option
// is a *SpecError that lists the known ones.
//
// The format may be omitted if the name shows it: for a file .jsonl or .parquet, compressed
// or not, and for a folder that Refract published.
//
// The length may be known: see [Len].
func Open(spec string, o Options) (refract.Dataset, error) {
	o.Warn = warnOnce(o.Warn)
	open, place, err := lookup("dataset", spec, schemes())
	if err != nil {
		return nil, err
	}
	ds, err := open(place, o)
	if err != nil {
		return nil, err
	}
	return ds, nil
}

// SpecError says that a spec such as "jsonl:FILE" is malformed: a mistake on the command
// line, not in a file.
type SpecError struct{ message string }

func (e *SpecError) Error() string { return e.message }

func specError(format string, args ...any) error {
	return &SpecError{fmt.Sprintf(format, args...)}
}

// lookup splits a spec and finds its scheme in a table.
func lookup[T any](what, spec string, table []scheme[T]) (open T, place string, err error) {
	name, place, ok := strings.Cut(complete(spec), ":")
	var known, usages []string
	for _, s := range table {
		known, usages = append(known, s.name), append(usages, s.usage)
	}
	want := english.List(usages, "or")
	i := slices.Index(known, name)
	switch {
	case !ok:
		if spec != "" && spec != "-" {
			if _, err := os.Stat(spec); err != nil {
				return open, "", fileError(spec, err)
			}
		}
		return open, "", specError("%s %s does not say its format; write %s", what, text.Quote(spec), want)
	case i < 0:
		if (name == "csv" || name == "tsv") && slices.Contains(known, "table") {
			return open, "", specError("%s %s: a table is named table:FILE, as in table:%[3]s, and its columns follow", what, text.Quote(spec), place)
		}
		return open, "", specError("%s %s has the unknown format %s%s; write %s", what, text.Quote(spec), text.Quote(name), didYouMean(name, known), want)
	case place == "":
		return open, "", specError("%s %s names no file; write %s", what, text.Quote(spec), usages[i])
	}
	return table[i].open, place, nil
}

// didYouMean returns ` (did you mean "x"?)` for the closest of the known names, or "" if
// none is close.
func didYouMean(name string, known []string) string {
	if n := english.Nearest(name, known); n != "" {
		return fmt.Sprintf(" (did you mean %q?)", n)
	}
	return ""
}

// quotedNames writes names for an error message.
func quotedNames(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	const most = 50
	quoted := make([]string, min(len(names), most))
	for i := range quoted {
		quoted[i] = text.Quote(names[i])
	}
	if more := len(names) - most; more > 0 {
		quoted = append(quoted, fmt.Sprintf("and %s more", english.Thousands(more, "name")))
	}
	return strings.Join(quoted, ", ")
}

// warnOnce drops repeated warnings, so that a dataset may be read twice. There are only a
// few per file and system, whatever the number of segments.
func warnOnce(warn func(Warning)) func(Warning) {
	if warn == nil {
		return func(Warning) {}
	}
	var mu sync.Mutex
	seen := map[Warning]bool{}
	return func(w Warning) {
		mu.Lock()
		again := seen[w]
		seen[w] = true
		mu.Unlock()
		if !again {
			warn(w)
		}
	}
}

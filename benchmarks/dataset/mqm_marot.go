package dataset

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics/analysis"
)

// marotFile holds the joined rows of a file of Marot.
type marotFile struct {
	path     string
	columns  map[string]int // by the first name of each of marotColumns
	width    int
	segments []*marotSegment
	ratings  []*marotRating
	byID     map[string]*marotSegment
	oddities oddities
}

type marotSegment struct {
	id, document string
	source       marked
	outputs      []*marotOutput
}

type marotOutput struct {
	segment *marotSegment
	system  string
	marked  // as marked in the first row
	ratings []*marotRating
	rows    []int // lines
}

type marotRating struct {
	of      *marotOutput
	rater   string
	errors  []marotError
	noError int // the line that says that there is no error
	pos     refract.Position
}

type marotError struct {
	category, severity, comment string // the severity is in lower case
	source, target              marked
}

// marotColumns lists the columns by their possible names; a file has one of each.
var marotColumns = []struct {
	names    []string
	optional bool
}{
	{[]string{"system"}, false},
	{[]string{"seg_id", "segId", "globalSegId", "global_seg_id"}, false},
	{[]string{"rater"}, false},
	{[]string{"source"}, false},
	{[]string{"target"}, false},
	{[]string{"category"}, false},
	{[]string{"severity"}, false},
	{[]string{"doc", "document"}, true},
	{[]string{"comment", "note"}, true},
}

// readMarot reads a file of tab-separated values, in which quotes have no special meaning.
func readMarot(path string, warn func(Warning)) (*marotFile, error) {
	f := &marotFile{path: path, byID: map[string]*marotSegment{}}
	err := eachLine(path, warn, func(line []byte, pos refract.Position) error {
		row := strings.Split(string(line), "\t")
		if f.columns == nil {
			return f.head(row, pos)
		}
		if len(row) < f.width {
			f.oddities.add("left out: it has fewer columns than the first row names", pos.Line)
			return nil
		}
		if len(row) != f.width {
			return failAt(pos, 0, "the row has %s, but the first row names %d: a row stands on one line, and its texts have no tab", english.Count(len(row), "column"), f.width)
		}
		return f.add(row, pos)
	})
	if err != nil {
		return nil, err
	}
	if f.columns == nil {
		return nil, failFile(path, "is empty; the first row must name the columns")
	}
	f.leaveEdited()
	for _, r := range f.ratings {
		if r.noError > 0 && len(r.errors) > 0 {
			f.oddities.add("No-error, where the rater marks errors of the output: the errors count", r.noError)
		}
	}
	f.oddities.report(path, warn)
	return f, nil
}

// head reads the names of the columns. Only this row may have a comment, which starts with
// #.
func (f *marotFile) head(row []string, pos refract.Position) error {
	for len(row) > 0 && strings.HasPrefix(row[len(row)-1], "#") {
		row = row[:len(row)-1]
	}
	f.columns, f.width = map[string]int{}, len(row)
	for _, c := range marotColumns {
		name := first(c.names, func(name string) bool { return slices.Contains(row, name) })
		if name != "" {
			f.columns[c.names[0]] = slices.Index(row, name)
		} else if !c.optional {
			return failAt(pos, 0, "there is no column %s; there are %s", text.Quote(c.names[0]), quotedNames(row))
		}
	}
	for i, name := range row {
		if slices.Contains(row[:i], name) {
			return failAt(pos, 0, "two columns are named %s", text.Quote(name))
		}
	}
	return nil
}

// spelled unifies different spellings of severities.
var spelled = strings.NewReplacer("_", "-", " ", "-")

// add adds a row.
func (f *marotFile) add(row []string, pos refract.Position) error {
	field := func(name string) string {
		if i, ok := f.columns[name]; ok {
			return row[i]
		}
		return ""
	}
	id := field("seg_id")
	for _, of := range [][2]string{{"system", field("system")}, {"seg_id", id}, {"rater", field("rater")}} {
		if strings.TrimSpace(of[1]) == "" {
			return failAt(pos, 0, "column %s is empty", text.Quote(of[0]))
		}
	}
	e := marotError{category: field("category"), severity: spelled.Replace(strings.ToLower(strings.TrimSpace(field("severity")))), comment: field("comment")}
	switch {
	case strings.HasPrefix(e.severity, "hotw"): // a test item: its text has an artificial error
		f.oddities.add("left out: its severity HOTW says that it tests the rater", pos.Line)
		return nil
	case !slices.Contains([]string{"no-error", "neutral", "minor", "major"}, e.severity):
		return failAt(pos, 0, "the severity is %s; want No-error, Neutral, Minor or Major, for which there are weights", text.Quote(field("severity")))
	case e.severity != "no-error" && spelled.Replace(strings.ToLower(strings.TrimSpace(e.category))) == "no-error":
		return failAt(pos, 0, "the category is No-error, but the severity %s", text.Quote(field("severity")))
	}
	var err error
	if e.source, err = f.unmark("source", field("source"), pos); err != nil {
		return err
	}
	if e.target, err = f.unmark("target", field("target"), pos); err != nil {
		return err
	}
	s, err := f.segment(id, field("doc"), &e.source)
	if err != nil {
		return err
	}
	out := f.output(s, field("system"), &e.target)
	out.rows = append(out.rows, pos.Line)
	r := f.rating(out, field("rater"), pos)
	if e.severity == "no-error" {
		r.noError = pos.Line
	} else {
		r.errors = append(r.errors, e)
	}
	return nil
}

// segment returns the segment with an id, and creates it if it is new.
func (f *marotFile) segment(id, document string, source *marked) (*marotSegment, error) {
	s := f.byID[id]
	if s == nil {
		s = &marotSegment{id: id, document: document, source: *source}
		f.byID[id], f.segments = s, append(f.segments, s)
		return s, nil
	}
	if s.document != document {
		return nil, failAt(source.pos, 0, "segment %s is of document %s, but of %s on line %d; the ids must be unique in the file",
			text.Quote(id), text.Quote(document), text.Quote(s.document), s.source.pos.Line)
	}
	if !f.same(source, &s.source) {
		return nil, failAt(source.pos, 0, "segment %s has another source than on line %d; the ids must be unique in the file", text.Quote(id), s.source.pos.Line)
	}
	return s, nil
}

// output returns a system's output of a text, apart from white space, and creates it if it is
// new.
func (f *marotFile) output(s *marotSegment, system string, target *marked) *marotOutput {
	for _, out := range s.outputs {
		if out.system == system && f.same(target, &out.marked) {
			return out
		}
	}
	out := &marotOutput{segment: s, system: system, marked: *target}
	s.outputs = append(s.outputs, out)
	return out
}

// leaveEdited leaves out rows whose target is not the system's output, which is the target
// of most rows: some raters work on post-edited targets.
func (f *marotFile) leaveEdited() {
	edited := map[*marotOutput]bool{}
	for _, s := range f.segments {
		most := map[string]*marotOutput{}
		for _, o := range s.outputs {
			switch before := most[o.system]; {
			case before == nil:
				most[o.system] = o
			case len(o.rows) > len(before.rows):
				most[o.system], edited[before] = o, true
			default:
				edited[o] = true
			}
		}
		s.outputs = slices.DeleteFunc(s.outputs, func(o *marotOutput) bool {
			for _, line := range o.rows {
				if edited[o] {
					f.oddities.add("left out: its target is not the output of the system that most rows of the segment have", line)
				}
			}
			return edited[o]
		})
	}
	f.ratings = slices.DeleteFunc(f.ratings, func(r *marotRating) bool { return edited[r.of] })
}

// rating returns a rater's rating of an output, and creates it if it is new.
func (f *marotFile) rating(out *marotOutput, rater string, pos refract.Position) *marotRating {
	for _, r := range out.ratings {
		if r.rater == rater {
			return r
		}
	}
	r := &marotRating{of: out, rater: rater, pos: pos}
	out.ratings, f.ratings = append(out.ratings, r), append(f.ratings, r)
	return r
}

// marked is a text with the spans that a rater marked in it.
type marked struct {
	text  string
	spans []analysis.Span
	pos   refract.Position
}

const openSpan, closeSpan = "<v>", "</v>"

// unmark removes the marks from a text.
func (f *marotFile) unmark(column, field string, pos refract.Position) (marked, error) {
	m := marked{pos: pos}
	var b strings.Builder
	runes := 0
	write := func(s string) {
		b.WriteString(s)
		runes += utf8.RuneCountInString(s)
	}
	for {
		before, rest, ok := strings.Cut(field, openSpan)
		if strings.Contains(before, closeSpan) {
			return m, failAt(pos, 0, "column %s has a </v> without a <v> before it", text.Quote(column))
		}
		write(before)
		if !ok {
			break
		}
		inside, after, closed := strings.Cut(rest, closeSpan)
		if strings.Contains(inside, openSpan) {
			return m, failAt(pos, 0, "column %s has a <v> within another", text.Quote(column))
		}
		if !closed {
			f.oddities.add("a <v> that nothing closes: its span goes to the end of the text", pos.Line)
		}
		start := runes
		write(inside)
		if inside != "" {
			m.spans = append(m.spans, analysis.Span{Start: start, End: runes})
		}
		field = after
	}
	m.text = b.String()
	return m, nil
}

// same reports whether a text equals that of an earlier row. If only white space differs, m
// takes the earlier text, and its spans are shifted.
func (f *marotFile) same(m, earlier *marked) bool {
	if m.text == earlier.text {
		return true
	}
	if bare(m.text) != bare(earlier.text) {
		return false
	}
	f.oddities.add("other white space in a text than the first row of it has, which is taken; spans are shifted", m.pos.Line)
	from, to := letters(m.text), letters(earlier.text)
	var spans []analysis.Span
	for _, s := range m.spans {
		i, _ := slices.BinarySearch(from, s.Start) // the first letter of the span
		k, _ := slices.BinarySearch(from, s.End)   // the letter after it
		if i < k {
			spans = append(spans, analysis.Span{Start: to[i], End: to[k-1] + 1})
		}
	}
	m.text, m.spans = earlier.text, spans
	return true
}

// bare removes white space.
func bare(s string) string { return strings.Join(strings.Fields(s), "") }

// letters returns the indices of the runes that are not white space.
func letters(s string) []int {
	var at []int
	i := 0
	for _, r := range s {
		if !unicode.IsSpace(r) { // like strings.Fields
			at = append(at, i)
		}
		i++
	}
	return at
}

// hull returns the span from the first mark to the last.
func (m *marked) hull() analysis.Span {
	return analysis.Span{Start: m.spans[0].Start, End: m.spans[len(m.spans)-1].End}
}

// quote returns the marked text.
func (m *marked) quote() string {
	runes := []rune(m.text)
	var parts []string
	for _, s := range m.spans {
		parts = append(parts, string(runes[s.Start:s.End]))
	}
	return strings.Join(parts, " … ")
}

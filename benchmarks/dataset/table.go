package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/numeric"
	"github.com/refract-eval/refract/internal/text"
)

// tableSpec describes the columns of a table.
type tableSpec struct {
	path     string
	columns  []string // all columns in the spec, each once
	optional []string // columns that the table may lack
	quotes   bool     // whether quotes enclose values that contain the separator
	// published says that the table is one of publish: no cell is a list, and an apostrophe
	// stands before what looks like a formula.
	published bool
	span      groupSpan // of Parquet: what is read
	wanted    string    // what an error about a column adds
	errors    string    // what errors of a spreadsheet are: errorsMissing, errorsText, or "" for errors

	keep       []string       // columns for Segment.Extra; keepAll for all that have no other use
	single     map[string]int // indices into columns, by the options in tableOnce
	references []int
	lists      []int // columns with a list of references each
	systems    []namedColumn
	humans     []namedColumn // several of the same name and system are of a rater each
}

// has reports whether a column is named by an option in tableOnce.
func (t *tableSpec) has(option string) bool { _, ok := t.single[option]; return ok }

// keepAll keeps all columns that have no other use.
const keepAll = "*"

// namedColumn is a column of a system's outputs or of human scores.
type namedColumn struct {
	name, system string // system is "" if the row names it
	column       int
}

// The options of a table that may be given once: "system" and "output" are a system's name and its
// output in tables with a row for each output, and "rater" is who gave the human scores of a row.
var (
	tableOnce = []string{"id", "group", "source", "document", "domain", "language", "system", "output", "rater", "quotes", "errors"}
	tableMany = []string{"keep", "reference", "references", "system:NAME", "human:NAME"}
)

// openTable opens a table by a spec such as
// "table:FILE,id=COLUMN,source=COLUMN,reference=COLUMN,system:NAME=COLUMN".
func openTable(place string, o Options) (*set, error) {
	t, err := parseTableSpec(place)
	if err != nil {
		return nil, err
	}
	known, err := t.known()
	if err != nil {
		return nil, err
	}
	if len(t.columns) == 0 {
		return nil, specError("dataset %s: say what the columns are, as in %s; there are %s", text.Quote("table:"+place), suggestTable(t.path, known), quotedNames(known))
	}
	return t.open(o)
}

// open returns the dataset of a table.
func (t *tableSpec) open(o Options) (*set, error) {
	var judged []string
	for _, h := range t.humans {
		judged = append(judged, h.name)
	}
	slices.Sort(judged)
	if err := o.checkNames(t.path, judged); err != nil {
		return nil, err
	}
	if t.has("group") {
		return openHeld(t.path, o, t.groups)
	}
	read := func(span groupSpan, skimmed bool) reading {
		part := *t
		if skimmed {
			part.skim()
		}
		part.span = span
		return checked(t.path, rowUnit, o, func(ctx context.Context, each func(*refract.Segment) error) error {
			return part.segments(o.Warn, each)
		})
	}
	if !t.isParquet() {
		return &set{read: read(groupSpan{}, false)}, nil
	}
	paths, err := parquetFiles(t.path)
	if err != nil {
		return nil, err
	}
	return inGroups(paths, t.checkColumns, read)
}

// skim leaves the columns that identify the references.
func (t *tableSpec) skim() {
	all := t.columns
	t.columns, t.optional = make([]string, len(all)), append(slices.Clone(t.optional), "")
	t.single = maps.Clone(t.single)
	maps.DeleteFunc(t.single, func(o string, _ int) bool { return !slices.Contains([]string{"id", "source", "language"}, o) })
	for _, i := range slices.Concat(slices.Collect(maps.Values(t.single)), t.references, t.lists) {
		t.columns[i] = all[i]
	}
	t.systems, t.humans, t.keep = nil, nil, nil
	t.published = true // a reference that looks like a list may do so for the outputs that are left out
}

// known returns the columns of the table, as far as its first rows show them, and checks
// that it has those of the spec.
func (t *tableSpec) known() (known []string, err error) {
	names := map[string]bool{}
	err = t.each(func(Warning) {}, asRow, func(r *tableRow) error {
		if known = r.columns(names); r.lacking > 0 {
			return nil // in JSON Lines another row may have the column
		}
		return errStopped
	})
	if errors.Is(err, errStopped) {
		err = nil
	}
	return known, err
}

func parseTableSpec(place string) (*tableSpec, error) {
	path, options, err := splitSpec("dataset "+text.Quote("table:"+place), place, tableOnce, tableMany)
	if err != nil {
		return nil, err
	}
	t := &tableSpec{path: path, quotes: true, single: map[string]int{}}
	column := func(name string) int {
		i := slices.Index(t.columns, name)
		if i < 0 {
			i = len(t.columns)
			t.columns = append(t.columns, name)
		}
		return i
	}
	wrong := func(format string, args ...any) (*tableSpec, error) {
		return nil, specError("dataset %s: %s", text.Quote("table:"+place), fmt.Sprintf(format, args...))
	}
	for _, o := range options {
		kind, name, _ := strings.Cut(o.key, ":")
		switch {
		case o.key == "quotes" && o.value != "none":
			return wrong("quotes is %s; write quotes=none where quotes are letters like others", text.Quote(o.value))
		case o.key == "quotes":
			t.quotes = false
		case o.key == "errors" && o.value != errorsMissing && o.value != errorsText:
			return wrong("errors is %s; write errors=%s or errors=%s", text.Quote(o.value), errorsMissing, errorsText)
		case o.key == "errors":
			t.errors = o.value
		case o.key == "keep" && o.value == keepAll:
			t.keep = []string{keepAll}
		case o.key == "keep":
			column(o.value)
			t.keep = append(t.keep, o.value)
		case o.key == "reference":
			t.references = append(t.references, column(o.value))
		case o.key == "references":
			t.lists = append(t.lists, column(o.value))
		case kind == "system" && name != "":
			if slices.ContainsFunc(t.systems, func(s namedColumn) bool { return s.name == name }) {
				return wrong("system %s is given twice", text.Quote(name))
			}
			t.systems = append(t.systems, namedColumn{name, name, column(o.value)})
		case kind == "human":
			name, system, _ := strings.Cut(name, ":")
			t.humans = append(t.humans, namedColumn{name, system, column(o.value)})
		default:
			t.single[o.key] = column(o.value)
		}
	}
	if t.has("system") != t.has("output") {
		return wrong("system=COLUMN and output=COLUMN go together: the name of a system, and its output")
	}
	for i := range t.humans {
		h := &t.humans[i]
		of := func(s namedColumn) bool { return s.name == h.system }
		switch {
		case h.system == "" && !t.has("system") && len(t.systems) == 1:
			h.system = t.systems[0].name
		case h.system == "" && !t.has("system"):
			return wrong("say which system %s is of: write human:%s:SYSTEM=COLUMN, with a system:SYSTEM=COLUMN", text.Quote("human:"+h.name), h.name)
		case h.system != "" && !slices.ContainsFunc(t.systems, of):
			return wrong("there is no system:%s=COLUMN, of which human:%s:%[1]s would be", h.system, h.name)
		}
	}
	return t, nil
}

// asRow is what each prepares of a row of which nothing is made.
func asRow(*tableRow) error { return nil }

// each calls prepare with every row of the table, on all cores, and then read, in order.
func (t *tableSpec) each(warn func(Warning), prepare, read func(*tableRow) error) error {
	if _, err := os.Stat(t.path); err != nil {
		return fileError(t.path, err)
	}
	switch ext := ending(t.path); {
	case t.isParquet():
		return t.eachParquet(prepare, read)
	case ext == ".jsonl" || ext == ".ndjson" || ext == ".json":
		return t.eachJSON(warn, prepare, read)
	case ext == ".csv" || ext == ".tsv" || ext == ".txt":
		return t.eachSeparated(warn, prepare, read)
	}
	return specError("%s: a table is a file .csv, .tsv, .jsonl or .parquet, or a folder of .parquet; save a spreadsheet as CSV", text.Path(t.path))
}

// isParquet reports whether the table is Parquet, which a folder has to be.
func (t *tableSpec) isParquet() bool {
	info, err := os.Stat(t.path)
	return ending(t.path) == ".parquet" || err == nil && info.IsDir()
}

// segments makes a segment of each row.
func (t *tableSpec) segments(warn func(Warning), each func(*refract.Segment) error) error {
	n := int(t.span.before)
	return t.each(warn, t.segment, func(r *tableRow) error {
		if n++; !t.has("id") {
			r.segment.ID = strconv.Itoa(n)
		}
		for i := range r.segment.Judgements {
			nameRaters(&r.segment.Judgements[i])
		}
		return each(r.segment)
	})
}

// segment makes a row's segment, which has no id unless there is a column of ids or groups. Human
// scores in a column without a system belong to the system named in the row.
func (t *tableSpec) segment(r *tableRow) error {
	var err error
	one := func(column int) (value refract.Text) {
		if err == nil {
			value, err = t.cell(r, column)
		}
		return value
	}
	single := func(option string) (value refract.Text) {
		if column, ok := t.single[option]; ok {
			value = one(column)
		}
		return value
	}
	s := &refract.Segment{Pos: r.pos, Source: single("source"), Document: single("document").Value, Domain: single("domain").Value, Language: single("language").Value}
	if s.Language != "" && err == nil {
		_, _, err = Languages(s.Language)
	}
	r.segment = s
	if s.Extra = t.extra(r); err != nil {
		return placed(err, r.pos)
	}
	key := "id"
	if !t.has(key) {
		key = "group"
	}
	if s.ID = single(key).Value; s.ID == "" && t.has(key) && err == nil {
		err = fmt.Errorf("column %s is empty; each segment needs an id", text.Quote(t.columns[t.single[key]]))
	}
	for _, c := range t.references {
		ref := one(c)
		if err == nil && !t.published && isQuotedList(ref.Value, r.pos) && !slices.ContainsFunc(t.systems, func(s namedColumn) bool { return strings.HasPrefix(one(s.column).Value, "[") }) && !strings.HasPrefix(single("output").Value, "[") {
			err = fmt.Errorf("column %s holds a list of texts; write references=%s for a reference each", text.Quote(t.columns[c]), t.columns[c])
		}
		s.References = append(s.References, ref)
	}
	for _, c := range t.lists {
		v := r.values[c]
		switch field := v.one(); {
		case v.list || !field.Valid || err != nil:
		case strings.HasPrefix(field.Value, "["):
			v.texts, err = parseList(field.Value, r.pos)
		default:
			err = fmt.Errorf("column %s holds a text, not a list; write reference=COLUMN for texts", text.Quote(t.columns[c]))
		}
		s.References = append(s.References, v.texts...)
	}
	for _, c := range t.systems {
		s.Hypotheses = append(s.Hypotheses, refract.Hypothesis{System: c.name, Text: one(c.column)})
	}
	author := single("system").Value
	if t.has("system") {
		if author == "" && err == nil {
			err = fmt.Errorf("column %s names no system", text.Quote(t.columns[t.single["system"]]))
		}
		s.Hypotheses = append(s.Hypotheses, refract.Hypothesis{System: author, Text: single("output")})
	}
	for _, h := range t.humans {
		j := judgementOf(&s.Judgements, h.name, cmp.Or(h.system, author))
		rater := single("rater").Value
		if slices.ContainsFunc(t.humans, func(o namedColumn) bool { return o.name == h.name && o.system == h.system && o != h }) {
			rater = t.columns[h.column]
		}
		fields := r.values[h.column].texts // several if it is a list, as of raters
		if !r.values[h.column].list {
			fields = []refract.Text{one(h.column)}
		}
		for k, field := range fields {
			if len(fields) > 1 {
				rater = strconv.Itoa(k + 1)
			}
			var score float64
			valid := false
			if err == nil {
				score, valid, err = number(field, t.columns[h.column], r.decimalComma)
			}
			if valid {
				j.Ratings = append(j.Ratings, refract.Rating{Rater: rater, Score: score})
			}
		}
	}
	for i := range s.Judgements {
		average(&s.Judgements[i])
	}
	return placed(err, r.pos)
}

// group is a segment that rows are joined into.
type group struct {
	*refract.Segment
	references map[refract.Text]bool
	systems    map[string]int          // indices of hypotheses
	scores     map[[2]string][]float64 // of rows, by name and system
}

// groups joins the rows with the same value in the group column into one segment each, in
// the order of their first rows. The segment has the references and systems of all its
// rows, and the means of their human scores.
func (t *tableSpec) groups(warn func(Warning)) ([]*refract.Segment, error) {
	var all []*refract.Segment
	index := map[string]*group{}
	err := t.each(warn, t.segment, func(r *tableRow) error {
		row, key := r.segment, r.values[t.single["group"]].one()
		if !key.Valid {
			return failAt(r.pos, 0, "column %s is empty; it says which rows belong together", text.Quote(t.columns[t.single["group"]]))
		}
		g := index[key.Value]
		if g == nil {
			first := *row
			g = &group{&first, map[refract.Text]bool{}, map[string]int{}, map[[2]string][]float64{}}
			g.References, g.Hypotheses, g.Judgements = nil, nil, nil
			index[key.Value] = g
			all = append(all, g.Segment)
		}
		if row.Source != g.Source {
			return failAt(r.pos, 0, "segment %s has another source here than in row %d", text.Quote(g.ID), g.Pos.Line)
		}
		return g.join(row)
	})
	for _, g := range index {
		for i := range g.Judgements {
			j := &g.Judgements[i]
			if values := g.scores[[2]string{j.Name, j.System}]; len(values) > 0 {
				j.Score, j.Valid = numeric.Mean(values), true
			}
			nameRaters(j)
		}
	}
	return all, err
}

// join adds a row. A reference that the segment already has is not added again.
func (g *group) join(row *refract.Segment) error {
	for _, ref := range row.References {
		if ref.Valid && !g.references[ref] {
			g.references[ref] = true
			g.References = append(g.References, ref)
		}
	}
	for _, h := range row.Hypotheses {
		i, known := g.systems[h.System]
		switch {
		case !known:
			g.systems[h.System] = len(g.Hypotheses)
			g.Hypotheses = append(g.Hypotheses, h)
		case !g.Hypotheses[i].Text.Valid:
			g.Hypotheses[i].Text = h.Text
		case h.Text.Valid && h.Text != g.Hypotheses[i].Text:
			return failAt(row.Pos, 0, "segment %s has another output of system %s here than in a row before", text.Quote(g.ID), text.Quote(h.System))
		}
	}
	for _, j := range row.Judgements {
		all := judgementOf(&g.Judgements, j.Name, j.System)
		all.Ratings = append(all.Ratings, j.Ratings...)
		if j.Valid {
			key := [2]string{j.Name, j.System}
			g.scores[key] = append(g.scores[key], j.Score)
		}
	}
	return nil
}

package experiment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract/report"
)

// TableNames are the names of the tables that [Result.Table] knows.
func TableNames() []string {
	return []string{"tasks", "summary", "rows", "differences", "prompts", "curve", "strata", "worth", "ranking", "task-rows", "segments", "ended"}
}

// Table returns a table by its name. It may be without rows.
func (r *Result) Table(name string) (*report.NamedTable, error) {
	tables := map[string]func() *report.NamedTable{
		"summary": r.summary, "rows": r.rowTable, "differences": r.differenceTable,
		"prompts": func() *report.NamedTable { return r.promptTable(pointers(r.Prompts)...) },
		"curve":   func() *report.NamedTable { return r.curveTable(pointers(r.Curves)...) }, "strata": r.strataTable, "worth": r.worthTable, "ranking": r.rankingTable,
		"tasks": r.taskTable, "task-rows": r.taskRowTable, "segments": func() *report.NamedTable { return r.sizeTable(pointers(r.Sizes)...) }, "ended": r.endedTable,
	}
	f, ok := tables[name]
	if !ok {
		return nil, fmt.Errorf("unknown table %q; there are %s", name, strings.Join(TableNames(), ", "))
	}
	t := f()
	t.Name, t.Coverage = name, r.coverage()
	if name == "rows" {
		r.withEnded(t)
	}
	r.nameUnits(t)
	return t, nil
}

// nameUnits says of a table with intervals what their resamples draw, by the
// dataset of a row.
func (r *Result) nameUnits(t *report.NamedTable) {
	if !slices.ContainsFunc(t.Columns, func(c report.Column) bool { return c.Name == "ci" }) {
		return
	}
	by := map[string]string{}
	for _, d := range r.Datasets {
		by[d.Name] = d.ResampledBy
	}
	t.Columns = append(t.Columns, report.Column{Name: "resampled_by", Hide: true})
	for i, row := range t.Rows {
		name, _ := row[0].Show(0)
		t.Rows[i] = append(row, report.StringOrNull(by[name]))
	}
	if over := drawn(r.Datasets); over != "" {
		t.Note("ci: bootstrap over %s", over)
	}
}

// Tables returns all tables that have rows.
func (r *Result) Tables() []*report.NamedTable {
	var out []*report.NamedTable
	for _, name := range TableNames() {
		if t, err := r.Table(name); err == nil && len(t.Rows) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// coverage says how many cells were judged, and how many of these a setting
// lacks at most.
func (r *Result) coverage() string {
	var out []string
	for _, d := range r.Datasets {
		if d.Human == "" {
			continue
		}
		most := 0
		for i := range r.Rows {
			if r.Rows[i].Dataset == d.Name {
				most = max(most, r.Rows[i].Unscored)
			}
		}
		out = append(out, fmt.Sprintf("%s: %d segments × %d systems, %d cells judged by %s, at most %d without a score",
			d.Name, d.Segments, len(d.Systems), d.Cells, d.Human, most))
	}
	return strings.Join(out, "; ")
}

// pointers are those to the elements of a slice.
func pointers[T any](all []T) []*T {
	out := make([]*T, len(all))
	for i := range all {
		out[i] = &all[i]
	}
	return out
}

func valueColumn(name string) report.Column {
	return report.Column{Name: name, Header: strings.ReplaceAll(name, "_", " "), Kind: report.KindFloat, Digits: 6}
}

func ci(name string) report.Column {
	return report.Column{Name: name, Header: "ci", Kind: report.KindInterval, Digits: 4}
}

func countColumn(name, header string) report.Column {
	return report.Column{Name: name, Header: header, Kind: report.KindInt}
}

func minorCount(name string) report.Column {
	return report.Column{Name: name, Kind: report.KindInt, Minor: true, Secondary: true}
}

// secondary is a column that stands behind the others on a page.
func secondary(c report.Column) report.Column {
	c.Secondary = true
	return c
}

// summary is the paper's table 2: a row per setting, a column per metric and
// statistic, and the mean gain over metrics.
func (r *Result) summary() *report.NamedTable {
	t := &report.NamedTable{Title: "Agreement with people by setting", Columns: []report.Column{{Name: "dataset"}, {Name: "setting"}}}
	type cell struct{ metric, statistic string }
	var cells []cell
	type line struct{ dataset, set, aggregator string }
	var lines []line
	values, gains := map[line]map[cell]Number{}, map[line]map[cell]Number{}
	labels := map[line]string{}
	for i := range r.Rows {
		row := &r.Rows[i]
		c := cell{row.Setting.Metric, row.Statistic}
		if !slices.Contains(cells, c) {
			cells = append(cells, c)
		}
		l := line{row.Dataset, row.Setting.References, row.Setting.Aggregator}
		if values[l] == nil {
			values[l], gains[l] = map[cell]Number{}, map[cell]Number{}
			lines = append(lines, l)
			labels[l] = strings.TrimSpace(row.Setting.Aggregator + " " + row.Setting.References)
			if labels[l] == "" {
				labels[l] = "without references"
			}
		}
		values[l][c] = row.Value
		if !row.worst && row.gain.Defined() {
			gains[l][c] = row.gain
		}
	}
	for _, s := range r.Same { // which the row of the other one shows
		l, as := line{s.Dataset, s.Setting.References, s.Setting.Aggregator}, line{s.Dataset, s.As.References, s.As.Aggregator}
		for _, c := range cells {
			if v, ok := values[as][c]; ok && values[l] != nil && c.metric == s.Setting.Metric {
				values[l][c] = v
				if g, ok := gains[as][c]; ok {
					gains[l][c] = g
				}
			}
		}
	}
	for _, c := range cells {
		t.Columns = append(t.Columns, report.Column{Name: c.metric + " " + c.statistic, Kind: report.KindFloat, Digits: 6})
	}
	for _, s := range r.Statistics {
		t.Columns = append(t.Columns, report.Column{Name: "gain " + s, Kind: report.KindFloat, Digits: 4})
	}
	for _, l := range lines {
		row := []any{l.dataset, labels[l]}
		for _, c := range cells {
			row = append(row, orNull(values[l], c))
		}
		for _, s := range r.Statistics {
			var sum Number
			n := 0
			for _, c := range cells {
				if g, ok := gains[l][c]; ok && c.statistic == s {
					sum, n = sum+g, n+1
				}
			}
			row = append(row, sum/Number(n)) // undefined of none
		}
		t.Add(row...)
	}
	t.Notes = []string{"gain: mean over metrics of the difference to the single reference, of those metrics that have both, over the cells that both score"}
	if slices.ContainsFunc(r.Rows, func(row Row) bool { return row.worst }) {
		t.Notes = append(t.Notes, "max of a metric whose lower scores are better takes the worst reference, and enters no gain")
	}
	return t
}

func orNull[K comparable](m map[K]Number, k K) report.Value {
	if v, ok := m[k]; ok {
		return v.Cell()
	}
	return report.Null()
}

func (r *Result) rowTable() *report.NamedTable {
	t := &report.NamedTable{Title: "All settings", Columns: []report.Column{
		{Name: "dataset"}, {Name: "metric"}, {Name: "set", Header: "references"}, {Name: "aggregate"},
		secondary(countColumn("references", "refs")), {Name: "human", Hide: true}, {Name: "statistic"}, {Name: "level", Hide: true}, {Name: "group", Hide: true},
		valueColumn("value"), ci("ci"), countColumn("n", ""), minorCount("missing"), minorCount("systems"),
		{Name: "groups", Kind: report.KindInt, Hide: true}, {Name: "dropped", Kind: report.KindInt, Hide: true},
		{Name: "ties", Kind: report.KindFloat, Digits: 4, Minor: true, Secondary: true}, {Name: "epsilon", Kind: report.KindFloat, Hide: true}, {Name: "signature", Hide: true},
	}}
	for i := range r.Rows {
		row := &r.Rows[i]
		t.Add(row.Dataset, row.Setting.Metric, report.StringOrNull(row.Setting.References), report.StringOrNull(row.Setting.Aggregator),
			row.MaxReferences, report.StringOrNull(row.Human), row.Statistic, row.Level, row.Group, row.Value, row.Interval,
			row.N, row.Missing, row.Systems, row.Groups, row.Dropped, row.Ties, row.Epsilon, report.StringOrNull(row.Signature))
		if row.Signature != "" {
			name := row.Setting.String()
			if len(r.Datasets) > 1 {
				name = row.Dataset + ", " + name
			}
			t.Note("%s: %s", name, row.Signature)
		}
	}
	r.repeats(func(dataset, metric, text string, cells int) {
		t.Note("%s, %s: %s, and stand in one row: equal scores in all %d cells", dataset, metric, text, cells)
	})
	return t
}

func (r *Result) differenceTable() *report.NamedTable {
	t := &report.NamedTable{Title: "Differences", Columns: []report.Column{
		{Name: "dataset"}, {Name: "a"}, {Name: "b"}, {Name: "statistic"}, secondary(valueColumn("a_value")), secondary(valueColumn("b_value")),
		{Name: "difference", Kind: report.KindFloat, Digits: 4}, ci("ci"), {Name: "p", Secondary: true}, {Name: "corrected"},
		{Name: "p_value", Kind: report.KindFloat, Hide: true}, {Name: "corrected_value", Kind: report.KindFloat, Hide: true}, {Name: "significant"},
		countColumn("n", ""), minorCount("cells"), minorCount("missing"), minorCount("equal"), {Name: "test", Hide: true},
		{Name: "standard_error", Kind: report.KindFloat, Hide: true}, minorCount("units"),
		{Name: "smallest_seen", Header: "smallest seen", Kind: report.KindFloat, Digits: 4, Minor: true, Secondary: true}, minorCount("needed"),
	}}
	for i := range r.Differences {
		d := &r.Differences[i]
		significant := "no"
		switch {
		case d.Significant:
			significant = "yes"
		case d.Undecided:
			significant = "undecided"
		}
		t.Add(d.Dataset, d.A.String(), d.B.String(), d.Statistic, d.AValue, d.BValue, d.Value, d.Interval,
			report.StringOrNull(shortP(d.P)), report.StringOrNull(shortP(d.Corrected)), d.P, d.Corrected, significant,
			d.N, d.Cells, d.Missing, d.Equal, report.StringOrNull(d.Test), d.Error, d.Units, d.Smallest, d.needed())
	}
	t.Notes = []string{
		"equal: cells in which both settings have the same score; corrected: by Holm's method over all differences",
		"units: what resamples draw; smallest seen: true difference that an interval over so many units tells from 0 with a probability of 0.8; needed: units that the difference found takes",
	}
	return t
}

// shortP is a p-value for a cell.
func shortP(p Number) string {
	return strings.TrimPrefix(strings.TrimPrefix(pText(p), "p "), "= ")
}

func (r *Result) curveTable(curves ...*CurveResult) *report.NamedTable {
	t := &report.NamedTable{Title: "Agreement by the number of references", Columns: []report.Column{
		{Name: "dataset"}, {Name: "metric", Secondary: true}, {Name: "aggregate"}, {Name: "by"}, {Name: "statistic", Secondary: true}, secondary(countColumn("k", "")), countColumn("references", "refs"),
		valueColumn("value"), ci("ci"), {Name: "band", Kind: report.KindInterval, Digits: 4, Minor: true, Secondary: true},
		{Name: "to_all", Header: "to all", Kind: report.KindFloat, Digits: 4}, ci("to_all_ci"), secondary(countColumn("n", "")), minorCount("missing"),
	}}
	for _, c := range curves {
		for _, p := range c.Points {
			t.Add(c.Dataset, c.Metric, c.Aggregator, c.By, c.Statistic, p.K, p.References, p.Value, p.Interval,
				report.Interval(float64(p.Least), float64(p.Largest)), p.ToAll, p.ToAllRange, p.N, p.Missing)
		}
	}
	t.Notes = []string{"k: references chosen beside the originals, or beside the first original where there are no variants; band: the least and the largest of random orders; to all: paired difference to all references, over the cells that both score"}
	return t
}

func (r *Result) promptTable(prompts ...*PromptAnalysis) *report.NamedTable {
	t := &report.NamedTable{Title: "What each prompt is worth", Columns: []report.Column{
		{Name: "dataset"}, {Name: "metric", Secondary: true}, {Name: "aggregate", Secondary: true}, {Name: "statistic", Secondary: true}, {Name: "prompt"}, secondary(countColumn("texts", "")),
		{Name: "decides", Kind: report.KindFloat, Digits: 4}, {Name: "decides_alone", Header: "decides alone", Kind: report.KindFloat, Digits: 4, Secondary: true},
		valueColumn("alone"), secondary(valueColumn("added")), {Name: "gain", Kind: report.KindFloat, Digits: 4}, ci("gain_ci"),
		secondary(valueColumn("without")), {Name: "effect", Kind: report.KindFloat, Digits: 4}, ci("effect_ci"), minorCount("cells"), minorCount("missing"),
	}}
	for _, p := range prompts {
		line := func(name string, rest ...any) {
			t.Add(slices.Concat([]any{p.Dataset, p.Metric, p.Aggregator, p.Statistic, name}, rest, []any{p.Cells, p.Missing})...)
		}
		line("(single reference)", nil, nil, nil, p.Single, nil, nil, nil, nil, nil, nil)
		line("(all)", nil, nil, nil, p.All, nil, nil, nil, nil, nil, nil)
		for _, e := range p.Prompts {
			line(e.Prompt, e.References, e.Decides, e.Only, e.Alone, e.Added, e.AddedGain, e.AddedInterval, e.Without, e.Effect, e.EffectInterval)
		}
	}
	t.Notes = []string{
		"decides: share of cells in which its text has the best score, a part of it where several have; decides alone: in which no other's has",
		"alone: its texts only; added: with the originals, gain: over the single reference; without: all but its texts, effect: what they add to that",
	}
	for _, d := range r.Datasets {
		if slices.Contains(d.Prompts, "column1") {
			t.Note("%s: prompts named column1, column2, … are the columns of a released file, which does not say of which prompt they are; it is not the order of the Div-Ref paper", d.Name)
		}
	}
	return t
}

func (r *Result) strataTable() *report.NamedTable {
	t := &report.NamedTable{Title: "Where the differences come from", Columns: []report.Column{
		{Name: "dataset"}, {Name: "a"}, {Name: "b", Secondary: true}, {Name: "statistic"}, {Name: "by"}, {Name: "part"}, countColumn("segments", ""),
		secondary(valueColumn("a_value")), secondary(valueColumn("b_value")), {Name: "difference", Kind: report.KindFloat, Digits: 4}, ci("ci"), minorCount("cells"), minorCount("missing"),
	}}
	for i := range r.Strata {
		s := &r.Strata[i]
		t.Add(s.Dataset, s.A.String(), s.B.String(), s.Statistic, s.Dimension,
			s.Name, s.Segments, s.AValue, s.BValue, s.Value, s.Interval, s.N, s.Missing)
	}
	t.Notes = []string{notCorrected}
	return t
}

func (r *Result) rankingTable() *report.NamedTable {
	t := &report.NamedTable{Title: "Systems under each setting", Columns: []report.Column{
		{Name: "dataset"}, {Name: "system"}, {Name: "setting"}, {Name: "score", Kind: report.KindFloat, Digits: 3},
		{Name: "rank", Kind: report.KindFloat}, {Name: "human_rank", Header: "human rank", Kind: report.KindFloat},
		{Name: "moved", Kind: report.KindFloat}, minorCount("cells"),
	}}
	for i := range r.Rankings {
		k := &r.Rankings[i]
		for _, s := range k.Systems {
			line := func(setting string, p report.Place) {
				t.Add(k.Dataset, s.Name, setting, p.Score, rankValue(p), rankValue(s.First), moved(p, s.First), p.Cells)
			}
			line(k.Human, s.First)
			for j, p := range s.Under {
				line(k.Settings[j].String(), p)
			}
		}
	}
	t.Notes = []string{"score: mean over the judged segments that the setting scores; moved: places better than by people; ties share the mean of their ranks"}
	for i := range r.Rankings {
		if text := r.Rankings[i].Without(); text != "" {
			t.Note("%s: %s", r.Rankings[i].Dataset, text)
		}
	}
	return t
}

func rankValue(p report.Place) report.Value {
	if p.Rank == 0 {
		return report.Null()
	}
	return report.Float(p.Rank)
}

func moved(p, human report.Place) report.Value {
	if p.Rank == 0 || human.Rank == 0 {
		return report.Null()
	}
	return report.Float(human.Rank - p.Rank)
}

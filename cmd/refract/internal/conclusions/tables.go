package conclusions

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/internal/english"
)

// tables lists all tables of a result, in the order of a document.
var tables = []struct {
	name string
	make func(*Result) *report.NamedTable
}{
	{"rules", (*Result).ruleTable},
	{"tasks", (*Result).taskTable},
	{"rows", (*Result).rowTable},
	{"differences", (*Result).differenceTable},
	{"pairs", (*Result).pairTable},
	{"ranks", (*Result).rankTable},
	{"prompts", func(r *Result) *report.NamedTable { return r.promptTable(pointers(r.Prompts)...) }},
	{"curve", func(r *Result) *report.NamedTable { return r.curveTable(pointers(r.Curves)...) }},
	{"worth", (*Result).worthTable},
	{"labels", (*Result).labelTable},
	{"ranking", (*Result).rankingTable},
}

// TableNames returns the names of the tables that [Result.Table] knows.
func TableNames() []string {
	var out []string
	for _, t := range tables {
		out = append(out, t.name)
	}
	return out
}

// Table returns a table by its name. It may have no rows.
func (r *Result) Table(name string) (*report.NamedTable, error) {
	for _, known := range tables {
		if known.name != name {
			continue
		}
		t := known.make(r)
		if t.Name, t.Coverage = name, r.cells(); len(r.Means) > 0 && t.Heading == "" {
			t.Heading = "scores of " + strings.Join(r.Means, " and ") + ": mean of segments"
			if len(r.OwnSystems) > 0 {
				t.Heading += "; of " + strings.Join(r.OwnSystems, ", ") + ": the folder's own"
			}
		}
		if len(r.Datasets) == 1 && r.Datasets[0].Name == "" {
			drop(t, "dataset")
			drop(t, "set") // it covers all references
		} else if at := slices.IndexFunc(t.Columns, func(c report.Column) bool { return c.Name == "dataset" }); at >= 0 {
			t.Columns[at].Hide = len(r.Datasets) == 1
		}
		for _, m := range r.Ended {
			t.Note("%s%s ended: %s", m.Metric, onDataset(m.Dataset, len(r.Datasets) > 1), m.Reason)
		}
		return t, nil
	}
	return nil, fmt.Errorf("unknown table %q; there are %s", name, strings.Join(TableNames(), ", "))
}

// drop removes a column from a table.
func drop(t *report.NamedTable, name string) {
	at := slices.IndexFunc(t.Columns, func(c report.Column) bool { return c.Name == name })
	if at < 0 {
		return
	}
	t.Columns = slices.Delete(t.Columns, at, at+1)
	for i := range t.Rows {
		t.Rows[i] = slices.Delete(t.Rows[i], at, at+1)
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

// cells says how many cells were judged, and how many of these a setting lacks at most.
func (r *Result) cells() string {
	var out []string
	for _, d := range r.Datasets {
		if d.Human == "" {
			continue
		}
		text := fmt.Sprintf("%s × %s, %s judged by %s, at most %d without a score", english.Count(d.Segments, "segment"), english.Count(len(d.Systems), "system"), english.Count(d.Cells, "cell"), d.Human, r.mostUnscored(d.Name))
		if d.Name != "" {
			text = d.Name + ": " + text
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// mostUnscored is the largest number of judged cells of a dataset that a setting does not
// score.
func (r *Result) mostUnscored(dataset string) (most int) {
	for i := range r.Rows {
		if r.Rows[i].Dataset == dataset {
			most = max(most, r.Rows[i].Unscored)
		}
	}
	return most
}

// Columns that several tables have.
var (
	datasetColumn   = report.Column{Name: "dataset"}
	statisticColumn = report.Column{Name: "statistic"}
	humanColumn     = report.Column{Name: "human", Hide: true}
	levelColumns    = []report.Column{{Name: "level"}, {Name: "group"}}
	// settingColumns name a setting; settingCells fills them.
	settingColumns = []report.Column{{Name: "metric"}, {Name: "set", Header: "references", Minor: true}, {Name: "aggregate"}}
)

func settingCells(n experiment.SettingName) []any {
	return []any{n.Metric, report.StringOrNull(n.References), report.StringOrNull(n.Aggregator)}
}

// columns joins columns and lists of columns.
func columns(parts ...any) []report.Column {
	var out []report.Column
	for _, p := range parts {
		switch p := p.(type) {
		case report.Column:
			out = append(out, p)
		case []report.Column:
			out = append(out, p...)
		}
	}
	return out
}

func value(name string, digits int) report.Column {
	return headed(name, strings.ReplaceAll(name, "_", " "), digits)
}

func headed(name, header string, digits int) report.Column {
	return report.Column{Name: name, Header: header, Kind: report.KindFloat, Digits: digits}
}

func interval(name string) report.Column {
	return report.Column{Name: name, Header: strings.ReplaceAll(name, "_", " "), Kind: report.KindInterval, Digits: 3}
}

func count(name, header string) report.Column {
	return report.Column{Name: name, Header: header, Kind: report.KindInt}
}

// minor marks a column that a narrow table omits, and that comes last on a page.
func minor(c report.Column) report.Column {
	c.Minor, c.Secondary = true, true
	return c
}

func hidden(c report.Column) report.Column {
	c.Hide = true
	return c
}

// rowTable has a row for each setting and statistic, and one without numbers for each
// metric that failed.
func (r *Result) rowTable() *report.NamedTable {
	sets := map[string]bool{}
	for i := range r.Rows {
		if name := r.Rows[i].Setting.References; name != "" {
			sets[name] = true
		}
	}
	t := &report.NamedTable{Title: "All settings", Columns: columns(
		datasetColumn, report.Column{Name: "metric"}, report.Column{Name: "set", Header: "references"}, count("references", "refs"), report.Column{Name: "aggregate"},
		humanColumn, levelColumns, statisticColumn, value("value", 3), interval("ci"), value("leave_one_out", 3), minor(interval("leave_one_out_ci")), value("above_people", 3), interval("above_people_ci"),
		hidden(report.Column{Name: "resampled_by"}), count("rank", ""),
		count("n", ""), minor(count("missing", "")), minor(count("systems", "")), hidden(count("groups", "")), minor(count("dropped", "")),
		hidden(report.Column{Name: "signature"}), hidden(value("ties", 4)), hidden(value("epsilon", 6)), hidden(report.Column{Name: "ended"}))}
	drawn := map[string]string{}
	for _, d := range r.Datasets {
		drawn[d.Name] = d.ResampledBy
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		cells := []any{row.Dataset, row.Setting.Metric, report.StringOrNull(row.Setting.References), row.MaxReferences, report.StringOrNull(row.Setting.Aggregator)}
		people := cmp.Or(row.People, &experiment.AgainstPeople{Value: experiment.None(), Above: experiment.None()})
		t.Add(append(cells, report.StringOrNull(row.Human), row.Level, row.Group, row.Measure, row.Value, row.Interval,
			people.Value, people.Interval, people.Above, people.AboveInterval, report.StringOrNull(drawn[row.Dataset]), rankOrNull(row.Rank),
			row.N, row.Missing, row.Systems, row.Groups, row.Dropped, report.StringOrNull(row.Signature), row.Ties, row.Epsilon, nil)...)
		if row.Signature != "" {
			of := row.Setting
			if len(sets) < 2 {
				of.References = ""
			}
			t.Note("%s%s: %s", of, onDataset(row.Dataset, len(r.Datasets) > 1), row.Signature)
		}
	}
	for _, p := range r.People {
		row := make([]any, len(t.Columns))
		for name, v := range map[string]any{"dataset": p.Dataset, "metric": "people", "human": p.Human, "level": p.Level, "group": p.Group, "statistic": p.Measure,
			"leave_one_out": p.Value, "leave_one_out_ci": p.Interval, "resampled_by": report.StringOrNull(drawn[p.Dataset])} {
			row[slices.IndexFunc(t.Columns, func(c report.Column) bool { return c.Name == name })] = v
		}
		t.Add(row...)
	}
	if len(r.People) == 0 {
		for _, name := range []string{"leave_one_out", "leave_one_out_ci", "above_people", "above_people_ci"} {
			drop(t, name)
		}
	}
	for _, m := range r.Ended {
		row := make([]any, len(t.Columns))
		row[0], row[1], row[len(row)-1] = m.Dataset, m.Metric, m.Reason
		t.Add(row...)
	}
	if len(r.Ended) == 0 {
		drop(t, "ended")
	}
	if len(r.Means) > 0 {
		t.Note("n: pairs of scores, or of systems under accuracy and soft-accuracy; missing: cells of segments without one of the two scores")
	}
	if slices.ContainsFunc(r.Rows, func(row experiment.Row) bool { return row.Dropped > 0 }) {
		t.Note("dropped: vectors without a statistic, such as those of equal scores only; n is without them")
	}
	t.Columns[2].Hide = len(sets) < 2
	if len(r.Ranks) == 0 {
		drop(t, "rank")
	} else {
		t.Note("%s", r.ranking())
	}
	r.repeats(func(s *experiment.Same, names string) {
		t.Note("%s%s: %s and %s have equal scores in all %s, and share a row", s.Setting.Metric, onDataset(s.Dataset, len(r.Datasets) > 1), names, s.AsName, english.Count(s.Cells, "cell"))
	})
	return t
}

// ranking says how ranks are determined.
func (r *Result) ranking() string {
	t := r.Test
	note := fmt.Sprintf("rank: clusters by %s, p up to %.3g and an interval without 0", r.TestNames, 1-r.Confidence)
	if t.Method != significance.MethodWilliams {
		note += fmt.Sprintf(", %s, seed %d", english.Count(t.Resamples, "resample"), t.Seed)
	}
	if t.Block > 0 && t.Block < t.Resamples && t.Method != significance.MethodWilliams && t.Method != significance.MethodBootstrap {
		note += fmt.Sprintf(", fewer where p is below 0.02 or above 0.5 after a block of %d", t.Block)
	}
	return note
}

func (r *Result) differenceTable() *report.NamedTable {
	t := &report.NamedTable{Title: "Differences", Columns: columns(
		datasetColumn, []report.Column{{Name: "a"}, {Name: "b"}}, statisticColumn, levelColumns, minor(value("a_value", 3)), minor(value("b_value", 3)),
		value("difference", 4), interval("ci"), report.Column{Name: "p", Secondary: true}, report.Column{Name: "corrected"},
		hidden(value("p_value", 4)), hidden(value("corrected_value", 4)), report.Column{Name: "significant"},
		count("n", ""), minor(count("cells", "")), minor(count("missing", "")), minor(count("equal", "")), hidden(report.Column{Name: "test"}))}
	for i := range r.Differences {
		d := &r.Differences[i]
		significant := "no"
		switch {
		case d.Significant:
			significant = "yes"
		case d.Undecided:
			significant = "undecided"
		}
		t.Add(d.Dataset, d.A.String(), d.B.String(), d.Measure, d.Level, d.Group, d.AValue, d.BValue, d.Value, d.Interval,
			report.StringOrNull(shortP(d.P)), report.StringOrNull(shortP(d.Corrected)), d.P, d.Corrected, significant,
			d.N, d.Cells, d.Missing, d.Equal, report.StringOrNull(d.Test))
	}
	t.Note("equal: cells in which both settings have the same score; corrected: by Holm's method over the pairs of a metric under a statistic")
	return t
}

// shortP formats a p-value for a cell.
func shortP(p experiment.Number) string {
	return strings.TrimPrefix(strings.TrimPrefix(pText(p), "p "), "= ")
}

// pairTable has a row for each test of two settings that the plan compares, in a plan that
// tests every pair.
func (r *Result) pairTable() *report.NamedTable {
	t := &report.NamedTable{Title: "Pairs of settings", Columns: columns(
		statisticColumn, levelColumns, humanColumn,
		report.Column{Name: "better", Header: "metric"}, report.Column{Name: "better_aggregate", Header: "better"},
		report.Column{Name: "worse", Header: "worse metric"}, report.Column{Name: "worse_aggregate", Header: "worse"},
		value("delta", 3), report.Column{Name: "delta_ci", Header: "ci", Kind: report.KindInterval, Digits: 3}, value("p", 4), headed("p_holm", "p (Holm)", 4),
		hidden(report.Column{Name: "significant"}),
		minor(count("resamples", "")), minor(count("cells", "")), minor(count("missing", "")),
		hidden(report.Column{Name: "better_signature"}), hidden(report.Column{Name: "worse_signature"}))}
	across, few := false, 0 // resamples that are enough for all pairs, if there are too few
	for i := range r.Ranks {
		c := &r.Ranks[i]
		for _, pr := range r.shownPairs(i) {
			better, worse, res := r.ranked(pr.better, i), r.ranked(pr.worse, i), pr.test
			across = across || better.Setting.Metric != worse.Setting.Metric
			cells := r.Datasets[0].Segments * len(r.Datasets[0].Systems)
			alpha := 1 - r.Confidence
			enough := r.Test.Enough(alpha, pr.family, c.Method, c.Units)
			short := r.Test.Method != significance.MethodWilliams && r.Test.Resamples < enough
			interval := cmp.Or(res.Interval, &correlate.Interval{Low: math.NaN(), High: math.NaN()}) // one unit has none
			significant, off := "no", !interval.Contains(0)
			switch small := significance.Significant(pr.corrected, alpha) && res.Delta > 0; {
			case small && off:
				significant = "yes"
			case small, off && (short || c.LeastP*float64(pr.family) > alpha):
				significant = "undecided"
			}
			if short {
				few = max(few, enough)
			}
			t.Add(better.Measure, better.Level, better.Group, better.Human,
				better.Setting.Metric, report.StringOrNull(better.Setting.Aggregator), worse.Setting.Metric, report.StringOrNull(worse.Setting.Aggregator),
				res.Delta, report.Interval(interval.Low, interval.High), res.P, pr.corrected, significant, rankOrNull(res.Resamples), res.Cells, cells-res.Cells,
				better.Signature, worse.Signature)
		}
	}
	if t.Columns[6].Hide = !across; across {
		t.Columns[4].Header, t.Columns[5].Header, t.Columns[7].Header = "better", "its aggregate", "worse aggregate"
		t.Columns[6].Header = "worse"
	}
	if len(r.Ranks) > 0 {
		t.Note("%s", strings.Replace(r.ranking(), "rank: clusters by", "test:", 1))
	}
	if slices.ContainsFunc(r.Ranks, func(c experiment.Ranks) bool { return len(c.Tests) < len(c.Order) }) {
		t.Note("without a row: settings whose statistic is undefined, such as those with equal scores or judgements only")
	}
	if few > 0 {
		t.Note("%s are too few for a p (Holm) of %.3g in some pairs: raise --resamples to %d or more", english.Thousands(r.Test.Resamples, "resample"), 1-r.Confidence, few)
	}
	t.Note("p: %s; Holm: corrected for the pairs of a metric under the statistic, or for all if they are shown; better: of the larger value over cells, which have a judgement and both scores; missing: cells without", r.Test.Sides())
	return t
}

// rankedPair is a test of two settings, by their numbers.
type rankedPair struct {
	better, worse int
	test          significance.Result
	corrected     float64
	family        int // pairs that are corrected together
}

// shownPairs are the pairs that the plan compares under a statistic, with p-values corrected
// over those of a metric, or over all if metrics are compared.
func (r *Result) shownPairs(statistic int) []*rankedPair {
	var out []*rankedPair
	c := &r.Ranks[statistic]
	for x := range c.Tests {
		for y := x + 1; y < len(c.Tests); y++ {
			pr := &rankedPair{better: c.Order[x], worse: c.Order[y], test: c.Tests[x][y]}
			a, b := r.ranked(pr.better, statistic).Setting, r.ranked(pr.worse, statistic).Setting
			if r.Compared != nil && !r.Compared[[2]experiment.SettingName{a, b}] && !r.Compared[[2]experiment.SettingName{b, a}] {
				continue
			}
			if pr.test.Delta < 0 {
				pr.better, pr.worse, pr.test = pr.worse, pr.better, pr.test.Turned()
			}
			out = append(out, pr)
		}
	}
	for _, family := range groupsOf(out, func(pr *rankedPair) (string, bool) {
		a, b := r.ranked(pr.better, statistic).Setting.Metric, r.ranked(pr.worse, statistic).Setting.Metric
		if r.Compared == nil || a != b {
			a = ""
		}
		return a, true
	}) {
		var p []float64
		for _, pr := range family {
			p = append(p, pr.test.P)
		}
		for k, v := range significance.Holm(p) {
			family[k].corrected, family[k].family = v, len(family)
		}
	}
	return out
}

// ranked returns the row of a setting and statistic in a plan that tests every pair.
func (r *Result) ranked(setting, statistic int) *experiment.Row {
	return &r.Rows[setting*len(r.Ranks)+statistic]
}

// rankTable has a row for each setting of such a plan, with its ranks under all statistics,
// the best average first.
func (r *Result) rankTable() *report.NamedTable {
	t := &report.NamedTable{Title: "Ranks of settings", Columns: columns(report.Column{Name: "metric"}, count("references", "refs"), report.Column{Name: "aggregate"}, humanColumn, value("average_rank", 2))}
	var ranks [][]int
	for i := range r.Ranks {
		c := &r.Ranks[i]
		t.Columns = append(t.Columns, value(c.Statistic, 3), count(c.Statistic+"_rank", c.Statistic+" rank"))
		ranks = append(ranks, c.Comparison.Ranks)
	}
	t.Columns = append(t.Columns, minor(count("cells", "")), minor(count("missing", "")), hidden(report.Column{Name: "signature"}))
	if len(ranks) == 0 {
		return t
	}
	averages := significance.AverageRanks(ranks)
	order := make([]int, len(averages))
	for k := range order {
		order[k] = k
	}
	last := func(average float64) float64 { // a setting without a rank is last
		if math.IsNaN(average) {
			return math.Inf(1)
		}
		return average
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(last(averages[i]), last(averages[j])) })
	for _, k := range order {
		of := r.ranked(k, 0)
		row := []any{of.Setting.Metric, of.MaxReferences, report.StringOrNull(of.Setting.Aggregator), of.Human, averages[k]}
		for i := range r.Ranks {
			row = append(row, r.ranked(k, i).Value, rankOrNull(ranks[i][k]))
		}
		t.Add(append(row, r.Datasets[0].Segments*len(r.Datasets[0].Systems)-of.Missing, of.Missing, of.Signature)...)
	}
	t.Note("%s", r.ranking())
	t.Note("average rank: mean of the ranks under the statistics; cells: with a judgement and a score, missing: without")
	return t
}

// curveTable has a row for each point. Each is compared with all references, and with
// random choices of as many.
func (r *Result) curveTable(curves ...*experiment.CurveResult) *report.NamedTable {
	t := &report.NamedTable{Title: "Agreement by the number of references", Columns: columns(
		datasetColumn, report.Column{Name: "metric"}, report.Column{Name: "aggregate"}, report.Column{Name: "by"}, levelColumns, statisticColumn, count("k", ""), minor(count("references", "refs")),
		value("value", 3), interval("ci"), minor(report.Column{Name: "band", Kind: report.KindInterval, Digits: 3}), value("to_all", 3), interval("to_all_ci"),
		value("to_random", 3), interval("to_random_ci"), minor(count("n", "")), minor(count("missing", "")))}
	for _, c := range curves {
		at := slices.IndexFunc(curves, func(o *experiment.CurveResult) bool {
			return o.About == c.About && o.Metric == c.Metric && o.Aggregator == c.Aggregator && o.By == selection.ByRandom.String() && o != c
		})
		for k := range c.Points {
			p := &c.Points[k]
			toRandom, toRandomRange := experiment.None(), (*experiment.Range)(nil)
			if at >= 0 && k < len(curves[at].Points) {
				toRandom, toRandomRange = p.Less(&curves[at].Points[k], r.Confidence)
			}
			t.Add(c.Dataset, c.Metric, c.Aggregator, c.By, c.Level, c.Group, c.Measure, p.K, p.References, p.Value, p.Interval,
				report.Interval(float64(p.Least), float64(p.Largest)), p.ToAll, p.ToAllRange, toRandom, toRandomRange, p.N, p.Missing)
		}
	}
	t.Notes = []string{"k: references chosen in addition to the originals, or to the first original if there are no variants; band: the smallest and the largest of random orders; to all, to random: paired differences to all references, and to random choices of as many, over the cells that both score"}
	return t
}

func (r *Result) promptTable(prompts ...*experiment.PromptAnalysis) *report.NamedTable {
	t := &report.NamedTable{Title: "What each prompt is worth", Columns: columns(
		datasetColumn, report.Column{Name: "metric", Secondary: true}, report.Column{Name: "aggregate", Secondary: true}, report.Column{Name: "statistic", Secondary: true}, report.Column{Name: "prompt"}, minor(count("texts", "")),
		value("decides", 3), minor(value("decides_alone", 3)), value("alone", 3), minor(value("added", 3)), value("gain", 3), interval("gain_ci"),
		minor(value("without", 3)), value("effect", 4), interval("effect_ci"), minor(count("cells", "")), minor(count("missing", "")))}
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
		"decides: share of cells in which its text has the best score, shared if several have it; decides alone: only its text has it",
		"alone: its texts only; added: with the originals, gain: over the single reference; without: all but its texts, effect: what they add to that",
	}
	for _, d := range r.Datasets {
		if slices.Contains(d.Prompts, "column1") {
			t.Note("%s: prompts named column1, column2, … are the columns of a released file, which does not say of which prompt they are; it is not the order of the Div-Ref paper", d.Name)
		}
	}
	return t
}

// rankingTable has a row for each system, with its score and rank by people and under each
// setting.
func (r *Result) rankingTable() *report.NamedTable {
	t := &report.NamedTable{Title: "Systems under each setting", Heading: "mean of segments", Columns: columns(datasetColumn, report.Column{Name: "system"}, value("human", 3), value("rank", 0))}
	var settings []experiment.SettingName
	for i := range r.Rankings {
		for _, s := range r.Rankings[i].Settings {
			if !slices.Contains(settings, s) {
				settings = append(settings, s)
				t.Columns = append(t.Columns, value(s.String(), 3), report.Column{Name: s.String() + " rank", Kind: report.KindFloat})
			}
		}
	}
	for i := range r.Rankings {
		k := &r.Rankings[i]
		for _, s := range k.Systems {
			row := []any{k.Dataset, s.Name, s.First.Score, rankValue(s.First)}
			for _, name := range settings {
				p := experiment.Place{Score: experiment.None()}
				if at := slices.Index(k.Settings, name); at >= 0 {
					p = s.Under[at]
				}
				row = append(row, p.Score, rankValue(p))
			}
			t.Add(row...)
		}
		if text := k.Without(); text != "" {
			t.Note("%s: %s", k.Dataset, text)
		}
	}
	t.Note("scores: means over the judged segments that the setting scores; ties share the mean of their ranks")
	return t
}

func rankValue(p experiment.Place) report.Value {
	if p.Rank == 0 {
		return report.Null()
	}
	return report.Float(p.Rank)
}

// taskTable has a row for each setting, with its average over the tasks and its value in
// each; those that lack a task come last.
func (r *Result) taskTable() *report.NamedTable {
	t := &report.NamedTable{Title: "Settings over all tasks", Columns: columns(
		settingColumns, value("average", 3), value("average_rank", 2), count("rank", "cluster"))}
	standings := slices.Clone(r.Standings)
	total := 0.0
	for i := range r.Tasks {
		of := &r.Tasks[i]
		total += of.Weight
		number := fmt.Sprintf("task %d", i+1)
		t.Columns = append(t.Columns, report.Column{Name: of.Label, Header: number, Kind: report.KindFloat, Digits: 3, Minor: true}, minor(count(of.Label+" rank", number+" rank")))
		for _, e := range of.Entries {
			if !slices.ContainsFunc(standings, func(s experiment.Standing) bool { return s.Setting == e.Setting }) {
				standings = append(standings, experiment.Standing{Setting: e.Setting, Average: experiment.None(), AverageRank: experiment.None()})
			}
		}
	}
	for _, s := range standings {
		row := append(settingCells(s.Setting), s.Average, s.AverageRank, rankOrNull(s.Rank))
		for i := range r.Tasks {
			value, rank := report.Null(), report.Null()
			if k := slices.IndexFunc(r.Tasks[i].Entries, func(e experiment.TaskEntry) bool { return e.Setting == s.Setting }); k >= 0 {
				value, rank = report.Float(float64(r.Tasks[i].Entries[k].Value)), rankOrNull(r.Tasks[i].Entries[k].Rank)
			}
			row = append(row, value, rank)
		}
		t.Add(row...)
	}
	t.Notes = []string{
		"average: weighted mean of the values, correlations taken from [-1, 1] to [0, 1]; average rank: weighted mean of the ranks",
		"cluster: by significance, of the average by the resamples of all tasks together, none where a test draws none",
	}
	for i := range r.Tasks {
		of := &r.Tasks[i]
		t.Note("task %d: %s; weight %.4g, %s", i+1, of.Label, of.Weight/total, cmp.Or(of.Test, "ranks only by value"))
	}
	return t
}

func rankOrNull(rank int) report.Value {
	if rank == 0 {
		return report.Null()
	}
	return report.Int(rank)
}

// worthTable shows how many references by a model are worth as much as those by people.
func (r *Result) worthTable() *report.NamedTable {
	t := &report.NamedTable{Title: "What references by a model are worth", Columns: columns(
		datasetColumn, report.Column{Name: "metric"}, report.Column{Name: "aggregate"}, statisticColumn, minor(value("first", 4)),
		headed("person", "a person's adds", 4), interval("person_ci"), headed("variants", "all variants add", 4), minor(interval("variants_ci")),
		report.Column{Name: "needed", Header: "variants for one by a person"}, report.Column{Name: "given", Header: "by people for all variants"},
		hidden(value("people", 4)), hidden(interval("people_ci")), minor(count("n", "")))}
	for i := range r.Worths {
		w := &r.Worths[i]
		t.Add(w.Dataset, w.Metric, w.Aggregator, w.Statistic, w.First, w.Person.Value, w.Person.Interval, w.Variants.Value, w.Variants.Interval,
			w.Needed.String(), w.Given.String(), w.People.Value, w.People.Interval, w.N)
	}
	t.Notes = []string{"each adds to the first reference; variants are of the first; > 10: all ten do not reach it"}
	return t
}

// labelTable has a row for each system's mean judgement, and for each difference of two.
func (r *Result) labelTable() *report.NamedTable {
	t := &report.NamedTable{Title: "Mean judgements from few labels", Columns: columns(
		datasetColumn, settingColumns, humanColumn, report.Column{Name: "system"}, report.Column{Name: "minus"}, count("judged", ""), count("of", ""),
		value("mean", 3), interval("mean_ci"), value("with_metric", 3), interval("with_metric_ci"), value("labels", 1), hidden(value("weight", 3)), minor(count("units", "")), hidden(count("unscored", "")))}
	for i := range r.Labels {
		m := &r.Labels[i]
		t.Add(append(append([]any{m.Dataset}, settingCells(m.Setting)...), m.Human, m.System, report.StringOrNull(m.Minus), m.Judged, m.Of, m.Classical, m.ClassicalInterval,
			m.Value, m.Interval, m.Effective, m.Weight, m.Units, m.Unscored)...)
	}
	return t
}

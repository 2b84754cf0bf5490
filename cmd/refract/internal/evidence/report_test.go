package evidence_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/cmd/refract/internal/conclusions"
	"github.com/refract-eval/refract/cmd/refract/internal/evidence"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/metrics"
)

// found returns a result with something of every kind; name stands for text from a file.
func found(name string) *conclusions.Result {
	about := experiment.About{Dataset: name, Human: name, Statistic: "kendall", Level: "segment", Group: "none"}
	single := experiment.SettingName{Metric: name, References: "original", Aggregator: "single"}
	most := experiment.SettingName{Metric: name, References: "all", Aggregator: "max"}
	iv := &experiment.Range{Low: 0.1, High: 0.3}
	return conclusions.Of(&experiment.Result{
		Name: name, Version: refract.Version, Confidence: 0.95, Statistics: []string{"kendall"}, Notes: []string{"how " + name},
		Datasets: []experiment.DatasetInfo{{Name: name, Human: name, Segments: 2, Systems: []string{name}, LeftOut: []string{name}, Unjudged: []string{name}, Cells: 3}},
		Rows: []experiment.Row{
			{About: about, Setting: single, MaxReferences: 1, Value: 0.2, Interval: iv, Ties: experiment.None(), Epsilon: experiment.None()},
			{About: about, Setting: most, MaxReferences: 3, Value: experiment.None(), Ties: experiment.None(), Epsilon: experiment.None(), Missing: 1},
		},
		Differences: []experiment.Difference{{About: about, A: most, B: single, AName: "max", BName: "single", Value: 0.2, Significant: true, Interval: iv, P: experiment.None(), Corrected: experiment.None(),
			AValue: 0.4, BValue: 0.2}},
		Curves: []experiment.CurveResult{{About: about, Metric: name, Aggregator: "max", By: "order", Points: []experiment.Point{
			{K: 0, References: 1, Value: 0.2, Interval: iv, Least: experiment.None(), Largest: experiment.None()},
			{K: 1, References: 2, Value: experiment.None(), Least: experiment.None(), Largest: experiment.None()},
		}}},
		Prompts: []experiment.PromptAnalysis{{About: about, Metric: name, Aggregator: "max", Prompts: []experiment.PromptEffect{{Prompt: name, Effect: 0.1, EffectInterval: iv}}}},
		Rankings: []experiment.Ranking{{Dataset: name, Human: name, Settings: []experiment.SettingName{single, most}, Systems: []experiment.RankedSystem{
			{Name: name, First: experiment.Place{Score: -1, Rank: 1, Cells: 2}, Under: []experiment.Place{{Score: 3, Rank: 1, Cells: 2}, {Score: experiment.None()}}}}}},
	})
}

func TestDocument(t *testing.T) {
	h := hold(t, sample(), []metrics.Metric{&overlap{}}, "single", "max")
	r := &evidence.Report{Title: "Title", Result: found("data"), Held: h, More: []*report.NamedTable{
		{Name: "judges", Title: "Judges", Columns: []report.Column{{Name: "metric"}}, Rows: [][]report.Value{{report.String("critic")}}}}}
	require.NoError(t, r.Explore(t.Context(), "", nil))
	d := r.Document()
	if d.Claim != "With data, use the maximum" || len(d.Forests) != 1 || d.Forests[0].Data.Rows[0][0] != report.String("data max") {
		t.Errorf("claim %q, forests %+v", d.Claim, d.Forests)
	}
	var tables []string
	for _, table := range d.Tables {
		tables = append(tables, table.Name)
	}
	want := []string{"rows", "systems", "judges"}
	assert.True(t, slices.Equal(tables, want), "tables %q", tables)
	c := d.Tables[0].Columns[0]
	assert.True(t, c.Name == "dataset" && c.Hide, "the one dataset has a column")
	assert.True(t, len(d.Figures) == 2 && d.Figures[0].Data != nil, "%d figures", len(d.Figures))
	if k := d.Rankings[0]; k.Columns[1].Header != "data: rank" || len(k.Rows[0]) != 7 || k.Rows[0][5] != report.Null() {
		t.Errorf("ranking %+v", k)
	}
	assert.NotNil(t, d.Explorer, "no segments")
}

func TestReportWithoutHumanScores(t *testing.T) {
	segments := sample()
	for _, s := range segments {
		s.Judgements = nil
	}
	h := hold(t, segments, []metrics.Metric{&overlap{}, &overlap{lower: true}, critic{}}, "single", "max")
	d := (&evidence.Report{Title: "T", Held: h}).Document()
	if len(d.Forests) != 0 || len(d.Rankings) != 1 || len(d.Tables) != 1 {
		t.Fatalf("%d forests, %d rankings, %d tables", len(d.Forests), len(d.Rankings), len(d.Tables))
	}
	// Overlap with the first reference: b has 1, a 0.5, c 0.
	var order []string
	for _, row := range d.Rankings[0].Rows {
		name, _ := row[0].Show(0)
		order = append(order, name)
	}
	if c := d.Rankings[0].Rows[2]; !slices.Equal(order, []string{"b", "a", "c"}) || c[3] != report.Float(3) || c[9] != report.Null() {
		t.Errorf("order %q, places %+v", order, c)
	}
	for _, row := range d.Tables[0].Rows {
		require.Len(t, row, len(d.Tables[0].Columns), "%d values for", len(row))
	}
}

// The human judgements that all numbers are based on come first for each segment, and
// scores say what they cover.
func TestChosenHumanScoresComeFirst(t *testing.T) {
	segments := sample()
	for _, s := range segments {
		for _, h := range s.Hypotheses {
			s.Judgements = append(s.Judgements, refract.Judgement{Name: "relevance", System: h.System, Score: 1, Valid: true})
		}
	}
	for _, human := range []string{"relevance", "mqm"} {
		e := hold(t, segments, []metrics.Metric{&overlap{}}, "single", "max").Explorer(t.Context(), human, nil)
		if !slices.Contains(e.Humans, "relevance") || e.Humans[0] != human {
			t.Errorf("%s: the explorer has %q", human, e.Humans)
		}
		for s, err := range e.Segments {
			require.NoError(t, err)
			for _, o := range s.Outputs {
				if at := slices.Index(e.Humans, "relevance"); o.Human[at] != 1 {
					t.Errorf("%s: %v for relevance", human, o.Human[at])
				}
			}
		}
	}
}

// elements lists the tags of a page with the names of their attributes, except for blocks
// of data.
func elements(s string) string {
	tag := regexp.MustCompile(`<(/?[a-zA-Z!][^\s>]*)([^>]*)>`)
	attribute := regexp.MustCompile(`([a-zA-Z-]+)=`)
	_, s, _ = strings.Cut(s, "<body>")
	var out []string
	for _, m := range tag.FindAllStringSubmatch(strings.Split(s, "<script>(")[0], -1) {
		var names []string
		for _, a := range attribute.FindAllStringSubmatch(regexp.MustCompile(`"[^"]*"`).ReplaceAllString(m[2], ""), -1) {
			names = append(names, a[1])
		}
		out = append(out, m[1]+" "+strings.Join(names, " "))
	}
	return strings.Join(out, "\n")
}

// Text in a dataset stays text: it changes no tag of the page.
func TestHostileData(t *testing.T) {
	build := func(s string) string {
		segments := []*refract.Segment{{
			ID: "1" + s, Domain: s, Document: s, Source: text(s), References: []refract.Text{text("r" + s)},
			Variants:   []refract.Variant{{Prompt: "p" + s, Model: s, Text: text(s)}},
			Hypotheses: []refract.Hypothesis{{System: "a" + s, Text: text("horse " + s)}, {System: "b" + s, Text: text(s)}},
			Judgements: []refract.Judgement{{Name: "j" + s, System: "a" + s, Score: 1, Valid: true}},
		}}
		return written(t, &evidence.Report{Title: "T" + s, Result: found("x" + s), Held: hold(t, segments, []metrics.Metric{&overlap{}, critic{}}, "single", "max")})
	}
	plain := elements(build("harmless"))
	require.GreaterOrEqual(t, strings.Count(plain, "\n"), 200, "only")
	for _, s := range []string{
		`</script><script>window.broken = 1</script>`, `<img src=x onerror="window.broken = 1">`, `" onload="x`, `' style='x`,
		"\u202eright to left", "=HYPERLINK(\"http://x\")", "]]>--><!--", strings.Repeat("x", 20000),
	} {
		assert.Equal(t, plain, elements(build(s)), "the text %.40q changes the markup", s)
	}
}

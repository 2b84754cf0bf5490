package agreement_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/agreement"
	"github.com/refract-eval/refract/benchmarks/correlate"
)

func judged(name, system string, score float64) refract.Judgement {
	return refract.Judgement{Name: name, System: system, Score: score, Valid: true}
}

func hypotheses(systems ...string) []refract.Hypothesis {
	var out []refract.Hypothesis
	for _, s := range systems {
		name, human := strings.CutPrefix(s, "ref:")
		out = append(out, refract.Hypothesis{System: name, Text: refract.NewText("text"), Human: human})
	}
	return out
}

// collected is three segments: system b comes late, refA is a reference, d
// has judgements and no hypotheses, e has a null for a judgement.
func collected() *agreement.Collector {
	c := agreement.NewCollector(2)
	for i, s := range []*refract.Segment{
		{Hypotheses: hypotheses("a", "ref:refA"), Judgements: []refract.Judgement{
			judged("mqm", "a", -1), judged("mqm", "refA", 0), judged("mqm", "d", -2), judged("da", "a", 90)}},
		{Hypotheses: hypotheses("b", "a", "e"), Judgements: []refract.Judgement{
			judged("mqm", "b", -3), {Name: "mqm", System: "a"}, {Name: "mqm", System: "e"}, {Name: "notes", System: "a"}}},
		{Hypotheses: hypotheses("ref:refA", "b", "a"), Judgements: []refract.Judgement{
			judged("mqm", "a", 0), judged("da", "b", 70)}},
	} {
		c.Add(s, func(column, h int) (float64, bool) {
			// The first column has a value for all, the second one for "a".
			return float64(100*column + 10*i + h), column == 0 || s.Hypotheses[h].System == "a"
		})
	}
	return c
}

// table writes the values of a table, segment by segment, with a dash for
// what is missing.
func table(values []float64, ok []bool) string {
	var b strings.Builder
	for i, v := range values {
		if ok[i] {
			fmt.Fprintf(&b, "%v ", v)
		} else {
			b.WriteString("- ")
		}
	}
	return strings.TrimSpace(b.String())
}

func TestCollector(t *testing.T) {
	c := collected()
	if c.Segments() != 3 || !slices.Equal(c.Names(), []string{"mqm", "da", "notes"}) {
		t.Errorf("%d segments, judgements %q", c.Segments(), c.Names())
	}
	for _, k := range []struct {
		name                     string
		human                    bool
		systems, left, unjudged  []string
		gold, metric, incomplete string
	}{
		{"mqm", false, []string{"a", "d", "b"}, []string{"refA"}, []string{"e"},
			"-1 -2 - - - -3 0 - -", "0 - - 11 - 10 22 - 21", "100 - - 111 - - 122 - -"},
		{"mqm", true, []string{"a", "refA", "d", "b"}, nil, []string{"e"},
			"-1 0 -2 - - - - -3 0 - - -", "0 1 - - 11 - - 10 22 20 - 21", "100 - - - 111 - - - 122 - - -"},
		{"da", false, []string{"a", "b"}, []string{"refA"}, []string{"d", "e"},
			"90 - - - - 70", "0 - 11 10 22 21", "100 - 111 - 122 -"},
		// Nulls alone are no judgement, and neither is an unknown kind.
		{"notes", false, nil, []string{"refA"}, []string{"a", "d", "b", "e"}, "", "", ""},
		{"unknown", true, nil, nil, []string{"a", "refA", "d", "b", "e"}, "", "", ""},
	} {
		got := c.Systems(k.name, k.human)
		if !slices.Equal(got.Systems, k.systems) || !slices.Equal(got.Human, k.left) || !slices.Equal(got.Unjudged, k.unjudged) {
			t.Errorf("%s, people too %v: %+v, want %q, %q, %q", k.name, k.human, got, k.systems, k.left, k.unjudged)
			continue
		}
		for column, want := range []string{k.metric, k.incomplete} {
			p := c.Pairs(column, k.name, got)
			if g := table(p.Gold, p.GoldOK); g != k.gold {
				t.Errorf("%s: judgements %s, want %s", k.name, g, k.gold)
			}
			if m := table(p.Metric, p.MetricOK); m != want {
				t.Errorf("%s: column %d is %s, want %s", k.name, column, m, want)
			}
		}
	}
}

func TestEmptyCollector(t *testing.T) {
	c := agreement.NewCollector(1)
	if _, err := c.Choose(""); err == nil || !strings.Contains(err.Error(), "no human scores") {
		t.Errorf("nothing to choose from: %v", err)
	}
	systems := c.Systems("mqm", false)
	if p := c.Pairs(0, "mqm", systems); len(p.Gold) != 0 || len(systems.Systems) != 0 {
		t.Errorf("pairs of nothing: %+v", p)
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		wanted string
		names  []string
		want   string
		err    string
	}{
		{"", []string{"da"}, "da", ""},
		{"", []string{"da", "mqm"}, "mqm", ""},
		{"da", []string{"da", "mqm"}, "da", ""},
		{"", []string{"da", "esa"}, "", "several kinds of human scores (da, esa); choose one"},
		{"mqm", []string{"da", "esa"}, "", `no human scores named "mqm"; it has da, esa`},
		{"mqm", nil, "", "the dataset has no human scores, so there is nothing to compare with"},
	} {
		got, err := agreement.Choose(c.wanted, c.names)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("Choose(%q, %q) = %q, %v, want %q, %q", c.wanted, c.names, got, err, c.want, c.err)
		}
	}
}

func ExampleCollector() {
	segments := []*refract.Segment{
		{
			Hypotheses: []refract.Hypothesis{{System: "a"}, {System: "b"}},
			Judgements: []refract.Judgement{{Name: "mqm", System: "a", Score: -1, Valid: true}, {Name: "mqm", System: "b", Score: -6, Valid: true}},
		},
		{
			Hypotheses: []refract.Hypothesis{{System: "a"}, {System: "b"}},
			Judgements: []refract.Judgement{{Name: "mqm", System: "a", Score: -4, Valid: true}, {Name: "mqm", System: "b"}},
		},
	}
	scores := [][]float64{{70, 40}, {50, 60}}

	c := agreement.NewCollector(1)
	for i, s := range segments {
		c.Add(s, func(_, h int) (float64, bool) { return scores[i][h], true })
	}
	name, err := c.Choose("")
	if err != nil {
		fmt.Println(err)
		return
	}
	systems := c.Systems(name, false)
	pairs := c.Pairs(0, name, systems) // what package correlate works on
	fmt.Println(systems.Systems, pairs.Gold, pairs.GoldOK)
	// Output: [a b] [-1 -6 -4 0] [true true true false]
}

func TestLevels(t *testing.T) {
	c := agreement.NewCollector(1)
	for i, where := range [][2]string{{"news", "one"}, {"news", "one"}, {"news", "two"}, {"talk", "one"}} {
		s := &refract.Segment{ID: fmt.Sprint(i), Domain: where[0], Document: where[1], Hypotheses: hypotheses("a", "b"),
			Judgements: []refract.Judgement{judged("mqm", "a", float64(i)), judged("mqm", "b", 1)}}
		c.Add(s, func(_, h int) (float64, bool) { return float64(10*i + h), i != 1 || h == 0 })
	}
	p := c.Pairs(0, "mqm", c.Systems("mqm", false))
	for level, want := range map[correlate.Level][2]string{
		correlate.SegmentLevel:  {"0 1 1 1 2 1 3 1", "0 1 10 - 20 21 30 31"},
		correlate.DocumentLevel: {"0.5 1 2 1 3 1", "5 1 20 21 30 31"},
		correlate.DomainLevel:   {"1 1 3 1", "10 11 30 31"},
		correlate.SystemLevel:   {"1.5 1", "15 17.666666666666668"},
	} {
		got, err := c.At(level, p)
		if err != nil {
			t.Fatal(err)
		}
		if gold, metric := table(got.Gold, got.GoldOK), table(got.Metric, got.MetricOK); gold != want[0] || metric != want[1] {
			t.Errorf("%v: %s and %s, want %v", level, gold, metric, want)
		}
		if again, err := correlate.ParseLevel(level.String()); err != nil || again != level {
			t.Errorf("ParseLevel(%q) = %v, %v", level, again, err)
		}
		if n, err := c.Groups(level); err != nil || n != got.Segments {
			t.Errorf("%v: %d groups, %v, want %d", level, n, err, got.Segments)
		}
	}
	c.Add(&refract.Segment{ID: "nowhere", Domain: "news"}, nil)
	if _, err := c.At(correlate.DocumentLevel, p); err == nil || !strings.Contains(err.Error(), `"nowhere" has no document`) {
		t.Errorf("a segment without a document: %v", err)
	}
	if _, err := correlate.ParseLevel("seg"); err == nil {
		t.Error("seg is no level")
	}
}

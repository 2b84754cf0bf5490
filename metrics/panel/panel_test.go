package panel

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/internal/metricstest"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/bleu"
	"github.com/refract-eval/refract/metrics/chrf"
	"github.com/refract-eval/refract/metrics/ter"
)

// length scores the length of a hypothesis in bytes, divided by the reference's if it needs
// one.
func length(name string, lower, upper float64, references bool) metrics.Metric {
	info := metrics.Info{Name: name, Direction: metrics.HigherIsBetter, Lower: lower, Upper: upper, NeedsReferences: references}
	return metrics.Func(info, func(hyp, ref string) float64 { return float64(len(hyp) - len(ref)) })
}

func registry() metrics.Registry {
	var all metrics.Registry
	all = append(metrics.Registry{bleu.Factory(), chrf.Factory(), chrf.PlusPlusFactory(), ter.Factory(),
		metrics.Made(length("long", 0, 10, false))},
		Factory(func(ctx context.Context, spec string) (metrics.Metric, error) { return all.Parse(ctx, spec) }, nil))
	return all
}

func TestSpecs(t *testing.T) {
	for spec, want := range map[string]string{
		"panel:bleu+chrf":                    "panel:bleu+chrf",
		"panel:[chrf++]+bleu,combine=median": "panel:[chrf++]+bleu,combine=median",
		"panel:[bleu]+[chrf:char-order=4]":   "panel:bleu+chrf:char-order=4",
		"panel:[panel:bleu+chrf]+[chrf++]":   "panel:[panel:bleu+chrf]+[chrf++]",
		"panel":                              "member 1 is empty",
		"panel:bleu":                         "at least two members",
		"panel:chrf+++bleu":                  "member 2 is empty; put a member that contains \"+\" or \",\" into brackets, as in [chrf++]+bleu",
		"panel:[bleu+chrf":                   "a \"[\" that is not closed",
		"panel:[bleu]x+chrf":                 "\"x+chrf\" after the brackets of member 1",
		"panel:bleu+blue":                    "did you mean \"bleu\"?",
		"panel:bleu+bleu:tokenize=13a":       "bleu is a member twice",
		"panel:bleu+ter":                     "for ter lower scores are better, and for bleu higher ones",
		"panel:[bleu:smooth=floor,lowercase]+long,scale=bounds": "panel:[bleu:smooth=floor,lowercase=yes]+long,scale=bounds",
		"panel:bleu+chrf,scale=none":                            "want bounds",
		"panel:bleu:smooth=floor,lowercase+chrf":                "into brackets",
		"panel:bleu+chrf,combine=maen":                          "did you mean \"mean\"?",
	} {
		m, err := registry().Parse(t.Context(), spec)
		switch {
		case strings.HasPrefix(want, "panel:"):
			if err != nil || m.Info().Name != want {
				t.Errorf("%s: %v, %v, want %s", spec, m, err, want)
			} else if again, err := registry().Parse(t.Context(), m.Info().Name); err != nil || again.Info().Name != want {
				t.Errorf("%s: %v, %v", want, again, err)
			}
		case err == nil || !strings.Contains(err.Error(), want):
			t.Errorf("%s: %v, want %q", spec, err, want)
		}
	}
}

// split reads what join writes.
func TestSplitJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,3}(:[a-z+,=]{0,4}(\[[a-z+,]{0,3}\])?[a-z]?)?`), 1, 4).Draw(t, "members")
		options := rapid.SliceOfN(rapid.StringMatching(`[a-z]=[a-z]`), 0, 2).Draw(t, "options")
		got, rest, err := split(join(members, options...))
		if err != nil || !slices.Equal(got, members) || rest != strings.Join(options, ",") {
			t.Fatalf("%q and %q, %v, want %q and %q", got, rest, err, members, options)
		}
	})
}

func TestRewrite(t *testing.T) {
	got := Rewrite("panel:[judge-file:a.yaml,x=y]+[panel:bleu+judge-file:b.yaml],combine=mean", func(spec string) string {
		return strings.Replace(spec, "judge-file:", "judge-file:dir/", 1)
	})
	if want := "panel:[judge-file:dir/a.yaml,x=y]+[panel:bleu+judge-file:dir/b.yaml],combine=mean"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestPromises(t *testing.T) {
	for _, spec := range []string{"panel:bleu+chrf", "panel:bleu+[chrf++],combine=median", "panel:bleu+long,scale=bounds"} {
		m, err := registry().Parse(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		metricstest.Promises(t, m, metrics.Block{Source: "s", Hypotheses: []string{"a cat", "a dog"}, References: []string{"a cat", "the cat", "cats"}})
	}
}

// A panel's score combines its members' scores, cell by cell.
func TestScores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		block := metricstest.Block().Draw(t, "block")
		ctx := context.Background()
		parse := func(spec string) metrics.Metric {
			m, err := registry().Parse(ctx, spec)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		score := func(m metrics.Metric) metrics.Scores {
			out, err := m.Score(ctx, []metrics.Block{block})
			if err != nil {
				t.Fatal(err)
			}
			return out[0]
		}
		p := parse("panel:bleu+chrf")
		got, a, b := score(p), score(parse("bleu")), score(parse("chrf"))
		for i, v := range got.Values {
			want := (a.Values[i] + b.Values[i]) / 2
			r := got.Reports[i]
			if math.Abs(v-want) > 1e-12*math.Abs(want) || len(r.Parts) != 2 || *r.Parts[0].Score != a.Values[i] || r.Parts[1].By != "chrf" {
				t.Fatalf("cell %d: %v of %+v, want %v", i, v, r, want)
			}
		}
	})
}

// fixed gives a fixed matrix, or an error.
type fixed struct {
	info   metrics.Info
	scores metrics.Scores
	err    error
	closed bool
}

func (f *fixed) Info() metrics.Info { return f.info }
func (f *fixed) Signature(metrics.Level) metrics.Signature {
	return metrics.Signature{{Key: "m", Value: "1|2"}}
}
func (f *fixed) Score(_ context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	return []metrics.Scores{f.scores}, f.err
}
func (f *fixed) Close() error { f.closed = true; return nil }

// A cell lacks a score if a member does; a score that a policy counts instead is used.
func TestMissing(t *testing.T) {
	judge := func(name string, upper float64, scores metrics.Scores) *fixed {
		return &fixed{info: metrics.Info{Name: name, Direction: metrics.HigherIsBetter, Upper: upper, Pace: metrics.Pace{Batch: len(name)}}, scores: scores}
	}
	a := judge("a", 100, metrics.Scores{Values: []float64{50, 7, 0}, Status: []metrics.Status{metrics.Scored, metrics.Unparseable, metrics.Scored},
		Reports: []*analysis.Report{{Outcome: analysis.Scored, Score: new(50.0), Errors: []analysis.Error{{Location: "x"}}},
			{Outcome: analysis.Unparseable}, {Outcome: analysis.Cut}}})
	b := judge("bbb", 10, metrics.Scores{Values: []float64{8, 8, 2}})
	var kept []string
	p, err := newPanel(config{Members: []metrics.Metric{a, b}, Combine: analysis.Mean, Bounds: true,
		Keep: func(m metrics.Metric) Score { kept = append(kept, m.Info().Name); return m.Score }})
	if err != nil {
		t.Fatal(err)
	}
	blocks := []metrics.Block{{Hypotheses: []string{"1", "2", "3"}}}
	out, err := p.Score(t.Context(), blocks)
	if err != nil {
		t.Fatal(err)
	}
	got := out[0]
	if diff := cmp.Diff([]metrics.Status{metrics.Scored, metrics.Unparseable, metrics.Scored}, got.Status); diff != "" {
		t.Error(diff)
	}
	if got.Values[0] != 0.65 || got.Values[2] != 0.1 || got.Reports[1].Outcome != analysis.Unparseable || got.Reports[1].Detail != "1 of 2 have a score" {
		t.Errorf("%v %+v", got.Values, got.Reports[1])
	}
	if *a.scores.Reports[0].Score != 50 || *got.Reports[0].Parts[0].Score != 0.5 {
		t.Error("a member's report was changed, or a part")
	}
	if p.Info().Pace.Batch != 3 || p.Signature(metrics.Corpus).String() != "member1:a m:1%257C2|member2:bbb m:1%257C2|combine:mean|scale:bounds" || !slices.Equal(kept, []string{"a", "bbb"}) {
		t.Errorf("%+v %s %v", p.Info().Pace, p.Signature(metrics.Corpus), kept)
	}
	b.err = &metrics.CellError{Block: 0, Hypothesis: 2, Err: errors.New("no")}
	at := (*metrics.CellError)(nil)
	if _, err := p.Score(t.Context(), blocks); !errors.As(err, &at) || at.Hypothesis != 2 || at.Err.Error() != "bbb: no" {
		t.Errorf("%v", err)
	}
	if err := p.Close(); err != nil || !a.closed || !b.closed {
		t.Error("members are open")
	}
}

package evidence_test

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/cmd/refract/internal/evidence"
	"github.com/refract-eval/refract/cmd/refract/internal/page"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// overlap scores the share of the reference's words that the hypothesis has or, if lower is
// better, lacks. It gives no number for the reference "?".
type overlap struct{ lower bool }

func (o *overlap) Info() metrics.Info {
	if o.lower {
		return metrics.Info{Name: "lack", NeedsReferences: true, Direction: metrics.LowerIsBetter, Lower: 0, Upper: 1}
	}
	return metrics.Info{Name: "overlap", NeedsReferences: true, Direction: metrics.HigherIsBetter, Lower: 0, Upper: 1}
}

func (o *overlap) Signature(metrics.Level) metrics.Signature { return metrics.Signature{} }

func (o *overlap) Score(_ context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	var out []metrics.Scores
	for _, b := range blocks {
		var s metrics.Scores
		for _, h := range b.Hypotheses {
			for _, r := range b.References {
				words, n := strings.Fields(r), 0
				for _, w := range words {
					if strings.Contains(" "+h+" ", " "+w+" ") {
						n++
					}
				}
				v, status := float64(n)/float64(max(1, len(words))), metrics.Scored
				if o.lower {
					v = 1 - v
				}
				if r == "?" {
					status = metrics.Failed
				}
				s.Values, s.Status = append(s.Values, v), append(s.Status, status)
			}
		}
		out = append(out, s)
	}
	return out, nil
}

// near scores like overlap, within a thousandth.
type near struct{ overlap }

func (n *near) Info() metrics.Info {
	return metrics.Info{Name: "near", NeedsReferences: true, Direction: metrics.HigherIsBetter, Lower: math.Inf(-1), Upper: math.Inf(1)}
}

func (n *near) Score(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	out, err := n.overlap.Score(ctx, blocks)
	for _, s := range out {
		for i, v := range s.Values {
			s.Values[i] = 0.94 + v/1000
		}
	}
	return out, err
}

// critic reports every occurrence of the word "horse" and needs no reference.
type critic struct{}

func (critic) Info() metrics.Info {
	return metrics.Info{Name: "critic", Direction: metrics.HigherIsBetter, Lower: -100, Upper: 0}
}

func (critic) Signature(metrics.Level) metrics.Signature { return metrics.Signature{} }

func (critic) Score(_ context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	var out []metrics.Scores
	for _, b := range blocks {
		var s metrics.Scores
		for _, h := range b.Hypotheses {
			r, score := &analysis.Report{Outcome: analysis.NoError, Score: new(0.0)}, 0.0
			if strings.Contains(h, "horse") {
				score = -4
				r = &analysis.Report{Outcome: analysis.Scored, Score: &score, Flags: []string{"role-token"}, Errors: []analysis.Error{
					{Location: "horse", Aspect: "Terminology", Dimension: "Accuracy", Severity: analysis.Major, Explanation: "It is a house.", Penalty: new(4.0)},
					{Location: "nowhere to be seen", Severity: analysis.Minor},
				}}
				r.Locate(analysis.Texts{Hypothesis: h})
				r.Check(analysis.Texts{Hypothesis: h}, analysis.Rules{})
			}
			if h == "" {
				r = &analysis.Report{Outcome: analysis.Unparseable, Detail: "no number in the answer"}
			}
			status := metrics.Scored
			if !r.Outcome.HasScore() {
				status = metrics.Unparseable
			}
			s.Values, s.Status, s.Reports = append(s.Values, score), append(s.Status, status), append(s.Reports, r)
		}
		out = append(out, s)
	}
	return out, nil
}

func text(s string) refract.Text { return refract.NewText(s) }

// sample returns two segments. In the first, system "b" has no output, and one reference
// has no score; the second has no domain, and one reference.
func sample() []*refract.Segment {
	return []*refract.Segment{
		{
			ID: "1", Domain: "news", Document: "d", Source: text("Das Haus ist alt."),
			References: []refract.Text{text("the house is old")},
			Variants: []refract.Variant{
				{Prompt: "formal", Model: "m", Text: text("?"), Sample: 1},
				{Prompt: "", Model: "m", Text: text("an old house it is"), Origin: &refract.Origin{Revision: "r"}},
				{Prompt: "formal", Text: refract.Text{}},
			},
			Rejected:   []refract.Variant{{Prompt: "formal", Text: text("no")}},
			Hypotheses: []refract.Hypothesis{{System: "a", Text: text("an old horse it is")}, {System: "b"}},
			Judgements: []refract.Judgement{{Name: "mqm", System: "a", Score: -5, Valid: true}, {Name: "mqm", System: "b"}},
		},
		{
			ID: "2", References: []refract.Text{text("he went home")},
			Hypotheses: []refract.Hypothesis{{System: "b", Text: text("he went home")}, {System: "c", Text: text("")}},
			Judgements: []refract.Judgement{{Name: "da", System: "c", Score: 40, Valid: true}},
		},
	}
}

// hold scores segments under every metric and aggregator.
func hold(t testing.TB, segments []*refract.Segment, ms []metrics.Metric, aggregators ...string) *evidence.Held {
	t.Helper()
	var settings []refract.Setting
	for _, m := range ms {
		for _, spec := range aggregators {
			a, err := aggregate.Parse(spec)
			require.NoError(t, err)
			settings = append(settings, refract.Setting{Metric: m, Aggregator: a})
			if !m.Info().NeedsReferences {
				break
			}
		}
	}
	eng, err := refract.NewEngine(settings, refract.Options{})
	require.NoError(t, err)
	h := evidence.Hold(eng)
	require.NoError(t, eng.Run(t.Context(), list(segments), h.Add))
	return h
}

// explored returns what the explorer shows.
func explored(t testing.TB, h *evidence.Held, ratings ...dataset.MQMRating) (*page.Explorer, []*page.Segment) {
	t.Helper()
	e := h.Explorer(t.Context(), "", ratings)
	var out []*page.Segment
	for s, err := range e.Segments {
		require.NoError(t, err)
		out = append(out, s)
	}
	return e, out
}

// written returns the page of a report.
func written(t testing.TB, r *evidence.Report) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, r.Explore(t.Context(), "", nil))
	require.NoError(t, page.Write(t.Context(), &b, r.Document()))
	return b.String()
}

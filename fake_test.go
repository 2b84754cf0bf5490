package refract_test

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/metrics"
)

// fake is a metric without capabilities that scores with a function.
type fake struct {
	info  metrics.Info
	score func(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error)
}

func (f *fake) Info() metrics.Info { return f.info }

func (f *fake) Signature(metrics.Level) metrics.Signature {
	return metrics.Signature{{Key: "fake", Value: f.info.Name}}
}

func (f *fake) Score(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	return f.score(ctx, blocks)
}

// sized returns a metric whose scores encode the lengths of its texts: 10,000 for
// each byte of the source, 100 for each of the hypothesis and 1 for each of the
// reference.
func sized(needsSource, needsReferences bool) *fake {
	return &fake{
		info: metrics.Info{Name: "sized", NeedsSource: needsSource, NeedsReferences: needsReferences,
			Direction: metrics.HigherIsBetter, Lower: 0, Upper: math.Inf(1)},
		score: func(_ context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
			out := make([]metrics.Scores, len(blocks))
			for i, b := range blocks {
				out[i].Values = sizes(b)
			}
			return out, nil
		},
	}
}

func sizes(b metrics.Block) []float64 {
	var out []float64
	for _, h := range b.Hypotheses {
		for c := range b.Columns() {
			v := 10000*len(b.Source) + 100*len(h)
			if len(b.References) > 0 {
				v += len(b.References[c])
			}
			out = append(out, float64(v))
		}
	}
	return out
}

// prepared is the same metric with all capabilities. Its native score is the
// sum over references, its only statistic the score.
type prepared struct{ *fake }

func (p prepared) NewWorkspace() metrics.Workspace          { return &preparedWorkspace{} }
func (p prepared) CorpusScore(statistics []float64) float64 { return -statistics[0] }

type preparedWorkspace struct{ b metrics.Block }

func (w *preparedWorkspace) Load(b metrics.Block)          { w.b = b }
func (w *preparedWorkspace) Cells(dst []float64) []float64 { return append(dst, sizes(w.b)...) }

func (w *preparedWorkspace) Native(dst []float64) []float64 {
	for h := range w.b.Hypotheses {
		dst = w.NativeStatistics(dst, h)
	}
	return dst
}

func (w *preparedWorkspace) CellStatistics(dst []float64, h, r int) []float64 {
	return append(dst, sizes(w.b)[h*w.b.Columns()+r])
}

func (w *preparedWorkspace) NativeStatistics(dst []float64, h int) []float64 {
	sum, n := 0.0, w.b.Columns()
	for _, v := range sizes(w.b)[h*n : (h+1)*n] {
		sum += v
	}
	return append(dst, sum)
}

// segment creates a segment with texts of the given lengths; -1 is a missing
// text.
func segment(id string, source int, hyps, refs []int) *refract.Segment {
	s := &refract.Segment{ID: id, Source: sizedText(source)}
	for i, n := range hyps {
		s.Hypotheses = append(s.Hypotheses, refract.Hypothesis{System: fmt.Sprintf("sys%d", i), Text: sizedText(n)})
	}
	for _, n := range refs {
		s.References = append(s.References, sizedText(n))
	}
	return s
}

func sizedText(n int) refract.Text {
	if n < 0 {
		return refract.Text{}
	}
	return refract.NewText(strings.Repeat("x", n))
}

// list is a dataset in memory.
type list []*refract.Segment

func (l list) Segments(context.Context) iter.Seq2[*refract.Segment, error] {
	return func(yield func(*refract.Segment, error) bool) {
		for _, s := range l {
			if !yield(s, nil) {
				return
			}
		}
	}
}

func aggregator(t testing.TB, spec string) aggregate.Aggregator {
	t.Helper()
	a, err := aggregate.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// engine creates an engine that scores all cells of the metrics, and whatever else
// the aggregators need.
func engine(t testing.TB, o refract.Options, ms []metrics.Metric, aggregators ...string) *refract.Engine {
	t.Helper()
	var settings []refract.Setting
	for _, m := range ms {
		settings = append(settings, refract.Setting{Metric: m})
	}
	e, err := refract.NewEngine(append(settings, cross(t, ms, aggregators...)...), o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// scoreOne scores a segment with one metric and all its capabilities.
func scoreOne(t testing.TB, o refract.Options, m metrics.Metric, s *refract.Segment) *refract.MetricScores {
	t.Helper()
	out, err := engine(t, o, []metrics.Metric{m}, "single", "native").Score(t.Context(), []*refract.Segment{s})
	if err != nil {
		t.Fatal(err)
	}
	return &out[0].Metrics[0]
}

// reduce aggregates a matrix of a metric.
func reduce(t testing.TB, m metrics.Metric, ms *refract.MetricScores, agg string, p aggregate.Policy, h int) (refract.Reduced, error) {
	t.Helper()
	e, err := refract.NewEngine(cross(t, []metrics.Metric{m}, agg), refract.Options{Missing: p})
	if err != nil {
		t.Fatal(err)
	}
	return e.Reducer().ReduceMatrix(ms, 0, h)
}

// sameScores compares scores bit by bit.
func sameScores(a, b *refract.MetricScores) bool {
	same := func(a, b []float64) bool {
		return (a == nil) == (b == nil) && slices.EqualFunc(a, b, func(x, y float64) bool {
			return math.Float64bits(x) == math.Float64bits(y)
		})
	}
	return a.Columns == b.Columns && same(a.Values, b.Values) && slices.Equal(a.Status, b.Status) &&
		same(a.Native, b.Native) && slices.Equal(a.NativeStatus, b.NativeStatus) && same(a.First, b.First) && same(a.All, b.All)
}

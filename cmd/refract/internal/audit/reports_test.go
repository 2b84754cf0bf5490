package audit

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// explaining is a metric that returns the given reports.
type explaining struct {
	metrics.Metric
	name     string
	explains bool
}

func (e explaining) Info() metrics.Info {
	return metrics.Info{Name: e.name, Direction: metrics.HigherIsBetter, NeedsReferences: true, Explains: e.explains}
}

func TestReports(t *testing.T) {
	r := NewReports([]metrics.Metric{explaining{name: "mute"}, explaining{name: "talks", explains: true}})
	ms := r.Metrics()
	require.True(t, len(ms) == 1 && ms[0].Info().Name == "talks", "%v explain themselves", ms)
	scored := func(outcome analysis.Outcome, aspect string) *analysis.Report {
		return &analysis.Report{Outcome: outcome, Errors: []analysis.Error{{Location: "cat", Aspect: aspect, Place: analysis.InHypothesis, Span: analysis.Span{Start: 2, End: 5}}}}
	}
	var records bytes.Buffer
	for i, score := range []float64{-1, -7, -3} {
		s := &refract.SegmentScores{
			Segment: &refract.Segment{ID: fmt.Sprint("s", i), Hypotheses: []refract.Hypothesis{
				{System: "a", Text: refract.NewText("a cat <b>")}, {System: "b", Text: refract.NewText("fine")},
			}},
			Metrics: []refract.MetricScores{{}, {
				Columns: 2,
				Values:  []float64{score - 1, score, 0, 0},
				Status:  []metrics.Status{metrics.Scored, metrics.Scored, metrics.Scored, metrics.Unneeded},
				Reports: []*analysis.Report{scored(analysis.Scored, "far"), scored(analysis.Scored, "near"), {Outcome: analysis.NoError}, nil},
			}},
		}
		if i == 2 {
			s.Metrics[1].Status[2], s.Metrics[1].Reports[2] = metrics.MissingSource, &analysis.Report{Outcome: analysis.Unparseable}
		}
		require.NoError(t, r.Add(s, &records))
	}
	if lines := strings.Split(strings.TrimSpace(records.String()), "\n"); len(lines) != 9 ||
		!strings.HasPrefix(lines[1], `{"id":"s0","system":"a","metric":"talks","reference":1,"status":"scored"`) {
		t.Errorf("records:\n%s", records.String())
	}
	assert.NoError(t, r.Trust.Covered(0.2))
	if err := r.Trust.Covered(0.1); !errors.Is(err, ErrCoverage) || !strings.HasSuffix(err.Error(), "talks: 1 of 9 answers have no score (most of them: unparseable, 1), more than the share of 0.1 that is allowed") {
		t.Errorf("%v", err)
	}
}

package evidence

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/metrics/chrf"

	"github.com/stretchr/testify/require"
)

// A page that would be too large has the segments that tell most, in order, and says how many it leaves out.
func TestTelling(t *testing.T) {
	var settings []refract.Setting
	for _, a := range []string{"single", "max"} {
		of, err := aggregate.Parse(a)
		require.NoError(t, err)
		settings = append(settings, refract.Setting{Metric: chrf.Default(), Aggregator: of})
	}
	engine, err := refract.NewEngine(settings, refract.Options{})
	require.NoError(t, err)
	var segments refract.InMemory
	for i := range 40 {
		s := &refract.Segment{ID: string(rune('A' + i)), References: refract.Texts("red fox", "old mill"), Hypotheses: refract.Outputs(map[string]string{"a": "red box", "b": "mud"})}
		switch i {
		case 7: // the second reference decides
			s.Hypotheses[1].Text.Value = "old mill"
		case 30: // people and the metric disagree
			s.Judgements = []refract.Judgement{{Name: "mqm", System: "a", Score: -9, Valid: true}, {Name: "mqm", System: "b", Valid: true}}
		}
		segments = append(segments, s)
	}
	h := Hold(engine)
	require.NoError(t, engine.Run(t.Context(), segments, h.Add))
	shown := func() (ids []string, note string) {
		e := h.Explorer(t.Context(), "", nil)
		for s, err := range e.Segments {
			require.NoError(t, err)
			ids = append(ids, s.ID)
		}
		return ids, e.Note
	}
	if ids, note := shown(); len(ids) != 40 || note != "" {
		t.Errorf("%d segments, note %q", len(ids), note)
	}
	defer func(was float64) { mostBytes = was }(mostBytes)
	mostBytes = 500
	ids, note := shown()
	if len(ids) < 2 || len(ids) > 20 || !slices.IsSorted(ids) || !slices.Contains(ids, "H") || !slices.Contains(ids, "_") || !strings.Contains(note, "of 40 segments, and leaves out") {
		t.Errorf("%q, note %q", ids, note)
	}
	if nan := math.NaN(); footrule([]float64{1, 2, nan, 3}, []float64{3, 2, 1, 1}) != 1 || footrule([]float64{1, nan}, []float64{1, 1}) != 0 {
		t.Error("footrule")
	}
}

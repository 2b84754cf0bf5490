package correlate

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPairwiseAccuracy(t *testing.T) {
	tests := []struct {
		name         string
		gold, metric []float64
		value        float64
		pairs        int
	}{
		{"none", nil, nil, nan, 0},
		{"one", []float64{1}, []float64{1}, nan, 0},
		{"agree", []float64{1, 2, 3}, []float64{10, 20, 30}, 1, 3},
		{"one of three disagrees", []float64{1, 2, 3}, []float64{10, 30, 20}, 2.0 / 3, 3},
		{"tied in both", []float64{1, 1, 2}, []float64{5, 5, 6}, 1, 3},
		{"tied in gold only", []float64{1, 1, 2}, []float64{5, 6, 7}, 2.0 / 3, 3},
		{"all gold scores equal", []float64{1, 1}, []float64{5, 6}, nan, 1},
		{"tied in the metric only", []float64{1, 2}, []float64{5, 5}, 0, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			value, pairs := PairwiseAccuracy(test.gold, test.metric)
			if !near(value, test.value, 0) || pairs != test.pairs {
				t.Errorf("%v of %d pairs, want %v of %d", value, pairs, test.value, test.pairs)
			}
		})
	}
}

func TestSystemMeansTakeCellsWithBoth(t *testing.T) {
	p := NewPairs(3, 3)
	for _, c := range []struct {
		segment, system int
		gold, metric    float64
		goldOK, metrOK  bool
	}{
		{0, 0, 1, 10, true, true},
		{1, 0, 2, 20, true, true},
		{2, 0, 9, 90, false, true},
		{0, 1, 4, 40, true, false},
		{1, 1, 5, 50, true, true},
		{0, 2, 7, 70, true, false},
		{1, 2, 7, 70, false, true},
	} {
		i := p.Index(c.segment, c.system)
		p.Gold[i], p.GoldOK[i] = c.gold, c.goldOK
		p.Metric[i], p.MetricOK[i] = c.metric, c.metrOK
	}
	gold, metric, cells := SystemMeans(p)
	for i, want := range []struct {
		gold, metric float64
		cells        int
	}{{1.5, 15, 2}, {5, 50, 1}, {nan, nan, 0}} {
		if !near(gold[i], want.gold, 0) || !near(metric[i], want.metric, 0) || cells[i] != want.cells {
			t.Errorf("system %d: %v, %v of %d cells, want %v", i, gold[i], metric[i], cells[i], want)
		}
	}
	res, err := Measure{Statistic: StatAccuracy, Grouping: None}.Of(p)
	require.NoError(t, err)
	want := Result{Value: 1, N: 1, Groups: 2, Dropped: 1}
	assert.Equal(t, want, res)
}

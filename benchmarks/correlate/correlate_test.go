package correlate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// table makes a table from one string per segment: a cell is "gold/metric", one character
// each, and - is a missing score.
func table(t *testing.T, segments ...string) *Pairs {
	t.Helper()
	var p *Pairs
	for s, line := range segments {
		cells := strings.Fields(line)
		if p == nil {
			p = NewPairs(len(segments), len(cells))
		}
		for k, c := range cells {
			i := p.Index(s, k)
			p.GoldOK[i], p.MetricOK[i] = c[0] != '-', c[2] != '-'
			if p.GoldOK[i] {
				p.Gold[i] = float64(c[0] - '0')
			}
			if p.MetricOK[i] {
				p.Metric[i] = float64(c[2] - '0')
			}
		}
	}
	if p == nil {
		p = NewPairs(0, 0)
	}
	return p
}

func TestCorrelate(t *testing.T) {
	mixed := []string{
		"1/1 2/3 3/2", // tau 1/3
		"1/2 2/1 -/9", // tau -1
		"5/1 5/2 5/3", // gold is constant
		"4/4 -/1 2/-", // one pair
		"-/1 -/2 -/-", // none
	}
	tests := []struct {
		name      string
		segments  []string
		statistic Statistic
		grouping  Grouping
		want      Result
	}{
		{"by segment", mixed, StatKendall, BySegment, Result{
			Value: (1.0/3 - 1) / 2, N: 5,
			Groups: 2, Dropped: 3}},
		{"flattened", []string{"1/1 2/2", "3/4 4/-", "-/3 5/3"}, StatKendall, None, Result{
			Value: 4.0 / 6, N: 4, Groups: 1}},
		{"by system", []string{"1/1 2/2 -/1", "2/2 3/1 -/2", "3/3 -/4 -/3"}, StatSpearman, BySystem, Result{
			Value: 0, N: 5, Groups: 2, Dropped: 1}},
		{"flattened and undefined", []string{"1/1 1/2"}, StatPearson, None, Result{
			Value: nan, Dropped: 1}},
		{"every group undefined", []string{"1/1 1/2", "2/2 2/2"}, StatPearson, BySegment, Result{
			Value: nan, Dropped: 2}},
		{"no segments", nil, StatKendall, None, Result{Value: nan, Dropped: 1}},
		{"no segments, by segment", nil, StatKendall, BySegment, Result{Value: nan}},
		{"no gold", []string{"-/1 -/2"}, StatSpearman, None, Result{Value: nan, Dropped: 1}},
		{"accuracy", []string{"1/1 2/2 3/4", "1/1 2/2 3/0", "1/1 2/2 -/9"}, StatAccuracy, None, Result{
			Value: 2.0 / 3, N: 3, Groups: 3}},
		{"accuracy of one system", []string{"1/1", "2/2"}, StatAccuracy, None, Result{Value: nan, Groups: 1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := Measure{Statistic: test.statistic, Grouping: test.grouping}.Of(table(t, test.segments...))
			require.NoError(t, err)
			assert.True(t, near(got.Value, test.want.Value, 1e-15), "value %v, want %v", got.Value, test.want.Value)
			got.Value, test.want.Value = 0, 0
			assert.Equal(t, test.want, got)
		})
	}
}

func TestNilMasksMeanAllPresent(t *testing.T) {
	p := &Pairs{Segments: 3, Systems: 1, Gold: []float64{1, 2, 3}, Metric: []float64{1, 2, 4}}
	res, err := Measure{Statistic: StatKendall, Grouping: None}.Of(p)
	require.NoError(t, err)
	want := (Result{Value: 1, N: 3, Groups: 1})
	assert.Equal(t, want, res)
}

func TestCorrelateErrors(t *testing.T) {
	good := func() *Pairs { return table(t, "1/1 2/2", "3/3 4/-") }
	tests := []struct {
		name      string
		change    func(p *Pairs)
		statistic Statistic
		grouping  Grouping
		want      string
	}{
		{"short column", func(p *Pairs) { p.Metric = p.Metric[:3] }, StatKendall, None,
			"kendall: 3 metric scores for 2 segments × 2 systems: want 4"},
		{"short mask", func(p *Pairs) { p.GoldOK = p.GoldOK[:1] }, StatKendall, None,
			"the mask of the gold scores has 1 elements"},
		{"negative", func(p *Pairs) { p.Segments = -1 }, StatKendall, None, "-1 segments"},
		{"NaN", func(p *Pairs) { p.Gold[2] = nan }, StatPearson, BySystem,
			"segment 1, system 0 (from 0): the gold score is NaN: mark it as missing"},
		{"accuracy by segment", func(*Pairs) {}, StatAccuracy, BySegment, "use grouping none"},
		{"unknown statistic", func(*Pairs) {}, 99, None, "unknown statistic Statistic(99)"},
		{"unknown grouping", func(*Pairs) {}, StatKendall, 99, "unknown grouping Grouping(99)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := good()
			test.change(p)
			_, err := Measure{Statistic: test.statistic, Grouping: test.grouping}.Of(p)
			assert.ErrorContains(t, err, test.want)
			m := Measure{Statistic: test.statistic, Grouping: test.grouping}
			_, _, err = (Bootstrap{Resamples: 1}).Resample(t.Context(), m, p)
			assert.ErrorContains(t, err, test.want, "bootstrap: error")
		})
	}
	p := good()
	p.Metric[3] = nan // for a score that is missing anyway
	_, err := (Measure{Statistic: StatKendall, Grouping: None}).Of(p)
	assert.NoError(t, err, "a NaN under the mask")
}

func TestParse(t *testing.T) {
	for s := range Statistic(len(statistics)) {
		got, err := ParseStatistic(s.String())
		assert.True(t, got == s && err == nil, "ParseStatistic(%q) = %v, %v", s, got, err)
	}
	for g := range Grouping(len(groupingNames)) {
		got, err := ParseGrouping(g.String())
		assert.True(t, got == g && err == nil, "ParseGrouping(%q) = %v, %v", g, got, err)
	}
	for name, want := range map[string]string{
		"kendal":  `unknown statistic "kendal"; did you mean "kendall"? (known: ` + strings.Join(StatisticNames(), ", ") + `)`,
		"Pearson": `unknown statistic "Pearson"; did you mean "pearson"? (known: ` + strings.Join(StatisticNames(), ", ") + `)`,
		"":        `unknown statistic "" (known: ` + strings.Join(StatisticNames(), ", ") + `)`,
		"\x1b[2J": `unknown statistic "\x1b[2J" (known: ` + strings.Join(StatisticNames(), ", ") + `)`,
	} {
		_, err := ParseStatistic(name)
		assert.EqualError(t, err, want, "ParseStatistic(%q)", name)
	}
	want := `unknown grouping "segments"; did you mean "segment"? (known: none, segment, system)`
	_, err := ParseGrouping("segments")
	assert.EqualError(t, err, want, "ParseGrouping")
}

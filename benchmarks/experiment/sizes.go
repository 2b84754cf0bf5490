package experiment

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/refract-eval/refract/internal/yamlfile"
	"github.com/refract-eval/refract/report"
	"github.com/refract-eval/refract/report/figure"
)

// Sizes asks for statistics over random subsets of the segments: how many
// judgements a statistic needs.
type Sizes struct {
	Counts  []int `yaml:"counts"`  // of segments; none for no subsets
	Subsets int   `yaml:"subsets"` // of each count, 1 to MaxSeeds
}

// sizes reads the subsets of a file.
func (f *file) sizes(e *Plan) error {
	e.Sizes = f.Segments
	if e.Sizes.Subsets < 1 || e.Sizes.Subsets > MaxSeeds {
		return yamlfile.Wrong("segments.subsets", "%d: want 1 to %d", e.Sizes.Subsets, MaxSeeds)
	}
	for i, n := range e.Sizes.Counts {
		if err := least(at("segments.counts", i), n, 1); err != nil {
			return err
		}
	}
	e.Sizes.Counts = slices.Compact(slices.Sorted(slices.Values(e.Sizes.Counts)))
	return nil
}

// SizeResult is a statistic of a setting over subsets of so many segments.
type SizeResult struct {
	About
	Setting  SettingName `json:"setting"`
	Segments int         `json:"segments"`
	Subsets  int         `json:"subsets"` // with a value, which is their mean
	Value    Number      `json:"value"`
	Least    Number      `json:"least"` // and largest of them
	Largest  Number      `json:"largest"`
}

// sizes takes all statistics over subsets of the judged segments, which are the
// same for all settings, and a smaller one part of a larger one; last over all.
func (r *run) sizes(ctx context.Context, d *data, settings []*setting, res *Result) error {
	if len(r.p.Sizes.Counts) == 0 {
		return nil
	}
	var judged []int
	for i := range d.segments {
		if slices.Contains(d.gold.GoldOK[d.gold.Index(i, 0):d.gold.Index(i+1, 0)], true) {
			judged = append(judged, i)
		}
	}
	orders := make([][]int, r.p.Sizes.Subsets)
	for k := range orders {
		orders[k] = slices.Clone(judged)
		rng := rand.New(rand.NewPCG(r.p.Bootstrap.Seed, uint64(k)))
		rng.Shuffle(len(judged), func(i, j int) { orders[k][i], orders[k][j] = orders[k][j], orders[k][i] })
	}
	counts := append(slices.DeleteFunc(slices.Clone(r.p.Sizes.Counts), func(n int) bool { return n >= len(judged) }), len(judged))
	if most := slices.Max(r.p.Sizes.Counts); most > len(judged) {
		r.note("%s: no subset of %d segments, as %d are judged: the largest is of all", d.Name, most, len(judged))
	}
	r.progress("%s: subsets of segments", d.Name)
	n := len(r.p.Statistics) * len(counts)
	out := make([]SizeResult, len(settings)*n)
	err := parallel(ctx, len(out), func(ctx context.Context, i int) error {
		s, st, count := settings[i/n], r.p.Statistics[i%n/len(counts)], counts[i%len(counts)]
		of := &out[i]
		*of = SizeResult{About: d.about(st), Setting: s.name, Segments: count, Value: report.None(), Least: report.None(), Largest: report.None()}
		subsets := orders
		if count == len(judged) {
			subsets = orders[:1]
		}
		var values []Number
		for _, order := range subsets {
			part := &stratum{segments: make([]bool, len(d.segments))}
			for _, k := range order[:count] {
				part.segments[k] = true
			}
			est, err := r.estimate(ctx, s.table.within(part), st, 0)
			if err != nil {
				return fmt.Errorf("%s, %d segments: %w", s.name, count, err)
			}
			if est.Value.Defined() {
				values = append(values, est.Value)
			}
		}
		if of.Subsets = len(values); of.Subsets == 0 {
			return nil
		}
		of.Value, of.Least, of.Largest = 0, slices.Min(values), slices.Max(values)
		for _, v := range values {
			of.Value += v / Number(len(values))
		}
		return nil
	})
	res.Sizes = append(res.Sizes, out...)
	return err
}

func (r *Result) sizeTable(sizes ...*SizeResult) *report.NamedTable {
	t := &report.NamedTable{Title: "Agreement by the number of segments", Columns: []report.Column{
		{Name: "dataset"}, {Name: "metric"}, {Name: "set", Header: "references"}, {Name: "aggregate"}, {Name: "statistic"},
		countColumn("segments", ""), valueColumn("value"), {Name: "band", Kind: report.KindInterval, Digits: 4}, minorCount("subsets"),
	}}
	for _, s := range sizes {
		t.Add(s.Dataset, s.Setting.Metric, report.StringOrNull(s.Setting.References), report.StringOrNull(s.Setting.Aggregator), s.Statistic,
			s.Segments, s.Value, report.Interval(float64(s.Least), float64(s.Largest)), s.Subsets)
	}
	t.Notes = []string{"value: mean over random subsets of the judged segments, the same for all settings; band: the least and the largest of them"}
	return t
}

// sizeFigures has a line per setting.
func (r *Result) sizeFigures() []Figure {
	of := func(s *SizeResult) (*About, string) { return &s.About, s.Setting.Metric }
	return lineFigures(r, r.Sizes, of, "segments", "segments", func(sizes []*SizeResult, f *Figure) *figure.Lines {
		panel := &figure.Lines{}
		for _, line := range groupsOf(sizes, func(s *SizeResult) (SettingName, bool) { return s.Setting, true }) {
			name := line[0].Setting
			name.Metric = ""
			series := figure.Series{Name: name.String()}
			for _, p := range line {
				series.Points = append(series.Points, figure.Point{X: float64(p.Segments), Y: float64(p.Value), Low: float64(p.Least), High: float64(p.Largest)})
			}
			panel.Series = append(panel.Series, series)
		}
		f.Kind, f.Data, f.Alt = SizeFigure, r.sizeTable(sizes...), "setting, with the band over random subsets"
		return panel
	})
}

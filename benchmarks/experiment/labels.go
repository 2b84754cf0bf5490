package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/internal/english"
)

// Labels asks for the mean judgements of systems of which only some segments are judged.
type Labels struct {
	Always  bool   // also where every segment is judged
	Against string // system that the others are compared with; "" for the first
	Pairs   bool   // differences of all pairs, instead of means and differences from one system
}

// MeanJudgement is a system's mean judgement, or the difference of two systems, from the judged
// segments and a setting's scores of all; see [significance.Labels]. Its unit is the judgements'.
type MeanJudgement struct {
	Dataset           string      `json:"dataset"`
	Human             string      `json:"human"`
	Setting           SettingName `json:"setting"`
	System            string      `json:"system"`
	Minus             string      `json:"minus"`     // the other system of a difference, or ""
	Judged            int         `json:"judged"`    // segments with a judgement and a score
	Of                int         `json:"of"`        // segments with a score
	Unscored          int         `json:"unscored"`  // judged segments without a score, which are left out
	Units             int         `json:"units"`     // documents or segments with a judgement
	Classical         Number      `json:"classical"` // of only the judgements
	ClassicalInterval *Range      `json:"classical_interval"`
	Value             Number      `json:"value"` // with the scores
	Interval          *Range      `json:"interval"`
	Weight            Number      `json:"weight"`    // of the scores, 0 to 1
	Effective         Number      `json:"effective"` // judgements that would be as good without scores

	alike float64 // p-value that the judged segments are like the rest
}

// name is what is estimated, such as "mine - base".
func (m *MeanJudgement) name() string {
	if m.Minus == "" {
		return m.System
	}
	return m.System + " - " + m.Minus
}

// labels estimates mean judgements under all settings.
func (r *run) labels(_ context.Context, d *data, settings []*setting, res *Result) error {
	if r.p.Labels == nil {
		return nil
	}
	against := 0
	unit, units, err := r.p.Bootstrap.UnitsOf(d.places)
	if name := r.p.Labels.Against; err == nil && name != "" {
		if against, err = english.Index("system", name, d.systems); err != nil {
			err = planErrorf("against: %w", err)
		}
	}
	if err != nil {
		return err
	}
	first := len(res.Labels)
	for _, s := range settings {
		add := func(a, b int) {
			m, l := s.table.labels(a, b, units)
			if m.Judged < m.Of || r.p.Labels.Always {
				m.Dataset, m.Human, m.Setting = d.Name, d.human, s.name
				if err := m.estimate(l, r.p.Bootstrap.Confidence, d.turned); err != nil {
					r.note("%s: no interval for %s: %v", s.name, m.name(), err)
				}
				res.Labels = append(res.Labels, *m)
			}
		}
		for a := range d.systems {
			if !r.p.Labels.Pairs {
				add(a, -1)
			}
		}
		for a := range d.systems {
			for b := range d.systems {
				if r.p.Labels.Pairs && a < b || !r.p.Labels.Pairs && b == against && a != b {
					add(a, b)
				}
			}
		}
	}
	r.tellLabels(d, res.Labels[first:], unit)
	return nil
}

// labels returns what is known of a system's mean judgement, or of the difference of two systems
// if b is not negative. A segment in which only one of the two is judged counts as not judged.
func (t *table) labels(a, b int, units correlate.Units) (*MeanJudgement, *significance.Labels) {
	m := &MeanJudgement{System: t.data.systems[a]}
	l := &significance.Labels{Human: make([]float64, 0, t.Segments), Metric: make([]float64, 0, t.Segments), Unit: make([]int32, 0, t.Segments)}
	if b >= 0 {
		m.Minus = t.data.systems[b]
	}
	for i := range t.Segments {
		x := t.Index(i, a)
		human, metric, judged, scored, unit := t.Gold[x], t.Metric[x], t.GoldOK[x], t.MetricOK[x], int32(i)
		if b >= 0 {
			y := t.Index(i, b)
			human, metric, judged, scored = human-t.Gold[y], metric-t.Metric[y], judged && t.GoldOK[y], scored && t.MetricOK[y]
		}
		if units != nil {
			unit = units[i]
		}
		switch {
		case judged && scored:
			l.Human, l.Metric, l.Unit = append(l.Human, human), append(l.Metric, metric), append(l.Unit, unit)
		case scored:
			l.Rest, l.RestUnit = append(l.Rest, metric), append(l.RestUnit, unit)
		case judged:
			m.Unscored++
		}
	}
	m.Judged, m.Of = len(l.Human), len(l.Human)+len(l.Rest)
	return m, l
}

// estimate fills in the numbers. turned takes a judgement back to the unit of the data.
func (m *MeanJudgement) estimate(l *significance.Labels, confidence float64, turned func(float64) float64) error {
	m.Classical, m.Value, m.Weight, m.Effective, m.alike = None(), None(), None(), None(), 1
	e, err := l.Mean(confidence)
	if err != nil {
		if e.Judged > 0 {
			m.Units, m.Classical = e.Units, Number(turned(e.Classical.Value))
		}
		return err
	}
	in := func(of significance.Mean) (Number, *Range) {
		low, high := turned(of.Low), turned(of.High)
		return Number(turned(of.Value)), &Range{Low: Number(min(low, high)), High: Number(max(low, high))}
	}
	m.Classical, m.ClassicalInterval = in(e.Classical)
	m.Value, m.Interval = in(e.Powered)
	m.Units, m.Weight, m.Effective, m.alike = e.Units, Number(e.Weight), Number(e.Effective), e.Alike
	return nil
}

// tellLabels says how the means were estimated, and where that is in doubt.
func (r *run) tellLabels(d *data, all []MeanJudgement, unit string) {
	if len(all) == 0 {
		return
	}
	var alike []float64
	var asked []*MeanJudgement
	for i := range all {
		m := &all[i]
		if m.Minus == "" || r.p.Labels.Pairs {
			asked, alike = append(asked, m), append(alike, m.alike)
		}
		if m.Unscored > 0 {
			r.note("%s, %s: %s without a score left out", m.Setting, m.name(), english.Count(m.Unscored, "judged segment"))
		}
	}
	var differ []string
	for i, p := range significance.Holm(alike) {
		if p < 1-r.p.Bootstrap.Confidence {
			differ = append(differ, fmt.Sprintf("%s by %s", asked[i].name(), asked[i].Setting))
		}
	}
	const most = 3
	if n := len(differ); n > most {
		differ = append(differ[:most], fmt.Sprintf("and %d more", n-most))
	}
	if len(differ) > 0 {
		r.note("%s: the judged segments differ from the rest in their mean score (%s): if they are no random draw, the estimates are wrong", d.Name, strings.Join(differ, ", "))
	}
	var useless []SettingName
	for _, m := range all {
		gains := func(o MeanJudgement) bool {
			return o.Setting == m.Setting && !(o.Effective <= Number(o.Judged) && o.Judged < o.Of)
		}
		if !slices.Contains(useless, m.Setting) && !slices.ContainsFunc(all, gains) {
			useless = append(useless, m.Setting)
			r.note("%s saves no label here", m.Setting)
		}
	}
	if !slices.ContainsFunc(all, func(m MeanJudgement) bool { return m.Judged < m.Of }) {
		r.note("every segment is judged: scores add nothing to the means")
	}
	r.note("the judged segments must be a random draw of all; intervals: %g%%, by Student's t over %ss with a judgement; labels: how many judgements would be as good without the scores", 100*r.p.Bootstrap.Confidence, unit)
}

package experiment

import (
	"fmt"
	"math"
	"slices"

	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/internal/suggest"
	"github.com/refract-eval/refract/internal/yamlfile"
)

func (f *file) statistics(e *Experiment) error {
	entries := f.Statistics
	if len(entries) == 0 {
		entries = []statistic{{Statistic: "kendall"}, {Statistic: "accuracy"}}
	}
	for i, entry := range entries {
		field := fmt.Sprintf("statistics[%d]", i)
		s, err := entry.parse(field)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(e.Statistics, func(t Statistic) bool { return t == s }) {
			return yamlfile.Wrong(field, "%s is given twice", s.Label())
		}
		e.Statistics = append(e.Statistics, s)
	}
	return nil
}

func (s *statistic) parse(field string) (Statistic, error) {
	out := Statistic{Measure: correlate.Measure{ZeroUndefined: s.ZeroUndefined, Threshold: s.Threshold}}
	if s.Statistic == preferenceName {
		if s.Group != "" || s.Level != "" && s.Level != correlate.SegmentLevel.String() {
			return out, yamlfile.Wrong(field, "preference is of the pairs of a segment, and has no other group or level")
		}
		out.Preference = true
		out.Measure = correlate.Measure{Statistic: correlate.StatKendall, Grouping: correlate.BySegment, ZeroUndefined: true}
		return out, nil
	}
	var err error
	if out.Measure.Statistic, err = correlate.ParseStatistic(s.Statistic); err != nil {
		return out, yamlfile.Wrong(field, "%w, or %s", err, preferenceName)
	}
	if out.Grouping, err = correlate.ParseGrouping(or(s.Group, correlate.None.String())); err != nil {
		return out, yamlfile.Wrong(field+".group", "%w", err)
	}
	if out.Level, err = correlate.ParseLevel(or(s.Level, correlate.SegmentLevel.String())); err != nil {
		return out, yamlfile.Wrong(field+".level", "%w", err)
	}
	if out.Measure.Statistic.OfSystems() {
		if out.Grouping != correlate.None || s.Level != "" && out.Level != correlate.SystemLevel {
			return out, yamlfile.Wrong(field, "%v compares systems by their segments, and has no other group or level", out.Measure.Statistic)
		}
		out.Level = correlate.SystemLevel
	}
	if out.Level == correlate.SystemLevel && out.Grouping != correlate.None {
		return out, yamlfile.Wrong(field+".group", "%v: at system level there is one score a system, and nothing to group", out.Grouping)
	}
	if s.Threshold < 0 || math.IsNaN(s.Threshold) {
		return out, yamlfile.Wrong(field+".threshold", "%v: want a positive number", s.Threshold)
	}
	return out, nil
}

func (f *file) bootstrap(e *Experiment) error {
	e.Bootstrap = Bootstrap{defaultResamples, defaultConfidence, defaultSeed}
	b := f.Bootstrap
	if b.Resamples != nil {
		e.Bootstrap.Resamples = *b.Resamples
	}
	if b.Confidence != nil {
		e.Bootstrap.Confidence = *b.Confidence
	}
	if b.Seed != nil {
		e.Bootstrap.Seed = *b.Seed
	}
	if e.Bootstrap.Resamples < 0 {
		return yamlfile.Wrong("bootstrap.resamples", "%d: want 0 or more", e.Bootstrap.Resamples)
	}
	if c := e.Bootstrap.Confidence; !(c > 0 && c < 1) {
		return yamlfile.Wrong("bootstrap.confidence", "%v: want a share between 0 and 1", c)
	}
	return nil
}

func (f *file) significance(e *Experiment) error {
	t := f.Significance
	e.Test = Test{Resamples: defaultResamples, Block: t.Block, Seed: e.Bootstrap.Seed}
	var err error
	if e.Test.Method, err = significance.ParseMethod(or(t.Method, significance.MethodPermBoth.String())); err != nil {
		return yamlfile.Wrong("significance.method", "%w", err)
	}
	if t.Resamples != nil {
		e.Test.Resamples = *t.Resamples
	}
	if e.Test.Resamples < 0 {
		return yamlfile.Wrong("significance.resamples", "%d: want 0 or more", e.Test.Resamples)
	}
	if t.Block < 0 {
		return yamlfile.Wrong("significance.block", "%d: want 0 or more", t.Block)
	}
	for i, s := range e.Statistics {
		if err := e.Test.Method.Takes(s.Measure); err != nil && t.Method != "" {
			return yamlfile.Wrong(fmt.Sprintf("statistics[%d]", i), "%w", err)
		}
	}
	return nil
}

func (f *file) comparisons(e *Experiment) error {
	for i, c := range f.Comparisons {
		var pair Comparison
		for k, s := range []settingEntry{c.A, c.B} {
			field := fmt.Sprintf("comparisons[%d].%c", i, 'a'+k)
			known := make([]string, len(e.Sets))
			for j := range e.Sets {
				known[j] = e.Sets[j].Name
			}
			if !slices.Contains(known, s.References) {
				return yamlfile.Wrong(field+".references", "%s", suggest.Unknown("set of references", s.References, known))
			}
			a, err := aggregate.Parse(s.Aggregator)
			if err != nil {
				return yamlfile.Wrong(field+".aggregator", "%w", err)
			}
			if !slices.ContainsFunc(e.Aggregators, func(b aggregate.Aggregator) bool { return a.Name() == b.Name() }) {
				return yamlfile.Wrong(field+".aggregator", "%s is not among the aggregators of the experiment", a.Name())
			}
			if s.Metric != "" && !slices.Contains(e.Metrics, s.Metric) {
				return yamlfile.Wrong(field+".metric", "%s", suggest.Unknown("metric", s.Metric, e.Metrics))
			}
			name := SettingName{s.Metric, s.References, a.Name()}
			if k == 0 {
				pair.A = name
			} else {
				pair.B = name
			}
		}
		if (pair.A.Metric == "") != (pair.B.Metric == "") {
			return yamlfile.Wrong(fmt.Sprintf("comparisons[%d]", i), "one setting has a metric and the other has none; name both or neither")
		}
		if pair.A == pair.B {
			return yamlfile.Wrong(fmt.Sprintf("comparisons[%d]", i), "a setting is compared with itself")
		}
		e.Comparisons = append(e.Comparisons, pair)
	}
	return nil
}

func (f *file) curves(e *Experiment) error {
	for i, c := range f.Curves {
		field := fmt.Sprintf("curves[%d]", i)
		m, err := selection.ParseMethod(or(c.By, selection.ByOrder.String()))
		if err != nil {
			return yamlfile.Wrong(field+".by", "%w", err)
		}
		out := Curve{Method: m, Seeds: 1, Counts: slices.Clone(c.Counts), Resamples: e.Bootstrap.Resamples}
		if m == selection.ByRandom {
			out.Seeds, out.Resamples = defaultSeeds, min(out.Resamples, defaultCurveResamples)
		}
		switch {
		case c.Seeds != nil && m != selection.ByRandom:
			return yamlfile.Wrong(field+".seeds", "%s has one order only", m)
		case c.Seeds != nil && *c.Seeds < 1:
			return yamlfile.Wrong(field+".seeds", "%d: want 1 or more", *c.Seeds)
		case c.Seeds != nil:
			out.Seeds = *c.Seeds
		}
		if c.Resamples != nil {
			if out.Resamples = *c.Resamples; out.Resamples < 0 {
				return yamlfile.Wrong(field+".resamples", "%d: want 0 or more", out.Resamples)
			}
		}
		for k, n := range out.Counts {
			if n < 0 {
				return yamlfile.Wrong(fmt.Sprintf("%s.counts[%d]", field, k), "%d: want 0 or more", n)
			}
		}
		slices.Sort(out.Counts)
		out.Counts = slices.Compact(out.Counts)
		if out.Aggregators, err = aggregators(field+".aggregators", c.Aggregators); err != nil {
			return err
		}
		if len(c.Aggregators) == 0 {
			for _, a := range e.Aggregators {
				if !a.Single() && !a.Native() {
					out.Aggregators = append(out.Aggregators, a)
				}
			}
		}
		if len(out.Aggregators) == 0 {
			return yamlfile.Wrong(field, "no aggregator to draw a curve of; name some, such as aggregators: [max]")
		}
		if slices.ContainsFunc(e.Curves, func(d Curve) bool { return d.Method == m }) {
			return yamlfile.Wrong(field+".by", "%s is given twice", m)
		}
		e.Curves = append(e.Curves, out)
	}
	return nil
}

// The analyses that a file may name.
var analysisNames = []string{"prompts", "strata", "ranking"}

func (f *file) analyses(e *Experiment) error {
	wanted := analysisNames
	if f.Analyses != nil {
		wanted = *f.Analyses
	}
	for i, name := range wanted {
		switch name {
		case "prompts":
			e.Prompts = true
		case "strata":
			e.Strata = true
		case "ranking":
			e.Ranking = true
		default:
			return yamlfile.Wrong(fmt.Sprintf("analyses[%d]", i), "%s", suggest.Unknown("analysis", name, analysisNames))
		}
	}
	return nil
}

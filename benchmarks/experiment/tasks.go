package experiment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/yamlfile"
)

// Task ranks all settings of a dataset under one statistic. The results of all
// tasks are averaged.
type Task struct {
	Dataset string
	Domain  string // "" for all segments
	Statistic
	Method significance.Method
	Weight float64 // among all tasks
}

// allDomains means all segments in the domains of tasks.
const allDomains = "all"

// taskEntry is the form of tasks in a file: one task for each of its datasets, domains,
// levels, groups and statistics.
type taskEntry struct {
	Datasets   names    `yaml:"dataset"` // empty means all
	Domains    names    `yaml:"domain"`
	Levels     names    `yaml:"level"`
	Groups     names    `yaml:"group"`
	Statistics names    `yaml:"statistic"`
	Test       string   `yaml:"test"`
	Weight     *float64 `yaml:"weight"` // of all its tasks together

	ZeroUndefined bool `yaml:"zero_undefined"`
}

// tasks reads the tasks of a file.
func (f *file) tasks(e *Plan) error {
	var known []string
	for _, d := range e.Datasets {
		known = append(known, d.Name)
	}
	for i, entry := range f.Tasks {
		field := at("tasks", i)
		if len(entry.Statistics) == 0 {
			return yamlfile.Wrong(field, "no statistic; write such as statistic: soft-accuracy")
		}
		for _, name := range entry.Datasets {
			if !slices.Contains(known, name) {
				return yamlfile.Wrong(field+".dataset", "%s", english.Unknown("dataset", name, known))
			}
		}
		first := len(e.Tasks)
		for _, dataset := range filled(entry.Datasets, known) {
			for _, domain := range filled(entry.Domains, names{allDomains}) {
				for _, level := range filled(entry.Levels, names{""}) {
					for _, group := range filled(entry.Groups, names{""}) {
						for _, name := range entry.Statistics {
							s := statistic{Statistic: name, Level: level, Group: group, ZeroUndefined: entry.ZeroUndefined}
							t, err := f.task(field, &s, entry.Test)
							if err != nil {
								return err
							}
							if t.Dataset = dataset; domain != allDomains {
								t.Domain = domain
							}
							if slices.ContainsFunc(e.Tasks, func(o Task) bool {
								return o.Dataset == t.Dataset && o.Domain == t.Domain && o.Statistic == t.Statistic
							}) {
								return yamlfile.Wrong(field, "the task %s is given twice", t.label())
							}
							e.Tasks = append(e.Tasks, t)
						}
					}
				}
			}
		}
		n := float64(len(e.Tasks) - first)
		weight := n
		if entry.Weight != nil {
			weight = *entry.Weight
		}
		if !(weight > 0 && weight < 1e9) {
			return yamlfile.Wrong(field+".weight", "%v: want a positive number", weight)
		}
		for k := first; k < len(e.Tasks); k++ {
			e.Tasks[k].Weight = weight / n
		}
	}
	return nil
}

// task reads the statistic of a task and its test: the file's; mt-metrics-eval's if the
// file asks for its one-sided p-values; and otherwise the valid test.
func (f *file) task(field string, s *statistic, test string) (t Task, err error) {
	if t.Statistic, err = s.parse(field); err != nil {
		return t, err
	}
	usual := significance.MethodAuto
	switch {
	case f.Significance.OneSided && t.Measure.Statistic.Calibrated():
		usual = significance.MethodPermPairs
	case f.Significance.OneSided:
		usual = significance.MethodPermBoth
	}
	if t.Method, err = parsed(field+".test", cmp.Or(test, f.Significance.Method, usual.String()), significance.ParseMethod); err != nil {
		return t, err
	}
	if t.Method, err = t.Method.For(t.Measure, t.Level); err != nil {
		return t, yamlfile.Wrong(field, "%w", err)
	}
	return t, nil
}

// label names a task uniquely.
func (t *Task) label() string {
	return strings.Join(slices.DeleteFunc([]string{t.Dataset, t.Domain, t.Label()}, func(s string) bool { return s == "" }), ", ")
}

// TaskResult is the result of a task.
type TaskResult struct {
	About
	Domain  string      `json:"domain"` // "" for all segments
	Label   string      `json:"label"`
	Weight  float64     `json:"weight"`
	Test    string      `json:"test"` // "" if there was none: ranks are by value
	Entries []TaskEntry `json:"entries"`
}

// TaskEntry is a setting's result in a task.
type TaskEntry struct {
	Setting SettingName `json:"setting"` // the same name in all datasets
	Value   Number      `json:"value"`
	Rank    int         `json:"rank"` // 0 if the value is undefined
	Missing int         `json:"missing"`
}

// Standing is the result of a setting over all tasks.
type Standing struct {
	Setting     SettingName `json:"setting"`
	Average     Number      `json:"average"` // of the values, each scaled to [0, 1]
	AverageRank Number      `json:"average_rank"`
	Rank        int         `json:"rank"` // by significance of the differences of averages; 0 if there is none
}

// tasks runs the tasks of a dataset.
func (r *run) tasks(ctx context.Context, d *data, settings []*setting, res *Result) error {
	if res.Tasks == nil && len(r.p.Tasks) > 0 {
		res.Tasks, r.done = make([]TaskResult, len(r.p.Tasks)), make([]significance.Task, len(r.p.Tasks))
	}
	for i := range r.p.Tasks {
		t := &r.p.Tasks[i]
		if t.Dataset != d.Name {
			continue
		}
		r.progress(d.Name, "task %s", t.label())
		c, tables, err := r.task(ctx, d, settings, t)
		if err != nil {
			return fmt.Errorf("task %s: %w", t.label(), err)
		}
		out := TaskResult{About: d.about(t.Statistic), Domain: t.Domain, Label: t.label(), Weight: t.Weight}
		if r.p.Test.Resamples > 0 {
			method, err := r.taskMethod(tables, t)
			if err != nil {
				return err
			}
			out.Test = method.String()
		}
		done := significance.Task{Comparison: c, Weight: t.Weight, Least: t.Measure.Statistic.Lowest(), Most: 1}
		for k, s := range settings {
			name := s.name
			name.Metric = cmp.Or(s.series.shared, name.Metric)
			at := slices.Index(r.entrants, name)
			if at < 0 {
				at, r.entrants = len(r.entrants), append(r.entrants, name)
			}
			done.Settings = append(done.Settings, at)
			judged, scored := tables[k].judged()
			out.Entries = append(out.Entries, TaskEntry{name, Number(c.Values[k]), c.Ranks[k], judged - scored})
		}
		res.Tasks[i], r.done[i] = out, done
	}
	return nil
}

// task ranks the settings of a dataset.
func (r *run) task(ctx context.Context, d *data, settings []*setting, t *Task) (*significance.Comparison, []*table, error) {
	part, o := d.domain(t.Domain), r.options(d)
	o.Draws = r.p.Pairing != EveryPair
	var tables []*table
	parts := []any{d.describe(t.Statistic), t.Method, o, r.p.Bootstrap}
	for _, s := range settings {
		of := s.table
		if part != nil {
			of = of.within(part)
		}
		if err := testable(t.Method, t.Statistic, of); err != nil && o.Resamples > 0 {
			return nil, nil, err
		}
		tables, parts = append(tables, of), append(parts, of.key())
	}
	c, err := r.matrices.get(keyOf(parts...), func() (*significance.Comparison, error) {
		prepared, err := r.ofTask(tables, t.Statistic)
		if err != nil {
			return nil, err
		}
		if o.Resamples == 0 {
			return significance.ByValue(prepared, t.Measure)
		}
		method, err := r.taskMethod(tables, t)
		if err != nil {
			return nil, err
		}
		alpha := 1 - r.p.Bootstrap.Confidence
		if r.p.Pairing != EveryPair && method != significance.MethodBootstrap {
			return significance.Matrix(ctx, method, prepared, t.Measure, alpha, o)
		}
		return significance.MatrixOf(prepared, t.Measure, alpha, o, func(a, b int) (significance.Result, error) {
			x, y := aligned(tables[a], tables[b])
			res, err := r.test(ctx, method, x, y, t.Statistic, o)
			if err != nil || r.p.Pairing != EveryPair {
				return res, err
			}
			p, err := r.paired(ctx, x, y, t.Statistic, r.p.Bootstrap.Resamples)
			if err == nil {
				res.Interval = computed(p.resamples(), r.p.Bootstrap.Confidence)
			}
			return res, err
		})
	})
	return c, tables, err
}

// taskMethod returns the test of a task: a folder's own scores of systems have no segments
// that could be drawn.
func (r *run) taskMethod(tables []*table, t *Task) (significance.Method, error) {
	method, err := t.Method.For(t.Measure, t.Level)
	own := func(of *table) bool { return r.takesOwn(of, t.Statistic) }
	if method == significance.MethodBootstrap && slices.ContainsFunc(tables, own) {
		return significance.MethodPermBoth, nil
	}
	return method, err
}

// hasDomain reports a task whose domain no segment has.
func (d *data) hasDomain(t *Task) error {
	var known []string
	for _, p := range d.places {
		if p.Domain != "" && !slices.Contains(known, p.Domain) {
			known = append(known, p.Domain)
		}
	}
	switch {
	case t.Domain == "" || slices.Contains(known, t.Domain):
		return nil
	case len(known) == 0:
		return planErrorf("task %s: no domain %q: no segment has one", t.label(), t.Domain)
	}
	return planErrorf("task %s: %s", t.label(), english.Unknown("domain", t.Domain, known))
}

// domain returns which segments belong to a domain; nil for all.
func (d *data) domain(name string) []bool {
	if name == "" {
		return nil
	}
	out := make([]bool, len(d.places))
	for i, p := range d.places {
		out[i] = p.Domain == name
	}
	return out
}

// ofTask returns the tables that a task compares. A folder's own scores of systems are
// compared with other metrics' means if the judgements of all are the same.
func (r *run) ofTask(tables []*table, st Statistic) ([]*correlate.Pairs, error) {
	var out []*correlate.Pairs
	for _, t := range tables {
		p, err := t.prepared(st)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	if !slices.ContainsFunc(tables, func(t *table) bool { return r.takesOwn(t, st) }) {
		return out, nil
	}
	var systems []*correlate.Pairs
	for _, t := range tables {
		p := t.own
		if p == nil {
			means, err := t.At(correlate.SystemLevel, t.data.places)
			if err != nil {
				return nil, err
			}
			p = &correlate.Pairs{Segments: 1, Systems: t.Systems, Gold: means.Gold, GoldOK: means.GoldOK, Metric: means.Metric, MetricOK: means.MetricOK}
		}
		if systems = append(systems, p); !slices.Equal(p.Gold, systems[0].Gold) {
			return out, nil
		}
	}
	return systems, nil
}

// standings averages the tasks.
func (r *run) standings(res *Result) {
	if len(r.done) == 0 {
		return
	}
	for _, s := range significance.Average(r.done, 1-r.p.Bootstrap.Confidence, significance.Options{OneSided: r.p.Test.OneSided}) {
		res.Standings = append(res.Standings, Standing{r.entrants[s.Setting], Number(s.Value), Number(s.Rank), s.Cluster})
	}
	var without []string
	for _, name := range r.entrants {
		if !slices.ContainsFunc(res.Standings, func(s Standing) bool { return s.Setting == name }) {
			without = append(without, name.String())
		}
	}
	if len(without) > 0 {
		r.note("tasks: not in the average, as they have no value in every task: %s", strings.Join(without, ", "))
	}
}

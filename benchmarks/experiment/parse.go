package experiment

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/yamlfile"
)

// file is the format of an experiment's file.
type file struct {
	Name         string       `yaml:"name"`
	Datasets     []Dataset    `yaml:"datasets"`
	References   []setEntry   `yaml:"references"`
	Metrics      []string     `yaml:"metrics"`
	Aggregators  []string     `yaml:"aggregators"`
	Missing      string       `yaml:"missing"`
	Statistics   []statistic  `yaml:"statistics"`
	Bootstrap    Bootstrap    `yaml:"bootstrap"`
	Significance testEntry    `yaml:"significance"`
	Comparisons  []Comparison `yaml:"comparisons"`
	Against      string       `yaml:"against"`
	Curves       []curveEntry `yaml:"curves"`
	Tasks        []taskEntry  `yaml:"tasks"`
	Analyses     []string     `yaml:"analyses"`
}

// The analyses that a file may name.
var analysisNames = []string{"prompts", "ranking", "worth", "labels"}

const defaultSeed = 12345

// defaults returns the format with default values.
func defaults() *file {
	return &file{
		References:   []setEntry{{Use: originalSet}, {Use: AllReferences}},
		Missing:      aggregate.Exclude.String(),
		Statistics:   []statistic{{Statistic: "kendall"}, {Statistic: "accuracy"}},
		Bootstrap:    Bootstrap{Resamples: 1000, Confidence: 0.95, Seed: defaultSeed},
		Significance: testEntry{Resamples: 1000},
		Analyses:     analysisNames[:2], // the others run only on request
	}
}

type testEntry struct {
	Method    string `yaml:"method"`
	Resamples int    `yaml:"resamples"`
	Block     int    `yaml:"block"`
	OneSided  bool   `yaml:"one_sided"`
}

type curveEntry struct {
	By          string   `yaml:"by"`
	Seeds       *int     `yaml:"seeds"`
	Counts      []int    `yaml:"counts"`
	Aggregators []string `yaml:"aggregators"`
	Resamples   *int     `yaml:"resamples"`
}

// statistic is a name or a mapping.
type statistic struct {
	Statistic     string `yaml:"statistic"`
	Group         string `yaml:"group"`
	Level         string `yaml:"level"`
	ZeroUndefined bool   `yaml:"zero_undefined"`
}

// UnmarshalYAML reads either form.
func (s *statistic) UnmarshalYAML(node ast.Node) error {
	type plain statistic
	return eitherForm(node, &s.Statistic, (*plain)(s))
}

// setEntry is the name of a kind, or a mapping with one of the other kinds.
type setEntry struct {
	Name    string `yaml:"name"`
	Use     string `yaml:"use"`
	First   int    `yaml:"first"`
	Prompts names  `yaml:"prompts"`
}

// UnmarshalYAML reads either form.
func (s *setEntry) UnmarshalYAML(node ast.Node) error {
	type plain setEntry
	return eitherForm(node, &s.Use, (*plain)(s))
}

// eitherForm reads a name, or a mapping.
func eitherForm(node ast.Node, name *string, mapping any) error {
	if _, ok := node.(*ast.StringNode); ok {
		return yaml.NodeToValue(node, name)
	}
	return yaml.NodeToValue(node, mapping, yaml.Strict())
}

// names is one name or a list.
type names []string

// UnmarshalYAML reads either form.
func (n *names) UnmarshalYAML(node ast.Node) error {
	if _, ok := node.(*ast.SequenceNode); ok {
		return yaml.NodeToValue(node, (*[]string)(n))
	}
	*n = names{""}
	return yaml.NodeToValue(node, &(*n)[0])
}

// Parse reads an experiment from YAML. It is strict: unknown fields and names are errors
// that say file, line and field. path is the path of the file; relative paths start from
// its folder.
func Parse(path string, r io.Reader) (*Plan, error) {
	text, err := yamlfile.Read(path, r)
	if err != nil {
		return nil, err
	}
	f := defaults()
	if err := text.Decode(f, "describe an experiment"); err != nil {
		return nil, err
	}
	d := defaults()
	f.References, f.Statistics = filled(f.References, d.References), filled(f.Statistics, d.Statistics)
	e := &Plan{Name: f.Name, Dir: filepath.Dir(path), Datasets: f.Datasets, Metrics: f.Metrics, Bootstrap: f.Bootstrap}
	if e.Name == "" {
		e.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	for _, step := range []func(*Plan) error{f.scores, f.datasets, f.sets, f.statistics, f.tests, f.comparisons, f.curves, f.tasks, f.analyses} {
		if err := step(e); err != nil {
			return nil, text.At(err)
		}
	}
	if field, err := e.check(); err != nil {
		return nil, text.At(yamlfile.Wrong(field, "%w", err))
	}
	return e, nil
}

// filled returns a list, or otherwise if it is empty.
func filled[T any](list, otherwise []T) []T {
	if len(list) == 0 {
		return otherwise
	}
	return list
}

// at names the field of a list's element.
func at(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }

// parsed parses the text of a field.
func parsed[T any](field, text string, parse func(string) (T, error)) (T, error) {
	v, err := parse(text)
	if err != nil {
		err = yamlfile.Wrong(field, "%w", err)
	}
	return v, err
}

// least requires a field's number to be at least that large.
func least(field string, n, want int) error {
	if n < want {
		return yamlfile.Wrong(field, "%d: want %d or more", n, want)
	}
	return nil
}

// scores reads what is scored, and how scores of several references become one.
func (f *file) scores(e *Plan) (err error) {
	if len(e.Metrics) == 0 && !slices.ContainsFunc(f.Datasets, func(d Dataset) bool { return d.Matrix != "" || len(d.Scores) > 0 }) {
		e.Metrics = []string{"bleu", "chrf"}
	}
	if e.Missing, err = parsed("missing", f.Missing, aggregate.ParsePolicy); err != nil {
		return err
	}
	if len(f.Aggregators) == 0 {
		e.Aggregators = aggregate.Default("single", "max", "mean", "native")
		return nil
	}
	e.Aggregators, err = aggregators("aggregators", f.Aggregators)
	return err
}

func aggregators(field string, specs []string) ([]aggregate.Aggregator, error) {
	var out []aggregate.Aggregator
	for i, spec := range specs {
		a, err := parsed(at(field, i), spec, aggregate.Parse)
		if err != nil {
			return nil, err
		}
		if hasAggregator(out, a) {
			return nil, yamlfile.Wrong(at(field, i), "%s is given twice", a.Name())
		}
		out = append(out, a)
	}
	return out, nil
}

func hasAggregator(all []aggregate.Aggregator, a aggregate.Aggregator) bool {
	return slices.ContainsFunc(all, func(b aggregate.Aggregator) bool { return a.Name() == b.Name() })
}

func (f *file) datasets(e *Plan) error {
	if len(e.Datasets) == 0 {
		return yamlfile.Wrong("datasets", "there is none; name one with a dataset such as jsonl:FILE")
	}
	seen := map[string]bool{Pooled: true}
	for i := range e.Datasets {
		d, field := &e.Datasets[i], at("datasets", i)
		d.Name = cmp.Or(d.Name, d.Spec)
		switch {
		case d.Spec == "":
			return yamlfile.Wrong(field, "no dataset; write such as dataset: jsonl:FILE")
		case seen[d.Name]:
			return yamlfile.Wrong(field+".name", "two datasets are named %q, or it is the name of their sum; give each a name", d.Name)
		case len(d.References) > 0 && !strings.HasPrefix(d.Spec, "mtme:"):
			return yamlfile.Wrong(field+".reference", "chooses among the named references of an mtme: dataset; %s has none", d.Spec)
		}
		seen[d.Name] = true
		for name, files := range map[string][]ScoreFile{"scores": d.Scores, "outputs": d.Outputs, "judgements": d.Judgements} {
			if k := slices.IndexFunc(files, func(s ScoreFile) bool { return s.Name == "" || s.Path == "" }); k >= 0 {
				return yamlfile.Wrong(at(field+"."+name, k), "write a name and a file, such as {name: mine, file: mine.tsv}")
			}
		}
	}
	return nil
}

func (f *file) sets(e *Plan) error {
	for i, entry := range f.References {
		field := at("references", i)
		s, err := entry.set(field)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(e.Sets, func(t Set) bool { return t.Name == s.Name }) {
			return yamlfile.Wrong(field, "two sets of references are named %q; give one of them another name", s.Name)
		}
		e.Sets = append(e.Sets, s)
	}
	return nil
}

// The sets that consist only of a name.
const originalSet = "original"

// AllReferences is the name of the set of all references.
const AllReferences = "all"

func (s *setEntry) set(field string) (Set, error) {
	out, given := Set{All: s.Use == AllReferences, First: s.First, Prompts: s.Prompts}, 0
	take := func(is bool, name string) {
		if is {
			given++
			out.Name = cmp.Or(s.Name, name)
		}
	}
	take(s.Use != "", s.Use)
	take(s.First != 0, fmt.Sprintf("first %d", s.First))
	take(len(s.Prompts) > 0, "with "+strings.Join(s.Prompts, "+"))
	const forms = "write original, all, first: N or prompts: […]"
	switch {
	case given != 1:
		return out, yamlfile.Wrong(field, "a set of references is of one form, and this has %d; %s", given, forms)
	case s.Use != "" && s.Use != originalSet && s.Use != AllReferences:
		return out, yamlfile.Wrong(field, "%s; %s", english.Unknown("set of references", s.Use, []string{originalSet, AllReferences}), forms)
	case s.First < 0:
		return out, least(field+".first", s.First, 1)
	}
	return out, nil
}

func (f *file) statistics(e *Plan) error {
	for i, entry := range f.Statistics {
		field := at("statistics", i)
		s, err := entry.parse(field)
		if err != nil {
			return err
		}
		if slices.Contains(e.Statistics, s) {
			return yamlfile.Wrong(field, "%s is given twice", s.Label())
		}
		e.Statistics = append(e.Statistics, s)
	}
	return nil
}

func (s *statistic) parse(field string) (Statistic, error) {
	out := Statistic{Measure: correlate.Measure{ZeroUndefined: s.ZeroUndefined}}
	var err error
	if out.Measure.Statistic, err = parsed(field, s.Statistic, correlate.ParseStatistic); err != nil {
		return out, err
	}
	if out.Grouping, err = parsed(field+".group", cmp.Or(s.Group, correlate.None.String()), correlate.ParseGrouping); err != nil {
		return out, err
	}
	if out.Level, err = parsed(field+".level", cmp.Or(s.Level, correlate.SegmentLevel.String()), correlate.ParseLevel); err != nil {
		return out, err
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
	return out, nil
}

// tests reads how certain the numbers are to be.
func (f *file) tests(e *Plan) error {
	if by := e.Bootstrap.By; by != "" && !slices.Contains(Units(), by) {
		return yamlfile.Wrong("bootstrap.by", "%s", english.Unknown("unit", by, Units()))
	}
	if c := e.Bootstrap.Confidence; !(c > 0 && c < 1) {
		return yamlfile.Wrong("bootstrap.confidence", "%v: want a share between 0 and 1", c)
	}
	t := f.Significance
	m, err := parsed("significance.method", cmp.Or(t.Method, significance.MethodAuto.String()), significance.ParseMethod)
	if err != nil {
		return err
	}
	e.Test = Test{Method: m, Resamples: t.Resamples, Block: t.Block, Seed: e.Bootstrap.Seed, OneSided: t.OneSided}
	for i, s := range e.Statistics {
		if _, err := e.Test.of(s); err != nil && t.Method != "" {
			return yamlfile.Wrong(at("statistics", i), "%w", err)
		}
	}
	return nil
}

func (f *file) comparisons(e *Plan) error {
	if e.Comparisons, e.Against = f.Comparisons, f.Against; e.Against != "" && len(e.Comparisons) > 0 {
		return yamlfile.Wrong("against", "comparisons say which settings are compared: leave one of them out")
	}
	var sets []string
	for _, s := range e.Sets {
		sets = append(sets, s.Name)
	}
	for i := range e.Comparisons {
		c, field := &e.Comparisons[i], at("comparisons", i)
		for _, s := range []*SettingName{&c.A, &c.B} {
			a, err := parsed(field, s.Aggregator, aggregate.Parse)
			switch {
			case err != nil:
				return err
			case !slices.Contains(sets, s.References):
				return yamlfile.Wrong(field, "%s", english.Unknown("set of references", s.References, sets))
			case !hasAggregator(e.Aggregators, a):
				return yamlfile.Wrong(field, "%s is not among the aggregators of the experiment", a.Name())
			}
			s.Aggregator = a.Name()
		}
		if c.A == c.B {
			return yamlfile.Wrong(field, "a setting is compared with itself")
		}
	}
	return nil
}

func (f *file) curves(e *Plan) error {
	for i, c := range f.Curves {
		field := at("curves", i)
		m, err := parsed(field+".by", cmp.Or(c.By, selection.ByOrder.String()), selection.ParseMethod)
		if err != nil {
			return err
		}
		out := Curve{Method: m, Seeds: 1, Resamples: e.Bootstrap.Resamples}
		if m == selection.ByRandom {
			out.Seeds, out.Resamples = 20, min(out.Resamples, 200)
		} else if c.Seeds != nil {
			return yamlfile.Wrong(field+".seeds", "%s has one order only", m)
		}
		if c.Seeds != nil {
			out.Seeds = *c.Seeds
		}
		if c.Resamples != nil {
			out.Resamples = *c.Resamples
		}
		for k, n := range c.Counts {
			err = cmp.Or(err, least(at(field+".counts", k), n, 0))
		}
		if err != nil {
			return err
		}
		out.Counts = slices.Compact(slices.Sorted(slices.Values(c.Counts)))
		if out.Aggregators, err = aggregators(field+".aggregators", c.Aggregators); err != nil {
			return err
		}
		if len(c.Aggregators) == 0 {
			out.Aggregators = slices.DeleteFunc(slices.Clone(e.Aggregators), func(a aggregate.Aggregator) bool { return a.Single() || a.Native() })
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

func (f *file) analyses(e *Plan) error {
	for i, name := range f.Analyses {
		k := slices.Index(analysisNames, name)
		if k < 0 {
			return yamlfile.Wrong(at("analyses", i), "%s", english.Unknown("analysis", name, analysisNames))
		}
		if name == "labels" {
			e.Labels = &Labels{}
			continue
		}
		*[]*bool{&e.Prompts, &e.Ranking, &e.Worth}[k] = true
	}
	return nil
}

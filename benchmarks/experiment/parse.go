package experiment

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/internal/suggest"
	"github.com/refract-eval/refract/internal/yamlfile"
)

// The defaults of a file.
const (
	defaultResamples      = 1000
	defaultConfidence     = 0.95
	defaultSeed           = 12345
	defaultSeeds          = 20
	defaultCurveResamples = 200
)

// file is the form of an experiment's file.
type file struct {
	Name         string         `yaml:"name"`
	Datasets     []datasetEntry `yaml:"datasets"`
	References   []setEntry     `yaml:"references"`
	Metrics      []string       `yaml:"metrics"`
	Aggregators  []string       `yaml:"aggregators"`
	Missing      string         `yaml:"missing"`
	Statistics   []statistic    `yaml:"statistics"`
	Bootstrap    bootstrapEntry `yaml:"bootstrap"`
	Significance testEntry      `yaml:"significance"`
	Comparisons  []compareEntry `yaml:"comparisons"`
	Curves       []curveEntry   `yaml:"curves"`
	Analyses     *[]string      `yaml:"analyses"`
}

type datasetEntry struct {
	Name              string   `yaml:"name"`
	Dataset           string   `yaml:"dataset"`
	Reference         []string `yaml:"reference"`
	Expansions        []string `yaml:"expansions"`
	Human             string   `yaml:"human"`
	IncludeReferences bool     `yaml:"include_references"`
	AllowNoReference  bool     `yaml:"allow_no_reference"`
	Matrix            string   `yaml:"matrix"`
	Scores            []scores `yaml:"scores"`
}

// scores is a file of scores with the name of their metric.
type scores struct {
	Name string `yaml:"name"`
	File string `yaml:"file"`
}

type bootstrapEntry struct {
	Resamples  *int     `yaml:"resamples"`
	Confidence *float64 `yaml:"confidence"`
	Seed       *uint64  `yaml:"seed"`
}

type testEntry struct {
	Method    string `yaml:"method"`
	Resamples *int   `yaml:"resamples"`
	Block     int    `yaml:"block"`
}

type compareEntry struct {
	A settingEntry `yaml:"a"`
	B settingEntry `yaml:"b"`
}

type settingEntry struct {
	Metric     string `yaml:"metric"`
	References string `yaml:"references"`
	Aggregator string `yaml:"aggregator"`
}

type curveEntry struct {
	By          string   `yaml:"by"`
	Seeds       *int     `yaml:"seeds"`
	Counts      []int    `yaml:"counts"`
	Aggregators []string `yaml:"aggregators"`
	Resamples   *int     `yaml:"resamples"`
}

// statistic is a name, or a mapping.
type statistic struct {
	Statistic     string  `yaml:"statistic"`
	Group         string  `yaml:"group"`
	Level         string  `yaml:"level"`
	ZeroUndefined bool    `yaml:"zero_undefined"`
	Threshold     float64 `yaml:"threshold"`
}

// UnmarshalYAML reads either form.
func (s *statistic) UnmarshalYAML(node ast.Node) error {
	if _, ok := node.(*ast.StringNode); ok {
		return yaml.NodeToValue(node, &s.Statistic)
	}
	type plain statistic
	return yaml.NodeToValue(node, (*plain)(s), yaml.Strict())
}

// setEntry is the name of a kind, or a mapping with one of the others.
type setEntry struct {
	Name    string       `yaml:"name"`
	Kind    string       `yaml:"-"`
	Use     string       `yaml:"use"`
	First   int          `yaml:"first"`
	Select  *selectEntry `yaml:"select"`
	Prompts names        `yaml:"prompts"`
	Without names        `yaml:"without"`
	Alone   names        `yaml:"alone"`
}

type selectEntry struct {
	By   string  `yaml:"by"`
	K    int     `yaml:"k"`
	Seed *uint64 `yaml:"seed"`
}

// UnmarshalYAML reads either form.
func (s *setEntry) UnmarshalYAML(node ast.Node) error {
	if _, ok := node.(*ast.StringNode); ok {
		return yaml.NodeToValue(node, &s.Use)
	}
	type plain setEntry
	return yaml.NodeToValue(node, (*plain)(s), yaml.Strict())
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

// Parse reads an experiment from YAML. It is strict: unknown fields and names
// are errors, which say file, line and field. path is the file's, from whose
// folder relative paths start.
func Parse(path string, r io.Reader) (*Plan, error) {
	text, err := yamlfile.Read(path, r)
	if err != nil {
		return nil, err
	}
	var f file
	if err := text.Decode(&f, "describe an experiment"); err != nil {
		return nil, err
	}
	e, err := f.experiment(path)
	if err != nil {
		return nil, text.At(err)
	}
	return e, nil
}

// experiment checks a file and fills in the defaults.
func (f *file) experiment(path string) (*Plan, error) {
	e := &Plan{Name: f.Name, Dir: filepath.Dir(path), Metrics: f.Metrics}
	if e.Name == "" {
		e.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	if len(e.Metrics) == 0 && !slices.ContainsFunc(f.Datasets, func(d datasetEntry) bool { return d.Matrix != "" || len(d.Scores) > 0 }) {
		e.Metrics = []string{"bleu", "chrf"}
	}
	var err error
	if e.Missing, err = aggregate.ParsePolicy(or(f.Missing, aggregate.Exclude.String())); err != nil {
		return nil, yamlfile.Wrong("missing", "%w", err)
	}
	if len(f.Aggregators) == 0 {
		f.Aggregators = []string{"single", "max", "mean", "native"}
	}
	if e.Aggregators, err = aggregators("aggregators", f.Aggregators); err != nil {
		return nil, err
	}
	for _, step := range []func(*Plan) error{f.datasets, f.sets, f.statistics, f.bootstrap, f.significance, f.comparisons, f.curves, f.analyses} {
		if err := step(e); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func or(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

func aggregators(field string, specs []string) ([]aggregate.Aggregator, error) {
	var out []aggregate.Aggregator
	for i, spec := range specs {
		a, err := aggregate.Parse(spec)
		if err != nil {
			return nil, yamlfile.Wrong(fmt.Sprintf("%s[%d]", field, i), "%w", err)
		}
		if slices.ContainsFunc(out, func(b aggregate.Aggregator) bool { return a.Name() == b.Name() }) {
			return nil, yamlfile.Wrong(fmt.Sprintf("%s[%d]", field, i), "%s is given twice", a.Name())
		}
		out = append(out, a)
	}
	return out, nil
}

func (f *file) datasets(e *Plan) error {
	if len(f.Datasets) == 0 {
		return yamlfile.Wrong("datasets", "there is none; name one with a dataset such as jsonl:FILE")
	}
	seen := map[string]bool{}
	for i, d := range f.Datasets {
		field := fmt.Sprintf("datasets[%d]", i)
		if d.Dataset == "" {
			return yamlfile.Wrong(field, "no dataset; write such as dataset: jsonl:FILE")
		}
		name := or(d.Name, d.Dataset)
		if seen[name] || name == pooledName {
			return yamlfile.Wrong(field+".name", "two datasets are named %q, or it is the name of their sum; give each a name", name)
		}
		seen[name] = true
		if len(d.Reference) > 0 && !strings.HasPrefix(d.Dataset, "mtme:") {
			return yamlfile.Wrong(field+".reference", "chooses among the named references of an mtme: dataset; %s has none", d.Dataset)
		}
		out := Dataset{
			Name: name, Spec: d.Dataset, References: d.Reference, Expansions: d.Expansions, Human: d.Human,
			IncludeReferences: d.IncludeReferences, AllowNoReference: d.AllowNoReference, Matrix: d.Matrix,
		}
		for k, s := range d.Scores {
			if s.Name == "" || s.File == "" {
				return yamlfile.Wrong(fmt.Sprintf("%s.scores[%d]", field, k), "write the name of a metric and a file, such as {name: mine, file: mine.tsv}")
			}
			out.Scores = append(out.Scores, ScoreFile{s.Name, s.File})
		}
		e.Datasets = append(e.Datasets, out)
	}
	return nil
}

func (f *file) sets(e *Plan) error {
	entries := f.References
	if len(entries) == 0 {
		entries = []setEntry{{Use: string(KindOriginal)}, {Use: string(KindAll)}}
	}
	for i, entry := range entries {
		field := fmt.Sprintf("references[%d]", i)
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

func (s *setEntry) set(field string) (Set, error) {
	given := 0
	out := Set{}
	take := func(kind Kind, is bool, name string) {
		if is {
			given++
			out.Kind, out.Name = kind, name
		}
	}
	take(Kind(s.Use), s.Use != "", s.Use)
	take(KindFirst, s.First != 0, fmt.Sprintf("first %d", s.First))
	take(KindPrompts, len(s.Prompts) > 0, "with "+strings.Join(s.Prompts, "+"))
	take(KindWithout, len(s.Without) > 0, "without "+strings.Join(s.Without, "+"))
	take(KindAlone, len(s.Alone) > 0, "only "+strings.Join(s.Alone, "+"))
	out.Prompts = slices.Concat([]string(s.Prompts), []string(s.Without), []string(s.Alone))
	if s.Select != nil {
		given++
		m, err := selection.ParseMethod(s.Select.By)
		if err != nil {
			return out, yamlfile.Wrong(field+".select.by", "%w", err)
		}
		if s.Select.K < 1 {
			return out, yamlfile.Wrong(field+".select.k", "%d: want 1 or more", s.Select.K)
		}
		out.Kind, out.Method, out.K, out.Seed = KindSelect, m, s.Select.K, defaultSeed
		out.Name = fmt.Sprintf("%d by %s", out.K, m)
		if s.Select.Seed != nil {
			out.Seed = *s.Select.Seed
			out.Name += fmt.Sprintf(", seed %d", out.Seed)
		}
	}
	forms := "write original, all, first: N, select: {by, k}, prompts: […], without: […] or alone: […]"
	switch {
	case given != 1:
		return out, yamlfile.Wrong(field, "a set of references is of one form, and this has %d; %s", given, forms)
	case s.Use != "" && out.Kind != KindOriginal && out.Kind != KindAll:
		return out, yamlfile.Wrong(field, "%s; %s", suggest.Unknown("set of references", s.Use, []string{string(KindOriginal), string(KindAll)}), forms)
	case s.First < 0:
		return out, yamlfile.Wrong(field+".first", "%d: want 1 or more", s.First)
	case s.First > 0:
		out.K = s.First
	}
	out.Name = or(s.Name, out.Name)
	return out, nil
}

func (f *file) statistics(e *Plan) error {
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

func (f *file) bootstrap(e *Plan) error {
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

func (f *file) significance(e *Plan) error {
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

func (f *file) comparisons(e *Plan) error {
	if len(f.Comparisons) > 0 {
		e.Pairing = Listed
	}
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

func (f *file) curves(e *Plan) error {
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

func (f *file) analyses(e *Plan) error {
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

package experiment

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/numeric"
)

// Plan is the question: which settings (a metric, an aggregator, a set of references) are
// compared with which judgements, and what is reported. [Parse] makes one from a file; a
// program may fill one in.
type Plan struct {
	Name     string
	Dir      string // where relative paths start
	Datasets []Dataset
	Sets     []Set
	// Metrics are specs, such as "bleu:tokenize=intl". "stored" means every metric score file
	// of an mtme: dataset, and "stored:NAME" one of them.
	Metrics     []string
	Aggregators []aggregate.Aggregator
	// Strict makes an aggregator that a metric lacks, such as native, an error; otherwise it
	// is skipped.
	Strict bool
	// Preferred gives each metric only the first of the aggregators that it can have.
	Preferred  bool
	Missing    aggregate.Policy // for missing scores of references
	Statistics []Statistic
	// Levels are levels at which every segment must have a place, in addition to the
	// statistics' levels.
	Levels    []correlate.Level
	Bootstrap Bootstrap
	Test      Test
	Pairing   Pairing
	// Comparisons are pairs of settings of the same metric to compare, instead of all of them.
	Comparisons []Comparison
	// Against is a setting such as "max" or "bleu max" with which all others are compared,
	// those of its metric if it names none; "" compares all settings of a metric with each other.
	Against string
	// AcrossMetrics has a table of EveryPair also show pairs of different metrics.
	AcrossMetrics bool
	Curves        []Curve
	Tasks         []Task
	// Analyses to run in addition.
	Prompts, Ranking, Worth bool
	Labels                  *Labels // nil for none
}

// Pairing says which settings are compared with each other.
type Pairing uint8

// The ways to pair settings.
const (
	WithinMetric Pairing = iota // all settings of a metric
	EveryPair                   // all pairs for a statistic; see [Ranks]
	NoPair
)

// Dataset is a test set in a plan.
type Dataset struct {
	Name string `yaml:"name"`
	Spec string `yaml:"dataset"` // as [dataset.Open] takes it, relative to Dir
	// Language is the language of the references, such as "zh"; "" means the one the spec
	// tells.
	Language string `yaml:"language"`
	// References names the references of an mtme: dataset.
	References []string `yaml:"reference"`
	// Expansions are specs of expanded references.
	Expansions []string `yaml:"expansions"`
	Human      string   `yaml:"human"` // name of the human scores; "" means the only ones, or mqm
	// Outputs are files of systems' outputs, and Judgements of human scores, as read by
	// [dataset.WithHypotheses] and [dataset.WithJudgements].
	Outputs    []ScoreFile `yaml:"outputs"`
	Judgements []ScoreFile `yaml:"judgements"`
	// Matrix is a file of cells as stored by package matrix, with its metrics unchanged;
	// Scores are files of segment scores.
	Matrix string      `yaml:"matrix"`
	Scores []ScoreFile `yaml:"scores"`
	// IncludeReferences also compares references scored as systems, except those that the
	// dataset uses as references.
	IncludeReferences bool `yaml:"include_references"`
	// AllowNoReference accepts segments without a reference; their scores are missing.
	AllowNoReference bool `yaml:"allow_no_reference"`
	// HumanLowerIsBetter says that a lower human score is better, as with counts of errors.
	HumanLowerIsBetter bool `yaml:"human_lower_is_better"`
	// Choice selects systems and domains.
	dataset.Choice `yaml:",inline"`
}

// ScoreFile is a named file, such as one with the scores of a metric: rows with id, system
// and score, as read by [dataset.ReadScores]. Higher is better.
type ScoreFile struct {
	Name string `yaml:"name"`
	Path string `yaml:"file"`
}

// hasScores reports whether a metric's name is the name of a file of scores.
func (p *Plan) hasScores(name string) bool {
	return slices.ContainsFunc(p.Datasets, func(d Dataset) bool {
		return slices.ContainsFunc(d.Scores, func(s ScoreFile) bool { return s.Name == name })
	})
}

// Set is a choice of references: the originals, and what the fields add.
type Set struct {
	Name    string
	All     bool     // and all variants
	First   int      // instead, the first n references, if not 0
	Prompts []string // and the variants of these prompts
	// BesideVariants leaves the set out of datasets without variants.
	BesideVariants bool
}

// original reports whether the set has only the originals.
func (s *Set) original() bool { return !s.All && s.First == 0 && len(s.Prompts) == 0 }

// Statistic is one way to measure agreement.
type Statistic struct {
	correlate.Measure
	Level correlate.Level // level of the scores
}

// Name is the name of the statistic, such as "kendall".
func (s Statistic) Name() string { return s.Measure.Statistic.String() }

// Label distinguishes the statistics of an experiment, such as "kendall by segment" or
// "pearson, system level".
func (s Statistic) Label() string {
	label := s.Name()
	if s.Grouping != correlate.None {
		label += " by " + s.Grouping.String()
	}
	if s.Level != correlate.SegmentLevel && !s.Measure.Statistic.OfSystems() {
		label += ", " + s.Level.String() + " level"
	}
	if s.ZeroUndefined {
		label += ", undefined as 0"
	}
	return label
}

// ofCells reports whether the statistic uses the scores of single cells.
func (s Statistic) ofCells() bool {
	return s.Level == correlate.SegmentLevel && !s.Measure.Statistic.OfSystems()
}

// Bootstrap says how intervals are computed.
type Bootstrap struct {
	Resamples  int     `yaml:"resamples"` // 0 for no intervals, at most [correlate.MaxResamples]
	Confidence float64 `yaml:"confidence"`
	Seed       uint64  `yaml:"seed"`
	// By is what a resample draws, each with all its scores, because these depend on each
	// other: a name in [Units]. "" means documents if every segment states one and there are
	// several, and otherwise segments.
	By string `yaml:"by"`
}

// Units names what a resample may draw.
func Units() []string {
	return []string{correlate.SegmentLevel.String(), correlate.DocumentLevel.String()}
}

// UnitsOf returns what resamples draw for segments at these places, and its name.
func (b *Bootstrap) UnitsOf(places []correlate.Place) (string, correlate.Units, error) {
	segment, document := correlate.SegmentLevel, correlate.DocumentLevel
	documents, n, err := document.Groups(places)
	switch {
	case b.By == segment.String() || b.By == "" && (err != nil || n < 2):
		return segment.String(), nil, nil
	case b.By != "" && b.By != document.String():
		return "", nil, planErrorf("resamples: %s", english.Unknown("unit", b.By, Units()))
	case err != nil:
		return "", nil, planErrorf("resamples by %v: not every segment states one", document)
	}
	return document.String(), documents, nil
}

// Test says how differences are tested.
type Test struct {
	Method    significance.Method
	Resamples int // 0 for no tests, at most [correlate.MaxResamples]
	Block     int // 0, or the resamples after which a test may stop early
	Seed      uint64
	OneSided  bool // as mt-metrics-eval tests
}

// describe names the methods that test some statistics, and the kind of their p-values.
func (t Test) describe(statistics []Statistic) string {
	var names []string
	for _, st := range statistics {
		method, err := t.of(st)
		name := method.String()
		if t.Method == significance.MethodAuto && method == significance.MethodBootstrap {
			name += " of systems"
		}
		if err == nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return fmt.Sprintf("%s, %s", strings.Join(names, " and "), t.Sides())
}

func (t Test) Sides() string {
	if t.OneSided {
		return "one-sided as in mt-metrics-eval"
	}
	return "two-sided"
}

// of returns the method that tests a statistic, or why none does.
func (t Test) of(st Statistic) (significance.Method, error) {
	return t.Method.For(st.Measure, st.Level)
}

// Enough is the smallest number of resamples with which one of some differences can be
// significant by a method after Holm's correction, if resamples draw so many units, 0 for very
// many.
func (t Test) Enough(alpha float64, differences int, by significance.Method, units float64) int {
	p := alpha / float64(differences)
	if by == significance.MethodBootstrap {
		if !t.OneSided {
			p /= 2
		}
		if units >= 2 {
			p = numeric.ExpandTail(p, units)
		}
	}
	return int(min(math.Ceil(1/p), 2*correlate.MaxResamples))
}

// Comparison is a pair of settings, compared for each metric.
type Comparison struct {
	A SettingName `yaml:"a"`
	B SettingName `yaml:"b"`
}

// SettingName names a setting within a dataset.
type SettingName struct {
	Metric     string `json:"metric" yaml:"-"`
	References string `json:"references" yaml:"references"` // name of the Set
	Aggregator string `json:"aggregator" yaml:"aggregator"` // "" for a metric without references
}

// Curve asks for the agreement as a function of the number of references.
type Curve struct {
	Method      selection.Method
	Seeds       int                    // number of random orders, 1 to maxSeeds
	Counts      []int                  // of variants; empty means 0, 1, … up to all
	Aggregators []aggregate.Aggregator // empty means those of the plan except single and native
	Resamples   int                    // for the intervals
}

// maxSeeds is the maximum number of random orders of a Curve.
const maxSeeds = 10_000

// check finds a number out of range or an unknown language, and returns its field in an
// experiment's file.
func (p *Plan) check() (field string, err error) {
	in := func(name string, n, least, most int) {
		if err == nil && (n < least || n > most) {
			field, err = name, fmt.Errorf("%d: want %d to %d", n, least, most)
		}
	}
	in("bootstrap.resamples", p.Bootstrap.Resamples, 0, correlate.MaxResamples)
	in("significance.resamples", p.Test.Resamples, 0, correlate.MaxResamples)
	in("significance.block", p.Test.Block, 0, correlate.MaxResamples)
	for i, d := range p.Datasets {
		if _, _, wrong := dataset.Languages(d.Language); err == nil && d.Language != "" && wrong != nil {
			field, err = at("datasets", i)+".language", wrong
		}
	}
	for i, c := range p.Curves {
		in(at("curves", i)+".seeds", c.Seeds, 1, maxSeeds)
		in(at("curves", i)+".resamples", c.Resamples, 0, correlate.MaxResamples)
	}
	return field, err
}

// Path resolves a spec such as "jsonl:FILE" against the plan's folder.
func (p *Plan) Path(spec string) string {
	scheme, place, ok := strings.Cut(spec, ":")
	switch {
	case !ok && spec != "": // a file whose name shows its format
		return p.File(spec)
	case place == "" || place == "-":
		return spec
	}
	return scheme + ":" + p.File(place)
}

// Inputs returns the files and folders that the plan reads, except for those that define
// its metrics.
func (p *Plan) Inputs() []string {
	var out []string
	for _, d := range p.Datasets {
		for _, spec := range append([]string{d.Spec}, d.Expansions...) {
			out = append(out, dataset.Inputs(p.Path(spec))...)
		}
		if d.Matrix != "" {
			out = append(out, p.File(d.Matrix))
		}
		for _, s := range slices.Concat(d.Scores, d.Outputs, d.Judgements) {
			out = append(out, dataset.Inputs("table:"+p.File(s.Path))...)
		}
	}
	return out
}

// OpenDataset opens a dataset of the plan, with its outputs, expansions and human scores, and
// the references that d names.
func (p *Plan) OpenDataset(d Dataset, o dataset.Options) (refract.Dataset, error) {
	o.References = d.References
	ds, err := dataset.Open(p.Path(d.Spec), o)
	if err == nil {
		ds, err = dataset.WithHypotheses(ds, p.named(d.Outputs), o)
	}
	for _, spec := range d.Expansions {
		if err == nil {
			ds, err = dataset.WithReferences(ds, p.Path(spec), o)
		}
	}
	if err == nil && len(d.Judgements) > 0 {
		ds, err = dataset.WithJudgements(ds, p.named(d.Judgements), o)
	}
	return ds, err
}

// named resolves the paths of files.
func (p *Plan) named(files []ScoreFile) []dataset.NamedFile {
	var out []dataset.NamedFile
	for _, f := range files {
		out = append(out, dataset.NamedFile{Name: f.Name, Path: p.File(f.Path)})
	}
	return out
}

// File resolves the path of a file against the plan's folder.
func (p *Plan) File(path string) string {
	if filepath.IsAbs(path) || p.Dir == "" {
		return path
	}
	return filepath.Join(p.Dir, path)
}

package experiment

import (
	"path/filepath"
	"strings"

	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/diversify/selection"
)

// Experiment is what a file asks for. Make one with [Parse], which checks it
// and fills in defaults.
type Experiment struct {
	Name     string
	Dir      string // that relative paths start from
	Datasets []Dataset
	Sets     []Set
	// Metrics are specs, such as "bleu:tokenize=intl".
	Metrics     []string
	Aggregators []aggregate.Aggregator
	Missing     aggregate.Policy // for missing scores of references
	Statistics  []Statistic
	Bootstrap   Bootstrap
	Test        Test
	Comparisons []Comparison // none: every setting against the single reference
	Curves      []Curve
	// Analyses say what else to look at.
	Prompts, Strata, Ranking bool
}

// Dataset is a test set of an experiment.
type Dataset struct {
	Name string
	Spec string // as [dataset.Open] takes it, relative to Dir
	// References names the references of an mtme: dataset.
	References []string
	// Expansions are specs of expanded references.
	Expansions []string
	Human      string // name of the human scores; "" the only ones, or mqm
	// IncludeReferences compares references that are scored as systems too.
	IncludeReferences bool
	// AllowNoReference lets segments without a reference be, with missing
	// scores.
	AllowNoReference bool
}

// Kind says how a Set chooses references.
type Kind string

// The kinds of sets. All but KindFirst and KindAlone hold the originals.
const (
	KindOriginal Kind = "original" // the originals
	KindAll      Kind = "all"      // the originals and all variants
	KindFirst    Kind = "first"    // the first K references in their order
	KindSelect   Kind = "select"   // K variants by a method
	KindPrompts  Kind = "prompts"  // the variants of some prompts
	KindWithout  Kind = "without"  // all but the variants of some prompts
	KindAlone    Kind = "alone"    // the variants of some prompts, without the originals
)

// Set is a choice of references.
type Set struct {
	Name    string
	Kind    Kind
	K       int
	Method  selection.Method
	Seed    uint64
	Prompts []string
}

// Statistic is one way to measure agreement.
type Statistic struct {
	correlate.Measure
	Level correlate.Level // what the scores are of
	// Preference is the share of the decided pairs of texts in which the
	// metric prefers the text that people prefer; a tie is half right. It is
	// Kendall's tau by segment, of which the Measure is, in other words.
	Preference bool
}

// preferenceName is the statistic of pairs of texts.
const preferenceName = "preference"

// Name is that of the statistic, such as "kendall".
func (s Statistic) Name() string {
	if s.Preference {
		return preferenceName
	}
	return s.Measure.Statistic.String()
}

// Label tells statistics of an experiment apart, such as "kendall by segment"
// or "pearson, system level".
func (s Statistic) Label() string {
	label := s.Name()
	if s.Grouping != correlate.None && !s.Preference {
		label += " by " + s.Grouping.String()
	}
	if s.Level != correlate.SegmentLevel && !s.Measure.Statistic.OfSystems() {
		label += ", " + s.Level.String() + " level"
	}
	if s.ZeroUndefined && !s.Preference {
		label += ", undefined as 0"
	}
	return label
}

// ofCells says that the statistic is of the scores of single cells.
func (s Statistic) ofCells() bool {
	return s.Level == correlate.SegmentLevel && !s.Measure.Statistic.OfSystems()
}

// Bootstrap is how intervals are made: over segments.
type Bootstrap struct {
	Resamples  int // 0 for no intervals
	Confidence float64
	Seed       uint64
}

// Test is how differences are tested.
type Test struct {
	Method    significance.Method
	Resamples int // 0 for no tests
	Block     int // 0, or the resamples after which a test may stop early
	Seed      uint64
}

// Comparison is a pair of settings. A setting without a metric is meant for
// each metric.
type Comparison struct{ A, B SettingName }

// SettingName names a setting within a dataset.
type SettingName struct {
	Metric     string `json:"metric"`
	References string `json:"references"` // name of the Set
	Aggregator string `json:"aggregator"` // "" for a metric without references
}

// Curve asks for the agreement by the number of references.
type Curve struct {
	Method      selection.Method
	Seeds       int                    // random orders, at least 1
	Counts      []int                  // of variants; none: 0, 1, … up to all
	Aggregators []aggregate.Aggregator // none: those of the experiment but single and native
	Resamples   int                    // of the intervals
}

// Path resolves a spec such as "jsonl:FILE" against the experiment's folder.
func (e *Experiment) Path(spec string) string {
	scheme, place, ok := strings.Cut(spec, ":")
	if !ok || place == "" || place == "-" || filepath.IsAbs(place) || e.Dir == "" {
		return spec
	}
	return scheme + ":" + filepath.Join(e.Dir, place)
}

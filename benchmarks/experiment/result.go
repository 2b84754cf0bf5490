package experiment

import (
	"fmt"
	"strings"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/significance"
)

// Result is what an experiment found, as plain data. An undefined Number is null in JSON.
type Result struct {
	Name        string           `json:"name"`
	Version     string           `json:"version"` // of the program
	Datasets    []DatasetInfo    `json:"datasets"`
	Statistics  []string         `json:"statistics"` // labels, in the file's order
	Confidence  float64          `json:"confidence"` // of all intervals
	Ended       []Ended          `json:"ended"`      // metrics without rows
	Same        []Same           `json:"same"`
	Rows        []Row            `json:"rows"`
	People      []People         `json:"people,omitempty"` // where the data have raters
	Ranks       []Ranks          `json:"-"`
	Differences []Difference     `json:"differences"`
	Curves      []CurveResult    `json:"curves"`
	Prompts     []PromptAnalysis `json:"prompts"`
	Worths      []Worth          `json:"worth"`
	Rankings    []Ranking        `json:"rankings"`
	Labels      []MeanJudgement  `json:"labels,omitempty"`
	Tasks       []TaskResult     `json:"tasks,omitempty"`
	Standings   []Standing       `json:"standings,omitempty"` // over the tasks
	Notes       []string         `json:"notes"`               // how the numbers were computed, and what was left out

	Test           Test     `json:"-"` // the plan's
	TestNames      string   `json:"-"` // its methods for the statistics, and its sides
	CellStatistics []string `json:"-"` // labels of the statistics that use scores of single cells
	Means          []string `json:"-"` // the statistics' levels above segments, whose scores are means
	OwnSystems     []string `json:"-"` // metrics with the folder's own scores of systems, which are not means
	// Compared are the pairs that the plan compares, if it tests every pair; nil for all.
	Compared map[[2]SettingName]bool `json:"-"`
}

// Ended is a metric that did not start, or failed before the last segment. No number of the
// result uses it.
type Ended struct {
	Dataset string `json:"dataset"`
	Metric  string `json:"metric"`
	Reason  string `json:"reason"`
}

// DatasetInfo describes a dataset.
type DatasetInfo struct {
	Name     string   `json:"name"`
	Human    string   `json:"human"` // name of the human scores
	Segments int      `json:"segments"`
	Systems  []string `json:"systems"` // compared
	// ResampledBy is what a resample of an interval draws, such as "document"; "" if there are
	// no intervals.
	ResampledBy string `json:"resampled_by"`
	// LeftOut are references scored as systems, and Unjudged systems without a human score.
	LeftOut  []string `json:"left_out"`
	Unjudged []string `json:"unjudged"`
	// NotChosen are systems that the plan leaves out, and Domains those that it chooses; empty
	// for all.
	NotChosen []string `json:"not_chosen,omitempty"`
	Domains   []string `json:"domains,omitempty"`

	Prompts []string `json:"prompts"` // of the variants
	Cells   int      `json:"cells"`   // with a human score
	Set     string   `json:"set"`     // content hash of all references, as signatures state it

	Agreement *Agreement `json:"agreement,omitempty"` // nil without raters

	groups map[correlate.Level]int
	all    int // segments, chosen or not
}

// Chosen says what the plan leaves out of the dataset; "" for nothing.
func (d *DatasetInfo) Chosen() string {
	var out []string
	if len(d.NotChosen) > 0 {
		out = append(out, "systems left out by choice: "+strings.Join(d.NotChosen, ", "))
	}
	if len(d.Domains) > 0 {
		out = append(out, fmt.Sprintf("%d of %d segments, by domain: %s", d.Segments, d.all, strings.Join(d.Domains, ", ")))
	}
	return strings.Join(out, "; ")
}

// Groups is the number of documents, or of domains, if every segment states one.
func (d *DatasetInfo) Groups(level correlate.Level) int { return d.groups[level] }

// About says to which dataset, setting and statistic a number belongs.
type About struct {
	Dataset   string `json:"dataset"`
	Human     string `json:"human"`
	Statistic string `json:"statistic"` // label
	Level     string `json:"level"`
	Group     string `json:"group"`

	Measure string `json:"-"` // the statistic without level and group
}

// Same is a setting without its own row, because another one with the same scores
// represents it.
type Same struct {
	Dataset string      `json:"dataset"`
	Setting SettingName `json:"setting"`
	As      SettingName `json:"as"`
	Name    string      `json:"name"` // such as "max over 11 references (all)"
	AsName  string      `json:"as_name"`
	Cells   int         `json:"cells"`
}

// Row is a statistic of one setting.
type Row struct {
	About
	Setting SettingName `json:"setting"`
	// MinReferences and MaxReferences are the smallest and the largest number of references
	// behind a score.
	MinReferences int    `json:"min_references"`
	MaxReferences int    `json:"max_references"`
	Value         Number `json:"value"`
	Interval      *Range `json:"interval"`
	N             int    `json:"n"`       // score pairs, or pairs of systems
	Missing       int    `json:"missing"` // cells without one of the scores
	Unscored      int    `json:"-"`       // of them, those with a human score
	Systems       int    `json:"systems"`
	Groups        int    `json:"groups"`  // vectors, or systems, behind the value
	Dropped       int    `json:"dropped"` // vectors or systems left out as undefined
	// Ties is the share of the pairs of cells with the same metric score; undefined for
	// statistics of systems.
	Ties      Number `json:"ties"`
	Epsilon   Number `json:"epsilon"`        // chosen threshold of ties; defined only for calibrated statistics
	Rank      int    `json:"rank,omitempty"` // if every pair was tested
	Signature string `json:"signature"`
	// People is nil without raters.
	People *AgainstPeople `json:"people,omitempty"`

	pools     bool // it is a share of pairs of systems, which can be pooled
	resamples correlate.Resamples
}

// Ranks are the settings of a dataset in order, each tested against every other under one
// statistic.
type Ranks struct {
	About
	*significance.Comparison

	Method significance.Method
	Units  float64 // effective number of units that resamples draw
	LeastP float64 // that a test of so few units can have
}

// Difference compares two settings over their common cells.
type Difference struct {
	About
	A         SettingName `json:"a"`
	B         SettingName `json:"b"`
	AName     string      `json:"a_name"` // such as "max over 11 references (all)"
	BName     string      `json:"b_name"`
	AValue    Number      `json:"a_value"`
	BValue    Number      `json:"b_value"`
	Value     Number      `json:"value"` // A minus B
	Interval  *Range      `json:"interval"`
	Test      string      `json:"test"`      // "" if there was none
	P         Number      `json:"p"`         // two-sided, unless the plan asks for one-sided ones
	Corrected Number      `json:"corrected"` // after Holm's correction for the pairs of the metric under the statistic
	Resamples int         `json:"resamples"` // of the test
	N         int         `json:"n"`
	Cells     int         `json:"cells"`   // with all three scores
	Missing   int         `json:"missing"` // cells without one of them
	Unscored  int         `json:"-"`       // of them, those with a human score
	Equal     int         `json:"equal"`   // cells in which both settings have the same score
	// Significant is set if the interval excludes 0 and the corrected p-value, if there is one,
	// is small enough.
	Significant bool `json:"significant"`
	// Undecided is set if the interval and the test disagree, because the test has too few
	// resamples, segments or documents to tell, or because the interval includes 0 in spite of a
	// small p-value.
	Undecided bool `json:"undecided,omitempty"`
	// Few is what there is too little of for any p-value to be small enough, such as
	// "resamples"; "" for nothing.
	Few    string              `json:"-"`
	Method significance.Method `json:"-"` // of the test
	Units  float64             `json:"-"` // effective number of units that resamples draw
	Worst  bool                `json:"-"` // the aggregator of A takes the metric's worst reference

	leastP float64 // of the test, with so many units as there are
	drawn  string
}

// AcrossMetrics reports whether two metrics are compared, such as files of scores, and not
// settings of one.
func (d *Difference) AcrossMetrics() bool { return d.A.Metric != d.B.Metric }

// Subject is the metric that the difference is about, "" if it is across metrics.
func (d *Difference) Subject() string {
	if d.AcrossMetrics() {
		return ""
	}
	return d.A.Metric
}

// CurveResult is the agreement as a function of the number of references.
type CurveResult struct {
	About
	Metric     string  `json:"metric"`
	Aggregator string  `json:"aggregator"`
	By         string  `json:"by"`
	Seeds      int     `json:"seeds"` // number of orders averaged
	Points     []Point `json:"points"`
	// Enough is the smallest number of references whose value is not clearly below that of all
	// references; 0 if unknown.
	Enough int `json:"enough"`
	// Most is the number of all references.
	Most int `json:"most"`
}

// Point is a point of a curve.
type Point struct {
	K          int    `json:"k"`          // chosen variants
	References int    `json:"references"` // maximum number
	Value      Number `json:"value"`
	Interval   *Range `json:"interval"`
	Least      Number `json:"least"` // smallest over random orders, as Largest is the largest; undefined for one order
	Largest    Number `json:"largest"`
	ToAll      Number `json:"to_all"` // minus the value of all references
	ToAllRange *Range `json:"to_all_interval"`
	N          int    `json:"n"`
	Missing    int    `json:"missing"`

	resamples correlate.Resamples
	cells     []bool // with a score; nil if random orders differ
}

// PromptAnalysis says what each prompt is worth.
type PromptAnalysis struct {
	About
	Metric     string         `json:"metric"`
	Aggregator string         `json:"aggregator"` // the one that takes the best reference
	Single     Number         `json:"single"`     // value of the first original
	All        Number         `json:"all"`        // value of all references
	Cells      int            `json:"cells"`
	Missing    int            `json:"missing"`
	Unscored   int            `json:"-"`       // of them, those with a human score
	Prompts    []PromptEffect `json:"prompts"` // the originals first
}

// originalName represents the originals in lists of prompts.
const originalName = "original"

// PromptEffect says what one prompt, or the originals, are worth.
type PromptEffect struct {
	Prompt     string `json:"prompt"`
	References int    `json:"references"` // texts that it made
	// Decides is the share of cells in which its text has the best score, shared equally
	// between tied texts. Only is the share in which no other prompt's text has the best
	// score.
	Decides Number `json:"decides"`
	Only    Number `json:"only"`
	Alone   Number `json:"alone"` // value of only its texts
	// Added is the value of the originals with its texts, AddedGain the gain over the single
	// reference.
	Added         Number `json:"added"`
	AddedGain     Number `json:"added_gain"`
	AddedInterval *Range `json:"added_interval"`
	// Without is the value without its texts, Effect what they add to it.
	Without        Number `json:"without"`
	Effect         Number `json:"effect"`
	EffectInterval *Range `json:"effect_interval"`
	Needed         bool   `json:"-"` // the effect is above 0, corrected for the number of prompts
}

// Ranking is the order of systems under each setting of a dataset.
type Ranking struct {
	Dataset  string         `json:"dataset"`
	Human    string         `json:"human"`
	Settings []SettingName  `json:"settings"`
	Systems  []RankedSystem `json:"systems"` // by human score, best first
	// LeftOut are systems for which some setting scores no cell.
	LeftOut []string `json:"left_out"`
}

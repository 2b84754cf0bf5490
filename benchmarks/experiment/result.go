package experiment

import (
	"fmt"
	"strings"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/internal/report"
)

// Result is what an experiment found, as plain data. In JSON a Number that is
// undefined is null.
type Result struct {
	Name        string           `json:"name"`
	Version     string           `json:"version"` // of the program
	Datasets    []DatasetInfo    `json:"datasets"`
	Statistics  []string         `json:"statistics"` // labels, in the file's order
	Confidence  float64          `json:"confidence"` // of all intervals
	Ended       []Ended          `json:"ended"`      // metrics that are in no row
	Same        []Same           `json:"same"`
	Rows        []Row            `json:"rows"`
	Ranks       []Ranks          `json:"-"`
	Differences []Difference     `json:"differences"`
	Curves      []CurveResult    `json:"curves"`
	Prompts     []PromptAnalysis `json:"prompts"`
	Worths      []Worth          `json:"worth"`
	Rankings    []Ranking        `json:"rankings"`
	Tasks       []TaskResult     `json:"tasks,omitempty"`
	Standings   []Standing       `json:"standings,omitempty"` // over the tasks
	Verdicts    []Verdict        `json:"verdicts"`
	Notes       []string         `json:"notes"` // how the numbers were made, and what was left out

	test  Test
	means []string // levels above segments of the statistics, whose scores are means
	own   []string // metrics with the folder's own scores of systems, which are no means
}

// Ended is a metric that did not start, or failed before the last segment: no
// number of the result is of it.
type Ended struct {
	Dataset string `json:"dataset"`
	Metric  string `json:"metric"`
	Reason  string `json:"reason"`
}

// The words of findings, which package report has for all that show them.
type (
	Number  = report.Number
	Verdict = report.Verdict
)

// DatasetInfo is what a dataset has.
type DatasetInfo struct {
	Name     string   `json:"name"`
	Human    string   `json:"human"` // name of the human scores
	Segments int      `json:"segments"`
	Systems  []string `json:"systems"` // compared
	// ResampledBy is what a resample of an interval draws, such as "document"; ""
	// where there are no intervals.
	ResampledBy string `json:"resampled_by"`
	// LeftOut are references scored as systems, and Unjudged systems without a
	// human score.
	LeftOut  []string `json:"left_out"`
	Unjudged []string `json:"unjudged"`
	// NotChosen are systems that the plan leaves out, and Domains those that it
	// chooses; none for all.
	NotChosen []string `json:"not_chosen,omitempty"`
	Domains   []string `json:"domains,omitempty"`

	Prompts []string `json:"prompts"` // of the variants
	Cells   int      `json:"cells"`   // with a human score
	Set     string   `json:"set"`     // content hash of all references, as signatures state it

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

// Groups is the number of documents, or of domains, where every segment states
// one.
func (d *DatasetInfo) Groups(level correlate.Level) int { return d.groups[level] }

// About says which statistic of what a number is.
type About struct {
	Dataset   string `json:"dataset"`
	Human     string `json:"human"`
	Statistic string `json:"statistic"` // label
	Level     string `json:"level"`
	Group     string `json:"group"`

	name string // of the statistic, without level and group
}

// Same is a setting that is no row, as another one with the same scores stands
// for it.
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
	// MinReferences and MaxReferences are the fewest and the most references
	// that entered a score.
	MinReferences int           `json:"min_references"`
	MaxReferences int           `json:"max_references"`
	Value         Number        `json:"value"`
	Interval      *report.Range `json:"interval"`
	N             int           `json:"n"`       // score pairs, or pairs of systems
	Missing       int           `json:"missing"` // cells without one of the scores
	Unscored      int           `json:"-"`       // of them, those with a human score
	Systems       int           `json:"systems"`
	Groups        int           `json:"groups"`  // vectors, or systems, that the value stands on
	Dropped       int           `json:"dropped"` // of these left out as undefined
	// Ties is the share of the pairs of cells with the same score of the
	// metric; undefined for statistics of systems.
	Ties      Number `json:"ties"`
	Epsilon   Number `json:"epsilon"`        // chosen threshold of ties; undefined but for calibrated statistics
	Rank      int    `json:"rank,omitempty"` // where every pair was tested
	Signature string `json:"signature"`

	pools     bool // it is a share of pairs of systems, which pooling adds up
	resamples []float64
}

// Ranks are the settings of a dataset in their order, each tested against every
// other under one statistic.
type Ranks struct {
	About
	*significance.Comparison
}

// Difference compares two settings over the cells that both have.
type Difference struct {
	About
	A         SettingName   `json:"a"`
	B         SettingName   `json:"b"`
	AName     string        `json:"a_name"` // such as "max over 11 references (all)"
	BName     string        `json:"b_name"`
	AValue    Number        `json:"a_value"`
	BValue    Number        `json:"b_value"`
	Value     Number        `json:"value"` // A less B
	Interval  *report.Range `json:"interval"`
	Test      string        `json:"test"`      // "" where none was made
	P         Number        `json:"p"`         // two-sided, unless the plan asks for one-sided ones
	Corrected Number        `json:"corrected"` // after Holm's correction for all differences of the Result
	Resamples int           `json:"resamples"` // of the test
	N         int           `json:"n"`
	Cells     int           `json:"cells"`   // with all three scores
	Missing   int           `json:"missing"` // cells without one of them
	Unscored  int           `json:"-"`       // of them, those with a human score
	Equal     int           `json:"equal"`   // cells in which both settings have the same score
	// Significant is set where the corrected p-value is small enough or, where no test
	// was made, where the interval is off 0.
	Significant bool `json:"significant"`
	// Undecided is set where the interval is off 0 and the test has too few
	// resamples to tell.
	Undecided bool `json:"undecided,omitempty"`
}

// ofFiles reports whether two files of scores are compared, and not settings of a metric.
func (d *Difference) ofFiles() bool { return d.A.Metric != d.B.Metric }

// CurveResult is the agreement by the number of references.
type CurveResult struct {
	About
	Metric     string  `json:"metric"`
	Aggregator string  `json:"aggregator"`
	By         string  `json:"by"`
	Seeds      int     `json:"seeds"` // orders that a value is the mean of
	Points     []Point `json:"points"`
	// Enough is the smallest number of references whose value is not clearly below that
	// of all references; 0 where that is not known.
	Enough int `json:"enough"`
	// Most is the number of all references.
	Most int `json:"most"`
}

// Point is a point of a curve.
type Point struct {
	K          int           `json:"k"`          // chosen variants
	References int           `json:"references"` // at most
	Value      Number        `json:"value"`
	Interval   *report.Range `json:"interval"`
	Least      Number        `json:"least"` // and largest over random orders; undefined for one order
	Largest    Number        `json:"largest"`
	ToAll      Number        `json:"to_all"` // less the value of all references
	ToAllRange *report.Range `json:"to_all_interval"`
	N          int           `json:"n"`
	Missing    int           `json:"missing"`

	resamples []float64
	cells     []bool // with a score; nil where random orders differ
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

// originalName stands for the originals where prompts are listed.
const originalName = "original"

// PromptEffect is what one prompt, or the originals, are worth.
type PromptEffect struct {
	Prompt     string `json:"prompt"`
	References int    `json:"references"` // texts that it made
	// Decides is the share of cells in which its text has the best score; of
	// several best texts each has its part. Only is the share in which no
	// other prompt's text has it.
	Decides Number `json:"decides"`
	Only    Number `json:"only"`
	Alone   Number `json:"alone"` // value of its texts alone
	// Added is the value of the originals and its texts, AddedGain what these
	// add to the single reference.
	Added         Number        `json:"added"`
	AddedGain     Number        `json:"added_gain"`
	AddedInterval *report.Range `json:"added_interval"`
	// Without is the value of all but its texts, Effect what these add to it.
	Without        Number        `json:"without"`
	Effect         Number        `json:"effect"`
	EffectInterval *report.Range `json:"effect_interval"`

	needed bool // the effect is above 0, corrected for the number of prompts
}

// Ranking is the order of systems under each setting of a dataset.
type Ranking struct {
	Dataset  string                `json:"dataset"`
	Human    string                `json:"human"`
	Settings []SettingName         `json:"settings"`
	Systems  []report.RankedSystem `json:"systems"` // by human score, the best first
	// LeftOut are systems that some setting scores no cell of.
	LeftOut []string `json:"left_out"`
}

package build

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/yamlfile"
)

// Plan says what is made, and by which recipe.
type Plan struct {
	Recipe     string    `yaml:"recipe"` // one of the built-in ones
	Files      string    `yaml:"files"`  // folder of the recipe's files; "" for the built-in ones
	Items      int       `yaml:"items"`  // maximum for each row and channel of a mix; 0 for all
	Validation float64   `yaml:"validation"`
	Dataset    string    `yaml:"dataset"` // as commands take it
	Task       string    `yaml:"task"`    // of InstructScore
	Mix        []*MixRow `yaml:"mix"`     // of MetricInstruct
	Judge      string    `yaml:"judge"`   // of Refine, like the fields below
	Samples    int       `yaml:"samples"`
	Least      float64   `yaml:"least"`
	AllSystems bool      `yaml:"all_systems"`
}

// MixRow is the share of one dataset and task.
type MixRow struct {
	Dataset string `yaml:"dataset"` // as commands take it
	Task    string `yaml:"task"`
	// Options of the metric and of the analysis, in addition to the task, such as sl and
	// tl, or instruction.
	Options map[string]string `yaml:"options"`
	// Real is the number of system outputs to analyse. Metric scores all outputs, and
	// Shares says in which proportion they are taken from the best, the middle and the
	// worst third; equally if it is empty.
	Real   int       `yaml:"real"`
	Metric string    `yaml:"metric"`
	Shares []float64 `yaml:"shares"`
	// Synthetic is the number of references to change into outputs with errors.
	Synthetic int `yaml:"synthetic"`

	judges rowJudges // since Resolve
}

// thirds is the number of parts that the scores are split into.
const thirds = 3

// ReadPlan reads a plan. name is the file's name in errors.
func ReadPlan(name string, in io.Reader) (*Plan, error) {
	f, err := yamlfile.Read(name, in)
	if err != nil {
		return nil, err
	}
	p := &Plan{Validation: 0.05, Samples: 8}
	if err := f.Decode(p, "describe a build"); err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, f.At(err)
	}
	return p, nil
}

func (p *Plan) check() error {
	names := []string{InstructScore, MetricInstruct, Refine}
	switch {
	case !slices.Contains(names, p.Recipe):
		return yamlfile.Wrong("recipe", "%s", english.Unknown("recipe", p.Recipe, names))
	case p.Recipe == MetricInstruct && len(p.Mix) == 0:
		return yamlfile.Wrong("mix", "there is no row; each has a dataset, a task, and numbers for real and synthetic")
	case p.Recipe != MetricInstruct && p.Dataset == "":
		return yamlfile.Wrong("dataset", "name the dataset that has the texts")
	case p.Recipe == Refine && p.Judge == "":
		return yamlfile.Wrong("judge", "name the judge whose reports are refined, such as instructscore:task=mt_zh-en")
	case p.Items < 0 || p.Samples < 2 || !(p.Validation >= 0 && p.Validation <= 1 && p.Least >= 0 && p.Least <= 1):
		return yamlfile.Wrong("recipe", "items must be at least 0, samples at least 2, validation and least from 0 to 1")
	}
	for i, r := range p.Mix {
		if err := r.check(fmt.Sprintf("mix[%d]", i)); err != nil {
			return err
		}
	}
	return nil
}

func (r *MixRow) check(field string) error {
	switch {
	case r.Dataset == "" || r.Task == "":
		return yamlfile.Wrong(field, "dataset and task are needed")
	case r.Real < 0 || r.Synthetic < 0 || r.Real+r.Synthetic == 0:
		return yamlfile.Wrong(field, "real and synthetic are %d and %d; one of them must be above 0", r.Real, r.Synthetic)
	case r.Real > 0 && r.Metric == "":
		return yamlfile.Wrong(field, "metric is missing: outputs of systems are drawn by the thirds of their scores")
	case len(r.Shares) > 0 && (len(r.Shares) != thirds || slices.Min(r.Shares) < 0 || slices.Max(r.Shares) <= 0):
		return yamlfile.Wrong(field, "shares are %v; want three numbers from 0, of the best, the middle and the worst third, of which one is above 0, such as [1, 1, 2]", r.Shares)
	}
	return nil
}

// Output is an output of a system with its score; higher is better.
type Output struct {
	Segment *refract.Segment
	System  string
	Text    string
	Score   float64
	Third   int // 0 for the best
}

// Thirds draws from each third of the scores its share of outputs. If a third has too few,
// the others do not make up for it.
func Thirds(seed uint64, row *MixRow, outputs []Output) []Output {
	order := slices.Clone(outputs)
	slices.SortStableFunc(order, func(a, b Output) int { return cmp.Compare(b.Score, a.Score) })
	shares := append(slices.Clone(row.Shares), 1, 1, 1)[:thirds] // equal ones if there are none
	total := shares[0] + shares[1] + shares[2]
	var out []Output
	sum, taken := 0.0, 0
	for third, share := range shares {
		group := order[len(order)*third/thirds : len(order)*(third+1)/thirds]
		for i := range group {
			group[i].Third = third
		}
		sum += share
		n := int(math.Round(sum/total*float64(row.Real))) - taken // so that the numbers add up to Real
		taken += n
		if n > 0 {
			out = append(out, some(seed, "real "+row.Dataset+" "+strconv.Itoa(third), group, n)...)
		}
	}
	return out
}

package build

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/yamlfile"
)

// Mix says which items of which datasets are made.
type Mix struct {
	Rows []*MixRow `yaml:"mix"`
}

// MixRow is the share of one dataset and task.
type MixRow struct {
	Dataset string `yaml:"dataset"` // as commands take it
	Task    string `yaml:"task"`
	// Options of the metric and of the analysis, besides the task, such as sl and tl,
	// or instruction.
	Options map[string]string `yaml:"options"`
	// Real is how many outputs of systems are analysed. Metric scores all outputs,
	// and Shares says how many are taken of the best, the middle and the worst
	// third; equal shares if it is empty.
	Real   int       `yaml:"real"`
	Metric string    `yaml:"metric"`
	Shares []float64 `yaml:"shares"`
	// Synthetic is how many references are changed into outputs with errors.
	Synthetic int `yaml:"synthetic"`
}

// thirds is how many parts the scores are split into.
const thirds = 3

// ReadMix reads a description. name is the file's name in errors.
func ReadMix(name string, in io.Reader) (*Mix, error) {
	f, err := yamlfile.Read(name, in)
	if err != nil {
		return nil, err
	}
	m := &Mix{}
	if err := f.Decode(m, "describe a build"); err != nil {
		return nil, err
	}
	if len(m.Rows) == 0 {
		return nil, f.At(yamlfile.Wrong("mix", "there is no row; each has a dataset, a task, and numbers for real and synthetic"))
	}
	for i, r := range m.Rows {
		if err := r.check(fmt.Sprintf("mix[%d]", i)); err != nil {
			return nil, f.At(err)
		}
	}
	return m, nil
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

// Thirds draws outputs: from each third of the scores its share. If a third has too
// few, the others do not make up for it.
func Thirds(seed uint64, row *MixRow, outputs []Output) []Output {
	order := slices.Clone(outputs)
	slices.SortStableFunc(order, func(a, b Output) int { return cmp.Compare(b.Score, a.Score) })
	shares := row.Shares
	if len(shares) == 0 {
		shares = []float64{1, 1, 1}
	}
	total := shares[0] + shares[1] + shares[2]
	var out []Output
	sum, taken := 0.0, 0
	for third, share := range shares {
		group := order[len(order)*third/thirds : len(order)*(third+1)/thirds]
		for i := range group {
			group[i].Third = third
		}
		sum += share
		n := int(math.Round(sum/total*float64(row.Real))) - taken // so that all add up
		taken += n
		if n > 0 {
			out = append(out, some(seed, "real "+row.Dataset+" "+strconv.Itoa(third), group, n)...)
		}
	}
	return out
}

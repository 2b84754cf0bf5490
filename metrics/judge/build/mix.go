package build

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/yamlfile"
)

// Mix describes a build: which items of which datasets are asked for.
type Mix struct {
	Rows []*MixRow `yaml:"mix"`
}

// MixRow are the items of a dataset and a task.
type MixRow struct {
	Dataset string `yaml:"dataset"` // as commands take it
	Task    string `yaml:"task"`
	// Options are those of the metric and of the analysis beside the task, such
	// as sl and tl, or instruction.
	Options map[string]string `yaml:"options"`
	// Real is how many outputs of systems are analysed. Metric scores all of
	// them, and Shares says how many are of the best, the middle and the worst
	// third; equal shares where it is empty.
	Real   int       `yaml:"real"`
	Metric string    `yaml:"metric"`
	Shares []float64 `yaml:"shares"`
	// Synthetic is how many references are made into outputs with errors.
	Synthetic int `yaml:"synthetic"`
}

// ReadMix reads a description. name is the file's in errors.
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
		field := fmt.Sprintf("mix[%d]", i)
		var err error
		switch {
		case r.Dataset == "" || r.Task == "":
			err = yamlfile.Wrong(field, "dataset and task are needed")
		case r.Real < 0 || r.Synthetic < 0 || r.Real+r.Synthetic == 0:
			err = yamlfile.Wrong(field, "real and synthetic are %d and %d; one of them must be above 0", r.Real, r.Synthetic)
		case r.Real > 0 && r.Metric == "":
			err = yamlfile.Wrong(field, "metric is missing: outputs of systems are drawn by the thirds of their scores")
		case len(r.Shares) > 0 && (len(r.Shares) != thirds || slices.Min(r.Shares) < 0 || slices.Max(r.Shares) <= 0):
			err = yamlfile.Wrong(field, "shares are %v; want three numbers from 0, of the best, the middle and the worst third, of which one is above 0, such as [1, 1, 2]", r.Shares)
		}
		if err != nil {
			return nil, f.At(err)
		}
	}
	return m, nil
}

const thirds = 3

// Output is an output of a system with its score; higher is better.
type Output struct {
	Segment *refract.Segment
	System  string
	Text    string
	Score   float64
	Third   int // 0 for the best
}

// Thirds draws outputs: those of each third of the scores by its share.
// Where a third has too few, the others do not stand in for it.
func Thirds(seed uint64, row *MixRow, outputs []Output) []Output {
	order := slices.Clone(outputs)
	slices.SortStableFunc(order, func(a, b Output) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	shares := row.Shares
	if len(shares) == 0 {
		shares = []float64{1, 1, 1}
	}
	total := shares[0] + shares[1] + shares[2]
	var out []Output
	sum, taken := 0.0, 0
	for third, share := range shares {
		from, to := len(order)*third/thirds, len(order)*(third+1)/thirds
		group := slices.Clone(order[from:to])
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

package diversity

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/refract-eval/refract"
)

// Options are those of [Of]. The zero value measures variants alone, as the
// paper does, without intervals.
type Options struct {
	// Originals lets the original references enter beside the variants.
	Originals bool
	Bootstrap Bootstrap
}

// batchSize is how many segments a measure is given in one call.
const batchSize = 64

// Set is the diversity of a dataset, and what it stands on.
type Set struct {
	Name     string   // for tables
	Results  []Result // of each measure
	Segments int      // of the dataset
	// Few counts the segments with fewer than two texts, which have no
	// diversity and do not enter.
	Few   int
	Texts int // that entered
	// Missing and Blank count texts that could not enter.
	Missing, Blank int

	ids    []string    // of the segments that entered
	values [][]float64 // by measure, for each of ids; NaN where undefined
}

// Result is the mean of a measure over segments.
type Result struct {
	Measure      string
	MoreIsHigher bool
	Value        float64 // NaN where no segment has one
	Low, High    float64 // of the interval; NaN without one
	N            int     // segments that entered
	Undefined    int     // segments for which the measure is not defined
}

// Of measures the texts of every segment of a dataset and averages over
// segments. All variants of a segment are compared with each other, whatever
// reference they come from. It holds eight bytes per segment and measure, and
// the ids.
func Of(ctx context.Context, ds refract.Dataset, measures []Measure, o Options) (*Set, error) {
	set := &Set{values: make([][]float64, len(measures))}
	var batch [][]string
	score := func() error {
		for k, m := range measures {
			values, err := m.Score(ctx, batch)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", m.Name(), span(set.ids[len(set.ids)-len(batch):]), err)
			}
			set.values[k] = append(set.values[k], values...)
		}
		batch = batch[:0]
		return nil
	}
	for s, err := range ds.Segments(ctx) {
		if err != nil {
			return nil, err
		}
		set.Segments++
		texts := set.texts(s, o.Originals)
		if len(texts) < 2 {
			set.Few++
			continue
		}
		set.Texts += len(texts)
		set.ids = append(set.ids, s.ID)
		if batch = append(batch, texts); len(batch) == batchSize {
			if err := score(); err != nil {
				return nil, err
			}
		}
	}
	// A dataset may end without an error because the context did.
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(batch) > 0 {
		if err := score(); err != nil {
			return nil, err
		}
	}
	for k, m := range measures {
		r := Result{Measure: m.Name(), MoreIsHigher: m.MoreIsHigher()}
		defined := make([]float64, 0, len(set.ids))
		for _, v := range set.values[k] {
			if !math.IsNaN(v) {
				defined = append(defined, v)
			}
		}
		r.N, r.Undefined = len(defined), len(set.ids)-len(defined)
		r.Value = mean(defined)
		var err error
		if r.Low, r.High, err = o.Bootstrap.interval(ctx, defined); err != nil {
			return nil, err
		}
		set.Results = append(set.Results, r)
	}
	return set, nil
}

// texts are those of a segment that can be compared.
func (set *Set) texts(s *refract.Segment, originals bool) []string {
	var all []refract.Text
	if originals {
		all = s.AllReferences(nil)
	} else {
		for i := range s.Variants {
			all = append(all, s.Variants[i].Text)
		}
	}
	var out []string
	for _, t := range all {
		switch {
		case !t.Valid:
			set.Missing++
		case strings.TrimSpace(t.Value) == "":
			set.Blank++
		default:
			out = append(out, t.Value)
		}
	}
	return out
}

// span names segments in an error.
func span(ids []string) string {
	if len(ids) == 1 {
		return fmt.Sprintf("segment %q", ids[0])
	}
	return fmt.Sprintf("segments %q to %q", ids[0], ids[len(ids)-1])
}

// Difference is that of the means of two sets, over the segments that both
// have.
type Difference struct {
	Value     float64 // NaN where there is no such segment
	Low, High float64
	N         int
}

// Minus returns, for each measure, the mean difference to another set with the
// same measures, over the segments by whose ids both have a number, with an
// interval over these segments.
func (set *Set) Minus(ctx context.Context, other *Set, b Bootstrap) ([]Difference, error) {
	if len(set.values) != len(other.values) {
		return nil, fmt.Errorf("sets of %d and of %d measures cannot be compared", len(set.values), len(other.values))
	}
	at := make(map[string]int, len(other.ids))
	for i, id := range other.ids {
		at[id] = i
	}
	out := make([]Difference, len(set.values))
	for k := range set.values {
		var deltas []float64
		for i, id := range set.ids {
			if j, ok := at[id]; ok {
				if d := set.values[k][i] - other.values[k][j]; !math.IsNaN(d) {
					deltas = append(deltas, d)
				}
			}
		}
		low, high, err := b.interval(ctx, deltas)
		if err != nil {
			return nil, err
		}
		out[k] = Difference{mean(deltas), low, high, len(deltas)}
	}
	return out, nil
}

package dataset

import (
	"math"
	"slices"

	"github.com/refract-eval/refract"
)

// average gathers the numbers of several annotators by name, in the order of
// the names.
type average struct {
	names  []string
	values map[string][]float64
}

// add adds a number. One that is not valid makes the name known.
func (a *average) add(name string, value float64, valid bool) {
	if a.values == nil {
		a.values = map[string][]float64{}
	}
	if _, ok := a.values[name]; !ok {
		a.names = append(a.names, name)
		a.values[name] = nil
	}
	if valid {
		a.values[name] = append(a.values[name], value)
	}
}

// aspects adds the numbers of an annotator: an object with one an aspect, null
// where none is given. What the fields in skip hold is not read.
func (r reader) aspects(a *average, skip ...string) error {
	return r.Members("aspect", func(b []byte) error {
		name := string(b)
		if slices.Contains(skip, name) {
			return r.Skip()
		}
		v, ok, err := r.OptionalFloat()
		a.add(name, v, ok)
		return err
	})
}

// judgements makes a judgement of each name, of the means or medians of what
// was added.
func (a *average) judgements(dst []refract.Judgement, prefix, system string, of func([]float64) float64) []refract.Judgement {
	for _, name := range a.names {
		j := refract.Judgement{Name: prefix + name, System: system}
		if v := a.values[name]; len(v) > 0 {
			j.Score, j.Valid = of(v), true
		}
		dst = append(dst, j)
	}
	return dst
}

func mean(v []float64) float64 {
	var sum, scaled float64
	n := float64(len(v))
	for _, x := range v {
		sum += x
		scaled += x / n
	}
	if math.IsInf(sum, 0) {
		return scaled
	}
	return sum / n
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	n := len(v) / 2
	if len(v)%2 == 1 {
		return v[n]
	}
	return mean(v[n-1 : n+1])
}

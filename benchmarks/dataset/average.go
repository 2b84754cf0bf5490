package dataset

import (
	"math"

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
// where none is given.
func (r reader) aspects(a *average) error {
	return r.Members("aspect", func(name []byte) error {
		v, ok, err := r.OptionalFloat()
		a.add(string(name), v, ok)
		return err
	})
}

// judgements makes a judgement of each name, of the means of what was added.
func (a *average) judgements(dst []refract.Judgement, prefix, system string) []refract.Judgement {
	for _, name := range a.names {
		j := refract.Judgement{Name: prefix + name, System: system}
		if v := a.values[name]; len(v) > 0 {
			j.Score, j.Valid = mean(v), true
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

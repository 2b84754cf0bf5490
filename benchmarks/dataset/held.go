package dataset

import (
	"context"
	"iter"
	"math"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/text"
)

// held is a dataset that is read as a whole for each pass, since its file is
// not ordered by segments, or since several files have to be joined. Those
// sets are small.
type held struct {
	name   string // of the file or folder
	load   loader
	o      Options
	n      int
	humans []string // sorted
}

// loader reads all segments, with all their judgements.
type loader func(ctx context.Context, warn func(Warning)) ([]*refract.Segment, error)

// openHeld reads the dataset once, so that its faults come before any scoring.
func openHeld(name string, o Options, load loader) (refract.Dataset, error) {
	segments, err := load(context.Background(), o.Warn)
	if err != nil {
		return nil, err
	}
	if len(segments) == 0 {
		return nil, failFile(name, "the dataset is empty: no segment at all")
	}
	d := &held{name: name, load: load, o: o, n: len(segments)}
	for _, s := range segments {
		for _, j := range s.Judgements {
			if i, ok := slices.BinarySearch(d.humans, j.Name); !ok {
				d.humans = slices.Insert(d.humans, i, j.Name)
			}
		}
	}
	if o.NoJudgements {
		return d, nil
	}
	for _, name := range o.JudgementNames {
		if !slices.Contains(d.humans, name) {
			return nil, failFile(d.name, "has no human scores %s%s; it has %s", text.Quote(name), didYouMean(name, d.humans), quotedNames(d.humans))
		}
	}
	return d, nil
}

// Len returns the number of segments.
func (d *held) Len() (int, bool) { return d.n, true }

// HumanNames returns the names of the human scores, sorted.
func (d *held) HumanNames() []string { return slices.Clone(d.humans) }

func (d *held) rereadable() bool { return true }

// Segments yields the segments in their order.
func (d *held) Segments(ctx context.Context) iter.Seq2[*refract.Segment, error] {
	return func(yield func(*refract.Segment, error) bool) {
		segments, err := d.load(ctx, d.o.Warn)
		if err != nil {
			yield(nil, err)
			return
		}
		var c coverage
		for _, s := range segments {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			s.Judgements = d.o.judgementsOf(s.Judgements)
			c.add(s)
			if !yield(s, nil) {
				return
			}
		}
		c.report(d.name, d.o.Warn)
	}
}

// judgementsOf keeps the judgements that are asked for.
func (o *Options) judgementsOf(all []refract.Judgement) []refract.Judgement {
	if o.NoJudgements {
		return nil
	}
	if o.JudgementNames == nil {
		return all
	}
	return slices.DeleteFunc(all, func(j refract.Judgement) bool { return !slices.Contains(o.JudgementNames, j.Name) })
}

// average gathers numbers by name, in the order of the names.
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

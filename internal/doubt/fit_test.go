package doubt_test

import (
	"math"
	"slices"
	"testing"

	"github.com/refract-eval/refract/internal/doubt"
)

// row is a sample for the fit.
type row struct {
	x      doubt.Features
	sign   float64 // 1 where the meaning is lost, or -1
	weight float64
}

// fit is the logistic regression of rows on the features that are used, of
// which only free may have a weight below 0: by coordinate descent, with a
// ridge on features of unit variance.
func fit(rows []row, used []int, free int) doubt.Weights {
	const ridge = 3
	var mean, sd doubt.Features
	for _, i := range used {
		for _, r := range rows {
			mean[i] += r.x[i] / float64(len(rows))
		}
		for _, r := range rows {
			sd[i] += (r.x[i] - mean[i]) * (r.x[i] - mean[i]) / float64(len(rows))
		}
		sd[i] = math.Sqrt(sd[i])
	}
	mean[0], sd[0] = 0, 1
	var w doubt.Weights
	margins := make([]float64, len(rows))
	for range 300 {
		for _, i := range append([]int{0}, used...) {
			var g, h float64
			if i > 0 {
				g, h = ridge*w[i], ridge
			}
			for k, r := range rows {
				z := (r.x[i] - mean[i]) / sd[i]
				p := 1 / (1 + math.Exp(r.sign*margins[k]))
				g -= r.weight * r.sign * p * z
				h += r.weight * p * (1 - p) * z * z
			}
			to := w[i] - g/h
			if i > 0 && i != free {
				to = max(0, to)
			}
			for k, r := range rows {
				margins[k] += (to - w[i]) * (r.x[i] - mean[i]) / sd[i]
			}
			w[i] = to
		}
	}
	for _, i := range used {
		w[i] /= sd[i]
		w[0] -= w[i] * mean[i]
	}
	return w
}

// The weights are fitted on SmolLM2's answers to the first 16 references,
// paraphrases of other references in place of theirs, and half of the
// released answers, where there may be lost ones among many that are not.
// Then the first weight is set for Limit.
func TestWeights(t *testing.T) {
	all := released(t)
	n := float64(len(all)) / 2
	rows := func() []row {
		var out []row
		count := map[[2]bool]float64{}
		for _, s := range labelled(t) {
			if s.tuning() {
				count[[2]bool{s.Kind == "other", s.Lost}]++
			}
		}
		for _, s := range labelled(t) {
			if !s.tuning() {
				continue
			}
			r := row{doubt.FeaturesOf(s.Reference, s.Answer), -1, 3}
			if s.Lost {
				r.sign, r.weight = 1, n/count[[2]bool{s.Kind == "other", true}]
				if s.Kind == "other" {
					r.weight *= 0.3
				}
			}
			r.weight /= 10
			out = append(out, r)
		}
		for _, s := range all {
			if s.ID%2 == 0 {
				out = append(out, row{doubt.FeaturesOf(s.Reference, s.Answer), -1, 0.1})
			}
		}
		return out
	}
	for _, x := range []struct {
		name string
		used []int
		free int
		got  doubt.Weights
	}{
		{"byWords", []int{1, 2, 3, 4, 5, 6, 7, 8}, -1, doubt.ByWords},
	} {
		want := fit(rows(), x.used, x.free)
		want[0] = 0
		var sums []float64
		for _, s := range all {
			sums = append(sums, sum(want, doubt.FeaturesOf(s.Reference, s.Answer)))
		}
		slices.Sort(sums)
		want[0] = -sums[len(sums)*9/10]
		for i := range want {
			if math.Abs(x.got[i]-want[i]) > 0.006 {
				t.Errorf("%s, weight of %q: %v, want %.2f", x.name, doubt.Names[i], x.got[i], want[i])
			}
		}
	}
}

func sum(w doubt.Weights, f doubt.Features) float64 {
	var sum float64
	for i := range w {
		sum += w[i] * f[i]
	}
	return sum
}

package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/internal/numeric"
)

// Combination is a rule that combines several scores of the same text. The zero Combination
// is Mean.
type Combination string

// The combinations.
const (
	Mean   Combination = "mean"
	median Combination = "median"
	// gembaV2 drops the scores that are more than two (population) standard deviations from
	// the mean, once, and averages the others with the weights 1, 1/2, 1/3, … from the best to
	// the worst. Samples, outliers and reciprocal ranks are those of GEMBA-MQM V2
	// (Junczys-Dowmunt 2025); its abstract does not say which rank is first, or which
	// deviation it uses.
	gembaV2 Combination = "gemba-v2"
)

// Combinations lists the names of the combinations.
func Combinations() []string { return []string{string(Mean), string(median), string(gembaV2)} }

// combine combines at least one score. sign is positive if higher scores are better.
func (c Combination) combine(scores []float64, sign float64) float64 {
	scores = slices.Clone(scores)
	switch c {
	case median:
		return aggregate.Median(scores)
	case Mean, "":
		return numeric.Mean(scores)
	}
	mean, deviation := numeric.Mean(scores), spread(scores)
	if inner := slices.DeleteFunc(slices.Clone(scores), func(v float64) bool { return math.Abs(v-mean) > 2*deviation }); len(inner) > 0 {
		scores = inner // else the squares underflow
	}
	slices.SortFunc(scores, func(a, b float64) int { return cmp.Compare(sign*b, sign*a) })
	var sum, weights numeric.Sum
	for i, v := range scores {
		sum.Add(v / float64(i+1))
		weights.Add(1 / float64(i+1))
	}
	return min(max(sum.Value()/weights.Value(), slices.Min(scores)), slices.Max(scores))
}

// spread returns the population standard deviation.
func spread(scores []float64) float64 {
	mean := numeric.Mean(scores)
	var squares numeric.Sum
	for _, v := range scores {
		squares.Add((v - mean) * (v - mean))
	}
	return math.Sqrt(squares.Mean(len(scores)))
}

// Combine makes one report of several reports of the same text, its Parts. It has a score
// if at least one part has, and at least as many as least says. Errors and answer are taken
// from the part whose score is closest. sign is positive if higher scores are better.
func Combine(c Combination, parts []*Report, least int, sign float64) *Report {
	var scores []float64
	outcomes := map[Outcome]int{}
	for _, p := range parts {
		if outcomes[p.Outcome]++; p.Outcome.HasScore() {
			scores = append(scores, *p.Score)
		}
	}
	if len(scores) < max(1, least) {
		r := &Report{Parts: parts, Detail: fmt.Sprintf("%d of %d have a score", len(scores), len(parts))}
		for _, o := range []Outcome{Unparseable, Cut, Blocked, Missing} {
			if outcomes[o] > outcomes[r.Outcome] || r.Outcome == "" {
				r.Outcome = o
			}
		}
		return r
	}
	score := c.combine(scores, sign)
	var nearest *Report
	for _, p := range parts {
		if p.Outcome.HasScore() && (nearest == nil || math.Abs(*p.Score-score) < math.Abs(*nearest.Score-score)) {
			nearest = p
		}
	}
	r := *nearest
	r.Parts, r.Spread = parts, new(spread(scores))
	if len(scores) < len(parts) {
		r.Detail = strings.TrimPrefix(fmt.Sprintf("%s; %d of %d have a score", r.Detail, len(scores), len(parts)), "; ")
	}
	r.SetScore(Scored, score)
	if outcomes[NoError] == len(scores) {
		r.Outcome = NoError
	}
	return &r
}

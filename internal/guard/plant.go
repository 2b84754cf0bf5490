package guard

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/refract-eval/refract/metrics"
)

// Pool keeps a random sample of the segments of a run, to make canaries from them.
// The sample depends only on the seed and on the order of the segments.
type Pool struct {
	judges   []metrics.Metric
	n        int
	seed     uint64
	rng      *rand.Rand
	seen     int
	segments []CanarySource
}

// NewPool prepares n canaries for the judges.
func NewPool(judges []metrics.Metric, n int, seed uint64) *Pool {
	return &Pool{judges: judges, n: n, seed: seed, rng: rand.New(rand.NewPCG(seed, 0x706f6f6c))}
}

// spareSegments is the number of segments kept in addition to one per canary, so that
// even a single canary can get the output of another segment.
const spareSegments = 8

// Add offers the next segment to the sample, unless a judge could not score it.
func (p *Pool) Add(s CanarySource) {
	for _, m := range p.judges {
		if info := m.Info(); info.NeedsSource && s.Source == nil || info.NeedsReferences && len(s.References) == 0 {
			return
		}
	}
	p.seen++
	if size := p.n + spareSegments; len(p.segments) < size {
		p.segments = append(p.segments, s)
	} else if i := p.rng.IntN(p.seen); i < size {
		p.segments[i] = s
	}
}

// Count counts the verdicts on some canaries of a judge. Each canary has one verdict:
//
//   - Fooled: the injection improved the score.
//   - Blind: it did not, but even without it the bad output scores as well as the
//     good one.
//   - NoScore: the bad output has no score, with the injection or without.
//   - SeenThrough: none of these.
type Count struct {
	Planted, SeenThrough, Fooled, Blind, NoScore int
	gains                                        float64
}

// Judged returns the number of canaries with the scores that a verdict needs.
func (c Count) Judged() int { return c.Planted - c.NoScore }

// MeanGain returns by how much the injections improved the score on average, in the
// judge's units. Positive means better, also for judges where lower scores are
// better. It returns false if nothing was judged.
func (c Count) MeanGain() (float64, bool) {
	return c.gains / float64(c.Judged()), c.Judged() > 0
}

// add counts a canary by the scores of its three outputs; NaN means no score.
func (c *Count) add(direction metrics.Direction, control, canary, good float64) {
	sign := float64(direction)
	c.Planted++
	gain := sign * (canary - control)
	switch {
	case math.IsNaN(gain):
		c.NoScore++
		return
	case gain > 0:
		c.Fooled++
	case sign*canary >= sign*good:
		c.Blind++
	default:
		c.SeenThrough++
	}
	c.gains += gain
}

// Stand is the result of a judge on its canaries.
type Stand struct {
	Judge string
	Kinds map[string]*Count // by the kind of injection
	All   Count
}

// Plant lets every judge score its canaries. All judges get the same texts, except
// for the wording of the injections. Each canary needs three scores. The error comes
// from the first judge that failed.
func (p *Pool) Plant(ctx context.Context) ([]Stand, error) {
	var all []Stand
	for _, m := range p.judges {
		info := m.Info()
		planted := Canaries(p.segments, p.n, p.seed, ClaimFor(info.Name))
		blocks := make([]metrics.Block, len(planted))
		for i, c := range planted {
			from := p.segments[c.Segment]
			blocks[i].Hypotheses = []string{c.Control, c.Hypothesis, c.Good}
			if info.NeedsSource {
				blocks[i].Source = *from.Source
			}
			if info.NeedsReferences {
				blocks[i].References = from.References[:1]
			}
		}
		stand := Stand{Judge: info.Name, Kinds: map[string]*Count{}}
		if len(blocks) > 0 {
			scores, err := m.Score(ctx, blocks)
			if err != nil {
				return nil, fmt.Errorf("canaries: %s: %w", info.Name, err)
			}
			for i, c := range planted {
				if stand.Kinds[c.Kind] == nil {
					stand.Kinds[c.Kind] = &Count{}
				}
				for _, count := range []*Count{stand.Kinds[c.Kind], &stand.All} {
					count.add(info.Direction, stated(&scores[i], 0), stated(&scores[i], 1), stated(&scores[i], 2))
				}
			}
		}
		all = append(all, stand)
	}
	return all, nil
}

// stated returns the score in a cell, NaN if there is none. A number that a policy
// supplied for a missing score counts as none.
func stated(s *metrics.Scores, i int) float64 {
	if s.Status != nil && s.Status[i] != metrics.Scored || s.Reports != nil && s.Reports[i] != nil && !s.Reports[i].Outcome.HasScore() {
		return math.NaN()
	}
	return s.Values[i]
}

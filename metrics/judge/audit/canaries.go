package audit

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/judge/guard"
	"github.com/refract-eval/refract/report"
)

// Canaries keeps a random few of the segments that go by, to make canaries of
// them: known-bad outputs, without and with an injection. Which ones depends on
// the seed and on the order of the segments alone.
type Canaries struct {
	judges                      []metrics.Metric
	n                           int
	seed                        uint64
	needsSource, needsReference bool // of any judge
	rng                         *rand.Rand
	seen                        int
	segments                    []*refract.Segment
}

// NewCanaries prepares n canaries for the judges.
func NewCanaries(judges []metrics.Metric, n int, seed uint64) *Canaries {
	c := &Canaries{judges: judges, n: n, seed: seed, rng: rand.New(rand.NewPCG(seed, 0x706f6f6c))}
	for _, m := range judges {
		info := m.Info()
		c.needsSource = c.needsSource || info.NeedsSource
		c.needsReference = c.needsReference || info.NeedsReferences
	}
	return c
}

// spareSegments are kept beyond one for each canary, so that even a single one
// can be given the output of another segment.
const spareSegments = 8

// Add draws from the next segment, unless a judge could not score it.
func (c *Canaries) Add(s *refract.Segment) {
	if c.needsSource && !s.Source.Valid || c.needsReference && len(present(s.References)) == 0 {
		return
	}
	c.seen++
	if size := c.n + spareSegments; len(c.segments) < size {
		c.segments = append(c.segments, s)
	} else if i := c.rng.IntN(c.seen); i < size {
		c.segments[i] = s
	}
}

// Stand is what a judge made of its canaries.
type Stand struct {
	Judge string
	Tally guard.Tally
}

// Plant lets every judge score its canaries: the same texts for all of them,
// but for the wording of what is injected. Each takes three scores. The error
// is of the first judge that could not go on.
func (c *Canaries) Plant(ctx context.Context) ([]Stand, error) {
	sources := make([]guard.CanarySource, len(c.segments))
	for i, s := range c.segments {
		sources[i] = canarySource(s)
	}
	var all []Stand
	for _, m := range c.judges {
		info := m.Info()
		planted := guard.Canaries(sources, c.n, c.seed, guard.ClaimFor(info.Name))
		segments := make([]*refract.Segment, len(planted))
		for i := range planted {
			segments[i] = c.segment(i, &planted[i])
		}
		eng, err := refract.NewEngine([]refract.Setting{{Metric: m}}, refract.Options{AllowNoReferences: true})
		if err != nil {
			return nil, err
		}
		scores, err := eng.Score(ctx, segments)
		if err != nil {
			return nil, fmt.Errorf("canaries: %w", err)
		}
		stand := Stand{info.Name, guard.Tally{LowerIsBetter: info.Direction == metrics.LowerIsBetter}}
		for i := range planted {
			ms := &scores[i].Metrics[0]
			stand.Tally.Add(planted[i].Kind, guard.CanaryScores{Control: stated(ms, 0), Canary: stated(ms, 1), Good: stated(ms, 2)})
		}
		all = append(all, stand)
	}
	return all, nil
}

// segment has the outputs of a canary in the order of guard.CanaryScores, and
// at most one reference. Nothing of the systems' names reaches a judge.
func (c *Canaries) segment(i int, canary *guard.Canary) *refract.Segment {
	from := c.segments[canary.Segment]
	s := &refract.Segment{ID: fmt.Sprintf("canary %d of %s", i+1, canary.ID), Source: from.Source, Pos: from.Pos}
	if refs := present(from.References); len(refs) > 0 {
		s.References = []refract.Text{refract.NewText(refs[0])}
	}
	for _, output := range [...][2]string{{"control", canary.Control}, {"injected", canary.Hypothesis}, {"good", canary.Good}} {
		s.Hypotheses = append(s.Hypotheses, refract.Hypothesis{System: output[0], Text: refract.NewText(output[1])})
	}
	return s
}

// stated is the score of a hypothesis, NaN where there is none. What a policy
// counts in place of an answer is no score.
func stated(ms *refract.MetricScores, hypothesis int) float64 {
	i := hypothesis * ms.Columns
	if ms.Status[i] != metrics.Scored || ms.Reports != nil && ms.Reports[i] != nil && !ms.Reports[i].Outcome.HasScore() {
		return math.NaN()
	}
	return ms.Values[i]
}

// canarySource gives the texts of a segment that are present and not blank,
// with the system first that people like best.
func canarySource(s *refract.Segment) guard.CanarySource {
	liked := map[string]float64{}
	for _, j := range s.Judgements {
		if j.Valid && j.Name == s.Judgements[0].Name {
			liked[j.System] = j.Score
		}
	}
	score := func(system string) float64 {
		if v, judged := liked[system]; judged {
			return v
		}
		return math.Inf(-1)
	}
	hyps := slices.Clone(s.Hypotheses)
	slices.SortStableFunc(hyps, func(a, b refract.Hypothesis) int { return cmp.Compare(score(b.System), score(a.System)) })
	texts := make([]refract.Text, len(hyps))
	for i := range hyps {
		texts[i] = hyps[i].Text
	}
	return guard.CanarySource{ID: s.ID, References: present(s.References), Hypotheses: present(texts)}
}

// present returns the texts that are neither missing nor blank.
func present(texts []refract.Text) []string {
	var out []string
	for _, t := range texts {
		if t.Valid && strings.TrimSpace(t.Value) != "" {
			out = append(out, t.Value)
		}
	}
	return out
}

// String returns the result in one line.
func (s *Stand) String() string {
	c := s.Tally.Total()
	if c.Planted == 0 {
		return s.Judge + ": no canary could be made: no segment has what the judges need and a text that can be made bad"
	}
	line := fmt.Sprintf("%s saw through %d of %d canaries", s.Judge, c.SeenThrough, c.Planted)
	var by []string
	for _, kind := range guard.Kinds() {
		if n := s.Tally.Kind(kind).Fooled; n > 0 {
			by = append(by, fmt.Sprintf("%s (%d)", kind, n))
		}
	}
	if len(by) > 0 {
		line += ", was fooled by " + strings.Join(by, ", ")
	}
	if c.Blind > 0 {
		line += fmt.Sprintf(", took %d bad outputs for good without being told to", c.Blind)
	}
	if c.NoScore > 0 {
		line += fmt.Sprintf(", and gave no score for %d", c.NoScore)
	}
	return line
}

// WriteStands writes a table for people: a row for each judge and kind of
// injection, and one for all of a judge's, with a line below that says what it
// comes to.
func WriteStands(w io.Writer, stands []Stand) error {
	t := &report.NamedTable{Title: "Canaries", Columns: []report.Column{{Name: "judge"}, {Name: "injection"}}}
	for _, name := range []string{"planted", "judged", "seen through", "fooled", "blind", "no score"} {
		t.Columns = append(t.Columns, report.Column{Name: name, Kind: report.KindInt})
	}
	t.Columns = append(t.Columns, report.Column{Name: "mean gain", Kind: report.KindFloat, Digits: 3})
	for i := range stands {
		s := &stands[i]
		t.Note("%s", s)
		for _, kind := range append(guard.Kinds(), "all") {
			c := s.Tally.Kind(kind)
			if kind == "all" {
				c = s.Tally.Total()
			} else if c.Planted == 0 {
				continue
			}
			gain := report.Null()
			if g, ok := c.MeanGain(); ok {
				gain = report.Float(g)
			}
			t.Add(s.Judge, kind, c.Planted, c.Judged(), c.SeenThrough, c.Fooled, c.Blind, c.NoScore, gain)
		}
	}
	return t.WriteTitled(w)
}

package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/judge/guard"
	"github.com/refract-eval/refract/report"
)

// canaryPool keeps a random few of the segments that go by, to make canaries
// of them. It depends on the seed and on the order of the segments alone.
type canaryPool struct {
	n                           int // canaries to make
	seed                        uint64
	needsSource, needsReference bool // of any judge
	rng                         *rand.Rand
	seen                        int
	segments                    []*refract.Segment
}

func newCanaryPool(judges []metrics.Metric, n int, seed uint64) *canaryPool {
	p := &canaryPool{n: n, seed: seed, rng: rand.New(rand.NewPCG(seed, 0x706f6f6c))}
	for _, m := range judges {
		info := m.Info()
		p.needsSource = p.needsSource || info.NeedsSource
		p.needsReference = p.needsReference || info.NeedsReferences
	}
	return p
}

// spareSegments are kept beyond one for each canary, so that even a single one
// can be given the output of another segment.
const spareSegments = 8

// Add takes note of the next segment, unless a judge could not score it.
func (p *canaryPool) Add(s *refract.Segment) {
	if p.needsSource && !s.Source.Valid || p.needsReference && len(present(s.References)) == 0 {
		return
	}
	p.seen++
	if size := p.n + spareSegments; len(p.segments) < size {
		p.segments = append(p.segments, s)
	} else if i := p.rng.IntN(p.seen); i < size {
		p.segments[i] = s
	}
}

// read adds all segments of a dataset.
func (p *canaryPool) read(ctx context.Context, ds refract.Dataset) error {
	for s, err := range ds.Segments(ctx) {
		if err != nil {
			return err
		}
		p.Add(s)
	}
	return ctx.Err()
}

// judgeTally is how one judge stood its canaries.
type judgeTally struct {
	judge string
	tally guard.Tally
}

// plant lets every judge score its canaries: the same texts for all of them,
// but for the wording of what is injected. Each takes three scores. The error
// is of the first judge that could not go on.
func (p *canaryPool) plant(ctx context.Context, judges []metrics.Metric) ([]judgeTally, error) {
	sources := make([]guard.CanarySource, len(p.segments))
	for i, s := range p.segments {
		sources[i] = canarySource(s)
	}
	var all []judgeTally
	for _, m := range judges {
		info := m.Info()
		canaries := guard.Canaries(sources, p.n, p.seed, guard.ClaimFor(info.Name))
		planted := make([]*refract.Segment, len(canaries))
		for i := range canaries {
			planted[i] = p.canarySegment(i, &canaries[i])
		}
		eng, err := refract.NewEngine([]refract.Setting{{Metric: m}}, refract.Options{AllowNoReferences: true})
		if err != nil {
			return nil, err
		}
		scores, err := eng.Score(ctx, planted)
		if err != nil {
			return nil, fmt.Errorf("canaries: %w", err)
		}
		t := judgeTally{info.Name, guard.Tally{LowerIsBetter: info.Direction == metrics.LowerIsBetter}}
		for i := range canaries {
			t.tally.Add(canaries[i].Kind, canaryScores(&scores[i].Metrics[0]))
		}
		all = append(all, t)
	}
	return all, nil
}

// The systems of a canary's segment, in their order. Nothing of the names
// reaches a judge.
const (
	canaryControl = iota
	canaryInjected
	canaryGood
)

// canarySegment is a segment with the three outputs of a canary, and at most
// one reference.
func (p *canaryPool) canarySegment(i int, c *guard.Canary) *refract.Segment {
	from := p.segments[c.Segment]
	s := &refract.Segment{ID: fmt.Sprintf("canary %d of %s", i+1, c.ID), Source: from.Source, Pos: from.Pos}
	if refs := present(from.References); len(refs) > 0 {
		s.References = []refract.Text{refract.NewText(refs[0])}
	}
	for k, text := range []string{canaryControl: c.Control, canaryInjected: c.Hypothesis, canaryGood: c.Good} {
		name := []string{canaryControl: "control", canaryInjected: "injected", canaryGood: "good"}[k]
		s.Hypotheses = append(s.Hypotheses, refract.Hypothesis{System: name, Text: refract.NewText(text)})
	}
	return s
}

// canaryScores reads the scores of a canary's segment. What a policy counts in
// place of an answer is no score.
func canaryScores(ms *refract.MetricScores) guard.CanaryScores {
	has := func(h int) bool {
		i := h * ms.Columns
		return ms.Status[i] == metrics.Scored && (ms.Reports == nil || ms.Reports[i] == nil || ms.Reports[i].Outcome.HasScore())
	}
	return guard.CanaryScores{
		Control: ms.Values[canaryControl*ms.Columns], HasControl: has(canaryControl),
		Canary: ms.Values[canaryInjected*ms.Columns], HasCanary: has(canaryInjected),
		Good: ms.Values[canaryGood*ms.Columns], HasGood: has(canaryGood),
	}
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
	hyps := slices.Clone(s.Hypotheses)
	slices.SortStableFunc(hyps, func(a, b refract.Hypothesis) int {
		x, judgedA := liked[a.System]
		y, judgedB := liked[b.System]
		switch {
		case judgedA && judgedB:
			return cmp.Compare(y, x)
		case judgedA:
			return -1
		case judgedB:
			return 1
		}
		return 0
	})
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

func canaryColumns() []report.Column {
	return []report.Column{
		{Name: "judge"},
		{Name: "injection"},
		{Name: "planted", Kind: report.KindInt},
		{Name: "judged", Kind: report.KindInt},
		{Name: "seen_through", Header: "seen through", Kind: report.KindInt},
		{Name: "fooled", Kind: report.KindInt},
		{Name: "blind", Kind: report.KindInt},
		{Name: "no_score", Header: "no score", Kind: report.KindInt},
		{Name: "mean_gain", Header: "mean gain", Kind: report.KindFloat, Digits: 3},
	}
}

// writeCanaries writes a row for each judge and kind of injection, and one for
// all of a judge's, with a line below that says what it comes to.
func (p *canaryPool) writeCanaries(w io.Writer, f report.Format, tallies []judgeTally) error {
	var notes []string
	for i := range tallies {
		notes = append(notes, p.canaryNote(&tallies[i]))
	}
	t, err := report.NewWriter(w, f, canaryColumns(), report.Options{Title: "Canaries", Notes: notes})
	if err != nil {
		return err
	}
	row := func(judge, kind string, c guard.Count) error {
		gain := report.Null()
		if g, ok := c.MeanGain(); ok {
			gain = report.Float(g)
		}
		return t.Row(report.String(judge), report.String(kind), report.Int(c.Planted), report.Int(c.Judged()),
			report.Int(c.SeenThrough), report.Int(c.Fooled), report.Int(c.Blind), report.Int(c.NoScore), gain)
	}
	for i := range tallies {
		judge, tally := tallies[i].judge, &tallies[i].tally
		for _, kind := range guard.Kinds() {
			if c := tally.Kind(kind); c.Planted > 0 {
				if err := row(judge, kind, c); err != nil {
					return err
				}
			}
		}
		if err := row(judge, "all", tally.Total()); err != nil {
			return err
		}
	}
	return t.Close()
}

func (p *canaryPool) canaryNote(t *judgeTally) string {
	c := t.tally.Total()
	if c.Planted == 0 {
		return fmt.Sprintf("%s: no canary could be made: no segment has what the judges need and a text that can be made bad", t.judge)
	}
	note := fmt.Sprintf("%s saw through %d of %d canaries", t.judge, c.SeenThrough, c.Planted)
	if c.Fooled > 0 {
		var by []string
		for _, kind := range guard.Kinds() {
			if n := t.tally.Kind(kind).Fooled; n > 0 {
				by = append(by, fmt.Sprintf("%s (%d)", kind, n))
			}
		}
		note += ", was fooled by " + strings.Join(by, ", ")
	}
	if c.Blind > 0 {
		note += fmt.Sprintf(", took %d bad outputs for good without being told to", c.Blind)
	}
	if c.NoScore > 0 {
		note += fmt.Sprintf(", and gave no score for %d", c.NoScore)
	}
	return note
}

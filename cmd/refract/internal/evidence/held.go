package evidence

import (
	"fmt"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/cmd/refract/internal/page"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/metrics"
)

// Held holds the scores of a dataset under several settings.
type Held struct {
	metrics  []metrics.Metric
	settings []refract.Setting
	metric   []int // of each setting: index into metrics
	at       []int // of each metric: index among those of the explorer, which have a score per reference; -1 for none
	engine   *refract.Engine
	systems  *refract.Systems

	segments []scored // until they are packed
	added    struct{ segments, originals, variants, outputs, missing int }
	names    []string // of systems, in order of appearance
	index    map[string]int
	humans   []string // kinds of human judgements
	prompts  []string
	rated    map[output][]page.Report // errors marked by people
	explorer *page.Explorer
}

// output identifies a system's output for a segment.
type output struct{ id, system string }

// scored is a segment with its scores by metric.
type scored struct {
	segment *refract.Segment
	scores  []refract.MetricScores
}

// Hold returns an empty Held for the scores of an engine.
func Hold(e *refract.Engine) *Held {
	h := &Held{metrics: e.Metrics(), settings: e.Settings(), engine: e, systems: e.Systems(), index: map[string]int{}}
	for _, s := range h.settings {
		h.metric = append(h.metric, slices.Index(h.metrics, s.Metric))
	}
	return h
}

// Add adds the next segment. It drops rejected variants and the origins of the others.
func (h *Held) Add(s *refract.SegmentScores) error {
	if err := h.systems.Add(s); err != nil {
		return err
	}
	seg := s.Segment
	seg.Rejected = nil
	h.added.segments++
	h.added.originals += len(seg.References)
	h.added.variants += len(seg.Variants)
	for i := range seg.Variants {
		seg.Variants[i].Origin = nil
		add(&h.prompts, promptOf(&seg.Variants[i]))
	}
	for i := range seg.Hypotheses {
		if h.added.outputs++; !seg.Hypotheses[i].Text.Valid {
			h.added.missing++
		}
		name := seg.Hypotheses[i].System
		if _, known := h.index[name]; !known {
			h.index[name] = len(h.names)
			h.names = append(h.names, name)
		}
	}
	for _, j := range seg.Judgements {
		add(&h.humans, j.Name)
	}
	for i := range s.Metrics {
		s.Metrics[i].First, s.Metrics[i].All = nil, nil // already summed up
	}
	h.segments = append(h.segments, scored{seg, s.Metrics})
	return nil
}

// rate adds the errors that people marked in outputs; they are shown together with the
// judges' reports.
func (h *Held) rate(ratings []dataset.MQMRating) {
	h.rated = map[output][]page.Report{}
	for i := range ratings {
		r := &ratings[i]
		of := output{r.ID, r.System}
		h.rated[of] = append(h.rated[of], pageReport("person "+r.Rater, r.Report))
	}
}

// add appends a name unless it is already there.
func add(names *[]string, name string) {
	if !slices.Contains(*names, name) {
		*names = append(*names, name)
	}
}

// promptOf names a variant's prompt.
func promptOf(v *refract.Variant) string {
	if v.Prompt == "" {
		return "unnamed prompt"
	}
	return v.Prompt
}

// facts lists what was scored.
func (h *Held) facts() []report.Fact {
	out := []report.Fact{
		{Name: "segments", Value: fmt.Sprint(h.added.segments)},
		{Name: "outputs", Value: fmt.Sprintf("%d of %s", h.added.outputs, english.Count(len(h.names), "system"))},
		{Name: "references", Value: english.Count(h.added.originals, "original") + " and " + english.Count(h.added.variants, "variant")},
		{Name: "set of references", Value: h.systems.Set()},
	}
	if h.added.missing > 0 {
		out = append(out, report.Fact{Name: "missing outputs", Value: fmt.Sprint(h.added.missing)})
	}
	if len(h.rated) > 0 {
		out = append(out, report.Fact{Name: "errors marked by people", Value: fmt.Sprintf("of %d outputs", len(h.rated))})
	}
	seen := map[string]bool{}
	for _, sc := range h.systems.Scores() {
		set := h.settings[sc.Setting]
		sig := h.systems.Signature(&sc).String()
		if key := set.String() + " " + sig; sc.OK && !seen[key] {
			seen[key] = true
			out = append(out, report.Fact{Name: set.String(), Value: sig})
		}
	}
	return append(out, report.Fact{Name: "version", Value: refract.Version})
}

package judge

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/metrics"
)

// Info describes the judge as a metric. Likelihoods are at most 0.
func (r *Resolved) Info() metrics.Info {
	info := metrics.Info{
		Name: r.Name(), NeedsSource: r.NeedsSource(), NeedsReferences: r.NeedsReference(),
		Direction: metrics.HigherIsBetter, Lower: math.Inf(-1),
	}
	if r.definition.Direction == "lower" {
		info.Direction = metrics.LowerIsBetter
	}
	if r.likelihood == nil {
		info.Lower, info.Upper = r.answer.Bounds()
	}
	return info
}

// PlaceModel is a name for Environment.Model if none is known.
const PlaceModel = "MODEL"

// Show writes the facts of a judge and what it would send, with placeholders for the texts
// of a segment.
func (j *Judge) Show(w io.Writer) error {
	r := j.Resolved()
	fields := Fields{Source: "SOURCE TEXT", Reference: "REFERENCE TEXT", Hypothesis: "OUTPUT TEXT"}
	answers := slices.Repeat([]string{"ANSWER OF THE MODEL"}, max(0, r.Turns()-1))
	req := r.Request(cmp.Or(r.Model(), PlaceModel), max(0, r.Turns()-1), fields, answers)
	if !r.IsLikelihood() {
		req.MaxTokens = j.cfg.maxTokens
	}
	info := r.Info()
	samples := ""
	if j.cfg.samples > 1 {
		samples = fmt.Sprintf("%d answers, combined by %s", j.cfg.samples, j.cfg.combine)
	}
	facts := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range [][2]string{
		{"metric", r.Spec()},
		{"prompt", r.Hash()[:12]},
		{"model", cmp.Or(r.Model(), "any")},
		{"endpoint", string(r.Endpoint())},
		{"request", requestFields(req)},
		{"needs", cmp.Or(info.Needs(), "nothing but the hypothesis")},
		{"samples", samples},
		{"scores", fmt.Sprintf("%s to %s, %s is better", showBound(info.Lower), showBound(info.Upper), info.Direction)},
	} {
		if f[1] != "" {
			fmt.Fprintf(facts, "%s\t%s\n", f[0], f[1])
		}
	}
	if err := facts.Flush(); err != nil {
		return err
	}
	part := func(head, text string) {
		fmt.Fprintf(w, "\n--- %s\n%s\n", head, text)
	}
	if r.IsLikelihood() {
		before, after := r.RenderLikelihood(fields)
		part("prompt", before)
		part("continuation, whose tokens are scored", after)
	} else if req.Prompt != "" {
		part("prompt", req.Prompt)
	}
	for _, m := range req.Messages {
		part(m.Role, m.Content)
	}
	return nil
}

// requestFields lists the parameters of a request, sorted except for the first.
func requestFields(req llm.Request) string {
	fields := fmt.Sprintf("temperature=%v top_p=%v max_tokens=%d", req.Temperature, req.TopP, req.MaxTokens)
	if len(req.Stop) > 0 {
		fields += fmt.Sprintf(" stop=%q", req.Stop)
	}
	if req.PromptLogprobs {
		fields += " log-probabilities of the prompt"
	}
	for _, name := range slices.Sorted(maps.Keys(req.Extra)) {
		fields += fmt.Sprintf(" %s=%v", name, req.Extra[name])
	}
	if req.Schema.Name != "" {
		fields += " schema=" + req.Schema.Name
	}
	return fields
}

func showBound(b float64) string {
	return strings.NewReplacer("-Inf", "no bound", "+Inf", "no bound").Replace(fmt.Sprint(b))
}

// Samples returns the number of answers combined into a score.
func (j *Judge) Samples() int { return j.cfg.samples }

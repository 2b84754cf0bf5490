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

// Info declares of the judge what every metric does.
func (r *Resolved) Info() metrics.Info {
	lower, upper := r.Bounds()
	return metrics.Info{
		Name: r.Name(), NeedsSource: r.NeedsSource(), NeedsReferences: r.NeedsReference(),
		Direction: r.Direction(), Lower: lower, Upper: upper,
	}
}

// The words that stand in prompts for what is not known.
const (
	PlaceModel     = "MODEL" // a name for Environment.Model
	placeSource    = "SOURCE TEXT"
	placeReference = "REFERENCE TEXT"
	placeOutput    = "OUTPUT TEXT"
	placeAnswer    = "ANSWER OF THE MODEL"
)

// Show writes the facts of a judge and then what would be sent, with words in
// place of the texts of a segment.
func (j *Judge) Show(w io.Writer) error {
	r := j.Resolved()
	fields := Fields{Source: placeSource, Reference: placeReference, Hypothesis: placeOutput}
	answers := slices.Repeat([]string{placeAnswer}, max(0, r.Turns()-1))
	req := r.Request(cmp.Or(r.Model(), PlaceModel), max(0, r.Turns()-1), fields, answers)
	lower, upper := r.Bounds()
	facts := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range [][2]string{
		{"metric", r.Spec()},
		{"prompt", r.Hash()[:12]},
		{"model", cmp.Or(r.Model(), "any")},
		{"endpoint", string(r.Endpoint())},
		{"request", requestFields(req)},
		{"needs", cmp.Or(r.Info().Needs(), "nothing but the hypothesis")},
		{"samples", j.samples()},
		{"scores", fmt.Sprintf("%s to %s, %s is better", showBound(lower), showBound(upper), r.Direction())},
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
	switch {
	case r.IsLikelihood():
		before, after := r.RenderLikelihood(fields)
		part("prompt", before)
		part("continuation, whose tokens are scored", after)
	case len(req.Messages) == 0:
		part("prompt", req.Prompt)
	}
	for _, m := range req.Messages {
		part(m.Role, m.Content)
	}
	return nil
}

// requestFields are the parameters of a request, sorted but for the first.
func requestFields(req llm.Request) string {
	fields := []string{
		fmt.Sprintf("temperature=%v", req.Temperature), fmt.Sprintf("top_p=%v", req.TopP), fmt.Sprintf("max_tokens=%d", req.MaxTokens),
	}
	if len(req.Stop) > 0 {
		fields = append(fields, fmt.Sprintf("stop=%q", req.Stop))
	}
	if req.PromptLogprobs {
		fields = append(fields, "log-probabilities of the prompt")
	}
	for _, name := range slices.Sorted(maps.Keys(req.Extra)) {
		if name == "response_format" {
			fields = append(fields, "response_format=json_schema")
			continue
		}
		fields = append(fields, fmt.Sprintf("%s=%v", name, req.Extra[name]))
	}
	return strings.Join(fields, " ")
}

func showBound(b float64) string {
	if math.IsInf(b, 0) {
		return "no bound"
	}
	return fmt.Sprint(b)
}

// Samples is how many answers a score is made of.
func (j *Judge) Samples() int { return j.cfg.samples }

// samples says of how many answers a score is, "" of one.
func (j *Judge) samples() string {
	if j.cfg.samples < 2 {
		return ""
	}
	return fmt.Sprintf("%d answers, combined by %s", j.cfg.samples, j.cfg.combine)
}

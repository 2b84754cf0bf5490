// Package conclusions shows what an experiment found: tables, claims, verdicts in plain language,
// forests, figures, and a document in Markdown. Package experiment has the numbers.
package conclusions

import (
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/cmd/refract/internal/page"
)

// Result is a result as people and programs see it.
type Result struct {
	*experiment.Result
	Verdicts []Verdict `json:"verdicts"`
	Notes    []string  `json:"notes"` // how the numbers were computed, and what was left out
}

// Of returns a result with its verdicts.
func Of(res *experiment.Result) *Result {
	r := &Result{Result: res, Notes: res.Notes}
	r.Verdicts = r.verdicts()
	return r
}

// Verdict is one finding in plain language.
type Verdict struct {
	Dataset string            `json:"dataset"`
	Kind    string            `json:"kind"` // "difference", "curve", "prompts" or "coverage"
	Outcome page.Outcome      `json:"outcome"`
	Text    string            `json:"text"`
	Value   experiment.Number `json:"value"` // the effect; undefined where there is none
	Range   *experiment.Range `json:"interval"`
}

// pointers returns pointers to the elements of a slice.
func pointers[T any](all []T) []*T {
	out := make([]*T, len(all))
	for i := range all {
		out[i] = &all[i]
	}
	return out
}

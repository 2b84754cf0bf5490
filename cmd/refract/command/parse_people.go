package command

import (
	"encoding/json"

	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/metrics/analysis"
)

// byPeople is the METRIC of refract parse whose reports people gave.
const byPeople = "mqm"

// personRow is the report of a rater, with the texts that it is about.
type personRow struct {
	ID         string `json:"id"`
	System     string `json:"system"`
	Metric     string `json:"metric"`
	Rater      string `json:"rater"`
	Source     string `json:"source"`
	Hypothesis string `json:"hypothesis"`
	analysis.Record
}

// people writes what raters marked in the form of judges' reports.
func (p *parsing) people(e *env, file string) error {
	ratings, err := dataset.ReadMQM(file, e.datasetOptions().Warn)
	if err != nil {
		return err
	}
	out, err := e.create(p.path)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	raters, errors, spans := map[string]bool{}, 0, 0
	for i := range ratings {
		r := &ratings[i]
		if err := enc.Encode(&personRow{r.ID, r.System, byPeople, r.Rater, r.Source, r.Hypothesis, r.Report.Record()}); err != nil {
			return err
		}
		raters[r.Rater] = true
		errors += len(r.Report.Errors)
		for k := range r.Report.Errors {
			if r.Report.Errors[k].Place.HasSpan() {
				spans++
			}
		}
	}
	if err := e.commit(); err != nil {
		return err
	}
	e.note("%s by %s: %s, %d with a span in the output", english.Thousands(len(ratings), "rating"), english.Count(len(raters), "rater"),
		english.Thousands(errors, "error"), spans)
	return nil
}

package evidence

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/refract-eval/refract/cmd/refract/internal/page"
	"github.com/refract-eval/refract/metrics/analysis"
)

// reports returns the judges' reports on hypothesis h. A judge that compares with
// references has one report for each. Only the reports for references that decided under a
// setting are shown, or all if none did.
func (h *Held) reports(s *scored, hyp int, decided [][]int) []page.Report {
	var out []page.Report
	for k, m := range h.metrics {
		ms := &s.scores[k]
		if ms.Reports == nil {
			continue
		}
		info := m.Info()
		row := ms.Reports[hyp*ms.Columns : (hyp+1)*ms.Columns]
		some := false
		for _, c := range decided[k] {
			some = some || row[c] != nil
		}
		for c, r := range row {
			if r == nil || some && !slices.Contains(decided[k], c) {
				continue
			}
			name := info.Name
			if info.NeedsReferences && ms.Columns > 1 {
				name = fmt.Sprintf("%s, against reference %d", name, c+1)
			}
			out = append(out, pageReport(name, r))
		}
	}
	return out
}

// pageReport returns a report as the page shows it.
func pageReport(judge string, r *analysis.Report) page.Report {
	out := page.Report{Judge: judge, Outcome: string(r.Outcome), Score: page.Number(math.NaN())}
	if r.Score != nil {
		out.Score = page.Number(*r.Score)
	}
	for i := range r.Errors {
		e := &r.Errors[i]
		p := page.Error{Location: e.Location, Type: e.Aspect, Severity: string(e.Severity), Explanation: e.Explanation, Penalty: page.Number(math.NaN())}
		switch {
		case e.Aspect == "":
			p.Type = e.Dimension
		case e.Dimension != "":
			p.Type = e.Dimension + ": " + e.Aspect
		}
		if e.Place.HasSpan() {
			p.Span = [2]int{e.Span.Start, e.Span.End}
		}
		p.InSource = e.Place == analysis.InSource
		if e.Penalty != nil {
			p.Penalty = page.Number(*e.Penalty)
		}
		out.Errors = append(out.Errors, p)
	}
	if r.Detail != "" {
		out.Notes = append(out.Notes, r.Detail)
	}
	for _, p := range r.Problems {
		note := p.Code
		if p.Detail != "" {
			note += ": " + p.Detail
		}
		if p.Error != nil {
			note = fmt.Sprintf("error %d: %s", *p.Error+1, note)
		}
		out.Notes = append(out.Notes, note)
	}
	if len(r.Flags) > 0 {
		out.Notes = append(out.Notes, "suspicious in the texts: "+strings.Join(r.Flags, ", "))
	}
	return out
}

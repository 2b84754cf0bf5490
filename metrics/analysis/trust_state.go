package analysis

import "encoding/json"

// trustState is a row of the counts, or a sum over systems.
type trustState struct {
	TrustRow
	Total bool        `json:",omitempty"`
	Parts [][]float64 `json:",omitempty"`
}

// MarshalJSON writes the counts for UnmarshalJSON.
func (t *Trust) MarshalJSON() ([]byte, error) {
	out := []trustState{}
	for _, row := range t.Rows() {
		if total := t.Total(row.Metric); len(out) == 0 || out[len(out)-1].Metric != row.Metric {
			out = append(out, trustState{total, true, total.parts})
		}
		out = append(out, trustState{row, false, row.parts})
	}
	return json.Marshal(out)
}

// UnmarshalJSON adds what MarshalJSON wrote to the counts, as of reports that
// follow.
func (t *Trust) UnmarshalJSON(b []byte) error {
	var in []trustState
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	for _, from := range in {
		row := t.row(trustKey{from.Metric, from.System, from.Total})
		row.Reports += from.Reports
		row.Errors += from.Errors
		row.Flagged += from.Flagged
		row.PartsWithout += from.PartsWithout
		row.parts = append(row.parts, from.Parts...)
		for k, n := range from.Outcomes {
			row.Outcomes[k] += n
		}
		for k, n := range from.Places {
			row.Places[k] += n
		}
		for k, n := range from.Problems {
			row.Problems[k] = ProblemCount{row.Problems[k].Reports + n.Reports, row.Problems[k].Errors + n.Errors}
		}
	}
	return nil
}

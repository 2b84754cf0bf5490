package audit

import (
	"encoding/json"
	"errors"

	"github.com/refract-eval/refract/metrics"
)

// reportsState is what Reports has gathered.
type reportsState struct {
	Trust    json.RawMessage `json:"trust"`
	Unneeded int             `json:"unneeded"`
	Worst    [][]Worst       `json:"worst"` // by metric
}

// MergedReports gathers what other processes gathered of metrics, each of which
// explains its scores, by UnmarshalJSON.
func MergedReports(ms []metrics.Metric, worst int) *Reports {
	r := &Reports{most: worst}
	for _, m := range ms {
		r.metrics = append(r.metrics, &explained{metric: m})
	}
	return r
}

// MarshalJSON writes what was gathered.
func (r *Reports) MarshalJSON() ([]byte, error) {
	out := reportsState{Unneeded: r.Unneeded, Worst: [][]Worst{}}
	for _, x := range r.metrics {
		out.Worst = append(out.Worst, x.worst)
	}
	var err error
	if out.Trust, err = json.Marshal(&r.Trust); err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

// UnmarshalJSON adds what MarshalJSON wrote, as of segments that follow.
func (r *Reports) UnmarshalJSON(b []byte) error {
	var in reportsState
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	if len(in.Worst) != len(r.metrics) {
		return errors.New("reports of other metrics")
	}
	for i, all := range in.Worst {
		for _, w := range all {
			r.metrics[i].keep(w, r.most)
		}
	}
	r.Unneeded += in.Unneeded
	return r.Trust.UnmarshalJSON(in.Trust)
}

package experiment

import (
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/report"
)

// Ended is a metric that did not start, or failed before the last segment: no
// number of the result is of it.
type Ended struct {
	Dataset string `json:"dataset"`
	Metric  string `json:"metric"`
	Reason  string `json:"reason"`
}

// ended takes in the metrics of a dataset that failed.
func (r *run) ended(d *data, failed *refract.Incomplete) {
	r.failed.Metrics, r.failed.Errs = append(r.failed.Metrics, failed.Metrics...), append(r.failed.Errs, failed.Errs...)
	reasons := failed.Reasons()
	for _, name := range failed.Metrics {
		r.without = append(r.without, Ended{d.Name, name, reasons[name]})
	}
}

func (r *Result) endedTable() *report.NamedTable {
	t := &report.NamedTable{Title: "Metrics that ended", Columns: []report.Column{{Name: "dataset"}, {Name: "metric"}, {Name: "reason"}}}
	for _, m := range r.Ended {
		t.Add(m.Dataset, m.Metric, m.Reason)
	}
	return t
}

// withEnded adds a row without numbers for each metric that ended to a table of
// metrics, and says why.
func (r *Result) withEnded(t *report.NamedTable) {
	if len(r.Ended) == 0 {
		return
	}
	for _, m := range r.Ended {
		name := m.Metric
		if len(r.Datasets) > 1 {
			name = m.Dataset + ", " + name
		}
		t.Note("%s ended: %s", name, m.Reason)
	}
	if !slices.ContainsFunc(t.Columns, func(c report.Column) bool { return c.Name == "metric" }) {
		return
	}
	t.Columns = append(t.Columns, report.Column{Name: "ended", Hide: true})
	for i := range t.Rows {
		t.Rows[i] = append(t.Rows[i], report.Null())
	}
	for _, m := range r.Ended {
		row := make([]any, len(t.Columns))
		for i, c := range t.Columns {
			switch c.Name {
			case "dataset":
				row[i] = m.Dataset
			case "metric":
				row[i] = m.Metric
			case "ended":
				row[i] = m.Reason
			}
		}
		t.Add(row...)
	}
}

package evidence

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/report"
)

// mostDigits is how many decimals people print.
const mostDigits = 3

// headings say of a column what a reader asks.
var headings = map[string]string{"a": "setting", "b": "against", "a_value": "value", "b_value": "value of the other", "method": "taken as", "corrected": "p (Holm)"}

// meanOfSegments is how scores of systems come about that are not of the corpus.
const meanOfSegments = "mean of segments"

// shown is a table as the page has it: names as papers print them, as many
// decimals as people read, no name of the dataset where there is one only.
func (r *Report) shown(t *report.NamedTable) *report.NamedTable {
	out := *t
	out.Columns = slices.Clone(t.Columns)
	out.Rows = make([][]report.Value, len(t.Rows))
	for i, row := range t.Rows {
		out.Rows[i] = slices.Clone(row)
	}
	for k := range out.Columns {
		c := &out.Columns[k]
		if t.Name == "tasks" {
			r.headTask(c)
			c.Hide = c.Hide || !slices.ContainsFunc(out.Rows, func(row []report.Value) bool { _, ok := row[k].Show(0); return ok })
		}
		if c.Kind == report.KindFloat || c.Kind == report.KindInterval {
			c.Digits = min(c.Digits, mostDigits)
		}
		switch c.Name {
		case "score":
			c.Digits = scoreDigits(t, k)
		case "dataset":
			c.Hide = c.Hide || r.Result != nil && len(r.Result.Datasets) == 1
		case "metric", "statistic", "a", "b":
			for i, row := range out.Rows {
				if text, ok := row[k].Show(0); ok && row[k].Kind() == report.KindString {
					out.Rows[i][k] = report.String(report.Display(text) + r.warning(t, row, text))
				}
			}
		}
		if t.Name == "systems" && c.Name == "method" {
			for i, row := range out.Rows {
				if text, _ := row[k].Show(0); text == "average" {
					out.Rows[i][k] = report.String(meanOfSegments)
				}
			}
		}
		if name, ok := headings[c.Name]; ok {
			c.Header = name
		}
		if c.Heading() == "ci" && r.Result != nil {
			c.Header = fmt.Sprintf("%g%% interval", 100*r.Result.Confidence)
		}
	}
	return &out
}

// scoreDigits is how many decimals tell the scores of each metric, in column k, apart.
func scoreDigits(t *report.NamedTable, k int) int {
	of, _ := columnOf(t, "metric")
	ranges := map[string][2]float64{}
	for _, row := range t.Rows {
		if v, _, ok := row[k].Bounds(); ok {
			name, _ := row[of].Show(0)
			r, known := ranges[name]
			if !known {
				r = [2]float64{v, v}
			}
			ranges[name] = [2]float64{min(r[0], v), max(r[1], v)}
		}
	}
	digits := 2
	for _, r := range ranges {
		digits = report.Decimals(r[0], r[1], digits)
	}
	return digits
}

// headTask says of a column of a task what tells that task from the others.
func (r *Report) headTask(c *report.Column) {
	for i := range r.Result.Tasks {
		t := &r.Result.Tasks[i]
		if c.Name != t.Label {
			continue
		}
		differs := func(of func(*experiment.TaskResult) string) bool {
			return slices.ContainsFunc(r.Result.Tasks, func(o experiment.TaskResult) bool { return of(&o) != of(t) })
		}
		var parts []string
		if differs(func(o *experiment.TaskResult) string { return o.Dataset }) {
			parts = append(parts, t.Dataset)
		}
		if t.Domain != "" {
			parts = append(parts, t.Domain)
		}
		if differs(func(o *experiment.TaskResult) string { return o.Statistic }) || len(parts) == 0 {
			parts = append(parts, report.Display(t.Statistic))
		}
		c.Header = strings.Join(parts, ", ")
	}
}

// warning is said of a statistic that ranks too few systems.
func (r *Report) warning(t *report.NamedTable, row []report.Value, statistic string) string {
	if r.Result == nil || !strings.HasPrefix(statistic, "accuracy") && !strings.HasPrefix(statistic, "soft-accuracy") || t.Columns[0].Name != "dataset" {
		return ""
	}
	name, _ := row[0].Show(0)
	for _, d := range r.Result.Datasets {
		if n := len(d.Systems); d.Name == name && n <= experiment.FewSystems {
			return fmt.Sprintf(" (%d systems: tells nothing)", n)
		}
	}
	return ""
}

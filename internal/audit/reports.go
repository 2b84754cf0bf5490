package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/report"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// Reports gathers what metrics say of their scores in a run.
type Reports struct {
	Trust    Trust // of all reports
	Unneeded int   // cells that were left out, as they could not change a score
	metrics  []*explained
	most     int
}

// explained is one metric that explains its scores.
type explained struct {
	metric metrics.Metric
	at     int // its index in the engine
	worst  []Worst
}

// Worst is a hypothesis with what a metric says of it, against the reference
// that it does best with.
type Worst struct {
	ID, System, Text string
	Score            float64
	Report           *analysis.Report
}

// NewReports gathers the reports of those metrics of an engine that explain
// their scores, and keeps the given number of worst hypotheses of each.
func NewReports(ms []metrics.Metric, worst int) *Reports {
	r := &Reports{most: worst}
	for i, m := range ms {
		if m.Info().Explains {
			r.metrics = append(r.metrics, &explained{metric: m, at: i})
		}
	}
	return r
}

// Metrics returns those that explain their scores.
func (r *Reports) Metrics() []metrics.Metric {
	out := make([]metrics.Metric, len(r.metrics))
	for i, x := range r.metrics {
		out[i] = x.metric
	}
	return out
}

// Add takes in a segment, and writes a line of JSON for each of its reports to
// records, if that is not nil.
func (r *Reports) Add(s *refract.SegmentScores, records io.Writer) error {
	for _, x := range r.metrics {
		ms, info := &s.Metrics[x.at], x.metric.Info()
		for i, rep := range ms.Reports {
			if ms.Status[i] == metrics.Unneeded {
				r.Unneeded++
			}
			at := Place{ID: s.Segment.ID, System: s.Segment.Hypotheses[i/ms.Columns].System, Metric: info.Name}
			if reference := i % ms.Columns; info.NeedsReferences {
				at.Reference = &reference
			}
			if err := r.add(at, rep, records); err != nil {
				return err
			}
		}
		for h, rep := range ms.NativeReports {
			if err := r.add(Place{ID: s.Segment.ID, System: s.Segment.Hypotheses[h].System, Metric: info.Name}, rep, records); err != nil {
				return err
			}
		}
		if ms.NativeReports != nil {
			ms = &refract.MetricScores{Columns: 1, Values: ms.Native, Reports: ms.NativeReports}
		}
		x.addWorst(s.Segment, ms, r.most)
	}
	return nil
}

// add takes in a report, if there is one.
func (r *Reports) add(at Place, rep *analysis.Report, records io.Writer) error {
	if rep == nil {
		return nil
	}
	r.Trust.Add(at.Metric, at.System, rep)
	if records == nil {
		return nil
	}
	return at.write(records, rep)
}

// Place says what a report is about, and by which metric it is.
type Place struct {
	ID        string `json:"id"`
	System    string `json:"system"`
	Metric    string `json:"metric"`
	Reference *int   `json:"reference"` // its index; nil of a metric without one, and of a native score
}

// write writes the members of the place and of the report as one object.
func (p *Place) write(w io.Writer, r *analysis.Report) error {
	head, err := json.Marshal(p)
	if err != nil {
		return err
	}
	body, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("the report on segment %q, system %q: %w", p.ID, p.System, err)
	}
	line := append(append(bytes.TrimSuffix(head, []byte("}")), ','), bytes.TrimPrefix(body, []byte("{"))...)
	_, err = w.Write(append(line, '\n'))
	return err
}

// addWorst keeps the n worst hypotheses, each by the report of its best cell.
func (x *explained) addWorst(s *refract.Segment, ms *refract.MetricScores, n int) {
	sign := float64(x.metric.Info().Direction)
	for h := range s.Hypotheses {
		best := -1
		for i := h * ms.Columns; i < (h+1)*ms.Columns && ms.Reports != nil; i++ {
			if r := ms.Reports[i]; r != nil && r.Outcome.HasScore() && (best < 0 || sign*ms.Values[i] > sign*ms.Values[best]) {
				best = i
			}
		}
		if best < 0 || ms.Reports[best].Outcome == analysis.NoError {
			continue // it is perfect
		}
		score := ms.Values[best]
		x.keep(Worst{s.ID, s.Hypotheses[h].System, s.Hypotheses[h].Text.Value, score, ms.Reports[best]}, n)
	}
}

// keep takes in a hypothesis that may be one of the n worst.
func (x *explained) keep(w Worst, n int) {
	sign := float64(x.metric.Info().Direction)
	at, _ := slices.BinarySearchFunc(x.worst, sign*w.Score, func(w Worst, v float64) int {
		if sign*w.Score <= v { // the earlier one stays first
			return -1
		}
		return 1
	})
	if at < n {
		x.worst = slices.Insert(x.worst, at, w)
		x.worst = x.worst[:min(n, len(x.worst))]
	}
}

// Worst returns the worst hypotheses by a metric of Metrics, the worst first.
func (r *Reports) Worst(metric int) []Worst { return r.metrics[metric].worst }

// WriteText shows the worst hypotheses with their errors on a terminal.
func (r *Reports) WriteText(w io.Writer, colour bool) error {
	for _, x := range r.metrics {
		for i := range x.worst {
			ws := &x.worst[i]
			if i == 0 {
				fmt.Fprintf(w, "\nWorst segments by %s\n", report.Visible(x.metric.Info().Name))
			}
			fmt.Fprintf(w, "\nsegment %s, system %s: %g\n", report.Visible(ws.ID), report.Visible(ws.System), ws.Score)
			if _, err := io.WriteString(w, marked(ws.Text, ws.Report.Errors, colour)); err != nil {
				return err
			}
		}
	}
	return nil
}

// CoverageError says that too many answers of a judge have no score.
type CoverageError struct {
	Metric       string
	Without, All int     // answers
	Most         float64 // share that is allowed
	Commonest    string  // what most of them are
	Count        int     // of those
}

// Error names the metric, the counts and the limit.
func (c *CoverageError) Error() string {
	answers := "answers"
	if c.All == 1 {
		answers = "answer"
	}
	return fmt.Sprintf("%s: %d of %d %s have no score (most of them: %s, %d), more than the share of %g that is allowed",
		c.Metric, c.Without, c.All, answers, c.Commonest, c.Count, c.Most)
}

// Covered checks that at most a share of each metric's answers has no score.
// The error joins a *CoverageError for each metric.
func (r *Reports) Covered(most float64) error {
	var errs []error
	for _, x := range r.metrics {
		t := r.Trust.Total(x.metric.Info().Name)
		without := t.Reports - t.WithScore()
		if t.Reports == 0 || float64(without) <= most*float64(t.Reports) {
			continue
		}
		c := &CoverageError{Metric: t.Metric, Without: without, All: t.Reports, Most: most}
		for _, o := range []analysis.Outcome{analysis.Unparseable, analysis.Blocked, analysis.Cut, analysis.Missing} {
			if n := t.Outcomes[o]; n > c.Count {
				c.Commonest, c.Count = string(o), n
			}
		}
		errs = append(errs, c)
	}
	return errors.Join(errs...)
}

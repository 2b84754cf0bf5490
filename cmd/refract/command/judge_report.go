package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/atomicfile"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/report"
	"github.com/refract-eval/refract/report/marks"
)

// explainFlags say what is shown of judges' reports.
type explainFlags struct {
	reports string
	html    string
	worst   int
}

func (x *explainFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&x.reports, "reports", "", "file for every report of a judge, as JSON Lines")
	f.StringVar(&x.html, "html", "", "file for the worst segments, as a fragment of HTML")
	f.IntVar(&x.worst, "worst", 3, "how many of the worst segments of each judge are shown with their errors")
	grouped(cmd, resultFlags, "reports")
}

// explained gathers what judges say in a run. A nil one gathers nothing.
type explained struct {
	*explainFlags
	judges   []metrics.Metric
	at       []int // of each judge: its index in the engine
	trust    analysis.Trust
	worsts   [][]worstSegment // of each judge, the worst first
	unneeded int
	noSource []int            // of each judge: segments that it could not judge without
	records  *atomicfile.File // nil without --reports
	fragment *atomicfile.File
}

// worstSegment is a hypothesis with what a judge says of it: against the
// reference that it does best with.
type worstSegment struct {
	id, system string
	text       string
	score      float64
	report     *analysis.Report
}

// explain makes the gatherer of a run, or nil where no metric is a judge.
func (x *explainFlags) explain(j *judging, eng *refract.Engine) (*explained, error) {
	if x.worst < 0 {
		return nil, usagef("--worst %d: want 0 or more", x.worst)
	}
	g := &explained{explainFlags: x}
	for i, m := range eng.Metrics() {
		if x, ok := m.(metrics.Explainer); ok && x.Explains() {
			g.judges = append(g.judges, m)
			g.at = append(g.at, i)
		}
	}
	if len(g.judges) == 0 {
		if x.reports != "" || x.html != "" {
			return nil, usagef("--reports and --html are for metrics that explain themselves, and none of these does ('refract judges' lists some)")
		}
		return nil, nil
	}
	g.worsts = make([][]worstSegment, len(g.judges))
	g.noSource = make([]int, len(g.judges))
	var err error
	if x.reports != "" {
		if g.records, err = (&output{path: x.reports}).open(j.e); err != nil {
			return nil, err
		}
	}
	if x.html != "" {
		if g.fragment, err = (&output{path: x.html}).open(j.e); err != nil {
			g.abort()
			return nil, err
		}
	}
	return g, nil
}

// add takes in a segment.
func (g *explained) add(s *refract.SegmentScores) error {
	if g == nil {
		return nil
	}
	for k, m := range g.judges {
		ms := &s.Metrics[g.at[k]]
		name := m.Info().Name
		if slices.Contains(ms.Status, metrics.MissingSource) {
			g.noSource[k]++
		}
		for i, r := range ms.Reports {
			if ms.Status[i] == metrics.Unneeded {
				g.unneeded++
			}
			if r == nil {
				continue
			}
			system := s.Segment.Hypotheses[i/ms.Columns].System
			g.trust.Add(name, system, r)
			if g.records != nil {
				if err := writeRecord(g.records, s.Segment.ID, system, name, i%ms.Columns, m.Info().NeedsReferences, r); err != nil {
					return err
				}
			}
		}
		g.worsts[k] = addWorst(g.worsts[k], s.Segment, ms, m.Info().Direction, g.worst)
	}
	return nil
}

// writeRecord writes a report with its place in the matrix, as one line.
func writeRecord(w io.Writer, id, system, metric string, reference int, needsReference bool, r *analysis.Report) error {
	head := struct {
		ID        string `json:"id"`
		System    string `json:"system"`
		Metric    string `json:"metric"`
		Reference *int   `json:"reference"`
	}{ID: id, System: system, Metric: metric}
	if needsReference {
		head.Reference = &reference
	}
	a, err := json.Marshal(head)
	if err != nil {
		return err
	}
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("the report on segment %q, system %q: %w", id, system, err)
	}
	line := append(append(bytes.TrimSuffix(a, []byte("}")), ','), bytes.TrimPrefix(b, []byte("{"))...)
	_, err = w.Write(append(line, '\n'))
	return err
}

// addWorst keeps the n worst hypotheses, each by the report of its best cell.
func addWorst(worst []worstSegment, s *refract.Segment, ms *refract.MetricScores, d metrics.Direction, n int) []worstSegment {
	for h := range s.Hypotheses {
		best := -1
		for i := h * ms.Columns; i < (h+1)*ms.Columns && ms.Reports != nil; i++ {
			if r := ms.Reports[i]; r == nil || !r.Outcome.HasScore() {
				continue
			}
			if best < 0 || float64(d)*ms.Values[i] > float64(d)*ms.Values[best] {
				best = i
			}
		}
		if best < 0 || ms.Reports[best].Outcome == analysis.NoError {
			continue // nobody wants to see what is perfect
		}
		at, _ := slices.BinarySearchFunc(worst, float64(d)*ms.Values[best], func(w worstSegment, v float64) int {
			if float64(d)*w.score <= v { // the earlier one stays first
				return -1
			}
			return 1
		})
		if at < n {
			worst = slices.Insert(worst, at, worstSegment{s.ID, s.Hypotheses[h].System, s.Hypotheses[h].Text.Value, ms.Values[best], ms.Reports[best]})
			worst = worst[:min(n, len(worst))]
		}
	}
	return worst
}

// warn tells of segments that were not judged, which no report stands for.
func (g *explained) warn(e *env) {
	for k, m := range g.judges {
		if n := g.noSource[k]; n > 0 {
			e.warn("%s: %s without a source, which it needs: their scores are missing", m.Info().Name, count(n, "segment"))
		}
	}
}

// write shows what was gathered, below a table for people.
func (g *explained) write(w io.Writer, colour bool) error {
	if g == nil {
		return nil
	}
	for k, m := range g.judges {
		if len(g.worsts[k]) == 0 {
			continue
		}
		name := m.Info().Name
		fmt.Fprintf(w, "\nWorst segments by %s\n", report.Visible(name))
		for i := range g.worsts[k] {
			ws := &g.worsts[k][i]
			fmt.Fprintf(w, "\nsegment %s, system %s: %g\n", report.Visible(ws.id), report.Visible(ws.system), ws.score)
			if _, err := io.WriteString(w, marks.Terminal(ws.text, marksOf(ws.report), colour)); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeHTML writes the same as a fragment.
func (g *explained) writeHTML(w io.Writer) error {
	var b strings.Builder
	b.WriteString("<style>" + marks.CSS + "</style>\n")
	for k, m := range g.judges {
		for i := range g.worsts[k] {
			ws := &g.worsts[k][i]
			fmt.Fprintf(&b, "<section class=\"refract-segment\">\n<h3>%s</h3>\n%s\n</section>\n",
				html.EscapeString(report.Visible(fmt.Sprintf("%s: segment %s, system %s: %g", m.Info().Name, ws.id, ws.system, ws.score))),
				marks.HTML(ws.text, marksOf(ws.report)))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// marksOf shows the errors of a report.
func marksOf(r *analysis.Report) []marks.Mark {
	places := map[analysis.Place]string{
		analysis.Absent: "not in the text", analysis.InSource: "in the source", analysis.NotStated: "no location stated",
	}
	var out []marks.Mark
	for i := range r.Errors {
		e := &r.Errors[i]
		m := marks.Mark{Severity: string(e.Severity), Label: e.Aspect, Note: e.Explanation, Quote: e.Location, Place: places[e.Place]}
		if e.Dimension != "" {
			m.Label = e.Dimension + ": " + e.Aspect
		}
		if e.Place == analysis.InHypothesis || e.Place == analysis.Approximate {
			m.Start, m.End = e.Span.Start, e.Span.End
		}
		out = append(out, m)
	}
	return out
}

func (g *explained) abort() {
	if g == nil {
		return
	}
	for _, s := range []*atomicfile.File{g.records, g.fragment} {
		if s != nil {
			s.Abort()
		}
	}
}

// commit puts the files in place.
func (g *explained) commit() error {
	if g == nil {
		return nil
	}
	var errs []error
	if g.fragment != nil {
		errs = append(errs, g.writeHTML(g.fragment), g.fragment.Commit())
	}
	if g.records != nil {
		errs = append(errs, g.records.Commit())
	}
	return errors.Join(errs...)
}

// coverageError says that too many answers of a judge have no score.
type coverageError struct {
	metric        string
	without, all  int
	most          float64
	commonest     string
	commonestHere int
}

func (c *coverageError) Error() string {
	return fmt.Sprintf("%s: %d of %s have no score (most of them: %s, %d), more than the share of %g that --max-unparsed allows; --reports FILE shows the raw answers",
		c.metric, c.without, count(c.all, "answer"), c.commonest, c.commonestHere, c.most)
}

// covered checks that enough of each judge's answers have a score.
func (g *explained) covered(most float64) error {
	if g == nil {
		return nil
	}
	var errs []error
	for _, m := range g.judges {
		t := g.trust.Total(m.Info().Name)
		without := t.Reports - t.WithScore()
		if t.Reports == 0 || float64(without) <= most*float64(t.Reports) {
			continue
		}
		c := &coverageError{metric: m.Info().Name, without: without, all: t.Reports, most: most}
		for _, o := range []struct {
			name string
			n    int
		}{{"unparseable", t.Unparseable}, {"blocked", t.Blocked}, {"cut", t.Cut}, {"missing", t.Missing}} {
			if o.n > c.commonestHere {
				c.commonest, c.commonestHere = o.name, o.n
			}
		}
		errs = append(errs, c)
	}
	return errors.Join(errs...)
}

package command

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/atomicfile"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/metrics/judge/audit"
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
	atLeast(cmd, 0, "worst")
	grouped(cmd, resultFlags, "reports")
}

// explained gathers what judges say in a run. A nil one gathers nothing.
type explained struct {
	*audit.Reports
	records  *atomicfile.File // nil without --reports
	fragment *atomicfile.File // nil without --html
}

// explain makes the gatherer of a run, or nil where no metric explains itself.
func (x *explainFlags) explain(e *env, eng *refract.Engine) (*explained, error) {
	g := &explained{Reports: audit.NewReports(eng.Metrics(), x.worst)}
	if len(g.Metrics()) == 0 {
		if x.reports != "" || x.html != "" {
			return nil, usagef("--reports and --html are for metrics that explain themselves, and none of these does ('refract judges' lists some)")
		}
		return nil, nil
	}
	for _, f := range []struct {
		path string
		file **atomicfile.File
	}{{x.reports, &g.records}, {x.html, &g.fragment}} {
		if f.path == "" {
			continue
		}
		var err error
		if *f.file, err = e.create(f.path); err != nil {
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
	var records io.Writer
	if g.records != nil {
		records = g.records
	}
	return g.Add(s, records)
}

// warn tells of segments that were not judged, which no report stands for.
func (g *explained) warn(e *env) {
	for k, m := range g.Metrics() {
		if n := g.WithoutSource(k); n > 0 {
			e.warn("%s: %s without a source, which it needs: their scores are missing", m.Info().Name, english.Thousands(n, "segment"))
		}
	}
}

// covered checks that enough of each judge's answers have a score.
func (g *explained) covered(most float64) error {
	if g == nil {
		return nil
	}
	if err := g.Covered(most); err != nil {
		return fmt.Errorf("%w; --max-unparsed sets that share, and --reports FILE of 'refract score' shows the raw answers", err)
	}
	return nil
}

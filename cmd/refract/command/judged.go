package command

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/benchmarks/agreement"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/report"
)

// judgementFlags say how scores are set beside human judgements.
type judgementFlags struct {
	human        string
	includeHuman bool
	levelName    string
	grouping     string
	undefined    string
	threshold    float64
	bootstrap    int
	confidence   float64
	seed         uint64

	level   correlate.Level
	drawing *correlate.Bootstrap
}

// defaultJudgement is what the flags say when none is given.
func defaultJudgement() judgementFlags {
	return judgementFlags{levelName: "segment", grouping: "none", undefined: "drop",
		threshold: correlate.LikeThreshold, bootstrap: 1000, confidence: 0.95, seed: defaultSeed}
}

func (j *judgementFlags) register(cmd *cobra.Command) {
	d := defaultJudgement()
	f := cmd.Flags()
	f.StringVar(&j.human, "human", "", "name of the human scores (default the only ones, or mqm)")
	f.BoolVar(&j.includeHuman, "include-references", false, "compare references scored as systems too")
	f.StringVar(&j.levelName, "level", d.levelName, "segment, document, domain or system: what a score is of; means above segments")
	f.StringVar(&j.grouping, "group", d.grouping, "none, segment or system: what correlations are averaged over")
	f.StringVar(&j.undefined, "undefined", d.undefined, "drop or zero: what vectors without a value, such as constant ones, are in a mean")
	f.Float64Var(&j.threshold, "threshold", d.threshold, "least difference of human scores that kendall-wmt20 looks at")
	f.IntVar(&j.bootstrap, "bootstrap", d.bootstrap, "resamples for confidence intervals; 0 for none")
	f.Float64Var(&j.confidence, "confidence", d.confidence, "coverage of the intervals")
	f.Uint64Var(&j.seed, "seed", d.seed, "seed of all resampling")
	grouped(cmd, statisticFlags, "statistic", "level", "group")
	complete(cmd, "statistic", correlate.StatisticNames()...)
	complete(cmd, "level", correlate.LevelNames()...)
	complete(cmd, "group", correlate.GroupingNames()...)
	complete(cmd, "undefined", "drop", "zero")
}

// statisticList is what help says of --statistic.
const statisticList = "such as kendall, pearson, accuracy or acc23 ('refract help statistics')"

// measures checks the flags and returns the measure of each statistic.
func (j *judgementFlags) measures(names ...string) ([]correlate.Measure, error) {
	var err error
	if j.level, err = correlate.ParseLevel(j.levelName); err != nil {
		return nil, usagef("--level: %w", err)
	}
	grouping, err := correlate.ParseGrouping(j.grouping)
	if err != nil {
		return nil, usagef("--group: %w", err)
	}
	if j.level == correlate.SystemLevel && grouping != correlate.None {
		return nil, usagef("--group %v: at system level there is one score a system, and nothing to group", grouping)
	}
	if j.undefined != "drop" && j.undefined != "zero" {
		return nil, usagef("--undefined %q: want drop or zero", j.undefined)
	}
	if !(j.threshold > 0) || math.IsInf(j.threshold, 0) {
		return nil, usagef("--threshold %v: want a positive number", j.threshold)
	}
	if err := checkBootstrap(j.bootstrap, j.confidence); err != nil {
		return nil, err
	}
	var out []correlate.Measure
	for _, name := range names {
		st, err := correlate.ParseStatistic(strings.TrimSpace(name))
		if err != nil {
			return nil, usagef("--statistic: %w", err)
		}
		m := correlate.Measure{Statistic: st, Grouping: grouping, ZeroUndefined: j.undefined == "zero", Threshold: j.threshold}
		if st.OfSystems() {
			m.Grouping = correlate.None
		}
		out = append(out, m)
	}
	return out, nil
}

// levelOf is the level that a measure is shown at.
func (j *judgementFlags) levelOf(m correlate.Measure) correlate.Level {
	if m.Statistic.OfSystems() {
		return correlate.SystemLevel
	}
	return j.level
}

// tableOf is what a measure is taken of: the table of the segments at the level
// asked for, or as it is for a statistic that makes its own means.
func (j *judgementFlags) tableOf(col *agreement.Collector, m correlate.Measure, segments *correlate.Pairs) (*correlate.Pairs, error) {
	if m.Statistic.OfSystems() {
		return segments, nil
	}
	return col.At(j.level, segments)
}

// choose picks the judgements and the systems to compare with.
func (j *judgementFlags) choose(col *agreement.Collector) (human string, systems agreement.Compared, err error) {
	if human, err = col.Choose(j.human); err != nil {
		return "", systems, err
	}
	systems = col.Systems(human, j.includeHuman)
	if len(systems.Systems) < 2 {
		return "", systems, fmt.Errorf("a comparison needs two systems or more with %s scores; there are %d", human, len(systems.Systems))
	}
	return human, systems, nil
}

// resampling is what takes all resamples of a command.
func (j *judgementFlags) resampling() *correlate.Bootstrap {
	if j.drawing == nil {
		j.drawing = correlate.NewBootstrap(correlate.BootstrapOptions{Resamples: j.bootstrap, Confidence: j.confidence, Seed: j.seed})
	}
	return j.drawing
}

// interval is the interval of a measure that has that value. A note says where
// there can be none.
func (j *judgementFlags) interval(ctx context.Context, m correlate.Measure, p *correlate.Pairs, value float64, n *notes) (report.Value, error) {
	if j.bootstrap == 0 || math.IsNaN(value) {
		return report.Null(), nil
	}
	iv, err := j.resampling().Interval(ctx, m, p)
	if errors.Is(err, correlate.ErrTooManyPairs) {
		n.add(fmt.Sprintf("no interval of %v: %v", m.Statistic, correlate.ErrTooManyPairs))
		return report.Null(), nil
	}
	if err != nil {
		return report.Null(), err
	}
	return report.Interval(iv.Low, iv.High), nil
}

// notes says below the table what was compared and what was left out.
func (j *judgementFlags) notes(col *agreement.Collector, human string, systems agreement.Compared) (*notes, error) {
	n := newNotes()
	n.add(fmt.Sprintf("%d segments, %d systems with %s scores: %s", col.Segments(), len(systems.Systems), human, strings.Join(systems.Systems, ", ")))
	if j.level != correlate.SegmentLevel {
		groups, err := col.Groups(j.level)
		if err != nil {
			return nil, err
		}
		what := fmt.Sprintf("the segments of %d %ss", groups, j.level)
		if j.level == correlate.SystemLevel {
			what = "all segments"
		}
		n.add(fmt.Sprintf("level %v: means over %s that have both scores", j.level, what))
	}
	if len(systems.Human) > 0 {
		n.add(fmt.Sprintf("left out as references scored as systems: %s (--include-references compares them)", strings.Join(systems.Human, ", ")))
	}
	if len(systems.Unjudged) > 0 {
		n.add(fmt.Sprintf("left out without a %s score: %s", human, strings.Join(systems.Unjudged, ", ")))
	}
	return n, nil
}

// missingPairs counts the cells without a judgement or a score.
func missingPairs(p *correlate.Pairs) int {
	n := 0
	for i := range p.Gold {
		if !p.GoldOK[i] || !p.MetricOK[i] {
			n++
		}
	}
	return n
}

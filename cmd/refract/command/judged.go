package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/report"
)

// judgementFlags say how scores are set beside human judgements.
type judgementFlags struct {
	human        string
	includeHuman bool
	level        correlate.Level
	grouping     correlate.Grouping
	undefined    string
	threshold    float64
	bootstrap    int
	confidence   float64
	seed         uint64
}

// defaultJudgement is what the flags say when none is given.
func defaultJudgement() judgementFlags {
	return judgementFlags{level: correlate.SegmentLevel, grouping: correlate.None, undefined: "drop",
		threshold: correlate.LikeThreshold, bootstrap: 1000, confidence: 0.95, seed: defaultSeed}
}

func (j *judgementFlags) register(cmd *cobra.Command) {
	d := defaultJudgement()
	f := cmd.Flags()
	f.StringVar(&j.human, "human", "", "name of the human scores (default the only ones, or mqm)")
	f.BoolVar(&j.includeHuman, "include-references", false, "compare references scored as systems too")
	parsedFlag(cmd, &j.level, "level", d.level.String(), correlate.ParseLevel,
		"segment, document, domain or system: what a score is of; means above segments", correlate.LevelNames()...)
	parsedFlag(cmd, &j.grouping, "group", d.grouping.String(), correlate.ParseGrouping,
		"none, segment or system: what correlations are averaged over", correlate.GroupingNames()...)
	f.StringVar(&j.undefined, "undefined", d.undefined, "drop or zero: what vectors without a value, such as constant ones, are in a mean")
	f.Float64Var(&j.threshold, "threshold", d.threshold, "least difference of human scores that kendall-wmt20 looks at")
	f.IntVar(&j.bootstrap, "bootstrap", d.bootstrap, "resamples for confidence intervals; 0 for none")
	f.Float64Var(&j.confidence, "confidence", d.confidence, "coverage of the intervals")
	f.Uint64Var(&j.seed, "seed", d.seed, "seed of all resampling")
	oneOf(cmd, "undefined", "drop", "zero")
	isPositive(cmd, "threshold")
	atLeast(cmd, 0, "bootstrap")
	isShare(cmd, "confidence")
	grouped(cmd, statisticFlags, "statistic", "level", "group")
	complete(cmd, "statistic", correlate.StatisticNames()...)
}

// statisticList is what help says of --statistic.
const statisticList = "such as kendall, pearson, accuracy or acc23 ('refract help statistics')"

// parse checks the flags and returns the statistics of those names.
func (j *judgementFlags) parse(names ...string) ([]experiment.Statistic, error) {
	if j.level == correlate.SystemLevel && j.grouping != correlate.None {
		return nil, usagef("--group %v: at system level there is one score a system, and nothing to group", j.grouping)
	}
	var out []experiment.Statistic
	for _, name := range names {
		st, err := correlate.ParseStatistic(strings.TrimSpace(name))
		if err != nil {
			return nil, usagef("--statistic: %w", err)
		}
		s := experiment.Statistic{Level: j.level, Measure: correlate.Measure{Statistic: st, Grouping: j.grouping, ZeroUndefined: j.undefined == "zero", Threshold: j.threshold}}
		if st.OfSystems() {
			s.Grouping, s.Level = correlate.None, correlate.SystemLevel
		}
		out = append(out, s)
	}
	return out, nil
}

// describe says below a table what was compared and what was left out.
func (j *judgementFlags) describe(t *report.NamedTable, d *experiment.DatasetInfo) {
	t.Note("%d segments, %d systems with %s scores: %s", d.Segments, len(d.Systems), d.Human, strings.Join(d.Systems, ", "))
	switch j.level {
	case correlate.SegmentLevel:
	case correlate.SystemLevel:
		t.Note("level %v: means over all segments that have both scores", j.level)
	default:
		t.Note("level %v: means over the segments of %d %ss that have both scores", j.level, d.Groups(j.level), j.level)
	}
	if len(d.LeftOut) > 0 {
		t.Note("left out as references scored as systems: %s (--include-references compares them)", strings.Join(d.LeftOut, ", "))
	}
	if len(d.Unjudged) > 0 {
		t.Note("left out without a %s score: %s", d.Human, strings.Join(d.Unjudged, ", "))
	}
}

package command

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/report"
)

// judgementFlags say how scores are set beside human judgements.
type judgementFlags struct {
	human        string
	includeHuman bool
	levels       []correlate.Level
	groupings    []correlate.Grouping
	undefined    string
	threshold    float64
	resampleBy   string
	bootstrapFlags
	statistics []correlate.Statistic
}

func (j *judgementFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&j.human, "human", "", "name of the human scores (default the only ones, or mqm)")
	f.BoolVar(&j.includeHuman, "include-references", false, "compare references scored as systems too, but those in use")
	listFlag(cmd, &j.levels, "level", correlate.SegmentLevel.String(), correlate.ParseLevel, correlate.Level.String,
		"segment, document, domain or system: what a score is of; means above segments", correlate.LevelNames()...)
	listFlag(cmd, &j.groupings, "group", correlate.None.String(), correlate.ParseGrouping, correlate.Grouping.String,
		"none, segment or system: what correlations are averaged over", correlate.GroupingNames()...)
	f.StringVar(&j.undefined, "undefined", "drop", "drop or zero: what vectors without a value, such as constant ones, are in a mean")
	f.Float64Var(&j.threshold, "threshold", correlate.LikeThreshold, "least difference of human scores that kendall-wmt20 looks at")
	j.bootstrapFlags.register(cmd, "seed of all resampling")
	f.StringVar(&j.resampleBy, "resample-by", "", "segment, document or system: what a resample draws (default documents, where there are any)")
	oneOf(cmd, "resample-by", experiment.Units()...)
	oneOf(cmd, "undefined", "drop", "zero")
	isPositive(cmd, "threshold")
	grouped(cmd, statisticFlags, "statistic", "level", "group")
}

// registerStatistics adds the flag of commands that show several statistics.
func (j *judgementFlags) registerStatistics(cmd *cobra.Command) {
	listFlag(cmd, &j.statistics, "statistic", "kendall,accuracy", correlate.ParseStatistic, correlate.Statistic.String,
		statisticList+" (repeatable or comma-separated)", correlate.StatisticNames()...)
	grouped(cmd, statisticFlags, "statistic")
}

// statisticList is what help says of --statistic.
const statisticList = "such as kendall, pearson, accuracy or acc23 ('refract help statistics')"

// measures are the statistics with all that the flags say of them: one for each
// level and group. At system level there is nothing to group, so that it stands
// there once.
func (j *judgementFlags) measures() ([]experiment.Statistic, error) {
	if !slices.ContainsFunc(j.levels, func(l correlate.Level) bool { return l != correlate.SystemLevel }) && !slices.Contains(j.groupings, correlate.None) {
		return nil, usagef("--group %v: at system level there is one score a system, and nothing to group", j.groupings[0])
	}
	var out []experiment.Statistic
	for _, st := range j.statistics {
		for _, level := range j.levels {
			for _, group := range j.groupings {
				s := experiment.Statistic{Level: level, Measure: correlate.Measure{Statistic: st, Grouping: group, ZeroUndefined: j.undefined == "zero", Threshold: j.threshold}}
				if st.OfSystems() || level == correlate.SystemLevel {
					s.Grouping, s.Level = correlate.None, correlate.SystemLevel
				}
				if !slices.Contains(out, s) {
					out = append(out, s)
				}
			}
		}
	}
	return out, nil
}

// noteReferences says which systems are left out as people wrote their texts.
func noteReferences(t *report.NamedTable, left []string, included bool) {
	switch names := strings.Join(left, ", "); {
	case names == "":
	case included:
		t.Note("left out as references in use: %s", names)
	default:
		t.Note("left out as references scored as systems: %s (--include-references adds those not in use)", names)
	}
}

// describe says below a table what was compared and what was left out.
func (j *judgementFlags) describe(t *report.NamedTable, d *experiment.DatasetInfo) {
	t.Note("%s, %s with %s scores: %s", english.Count(d.Segments, "segment"), english.Count(len(d.Systems), "system"), d.Human, strings.Join(d.Systems, ", "))
	for _, level := range j.levels {
		switch level {
		case correlate.SegmentLevel:
		case correlate.SystemLevel:
			t.Note("level %v: means over all segments that have both scores", level)
		default:
			t.Note("level %v: means over the segments of %d %ss that have both scores", level, d.Groups(level), level)
		}
	}
	if text := d.Chosen(); text != "" {
		t.Note("%s", text)
	}
	if text := d.FarOut(); text != "" {
		t.Note("%s", text)
	}
	noteReferences(t, d.LeftOut, j.includeHuman)
	if len(d.Unjudged) > 0 {
		t.Note("left out without a %s score: %s", d.Human, strings.Join(d.Unjudged, ", "))
	}
}

// bootstrapFlags say how intervals come about.
type bootstrapFlags struct {
	bootstrap  int
	confidence float64
	seed       uint64
}

func (b *bootstrapFlags) register(cmd *cobra.Command, seed string) {
	f := cmd.Flags()
	f.IntVar(&b.bootstrap, "bootstrap", 1000, "resamples for confidence intervals; 0 for none")
	f.Float64Var(&b.confidence, "confidence", 0.95, "coverage of the intervals")
	f.Uint64Var(&b.seed, "seed", defaultSeed, seed)
	within(cmd, 0, correlate.MaxResamples, "bootstrap")
	isShare(cmd, "confidence")
}

// explain says below a table how its intervals came about.
func (b *bootstrapFlags) explain(t *report.NamedTable, by, more string) {
	if b.bootstrap > 0 {
		t.Note("ci: %g%% bootstrap over %ss, %d resamples, seed %d%s", 100*b.confidence, by, b.bootstrap, b.seed, more)
	}
}

package command

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/internal/english"
)

// comparison holds the flags of compare and report: which settings are compared with
// which human judgements, and how. It becomes a plan, as an experiment's file does.
type comparison struct {
	scoringFlags
	scores []string

	dataset    experiment.Dataset // Human is asked for by a request; flags have it in data
	against    string
	statistics []correlate.Statistic
	levels     []correlate.Level
	groupings  []correlate.Grouping
	resampling
	test   experiment.Test
	tested bool

	curves []selection.Method
	counts []int
}

// comparisonDefaults are the defaults of compare or report.
type comparisonDefaults struct{ groups, test, tests, curves string }

// compared are the default aggregators.
var compared = []string{"single", "max", "mean", "native"}

func (c *comparison) register(e *env, cmd *cobra.Command, def comparisonDefaults) {
	c.scoringFlags.register(e, cmd, strings.Join(compared, ","))
	c.registerStatistics(cmd, def)
	flag := inputFlags.of(cmd)
	flag("matrix", plain(&c.matrix, ""), "`FILE` of a stored matrix to take the scores from", names(readsFile))
	flag("scores", plain(&c.scores, nil), "`NAME=FILE` with the scores of a metric: rows id, system, score, and reference for a score of each, as CSV, TSV, JSON Lines or Parquet (repeatable; without -m only these are compared)", names(readsTable))
}

// values are those that requests set, too.
func (c *comparison) values(def comparisonDefaults) settable {
	v := c.resampling.values(1000)
	v["human"] = valueOf(&c.dataset.Human, "", asIs)
	v["against"] = valueOf(&c.against, "", asIs)
	v["statistic"] = listOf(&c.statistics, "kendall,accuracy", correlate.ParseStatistic, correlate.Statistic.String)
	v["per"] = listOf(&c.levels, correlate.SegmentLevel.String(), correlate.ParseLevel, correlate.Level.String)
	v["group"] = listOf(&c.groupings, def.groups, correlate.ParseGrouping, correlate.Grouping.String)
	v["test"] = valueOf(&c.test.Method, def.test, func(name string) (m significance.Method, err error) {
		name, oneSided := strings.CutSuffix(name, ",one-sided")
		c.test.OneSided = c.test.OneSided || oneSided
		if c.tested = name != listNone; c.tested {
			m, err = significance.ParseMethod(name)
		}
		return m, err
	})
	return v
}

// registerStatistics adds the flags that say what is compared, and how.
func (c *comparison) registerStatistics(cmd *cobra.Command, def comparisonDefaults) {
	flag, v := statisticFlags.of(cmd), c.values(def)
	registerHumanLower(cmd, statisticFlags, &c.dataset.HumanLowerIsBetter)
	flag("against", v["against"], "`SETTING` such as max or \"bleu max\" to compare all others with (default all settings of a metric with each other)")
	flag("statistic", v["statistic"], "such as kendall, pearson, accuracy or acc23", shown, offers(correlate.StatisticNames()...))
	flag("per", v["per"], "what a score is of: segment, document, domain or system", shown, offers(correlate.LevelNames()...))
	flag("group", v["group"], "what correlations are averaged over: none, segment or system", shown, offers(correlate.GroupingNames()...))
	c.resampling.register(cmd, statisticFlags, v, "for intervals, 0 for none, and of tests", "document, where there are any", experiment.Units()...)
	flag("test", v["test"], def.tests+": "+strings.Join(significance.MethodNames(), ", ")+" or none, or NAME,one-sided", shown, offers(append(significance.MethodNames(), listNone)...))
	methods := append(selection.MethodNames(), listNone)
	flag("curve", listOf(&c.curves, def.curves, selection.ParseMethod, selection.Method.String).orNone(),
		"agreement by the number of references, chosen by "+strings.Join(methods, ", "), shown, offers(methods...))
	flag("count,k", plain(&c.counts, nil), "numbers of variants in a curve (default 0, 1, … up to all)")
}

func registerHumanLower(cmd *cobra.Command, in section, lower *bool) {
	in.of(cmd)("human-lower-is-better", plain(lower, false), "lower human scores are better, as with counts of errors or ranks")
}

// plan is a plan for one dataset, with all its references as the only set.
func (c *comparison) plan(name string, args []string) (*experiment.Plan, error) {
	p := &experiment.Plan{
		Name: name, Metrics: c.scoring.specs(), Pairing: experiment.NoPair, Levels: c.levels, Missing: c.scoring.missing, Against: c.against,
		Sets:      []experiment.Set{{Name: "all", All: true}},
		Bootstrap: c.Bootstrap,
	}
	if c.tested {
		if c.Resamples == 0 {
			return nil, usagef("--test needs resamples: set --resamples to 1 or more, or take --test none")
		}
		p.Test = c.test
		p.Test.Resamples, p.Test.Seed = c.Resamples, c.Seed
	}
	_, human, err := c.data.ratings()
	if err != nil {
		return nil, err
	}
	d := c.dataset
	d.Name, d.Human, d.AllowNoReference, d.Matrix = name, cmp.Or(d.Human, human), c.scoring.allowNone, c.matrix
	d.Choice, d.IncludeReferences = c.choice.choice, len(c.choice.choice.Systems) > 0
	if len(args) > 0 {
		d.Spec = args[0]
	}
	_, d.Language = c.scoring.languages(args)
	if p.Statistics, err = c.measures(); err != nil {
		return nil, err
	}
	for _, st := range p.Statistics {
		if _, err := c.test.Method.For(st.Measure, st.Level); err != nil && c.tested {
			return nil, usagef("--test: %w (--statistic says which are tested)", err)
		}
	}
	p.Aggregators, p.Strict = c.scoring.aggregatorsOr(compared...)
	files, err := namedFiles("scores", "mine.tsv", c.scores)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		d.Scores = append(d.Scores, experiment.ScoreFile(f))
	}
	switch {
	case c.matrix != "" && len(p.Metrics) > 0:
		return nil, usagef("--matrix already says which metrics: leave --metric out")
	case c.matrix == "" && len(c.scores) == 0 && len(p.Metrics) == 0:
		p.Metrics = defaultMetrics
	}
	p.Datasets = []experiment.Dataset{d}
	return p, nil
}

// measures are the statistics, once for each level and group; at system level there is
// nothing to group.
func (c *comparison) measures() ([]experiment.Statistic, error) {
	if !slices.ContainsFunc(c.levels, func(l correlate.Level) bool { return l != correlate.SystemLevel }) && !slices.Contains(c.groupings, correlate.None) {
		return nil, usagef("--group %v: at system level there is one score a system and nothing to group: leave it out", c.groupings[0])
	}
	var out []experiment.Statistic
	for _, st := range c.statistics {
		for _, level := range c.levels {
			for _, group := range c.groupings {
				s := experiment.Statistic{Level: level, Measure: correlate.Measure{Statistic: st, Grouping: group}}
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

// addCurves adds curves to a plan, for aggregators that combine the scores of several
// references; seeds is the number of random orders. It returns false if there is
// nothing to draw.
func (c *comparison) addCurves(p *experiment.Plan, seeds int) (bool, error) {
	several := slices.DeleteFunc(slices.Clone(p.Aggregators), aggregate.Aggregator.Single)
	combining := slices.DeleteFunc(slices.Clone(several), aggregate.Aggregator.Native)
	if len(combining) == 0 {
		combining = several // only native was asked for
	}
	for _, k := range c.counts {
		if k < 0 {
			return false, usagef("-k %d: want 0 or more", k)
		}
	}
	if len(combining) == 0 {
		return false, nil
	}
	for _, m := range c.curves {
		cv := experiment.Curve{Method: m, Seeds: 1, Counts: slices.Compact(slices.Sorted(slices.Values(c.counts))), Aggregators: combining, Resamples: c.Resamples}
		if m == selection.ByRandom {
			cv.Seeds = seeds
		}
		p.Curves = append(p.Curves, cv)
	}
	return true, nil
}

// runner executes a plan that the flags describe.
func (c *comparison) runner(e *env, args []string, p *experiment.Plan) *planRun {
	if len(c.scores) > 0 && c.matrix == "" && len(p.Metrics) == 0 {
		e.note("only the scores of --scores are compared; -m METRIC adds a metric")
	}
	r := c.begin(e, args).planRun(p)
	r.Open = func(experiment.Dataset) (refract.Dataset, error) {
		ds, err := c.data.dataset(e, args, true)
		return dataset.WithSystems(ds), err
	}
	return r
}

// describe notes below a table what was compared and what was left out.
func (c *comparison) describe(t *report.NamedTable, d *experiment.DatasetInfo) {
	t.Note("%s, %s with %s scores: %s", english.Count(d.Segments, "segment"), english.Count(len(d.Systems), "system"), d.Human, strings.Join(d.Systems, ", "))
	for _, level := range c.levels {
		switch level {
		case correlate.SegmentLevel:
		case correlate.SystemLevel:
			t.Note("level %v: means over all segments that have both scores", level)
		default:
			t.Note("level %v: means over the segments of %s that have both scores", level, english.Count(d.Groups(level), level.String()))
		}
	}
	noteReferences(t, d.LeftOut)
	if len(d.Unjudged) > 0 {
		t.Note("left out without a %s score: %s", d.Human, strings.Join(d.Unjudged, ", "))
	}
}

// noteReferences notes which systems are left out because they are references.
func noteReferences(t *report.NamedTable, left []string) {
	if len(left) > 0 {
		t.Note("left out because they are references: %s (--systems NAME compares one that is not in use)", strings.Join(left, ", "))
	}
}

// usualConfidence is the default coverage of intervals.
const usualConfidence = 0.95

// resampling holds the flags that say what is resampled, and how often.
type resampling struct{ experiment.Bootstrap }

// values are those that requests set, too.
func (r *resampling) values(resamples int) settable {
	return settable{
		"resamples": numberOf(&r.Resamples, strconv.Itoa(resamples), upTo(correlate.MaxResamples)),
		"seed":      numberOf(&r.Seed, strconv.Itoa(defaultSeed), func(s string) (uint64, error) { return strconv.ParseUint(s, 0, 64) }),
	}
}

func (r *resampling) register(cmd *cobra.Command, in section, v settable, of, by string, units ...string) {
	flag, facts := in.of(cmd), []fact{oneOf(units...)}
	if in == taskFlags {
		facts = append(facts, shown)
	}
	flag("resamples", v["resamples"], "resamples "+of)
	flag("confidence", plain(&r.Confidence, usualConfidence), "coverage of intervals", isShare)
	flag("seed", v["seed"], "seed of all resampling")
	flag("resample-by", plain(&r.By, ""), strings.Join(units, ", ")+": what a resample draws (default "+by+")", facts...)
}

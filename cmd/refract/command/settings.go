package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/internal/redact"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/program"
)

// defaultSeed is sacreBLEU's.
const defaultSeed = 12345

// settingFlags name metrics and aggregators, by flags or by a request.
type settingFlags struct {
	metrics     []string
	aggregators []aggregate.Aggregator // none: those of the command
	missing     aggregate.Policy
	allowNone   bool              // where a segment has no reference: --missing says what becomes of it
	parsed      map[string]string // specs of the metrics that were parsed, by name
}

func (s *settingFlags) register(e *env, cmd *cobra.Command, defaultAggregates string) {
	flag, v := metricFlags.of(cmd), s.values()
	metricNames := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return e.registryWith(nil, nil).Names(), cobra.ShellCompDirectiveNoFileComp
	}
	flag("metric,m", plain(&s.metrics, nil), "`METRIC`, or METRIC:OPTION=VALUE,… (repeatable; default bleu and chrf)", shown, names(e.metricFiles), offersBy(metricNames))
	flag("aggregate,a", v["aggregate"], "aggregators over references, separated by commas (default "+defaultAggregates+")", shown, withMatrix, offers(aggregate.Names()...))
	flag("missing", v["missing"],
		"policy for missing scores of references: exclude, propagate or fail (default exclude, but a segment without any reference is an error)", withMatrix, offers("exclude", "propagate", "fail"))
}

// values are those that requests set, too.
func (s *settingFlags) values() settable {
	s.missing = aggregate.Exclude
	return settable{
		"metric":    (*strs)(&s.metrics),
		"aggregate": listOf(&s.aggregators, "", aggregate.Parse, aggregate.Aggregator.Name),
		"missing": valueOf(&s.missing, "", func(name string) (aggregate.Policy, error) { // exclude does more than the default
			s.allowNone = name != aggregate.Fail.String()
			return aggregate.ParsePolicy(name)
		}),
	}
}

// aggregatorsOr are the aggregators, or if there are none those of a command, and whether they
// are asked for.
func (s *settingFlags) aggregatorsOr(usual ...string) (aggs []aggregate.Aggregator, asked bool) {
	if len(s.aggregators) > 0 {
		return s.aggregators, true
	}
	return aggregate.Default(usual...), false
}

// parse makes the metrics that were asked for, and refuses two of the same name.
func (s *settingFlags) parse(parse func(spec string) (metrics.Metric, error)) ([]metrics.Metric, error) {
	var ms []metrics.Metric
	s.parsed = map[string]string{}
	for _, spec := range s.specs(defaultMetrics...) {
		if isStored(spec) {
			return nil, usagef("--metric %s: stored scores can only be compared: 'refract compare mtme:DIR/TESTSET/LP -m %s'", spec, spec)
		}
		m, err := parse(spec)
		if err != nil {
			return nil, err
		}
		name := m.Info().Name
		switch other, twice := s.parsed[name]; {
		case twice && strings.HasPrefix(name, program.Name+":"):
			return nil, usagef("--metric %q and %q are both called %s; tell them apart by a name= before the program, as in 'exec:name=OTHER PROGRAM ARG'", redact.Text(other), redact.Text(spec), name)
		case twice:
			return nil, usagef("--metric %q and %q are the same metric", redact.Text(other), redact.Text(spec))
		}
		ms, s.parsed[name] = append(ms, m), spec
	}
	return ms, nil
}

// defaultMetrics are the metrics without -m.
var defaultMetrics = []string{"bleu", "chrf"}

// cross makes the settings of all metrics and aggregators. A metric that needs no
// references has one setting. native returns why a metric has no native score; then
// that aggregator is skipped, unless the user asked for it.
func cross(ms []metrics.Metric, aggs []aggregate.Aggregator, asked bool, native func(metrics.Metric) error) ([]refract.Setting, error) {
	var out []refract.Setting
	for _, m := range ms {
		if !m.Info().NeedsReferences {
			out = append(out, refract.Setting{Metric: m, Aggregator: aggregate.Single})
			continue
		}
		for _, a := range aggs {
			a = a.For(m.Info().Direction == metrics.HigherIsBetter)
			if a.Native() {
				if err := native(m); err != nil && asked {
					return nil, err
				} else if err != nil {
					continue
				}
			}
			out = append(out, refract.Setting{Metric: m, Aggregator: a})
		}
	}
	return out, nil
}

// scoresNative is cross's native for metrics that score segments now.
func scoresNative(m metrics.Metric) error {
	if !metrics.HasNative(m) {
		return usagef("%s has no native rule for several references: leave native out of -a, or score %[1]s in a run of its own, such as with -a max", m.Info().Name)
	}
	return nil
}

// noteWorstReferences notes for which metrics the aggregator takes the worst reference.
func (e *env) noteWorstReferences(settings []refract.Setting) {
	for _, s := range settings {
		if info := s.Metric.Info(); info.NeedsReferences && s.Aggregator.TakesWorst(info.Direction == metrics.HigherIsBetter) {
			e.note("%s", s.Aggregator.Worst(info.Name))
		}
	}
}

// isStored reports whether a spec names stored scores of an mtme: dataset.
func isStored(spec string) bool {
	_, stored := experiment.IsStored(spec)
	return stored
}

package command

import (
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/judge"
)

func (e *env) metricsCommand() *cobra.Command {
	var out output
	cmd := e.newCommand(&cobra.Command{
		Use:   "metrics [NAME[:OPTION=VALUE,…]]",
		Short: "List metrics and judges, or show one",
		Long: `List all metrics and judges with what they need and where they run, or show the
options of a metric, the definition of a judge, or, with options, what it sends.`,
		Example: `  refract metrics
  refract metrics gemba-da:sl=Chinese,tl=English`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return append(e.registry().Names(), judge.Names()...), cobra.ShellCompDirectiveNoFileComp
		},
	}, cobra.MaximumNArgs(1), func(ctx context.Context, e *env, args []string) error {
		return e.listMetrics(ctx, &out, args)
	})
	out.registerFormat(cmd, "", "; without it, by the extension of -o")
	out.registerPath(cmd)
	return cmd
}

// listMetrics shows all metrics, or one.
func (e *env) listMetrics(ctx context.Context, out *output, args []string) error {
	if len(args) > 0 {
		name, _, options := strings.Cut(args[0], ":")
		if isJudge(name) && (options || !out.formatGiven) {
			return e.showJudge(ctx, out, args[0])
		}
	}
	if err := out.byExtension(); err != nil {
		return err
	}
	all, err := e.listedMetrics(ctx)
	if err != nil {
		return err
	}
	if len(args) > 0 {
		return e.listOptions(ctx, out, all, args[0])
	}
	return out.show(e, metricTable(all, out.format.ForPeople()))
}

// showJudge writes the definition of a judge, or with options what it sends.
func (e *env) showJudge(ctx context.Context, o *output, spec string) error {
	name, rest, options := strings.Cut(spec, ":")
	if name == judge.FileMetric {
		_, _, options = strings.Cut(rest, ",")
	}
	var written strings.Builder
	if options {
		m, err := e.registryWith(nil, func(context.Context) (judge.Environment, error) {
			return judge.Environment{Model: judge.PlaceModel}, nil
		}).Parse(ctx, strings.TrimRight(spec, ":,"))
		if err != nil {
			return usagef("%w", err)
		}
		if err := m.(*judge.Judge).Show(&written); err != nil {
			return err
		}
	} else if d, _, err := judge.FindSpec(spec, e.registry().Names()...); err != nil {
		return err
	} else {
		written.WriteString(d.YAML())
	}
	out, err := e.create(o.path)
	if err != nil {
		return err
	}
	shown := written.String()
	if o.path == "" && e.stdoutTerminal { // a definition from elsewhere may contain escape sequences
		shown = text.VisibleLines(shown)
	}
	_, err = io.WriteString(out, shown)
	return err
}

// listedMetric is a metric with its declaration, nil if it cannot be made from only its
// name.
type listedMetric struct {
	metrics.Factory
	kind string
	info *metrics.Info
}

// listedMetrics are all metrics that -m takes.
func (e *env) listedMetrics(ctx context.Context) ([]listedMetric, error) {
	var all []listedMetric
	for _, f := range e.registry() {
		if f.Unlisted && f.Info == nil {
			continue
		}
		l := listedMetric{f, "metric", f.Info}
		if f.Info == nil {
			if m, err := e.registry().Parse(ctx, f.Name); err == nil {
				info := m.Info()
				l.info = &info
			}
		}
		all = append(all, l)
	}
	for _, d := range judge.Builtin() {
		r, err := d.Sample(nil)
		if err != nil {
			return nil, err
		}
		info := r.Info()
		all = append(all, listedMetric{d.Factory(judge.Environment{}), "judge", &info})
	}
	stored := metrics.Factory{Name: "stored", Tail: "NAME", Summary: "scores that come with an mtme: dataset, for compare, report and experiments"}
	return append(all, listedMetric{stored, "stored", nil}), nil
}

// metricTable has a row for each metric, and for programs also for each option and
// aggregator.
func metricTable(all []listedMetric, people bool) *report.NamedTable {
	t := &report.NamedTable{Columns: []report.Column{
		{Name: "kind", Hide: true}, {Name: "name"}, {Name: "option", Hide: true}, {Name: "default", Hide: true}, {Name: "values", Hide: true},
		{Name: "needs"}, {Name: "direction", Header: "better is"},
		{Name: "lower", Kind: report.KindFloat, Minor: true}, {Name: "upper", Kind: report.KindFloat, Minor: true},
		{Name: "runs"}, {Name: "source", Minor: true}, {Name: "licence", Minor: true}, {Name: "description"},
	}}
	for _, m := range all {
		var needs, direction, lower, upper any
		if i := m.info; i != nil {
			needs, direction, lower, upper = i.Needs(), i.Direction.String(), i.Lower, i.Upper
		}
		t.Add(m.kind, m.Name, nil, nil, report.StringOrNull(m.Tail), needs, direction, lower, upper,
			cmp.Or(m.Runs, "here"), report.StringOrNull(m.Source), report.StringOrNull(m.Licence), m.Summary)
		for _, o := range m.Options {
			if !people {
				t.Add("option", m.Name, o.Key, o.Default, o.Values, nil, nil, nil, nil, nil, nil, nil, o.Doc)
			}
		}
	}
	for _, d := range aggregate.Docs() {
		if !people {
			name, parameter, _ := strings.Cut(d.Spec, ":")
			key, value, _ := strings.Cut(parameter, "=")
			t.Add("aggregator", name, report.StringOrNull(key), report.StringOrNull(value), nil, nil, nil, nil, nil, nil, nil, nil, d.Text)
		}
	}
	return t
}

// listOptions writes the options of a metric; for a spec with options also its
// signature.
func (e *env) listOptions(ctx context.Context, out *output, all []listedMetric, spec string) error {
	name, options, _ := strings.Cut(spec, ":")
	var names []string
	for _, m := range all {
		names = append(names, m.Name)
		if strings.EqualFold(m.Name, name) {
			name = m.Name
		}
	}
	i, err := english.Index("metric", name, names)
	if err != nil {
		return usagef("%w", cmp.Or(e.unknownMetric(name), err))
	}
	m := all[i]
	if options != "" && m.Tail == "" {
		set, err := e.registry().Parse(ctx, spec)
		if err != nil {
			return err
		}
		e.note("%s: signature of a segment's scores %v, of a system's %v", spec, set.Signature(metrics.Sentence), set.Signature(metrics.Corpus))
	}
	e.note("%s: %s", strings.TrimSuffix(name+":"+m.Tail, ":"), m.Summary)
	if i := m.info; i != nil {
		e.note("needs: %s; %s is better, from %v to %v", cmp.Or(i.Needs(), "nothing"), i.Direction, i.Lower, i.Upper)
	}
	t := &report.NamedTable{Columns: []report.Column{{Name: "option"}, {Name: "default"}, {Name: "values"}, {Name: "description"}}}
	for _, o := range m.Options {
		t.Add(o.Key, o.Default, o.Values, o.Doc)
	}
	return out.show(e, t)
}

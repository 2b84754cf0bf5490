package command

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/internal/suggest"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/judge"
	"github.com/refract-eval/refract/report"
)

func (e *env) metricsCommand() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "metrics [NAME]",
		Short: "List metrics, or the options of one",
		Long: `List the metrics, those that ask a model among them, or the options of one,
which -m takes as NAME:OPTION=VALUE,OPTION=VALUE.

Formats for programs have every option and the aggregators too.`,
		Example: `  refract metrics
  refract metrics bleu
  refract metrics -f json`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := e.listedMetrics(cmd.Context())
			if err != nil {
				return err
			}
			if len(args) > 0 {
				return e.listOptions(&out, all, args[0])
			}
			format, err := out.kind()
			if err != nil {
				return err
			}
			return e.list(&out, metricColumns(), func(row func(...report.Value) error) error { return metricRows(all, format.ForPeople(), row) })
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return append(e.registry().Names(), judge.Names()...), cobra.ShellCompDirectiveNoFileComp
		},
	}
	out.register(cmd)
	return cmd
}

// listedMetric is a metric with what it declares of itself, where it can be
// made of its name alone.
type listedMetric struct {
	metrics.Factory
	kind                           string
	needs, direction, lower, upper report.Value
}

// listedMetrics are all metrics that -m takes.
func (e *env) listedMetrics(ctx context.Context) ([]listedMetric, error) {
	var all []listedMetric
	for _, f := range e.registry() {
		l := listedMetric{Factory: f, kind: "metric"}
		if m, err := e.registry().Parse(ctx, f.Name); err == nil {
			info := m.Info()
			l.needs = report.String(info.Needs())
			l.direction, l.lower, l.upper = report.String(info.Direction.String()), report.Float(info.Lower), report.Float(info.Upper)
		}
		all = append(all, l)
	}
	for _, d := range judge.Builtin() {
		r, err := d.Sample()
		if err != nil {
			return nil, err
		}
		lower, upper, _, _ := r.Bounds()
		all = append(all, listedMetric{d.Factory(judge.Environment{}), "judge", report.String(r.Needs()),
			report.String(r.Direction().String()), report.Float(lower), report.Float(upper)})
	}
	return all, nil
}

func metricColumns() []report.Column {
	return []report.Column{
		{Name: "kind"}, {Name: "name"}, {Name: "option", Hide: true}, {Name: "default", Hide: true}, {Name: "values", Hide: true},
		{Name: "needs"}, {Name: "direction", Header: "better is"},
		{Name: "lower", Kind: report.KindFloat, Hide: true}, {Name: "upper", Kind: report.KindFloat, Hide: true},
		{Name: "description"},
	}
}

func optionColumns() []report.Column {
	return []report.Column{{Name: "option"}, {Name: "default"}, {Name: "values"}, {Name: "description"}}
}

// metricRows has a row a metric, and for programs one an option and an
// aggregator as well.
func metricRows(all []listedMetric, people bool, row func(...report.Value) error) error {
	null, text := report.Null(), report.String
	for _, m := range all {
		if err := row(text(m.kind), text(m.Name), null, null, report.StringOrNull(m.Tail), m.needs, m.direction, m.lower, m.upper, text(m.Summary)); err != nil {
			return err
		}
		for _, o := range m.Options {
			if people {
				break
			}
			if err := row(text("option"), text(m.Name), text(o.Key), text(o.Default), text(o.Values), null, null, null, null, text(o.Doc)); err != nil {
				return err
			}
		}
	}
	for _, d := range aggregate.Docs() {
		if people {
			break
		}
		name, parameter, _ := strings.Cut(d.Spec, ":")
		key, value, _ := strings.Cut(parameter, "=")
		if err := row(text("aggregator"), text(name), report.StringOrNull(key), report.StringOrNull(value), null, null, null, null, null, text(d.Text)); err != nil {
			return err
		}
	}
	return nil
}

// listOptions writes the options of a metric.
func (e *env) listOptions(out *output, all []listedMetric, name string) error {
	var names []string
	for _, m := range all {
		names = append(names, m.Name)
		if m.Name != name {
			continue
		}
		if len(m.Options) == 0 {
			e.note("%s has no options; it is written as %s", name, strings.TrimSuffix(name+":"+m.Tail, ":"))
		}
		return e.list(out, optionColumns(), func(row func(...report.Value) error) error {
			for _, o := range m.Options {
				if err := row(report.String(o.Key), report.String(o.Default), report.String(o.Values), report.String(o.Doc)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return usagef("%s", suggest.Unknown("metric", name, names))
}

// list writes a table whose rows are at hand.
func (e *env) list(o *output, columns []report.Column, fill func(row func(...report.Value) error) error) error {
	out, err := e.create(o.path)
	if err != nil {
		return err
	}
	w, err := o.table(out, columns, report.Options{})
	if err != nil {
		return err
	}
	if err := fill(w.Row); err != nil {
		return err
	}
	return errors.Join(w.Close(), e.commit())
}

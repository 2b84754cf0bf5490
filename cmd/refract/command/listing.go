package command

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/report"
)

func (e *env) metricsCommand() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "metrics",
		Short: "List metrics with their options, and aggregators",
		Example: `  refract metrics
  refract metrics -f json`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return e.list(&out, metricColumns(), func(row func(...report.Value) error) error { return e.metricRows(cmd.Context(), row) })
		},
	}
	out.register(cmd)
	return cmd
}

// metricColumns has, hidden from people, what a metric declares of itself.
func metricColumns() []report.Column {
	return []report.Column{
		{Name: "kind"}, {Name: "name"}, {Name: "option"}, {Name: "default"}, {Name: "values"},
		{Name: "needs", Hide: true}, {Name: "direction", Hide: true},
		{Name: "lower", Kind: report.KindFloat, Hide: true}, {Name: "upper", Kind: report.KindFloat, Hide: true},
		{Name: "description"},
	}
}

func (e *env) metricRows(ctx context.Context, row func(...report.Value) error) error {
	null, text := report.Null(), report.String
	for _, f := range e.registry() {
		m, err := e.registry().Parse(ctx, f.Name)
		if err != nil { // it needs more than its name
			if err := row(text("metric"), text(f.Name), null, null, text(f.Tail), null, null, null, null, text(f.Summary)); err != nil {
				return err
			}
			continue
		}
		info := m.Info()
		var needs []string
		if info.NeedsSource {
			needs = append(needs, "source")
		}
		if info.NeedsReferences {
			needs = append(needs, "references")
		}
		err = row(text("metric"), text(f.Name), null, null, null, text(strings.Join(needs, " ")), text(info.Direction.String()),
			report.Float(info.Lower), report.Float(info.Upper), text(f.Summary))
		if err != nil {
			return err
		}
		for _, o := range f.Options {
			err := row(text("option"), text(f.Name), text(o.Key), text(o.Default), text(o.Values), null, null, null, null, text(o.Doc))
			if err != nil {
				return err
			}
		}
	}
	for _, d := range aggregate.Docs() {
		name, parameter, has := strings.Cut(d.Spec, ":")
		option, def := null, null
		if has {
			key, value, _ := strings.Cut(parameter, "=")
			option, def = text(key), text(value)
		}
		if err := row(text("aggregator"), text(name), option, def, null, null, null, null, null, text(d.Text)); err != nil {
			return err
		}
	}
	return nil
}

// list writes a table whose rows are at hand.
func (e *env) list(o *output, columns []report.Column, fill func(row func(...report.Value) error) error) error {
	out, err := o.open(e)
	if err != nil {
		return err
	}
	defer out.Abort()
	w, err := o.table(out, columns, report.Options{})
	if err != nil {
		return err
	}
	if err := fill(w.Row); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return out.Commit()
}

package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/diversify"
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
		RunE: func(*cobra.Command, []string) error {
			return e.list(&out, []report.Column{{Name: "kind"}, {Name: "name"}, {Name: "option"}, {Name: "default"}, {Name: "values"}, {Name: "description"}},
				func(row func(...report.Value) error) error {
					for _, f := range registry() {
						if err := row(report.String("metric"), report.String(f.Name), report.Null(), report.Null(), report.Null(), report.String(f.Summary)); err != nil {
							return err
						}
						for _, o := range f.Options {
							if err := row(report.String("option"), report.String(f.Name), report.String(o.Key), report.String(o.Default), report.String(o.Values), report.String(o.Doc)); err != nil {
								return err
							}
						}
					}
					for _, d := range aggregate.Docs() {
						name, parameter, has := strings.Cut(d.Spec, ":")
						option, def := report.Null(), report.Null()
						if has {
							key, value, _ := strings.Cut(parameter, "=")
							option, def = report.String(key), report.String(value)
						}
						if err := row(report.String("aggregator"), report.String(name), option, def, report.Null(), report.String(d.Text)); err != nil {
							return err
						}
					}
					return nil
				})
		},
	}
	out.register(cmd)
	return cmd
}

func (e *env) promptsCommand() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "prompts",
		Short: "List the prompts that expand references",
		Long: `List the prompts that expand references. A prompt is sent with a space and the
reference after it.`,
		Example: `  refract prompts
  refract prompts -f jsonl`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return e.list(&out, []report.Column{{Name: "set"}, {Name: "name"}, {Name: "prompt"}},
				func(row func(...report.Value) error) error {
					for _, p := range diversify.Ten() {
						if err := row(report.String("ten"), report.String(p.Name), report.String(p.Text)); err != nil {
							return err
						}
					}
					p := diversify.Plain()
					return row(report.String("plain"), report.String(p.Name), report.String(p.Text))
				})
		},
	}
	out.register(cmd)
	return cmd
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

package command

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/internal/atomicfile"
	"github.com/refract-eval/refract/report"
)

// output is the flags that say where and how results are written.
type output struct {
	format      string
	path        string
	wide        bool
	formatGiven func() bool
}

func (o *output) register(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.format, "format", "f", "table", "table, json, jsonl, csv, tsv, markdown or latex; without it, by the extension of -o")
	o.formatGiven = func() bool { return given(cmd, "format") }
	complete(cmd, "format", formatNames()...)
	cmd.Flags().BoolVar(&o.wide, "wide", false, "show all columns of a table, also where they take more than 100 characters")
	grouped(cmd, resultFlags, "format")
	o.registerPath(cmd)
}

func formatNames() []string {
	var names []string
	for _, f := range report.Formats() {
		names = append(names, string(f))
	}
	return names
}

// kind is the format that was asked for, or that the output's name tells.
func (o *output) kind() (report.Format, error) {
	if f := report.FormatOf(o.path); f != "" && (o.formatGiven == nil || !o.formatGiven()) {
		return f, nil
	}
	f, err := report.ParseFormat(o.format)
	if err != nil {
		return "", usagef("--format: %w", err)
	}
	return f, nil
}

func (o *output) registerPath(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.path, "output", "o", "", "`FILE` to write in place of standard output")
	grouped(cmd, resultFlags, "output")
}

// create makes an output, before the work, so that one that cannot be written
// is an error before it and not after it. A command that succeeds puts its
// outputs in place at its end, by commit, and another leaves none.
func (e *env) create(path string) (*atomicfile.File, error) {
	out := atomicfile.Stream(e.stdout, "standard output")
	if path != "" && path != "-" {
		var err error
		if out, err = atomicfile.Create(path); err != nil {
			return nil, err
		}
	}
	e.outputs = append(e.outputs, out)
	return out, nil
}

// commit puts the outputs so far in place. Only a command that has more to say
// or to do then calls it itself.
func (e *env) commit() error {
	for len(e.outputs) > 0 {
		if err := e.outputs[0].Commit(); err != nil {
			return err
		}
		e.outputs = e.outputs[1:]
	}
	return nil
}

// table opens the output as a table.
func (o *output) table(w io.Writer, columns []report.Column, opts report.Options) (report.Writer, error) {
	f, err := o.kind()
	if err != nil {
		return nil, err
	}
	opts.Wide = o.wide
	return report.NewWriter(w, f, columns, opts)
}

// show writes a table as the output, and puts it in place.
func (o *output) show(e *env, t *report.NamedTable) error {
	out, err := e.create(o.path)
	if err != nil {
		return err
	}
	if err := o.whole(out, t); err != nil {
		return err
	}
	return e.commit()
}

// whole writes a whole table.
func (o *output) whole(w io.Writer, t *report.NamedTable) error {
	f, err := o.kind()
	if err != nil {
		return err
	}
	return t.Write(w, f, o.wide)
}

package command

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/internal/files"
	"github.com/refract-eval/refract/internal/redact"
)

// output holds the flags that say where and how results are written.
type output struct {
	format      report.Format
	path        string
	parquet     bool // what is written may be Parquet too
	formatGiven bool
	cmd         *cobra.Command // whose -v shows all columns
}

// wide reports whether -v asks for all columns of a table, even beyond 100 characters.
func (o *output) wide() bool {
	return o.cmd != nil && o.cmd.Flag("verbose") != nil && o.cmd.Flag("verbose").Value.String() == "true"
}

// register adds the flags of a command that writes tables, whose format may
// follow from the output's name.
func (o *output) register(cmd *cobra.Command) {
	o.registerFormat(cmd, "", "; without it, by the extension of -o")
	o.registerPath(cmd)
	cmd.PreRunE = func(*cobra.Command, []string) error { return o.byExtension() }
}

// registerFormat adds the flags about the format of tables.
func (o *output) registerFormat(cmd *cobra.Command, before, after string) {
	parse := func(s string) (report.Format, error) {
		o.formatGiven = true
		return report.ParseFormat(s)
	}
	resultFlags.of(cmd)("format,f", valueOf(&o.format, string(report.Table), parse), before+"table, json, jsonl, csv, tsv, markdown or latex"+after, shown, withMatrix, offers(formatNames()...))
	o.formatGiven, o.cmd = false, cmd // setting the default does not count
}

func formatNames() []string {
	var names []string
	for _, f := range report.Formats() {
		names = append(names, string(f))
	}
	return names
}

// byExtension takes the format from the output's name, unless a flag sets it.
func (o *output) byExtension() error {
	name := o.path
	ext := filepath.Ext(files.Unpacked(name))
	if ext == ".parquet" && files.Unpacked(name) != name {
		return usagef("-o %s: Parquet is already compressed; name the file %s", o.path, files.Unpacked(o.path))
	}
	if o.formatGiven || ext == "" || o.parquet && ext == ".parquet" {
		return nil
	}
	var known []string
	for _, f := range report.Formats() {
		if f.Extension() == ext {
			o.format = f
			return nil
		}
		known = append(known, f.Extension())
	}
	return usagef("-o %s: unknown extension %s (known: %s); or name the format with --format", o.path, ext, strings.Join(known, ", "))
}

// isLines refuses a name whose extension is not that of JSON Lines.
func (o *output) isLines() error {
	name, lines := files.Unpacked(o.path), report.JSONLines.Extension()
	ext := filepath.Ext(name)
	other := slices.ContainsFunc(report.Formats(), func(f report.Format) bool { return f.Extension() == ext })
	if ext != lines && other || ext == ".parquet" {
		return usagef("-o %s: the output is JSON Lines, not %s; name it %s%s", o.path, ext, strings.TrimSuffix(name, ext), lines)
	}
	return nil
}

// onScreen is the output of tables on standard output, where -o names something else.
func (o output) onScreen() *output {
	if o.path = ""; !o.formatGiven {
		o.format = report.Table
	}
	return &o
}

func (o *output) registerPath(cmd *cobra.Command) {
	resultFlags.of(cmd)("output,o", plain(&o.path, ""), "`FILE` to write; replaces an existing one when complete", shown, withMatrix, notEmpty("a name"), names(writesFile))
}

// registerLines adds the flag of a command that writes JSON Lines.
func (o *output) registerLines(cmd *cobra.Command) {
	o.registerPath(cmd)
	cmd.PreRunE = func(*cobra.Command, []string) error { return o.isLines() }
}

// placed is an output in the making.
type placed interface {
	Commit() error
	Abort()
}

// createFolder is create for a folder; nil for "".
func (e *env) createFolder(path string) (*files.Folder, error) {
	if path == "" {
		return nil, nil
	}
	out, err := files.CreateFolder(path)
	if err == nil {
		e.outputs = append(e.outputs, out)
	}
	return out, err
}

// create makes an output before the work, so that an error about it comes first. At the
// end of a command that succeeds, commit puts its outputs in place; one that fails
// leaves none.
func (e *env) create(path string) (*files.File, error) {
	out := files.Stream(e.stdout, "standard output")
	if path != "" && path != "-" {
		var err error
		if out, err = files.Create(path); err != nil {
			return nil, err
		}
	}
	e.outputs = append(e.outputs, out)
	return out, nil
}

// commit puts the outputs so far in place. A command calls it only if it has more to
// say or to do after that.
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
func (o *output) table(w io.Writer, columns []report.Column) report.Writer {
	return report.NewWriter(w, o.format, columns, report.Options{Wide: o.wide()})
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

// Columns of tables: texts, whole numbers, and numbers with decimals for people.
func textColumn(name string) report.Column  { return report.Column{Name: name} }
func countColumn(name string) report.Column { return column(name, report.KindInt, 0) }
func numberColumn(name string, digits int) report.Column {
	return column(name, report.KindFloat, digits)
}
func intervalColumn(name string, digits int) report.Column {
	return column(name, report.KindInterval, digits)
}

func column(name string, kind report.Kind, digits int) report.Column {
	return report.Column{Name: name, Header: strings.ReplaceAll(name, "_", " "), Kind: kind, Digits: digits}
}

// programColumn shows a column only to programs.
func programColumn(c report.Column) report.Column {
	c.Hide = true
	return c
}

// whole writes a whole table.
func (o *output) whole(w io.Writer, t *report.NamedTable) error {
	return t.Write(w, o.format, o.wide())
}

// suggestNext suggests, as the last line of a run that wrote a file, the next command on the
// way from references to a report.
func (e *env) suggestNext(written string, words ...string) {
	if written != "" && written != "-" && !slices.Contains(words, "-") && !slices.Contains(words, "jsonl:-") {
		e.next = "next: refract " + redact.CommandLine(words)
	}
}

// words is the command line of another command for the same dataset: the arguments, and
// the flags of this run that the other command has, too.
func (e *env) words(command string, args []string, more ...string) []string {
	words := append([]string{command}, args...)
	other, _, _ := e.command.Root().Find([]string{command})
	e.command.Flags().Visit(func(f *pflag.Flag) {
		if other.Flags().Lookup(f.Name) == nil || !slices.Contains([]section{inputFlags, metricFlags, modelFlags}, knownOf(f).section) && f.Name != "language" {
			return
		}
		for _, v := range knownOf(f).values() {
			if f.NoOptDefVal != "" {
				words = append(words, "--"+f.Name+"="+v)
			} else {
				words = append(words, "--"+f.Name, v)
			}
		}
	})
	return slices.Concat(words, more)
}

// noVariant is the error of a command for variants that finds none in its dataset.
func (e *env) noVariant(to string, args []string) error {
	return fmt.Errorf("the dataset has no variant to %s; name expanded references with --references, or expand it: refract %s",
		to, redact.CommandLine(e.words("expand", args, "--model", "MODEL", "-o", "expanded.jsonl")))
}

// noteWriter is where a run reports what it found: standard error, or nowhere with -q.
func (e *env) noteWriter() io.Writer {
	if e.quiet {
		return io.Discard
	}
	return e.stderr
}

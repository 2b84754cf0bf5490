package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/report"
)

// output is the flags that say where and how results are written.
type output struct {
	format      string
	path        string
	formatGiven func() bool
}

func (o *output) register(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.format, "format", "f", "table", "table, json, jsonl, csv, tsv, markdown or latex; without it, by the extension of -o")
	o.formatGiven = func() bool { return cmd.Flags().Changed("format") }
	var names []string
	for _, f := range report.Formats() {
		names = append(names, string(f))
	}
	complete(cmd, "format", names...)
	o.registerPath(cmd)
}

// kind is the format that was asked for, or that the output's name tells.
func (o *output) kind() (report.Format, error) {
	if o.formatGiven == nil || !o.formatGiven() {
		byExtension := map[string]report.Format{
			".json": report.JSON, ".jsonl": report.JSONLines, ".csv": report.CSV, ".tsv": report.TSV,
			".md": report.Markdown, ".tex": report.LaTeX,
		}
		if f, ok := byExtension[filepath.Ext(o.path)]; ok {
			return f, nil
		}
	}
	f, err := report.ParseFormat(o.format)
	if err != nil {
		return "", usagef("--format: %w", err)
	}
	return f, nil
}

// complete offers the values of a flag to the shell.
func complete(cmd *cobra.Command, flag string, values ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // the flag is not there: a fault of the program
	}
}

func (o *output) registerPath(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.path, "output", "o", "", "file to write in place of standard output")
}

// sink is where results go. A regular file appears under its name only when
// it is whole: Commit renames it, and Abort removes what there is.
type sink struct {
	*bufio.Writer
	name  string
	file  *os.File // nil for standard output
	final string   // name to rename to, "" to leave it
	done  bool
}

// open makes the sink, so that an output that cannot be written is an error
// before the work and not after it.
func (o *output) open(e *env) (*sink, error) {
	if o.path == "" || o.path == "-" {
		return newSink(e.stdout, "standard output", nil, ""), nil
	}
	if st, err := os.Stat(o.path); err == nil && !st.Mode().IsRegular() {
		if st.IsDir() {
			return nil, fmt.Errorf("%s is a folder; name a file in it", o.path)
		}
		f, err := os.OpenFile(o.path, os.O_WRONLY, 0) // a device or a pipe
		if err != nil {
			return nil, cannotWrite(o.path, err)
		}
		return newSink(f, o.path, f, ""), nil
	}
	path := o.path
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // a link stays one
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s cannot be written: there is no folder %s; make it first", o.path, filepath.Dir(path))
	}
	if err != nil {
		return nil, cannotWrite(o.path, err)
	}
	return newSink(f, o.path, f, path), nil
}

func newSink(w io.Writer, name string, file *os.File, final string) *sink {
	return &sink{Writer: bufio.NewWriterSize(&named{w, name}, 1<<16), name: name, file: file, final: final}
}

// named is a writer whose errors name the output, and not a temporary file.
type named struct {
	w    io.Writer
	name string
}

func (n *named) Write(p []byte) (int, error) {
	k, err := n.w.Write(p)
	if err != nil {
		err = cannotWrite(n.name, err)
	}
	return k, err
}

func cannotWrite(name string, err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("%s cannot be written: %w", name, err)
}

// Commit writes what is left and puts the file in place.
func (s *sink) Commit() error {
	if err := s.Flush(); err != nil {
		return err
	}
	if s.file != nil {
		if err := s.place(); err != nil {
			return cannotWrite(s.name, err)
		}
	}
	s.done = true
	return nil
}

func (s *sink) place() error {
	if s.final == "" {
		return s.file.Close()
	}
	if err := errors.Join(s.file.Chmod(0o644), s.file.Close()); err != nil {
		return err
	}
	return os.Rename(s.file.Name(), s.final)
}

// Abort drops a file that was not committed.
func (s *sink) Abort() {
	if s.done || s.file == nil {
		return
	}
	s.file.Close()
	if s.final != "" {
		os.Remove(s.file.Name())
	}
}

// table opens the output as a table.
func (o *output) table(w io.Writer, columns []report.Column, opts report.Options) (report.Writer, error) {
	f, err := o.kind()
	if err != nil {
		return nil, err
	}
	return report.NewWriter(w, f, columns, opts)
}

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
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
	cmd.Flags().StringVarP(&o.format, "format", "f", "table", "table, json, jsonl, csv, tsv, markdown or latex")
	o.formatGiven = func() bool { return cmd.Flags().Changed("format") }
	o.registerPath(cmd)
}

func (o *output) registerPath(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.path, "output", "o", "", "file to write in place of standard output")
}

// sink is where results go. A regular file appears under its name only when
// it is whole: Commit renames it, and Abort removes what there is.
type sink struct {
	*bufio.Writer
	file  *os.File // nil for standard output
	final string   // name to rename to, "" to leave it
	done  bool
}

// open makes the sink, so that an output that cannot be written is an error
// before the work and not after it.
func (o *output) open(e *env) (*sink, error) {
	if o.path == "" || o.path == "-" {
		return &sink{Writer: bufio.NewWriterSize(e.stdout, 1<<16)}, nil
	}
	if st, err := os.Stat(o.path); err == nil && !st.Mode().IsRegular() {
		if st.IsDir() {
			return nil, fmt.Errorf("output %s is a folder; name a file in it", o.path)
		}
		f, err := os.OpenFile(o.path, os.O_WRONLY, 0) // a device or a pipe
		if err != nil {
			return nil, fmt.Errorf("output: %w", err)
		}
		return &sink{Writer: bufio.NewWriterSize(f, 1<<16), file: f}, nil
	}
	f, err := os.CreateTemp(filepath.Dir(o.path), "."+filepath.Base(o.path)+".*.tmp")
	if err != nil {
		return nil, fmt.Errorf("output %s cannot be written: %w", o.path, errors.Unwrap(err))
	}
	return &sink{Writer: bufio.NewWriterSize(f, 1<<16), file: f, final: o.path}, nil
}

// Commit writes what is left and puts the file in place.
func (s *sink) Commit() error {
	err := s.Flush()
	if s.file != nil {
		if s.final != "" && err == nil {
			err = s.file.Chmod(0o644)
		}
		err = errors.Join(err, s.file.Close())
		if err == nil && s.final != "" {
			err = os.Rename(s.file.Name(), s.final)
		}
		if err == nil {
			s.done = true
		}
	} else {
		s.done = true
	}
	if err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
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
	f, err := report.ParseFormat(o.format)
	if err != nil {
		return nil, usagef("--format: %w", err)
	}
	return report.NewWriter(w, f, columns, opts)
}

package command

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/benchmarks/evidence"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/report"
	"github.com/refract-eval/refract/report/figure"
)

// reportFiles are what is written beside a report.
type reportFiles struct {
	figures, tables string
	formats         []string

	kinds []report.Format
}

func (r *reportFiles) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.figures, "figures", "", "folder for the figures, each as SVG and as PNG")
	f.StringVar(&r.tables, "tables", "", "folder for the tables")
	f.StringSliceVarP(&r.formats, "format", "f", []string{"csv"}, "formats of --tables: csv, latex, markdown, json, jsonl, tsv, table")
	complete(cmd, "format", formatNames()...)
	grouped(cmd, resultFlags, "figures")
}

func (r *reportFiles) check() error {
	var err error
	r.kinds, err = reportFormats(r.formats)
	return err
}

// extensions of the files of tables.
func extension(f report.Format) string {
	switch f {
	case report.JSONLines:
		return ".jsonl"
	case report.Markdown:
		return ".md"
	case report.LaTeX:
		return ".tex"
	case report.Table:
		return ".txt"
	}
	return "." + string(f)
}

// write writes the figures and tables of a report that were asked for.
func (r *reportFiles) write(e *env, rep *evidence.Report) error {
	if r.figures != "" {
		if err := writeFigures(e, r.figures, rep.Figures(), figure.SVG, figure.PNG); err != nil {
			return err
		}
	}
	if r.tables == "" {
		return nil
	}
	if err := os.MkdirAll(r.tables, 0o777); err != nil {
		return err
	}
	for _, t := range rep.Tables() {
		for _, f := range r.kinds {
			err := writeFile(e, filepath.Join(r.tables, t.Name+extension(f)), func(w io.Writer) error { return t.Write(w, f) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// writeFigures draws figures into a folder, in each of the formats.
func writeFigures(e *env, dir string, figures []experiment.Figure, formats ...figure.Format) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, f := range figures {
		for _, format := range formats {
			err := writeFile(e, filepath.Join(dir, f.Name+"."+string(format)), func(w io.Writer) error {
				return figure.Draw(w, figure.Style{Format: format}, f.Panels...)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// writeFile writes a file, whole or not at all.
func writeFile(e *env, path string, write func(io.Writer) error) error {
	out, err := (&output{path: path}).open(e)
	if err != nil {
		return err
	}
	defer out.Abort()
	if err := write(out); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return out.Commit()
}

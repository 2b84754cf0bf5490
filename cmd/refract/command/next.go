package command

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"

	"github.com/refract-eval/refract/internal/redact"
)

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

package command

import (
	"io"
	"slices"

	"github.com/spf13/pflag"

	"github.com/refract-eval/refract/internal/redact"
)

// goesOn says which command comes after this one in the line from references to a
// report, once a file was written; it is shown as the last line of a run that succeeds.
func (e *env) goesOn(written string, words ...string) {
	if written != "" && written != "-" && !slices.Contains(words, "-") && !slices.Contains(words, "jsonl:-") {
		e.next = "next: refract " + redact.CommandLine(words)
	}
}

// words ask another command about the same dataset: the arguments, and those flags of this
// run that say what is asked, and that the other command has too.
func (e *env) words(command string, args []string, more ...string) []string {
	words := append([]string{command}, args...)
	other, _, _ := e.command.Root().Find([]string{command})
	e.command.Flags().Visit(func(f *pflag.Flag) {
		if other.Flags().Lookup(f.Name) == nil || !slices.Contains([]string{inputFlags, metricFlags, modelFlags}, sectionOf(f)) && f.Name != "language" {
			return
		}
		for _, v := range flagValues(f) {
			if f.NoOptDefVal != "" {
				words = append(words, "--"+f.Name+"="+v)
			} else {
				words = append(words, "--"+f.Name, v)
			}
		}
	})
	return slices.Concat(words, more)
}

// told is where a run tells what it found besides its output: nowhere with -q.
func (e *env) told() io.Writer {
	if e.quiet {
		return io.Discard
	}
	return e.stderr
}

package command

import (
	"io"
	"slices"

	"github.com/refract-eval/refract/internal/redact"
)

// goesOn says which command comes after this one in the line from references to a
// report, once a file was written; it is shown as the last line of a run that succeeds.
func (e *env) goesOn(written string, words ...string) {
	if written != "" && written != "-" {
		e.next = "next: refract " + redact.CommandLine(words)
	}
}

// words are the arguments and flags that name the same dataset for another command.
func (in *input) words(command string, args []string, more ...string) []string {
	words := append([]string{command}, args...)
	flag := func(name string, values ...string) {
		for _, v := range values {
			if v != "" {
				words = append(words, name, v)
			}
		}
	}
	flag("--source", in.source)
	flag("--ref", in.refs...)
	flag("--hyp", in.hyps...)
	flag("--reference", in.reference...)
	flag("--references", in.references...)
	return slices.Concat(words, more)
}

// told is where a run tells what it found besides its output: nowhere with -q.
func (e *env) told() io.Writer {
	if e.quiet {
		return io.Discard
	}
	return e.stderr
}

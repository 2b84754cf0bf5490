package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/embeddings"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/llm/budget"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/report"
)

// The exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// usageError is a command line that cannot be carried out.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// isUsage tells a fault of the command line from one of the work.
func isUsage(err error) bool {
	var usage *usageError
	var metric *metrics.SpecError
	var agg *aggregate.SpecError
	var ds *dataset.SpecError
	var plan *experiment.PlanError
	return errors.As(err, &usage) || errors.As(err, &plan) || errors.As(err, &metric) || errors.As(err, &agg) || errors.As(err, &ds)
}

// hint names the flag or command that helps; the packages below know of none.
func hint(err error) string {
	var none *refract.NoReferencesError
	switch {
	case errors.As(err, &none):
		return "--allow-no-reference goes on, with missing scores"
	case errors.Is(err, dataset.ErrNoSystems):
		return "name outputs with --hyp NAME=FILE, or give the segments \"hypotheses\""
	case errors.Is(err, budget.ErrSpent):
		return "raise the limit, or run the same command again: what was answered is stored"
	case errors.Is(err, ask.ErrTolerance):
		return "mend what is refused, or raise --tolerate; what was answered is stored"
	case errors.Is(err, diversify.ErrNotStored), errors.Is(err, embeddings.ErrNotStored):
		return "leave out --offline to ask the model, or add recorded answers with 'refract cache import'"
	}
	return ""
}

// exit shows an error of a command, once, and returns the exit code.
func (e *env) exit(ctx context.Context, command string, err error) int {
	if err == nil {
		return exitDone
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		fmt.Fprintln(e.stderr, "refract: interrupted")
		return exitInterrupted
	}
	fmt.Fprintln(e.stderr, "refract: "+visibleLines(err.Error()))
	if h := hint(err); h != "" {
		fmt.Fprintln(e.stderr, "hint: "+h)
	}
	if isUsage(err) {
		fmt.Fprintf(e.stderr, "run '%s --help' for usage\n", command)
		return exitUsage
	}
	return exitFailed
}

// visibleLines shows text that may quote files or servers, so that nothing in
// it acts on the terminal.
func visibleLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = report.Visible(lines[i])
	}
	return strings.Join(lines, "\n")
}

func (e *env) warn(format string, args ...any) {
	fmt.Fprintln(e.stderr, "warning: "+report.Visible(fmt.Sprintf(format, args...)))
}

func (e *env) note(format string, args ...any) {
	if e.quiet {
		return
	}
	fmt.Fprintln(e.stderr, report.Visible(fmt.Sprintf(format, args...)))
}

// progress shows how far work is, unless -q hides it.
func (e *env) progress(label string, total int, unit string) *report.Progress {
	if e.quiet {
		return nil
	}
	return report.NewProgress(e.stderr, e.stderrTerminal, label, total, report.WithUnit(unit))
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// usageArgs makes cobra's complaints about arguments usage errors.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usagef("%w; usage: %s", err, cmd.UseLine())
		}
		return nil
	}
}

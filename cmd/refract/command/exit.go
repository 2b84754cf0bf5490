package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/embeddings"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/redact"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics"
)

// The exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// The forms of --progress.
const (
	progressText = "text"
	progressJSON = "json"
)

// usageError is an error in the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// isUsage reports whether the command line is at fault.
func isUsage(err error) bool {
	return is[*usageError](err) || is[*experiment.PlanError](err) || is[*metrics.SpecError](err) || is[*aggregate.SpecError](err) || is[*dataset.SpecError](err)
}

// is reports whether an error is of a type, or wraps one that is.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// hint names the flag or command that helps; the packages below do not know them.
func (e *env) hint(err error) string {
	metric, wrongMetric := errors.AsType[*metrics.SpecError](err)
	refused, _ := errors.AsType[*llm.Error](err)
	cost, tooDear := errors.AsType[*ask.CostError](err)
	switch {
	case wrongMetric && english.IsUnknown(metric.Err, "metric") && e.isMetric(strings.Split(metric.Spec, ",")[0]):
		return "-m is given once for each metric, and options follow a colon, as in -m bleu:lowercase -m chrf"
	case errors.Is(err, errNoPart):
		return "parts are what 'score' and 'expand' write with --shard I/N, and 'score --per statistics'"
	case is[*refract.NoReferencesError](err):
		return "--missing exclude continues, and leaves the scores of such segments missing"
	case errors.Is(err, experiment.ErrNoJudgements):
		return `--human NAME=FILE takes them from a table with id, system and score; a table: has them in human:NAME=COLUMN, and JSON Lines in "human": {"NAME": {"SYSTEM": 0.5}} of a segment; without judgements, 'refract systems' tests which outputs score better, and 'refract help aggregators' says which setting agrees with people elsewhere; mtme:DIR/wmt22/zh-en is judged data of WMT (docs/reference/formats.md)`
	case errors.Is(err, dataset.ErrNoSystems):
		return "name outputs with --hyp NAME=FILE, or give the segments \"hypotheses\""
	case refused != nil && (refused.Refuses == llm.ParamTopP || refused.Refuses == llm.ParamTemperature):
		return "--" + strings.ReplaceAll(refused.Refuses, "_", "-") + " none does not send it"
	case tooDear && cost.Next > cost.Limit:
		return "raise --max-cost"
	case errors.Is(err, ask.ErrSpent):
		return "raise the limit, or run the same command again: the answers so far are stored"
	case errors.Is(err, ask.ErrTolerance):
		return "correct what is refused, or raise --tolerate; the answers so far are stored"
	case errors.Is(err, diversify.ErrNotStored), errors.Is(err, embeddings.ErrNotStored):
		return "leave out --offline to ask the model, name the cache that has the answers with --cache, or add recorded ones with 'refract cache import'"
	}
	return ""
}

// exit shows the error of a command, once, and returns the exit code.
func (e *env) exit(ctx context.Context, command string, err error) int {
	if err == nil {
		return exitDone
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		fmt.Fprintln(e.stderr, "refract: interrupted")
		return exitInterrupted
	}
	fmt.Fprintln(e.stderr, e.painted("refract:", text.FgRed)+" "+visibleError(err))
	if h := e.hint(err); h != "" {
		fmt.Fprintln(e.stderr, "hint: "+h)
	}
	if isUsage(err) {
		fmt.Fprintf(e.stderr, "run '%s --help' for usage\n", command)
		return exitUsage
	}
	return exitFailed
}

// visibleError makes an error safe for a terminal, as it may quote files or servers:
// one line, or a line for each of several errors.
func visibleError(err error) string {
	if usage, ok := err.(*usageError); ok {
		err = usage.err
	}
	lines := []string{err.Error()}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var each []string
		for _, err := range joined.Unwrap() {
			each = append(each, err.Error())
		}
		if strings.Join(each, "\n") == lines[0] {
			lines = each
		}
	}
	for i, line := range lines {
		if file, ok := errors.AsType[*fs.PathError](err); ok { // without the name of a system call, and naming the file once
			said := file.Path + ": " + file.Err.Error()
			if before, _, _ := strings.Cut(line, file.Error()); strings.Contains(before, file.Path+":") {
				said = file.Err.Error()
			}
			line = strings.Replace(line, file.Error(), said, 1)
		}
		// Postgres' driver lists its attempts on separate lines, and errors may be joined
		// within another.
		lines[i] = report.Visible(redact.Message(strings.NewReplacer(":\n\t", ": ", "\n\t", "; ", "\n", "; ").Replace(line)))
	}
	return strings.Join(lines, "\n")
}

func (e *env) warn(format string, args ...any) {
	fmt.Fprintln(e.stderr, e.painted("warning:", text.FgYellow)+" "+report.Visible(redact.Message(fmt.Sprintf(format, args...))))
}

// warnOf warns of a number of things, if there are any.
func (e *env) warnOf(n int, what string, args ...any) {
	if n > 0 {
		e.warn(what+": %d", append(args, n)...)
	}
}

// painted colours a word on a terminal, unless NO_COLOR or TERM=dumb forbids it.
func (e *env) painted(word string, colour text.Color) string {
	if !e.stderrTerminal {
		return word
	}
	return text.Colors{text.Bold, colour}.Sprint(word)
}

func (e *env) note(format string, args ...any) {
	if e.quiet {
		return
	}
	fmt.Fprintln(e.stderr, report.Visible(redact.Message(fmt.Sprintf(format, args...))))
}

// progress shows how far work is, unless -q hides it. The total may be set later.
func (e *env) progress(label, unit string) *report.Progress {
	if e.quiet {
		return nil
	}
	if e.progressForm == progressJSON {
		return report.NewProgressLines(e.stderr, label, 0, unit)
	}
	return report.NewProgress(e.stderr, e.stderrTerminal, label, 0, unit)
}

// scriptName matches the file of a program that an interpreter runs.
var scriptName = regexp.MustCompile(`^[^:]+\.(?:py|sh|pl|rb|js|jl|lua|R|r|jar)$`)

// usageArgs makes cobra's errors about arguments usage errors. A number after a flag
// whose value is optional is probably meant as its value.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		var err error
		cmd.Flags().Visit(func(f *pflag.Flag) {
			for _, arg := range args {
				if _, no := strconv.ParseFloat(arg, 64); no == nil && f.NoOptDefVal != "" && f.Value.Type() != "bool" {
					err = usagef("--%s takes its value after an equals sign; did you mean --%[1]s=%s?", f.Name, arg)
				}
			}
		})
		programs, _ := cmd.Flags().GetStringArray("metric")
		for _, m := range programs { // a dataset is not a script
			if i := slices.IndexFunc(args, func(a string) bool { return scriptName.MatchString(a) }); i >= 0 && strings.HasPrefix(m, "exec:") && !strings.Contains(m, " ") {
				err = usagef("%q is not part of the metric: quote a program with its arguments: -m '%s %s'", args[i], m, args[i])
			}
		}
		if err == nil && check(cmd, args) != nil {
			err = usagef("%s given; usage: %s", english.Count(len(args), "argument"), cmd.UseLine())
		}
		return err
	}
}

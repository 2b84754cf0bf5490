// Package command is the program refract: its commands turn flags into a plan,
// run it, and show the result.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/metrics"
)

// env is the program's environment: streams, variables, arguments, and the state of the
// run.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	stderrTerminal bool
	stdoutTerminal bool
	args           []string // of the command line, without the program's name
	environ        []string // all variables, as NAME=VALUE
	quiet, verbose bool     // -q and -v
	progressForm   string   // of --progress
	configPath     string   // of --config
	extra          metrics.Registry
	models         bool           // the language check has them, in a program that has any
	outputs        []placed       // that are not in place yet
	paths          paths          // what the command reads and writes
	oddities       []string       // of the input, of which was warned
	sourceless     func() bool    // whether no metric or prompt of the run reads sources; nil where none could
	command        *cobra.Command // that runs
	next           string         // what to run after this run; "" for nothing
}

// watchedOutput is standard output. It remembers a write error that nobody reported.
type watchedOutput struct {
	file *os.File
	err  error
}

func (w *watchedOutput) Write(b []byte) (int, error) {
	n, err := w.file.Write(b)
	if err != nil {
		w.err = err
	}
	return n, err
}

// Fd and Stat tell what standard output is, as those of os.File do.
func (w *watchedOutput) Fd() uintptr                { return w.file.Fd() }
func (w *watchedOutput) Stat() (os.FileInfo, error) { return w.file.Stat() }

// Main runs the program with the arguments of the process, and returns its exit code.
// It offers the given metrics in addition to its own.
func Main(extra ...metrics.Factory) int { return run(true, extra) }

func run(models bool, extra metrics.Registry) int {
	// net/http logs what servers send out of turn, and that may echo a key.
	log.SetOutput(io.Discard)
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		ends = append(ends, syscall.SIGHUP)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, ends...)
	e := &env{
		stdin:          os.Stdin,
		stdout:         &watchedOutput{file: os.Stdout},
		stderr:         os.Stderr,
		getenv:         os.Getenv,
		environ:        os.Environ(),
		stderrTerminal: report.IsTerminal(os.Stderr),
		stdoutTerminal: report.IsTerminal(os.Stdout),
		extra:          extra,
		models:         models,
	}
	// Only a few megabytes are alive at a time, so the default would collect far too
	// often.
	e.collectAt(400)
	ctx, interrupt := llm.Interruptible(context.Background())
	go e.obey(signals, interrupt)
	return e.run(ctx, os.Args[1:])
}

const (
	debounce    = 200 * time.Millisecond // signals this close together count as one: some programs send it twice
	cleanupTime = time.Second            // for calls that are given up to clean up
	idleLimit   = 3 * time.Second        // a stopped run without calls that lasts longer hangs, such as one that opens a pipe
)

// obey stops the run at the first signal, and ends it at the second, or when it
// continues although no call is in flight.
func (e *env) obey(signals <-chan os.Signal, interrupt *llm.Interrupt) {
	<-signals
	interrupt.Stop()
	time.Sleep(debounce)
	select {
	case <-signals:
	default:
	}
	if n := interrupt.Calls(); n > 0 {
		if e.stderrTerminal {
			fmt.Fprintln(e.stderr) // below the progress
		}
		e.warn("waiting for %s; press again, or send another signal, to end at once", english.Count(n, "call"))
	}
	for last := time.Now(); time.Since(last) < idleLimit; {
		select {
		case <-signals:
			last = time.Time{}
		case <-time.After(debounce):
			if interrupt.Calls() > 0 {
				last = time.Now()
			}
		}
	}
	interrupt.GiveUp()
	time.Sleep(cleanupTime)
	os.Exit(exitInterrupted)
}

func (e *env) run(ctx context.Context, args []string) int {
	e.args = args
	root := e.rootCommand()
	root.SetArgs(e.rewriteArgs(root, args))
	defer func() {
		for _, out := range e.outputs {
			out.Abort()
		}
	}()
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = e.commit()
	}
	if out, ok := e.stdout.(*watchedOutput); ok && err == nil && out.err != nil {
		err = fmt.Errorf("standard output cannot be written: %w", errors.Unwrap(out.err))
	}
	if err == nil && e.next != "" {
		e.note("%s", e.next)
	}
	return e.exit(ctx, cmd.CommandPath(), err)
}

// collectAt sets the garbage collector's target, unless GOGC does. Commands that keep
// tens of megabytes, such as the ids of a million segments or a row group of Parquet,
// undo what Main sets.
func (e *env) collectAt(percent int) {
	if e.getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

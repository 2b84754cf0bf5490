// Package command is the program refract: its commands turn flags into a plan,
// run it, and show the result.
package command

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/refract-eval/refract/internal/paths"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/metrics"
)

// env is what the program takes from its surroundings.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	stderrTerminal bool
	stdoutTerminal bool
	args           []string // of the command line, without the program's name
	environ        []string // all variables, as NAME=VALUE
	quiet, verbose bool     // -q and -v
	configPath     string   // of --config
	extra          metrics.Registry
	clients        []*llm.Client // that were called, perhaps
	outputs        []placed      // that are not in place yet
	paths          paths.Run     // what the command reads and writes
}

// Main runs the program with the arguments of the process, and returns its exit
// code. It offers the given metrics beside its own.
func Main(extra ...metrics.Factory) int {
	// net/http logs what servers send out of turn, and that may echo a key.
	log.SetOutput(io.Discard)
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	e := &env{
		stdin:          os.Stdin,
		stdout:         os.Stdout,
		stderr:         os.Stderr,
		getenv:         os.Getenv,
		environ:        os.Environ(),
		stderrTerminal: isTerminal(os.Stderr),
		stdoutTerminal: isTerminal(os.Stdout),
		extra:          extra,
	}
	// What is alive at a time is a few megabytes, so that collecting at each
	// doubling would be frequent for nothing.
	e.collectAt(400)
	return e.run(ctx, os.Args[1:])
}

func (e *env) run(ctx context.Context, args []string) int {
	e.args = args
	root := e.rootCommand()
	root.SetArgs(args)
	defer func() {
		for _, out := range e.outputs {
			out.Abort()
		}
	}()
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = e.commit()
	}
	e.tellServers()
	return e.exit(ctx, cmd.CommandPath(), err)
}

// collectAt sets the garbage collector's target, if GOGC does not. Commands that
// have tens of megabytes alive take back what Main sets: the ids of a million
// segments, a row group of Parquet.
func (e *env) collectAt(percent int) {
	if e.getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

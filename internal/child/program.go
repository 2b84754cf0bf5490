package child

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Program is a program that says hello, and then answers lines. Any number of its
// processes may run at a time.
type Program struct {
	Argv, Environ []string
	Timeout       time.Duration // of the hello line, and of an answer
	Raise         string        // how people raise that, in an error; "" where they cannot
	Said          Said
}

// ErrLate says that a process gave no answer in time.
var ErrLate = errors.New("the program gave no answer in time")

// Start starts a process, and returns its hello line.
func (p *Program) Start(ctx context.Context) (*Process, []byte, error) {
	process, err := Start(p.Argv, p.Environ, p.Said.Listen)
	if err != nil {
		return nil, nil, err
	}
	hello, err := p.Ask(ctx, process, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("no hello line: %w", err)
	}
	return process, hello, nil
}

// Ask has a process answer a line. One that does not is ended: with ErrLate,
// ErrEnded, or the error of ctx.
func (p *Program) Ask(ctx context.Context, process *Process, line []byte) ([]byte, error) {
	within, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	answer, err := process.Ask(within, line)
	if err == nil {
		return answer, nil
	}
	process.End(false)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case within.Err() != nil:
		err = fmt.Errorf("%w: %v%s", ErrLate, p.Timeout, p.Raise)
	case errors.Is(err, ErrEnded):
		err = fmt.Errorf("%w (%s)", err, process.State())
	}
	if last := p.Said.LastWords(); last != "" {
		err = fmt.Errorf("%w; it last said: %s", err, last)
	}
	return nil, err
}

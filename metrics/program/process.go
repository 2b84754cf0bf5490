package program

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"
)

const (
	mostLine   = 64 << 20               // bytes of a line of standard output
	settling   = 2 * time.Second        // for a program to end after its input has
	lastWord   = 500 * time.Millisecond // after it is asked to end
	tellingEnd = time.Second            // for the end of standard error, once all processes have ended
)

// process is one running program, which has one request at a time. Nothing of it is
// left when it is ended, nor, where the system can do that, when this process is killed.
type process struct {
	cmd    *exec.Cmd
	in     *os.File // its standard input
	out    *os.File // its standard output
	lines  *bufio.Scanner
	exited chan struct{} // closed once it is reaped
	told   chan struct{} // closed once its standard error has ended
	err    *os.File
}

// startProcess starts a program, whose standard error goes to tell.
func startProcess(argv, environ []string, tell func(io.Reader)) (*process, error) {
	p := &process{cmd: exec.Command(argv[0], argv[1:]...), exited: make(chan struct{}), told: make(chan struct{})}
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
	}()
	pipe := func() (r, w *os.File, err error) {
		if r, w, err = os.Pipe(); err == nil {
			theirs = append(theirs, r, w)
		}
		return r, w, err
	}
	stdin, in, err := pipe()
	out, stdout, err2 := pipe()
	said, stderr, err3 := pipe()
	if err := errors.Join(err, err2, err3); err != nil {
		return nil, err
	}
	p.cmd.Env, p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = environ, stdin, stdout, stderr
	tie(p.cmd)
	started := make(chan error)
	go func() {
		// On Linux a process dies with the thread that has started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.cmd.Wait() // how it ended is in cmd.ProcessState
			close(p.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	theirs = []*os.File{stdin, stdout, stderr}
	p.in, p.out, p.err, p.lines = in, out, said, bufio.NewScanner(out)
	p.lines.Buffer(nil, mostLine)
	p.lines.Split(wholeLines)
	go func() {
		tell(said)
		io.Copy(io.Discard, said) // so that it never waits for a reader
		close(p.told)
	}()
	return p, nil
}

// wholeLines parts lines. What a program that died has begun is none.
func wholeLines(data []byte, _ bool) (int, []byte, error) {
	if line, _, ok := bytes.Cut(data, []byte{'\n'}); ok {
		return len(line) + 1, line, nil
	}
	return 0, nil, nil
}

// errEnded says that a process ended, or closed its standard output, before it
// answered.
var errEnded = errors.New("the program ended before it answered")

// ask writes a line, unless it is nil, and reads one; it may be kept until the
// next call. The error is errEnded, or that of ctx.
func (p *process) ask(ctx context.Context, line []byte) ([]byte, error) {
	stop := context.AfterFunc(ctx, func() {
		past := time.Unix(1, 0)
		if p.out.SetReadDeadline(past) != nil || p.in.SetWriteDeadline(past) != nil {
			kill(p.cmd) // where pipes know no deadline
		}
	})
	if _, err := p.in.Write(line); err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	// One that does not read may have answered all the same.
	some := p.lines.Scan()
	switch in := stop(); {
	case !in:
		return nil, ctx.Err()
	case some:
		return p.lines.Bytes(), nil
	case errors.Is(p.lines.Err(), bufio.ErrTooLong):
		return nil, fmt.Errorf("the program wrote a line of more than %d MiB", mostLine>>20)
	}
	return nil, errEnded
}

// end ends the program and all that it has started, and returns once none of its
// processes is left. A program has some time after the end of its input, if it is
// patient.
func (p *process) end(patient bool) {
	p.in.Close()
	within := func(d time.Duration) bool {
		select {
		case <-p.exited:
			return true
		case <-time.After(d):
			return false
		}
	}
	if !patient || !within(settling) {
		if terminate(p.cmd) == nil {
			within(lastWord)
		}
	}
	kill(p.cmd) // with what it has started, which may be there still
	<-p.exited
	p.out.Close()
	select {
	case <-p.told:
	case <-time.After(tellingEnd): // another process, which left the group, has it
	}
	p.err.Close()
}

// quoted shows a line of a program, which may be long.
func quoted(line []byte) string {
	const most = 200
	if len(line) <= most {
		return fmt.Sprintf("%q", line)
	}
	return fmt.Sprintf("%q… (%d bytes)", bytes.ToValidUTF8(line[:most], nil), len(line))
}

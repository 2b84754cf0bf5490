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
	settling   = 2 * time.Second        // for a program to exit after its input has ended
	lastWord   = 500 * time.Millisecond // after it was asked to exit
	tellingEnd = time.Second            // for standard error to end, once all processes have exited
)

// process is a running program that handles one request at a time. Nothing of it is left
// after end. If the system allows it, the same is true when Refract itself is killed.
type process struct {
	cmd    *exec.Cmd
	in     *os.File // its standard input
	out    *os.File // its standard output
	lines  *bufio.Scanner
	rest   []byte        // of its standard output, a line without an end
	exited chan struct{} // closed once the process is reaped
	told   chan struct{} // closed once standard error has ended
	err    *os.File
}

// startProcess starts a program. tell reads its standard error.
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
		// On Linux a process dies with the thread that started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.cmd.Wait() // cmd.ProcessState says how it ended
			close(p.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	theirs = []*os.File{stdin, stdout, stderr}
	p.in, p.out, p.err, p.lines = in, out, said, bufio.NewScanner(out)
	p.lines.Buffer(nil, mostLine)
	p.lines.Split(p.wholeLines)
	go func() {
		tell(said)
		io.Copy(io.Discard, said) // so that it never blocks on a full pipe
		close(p.told)
	}()
	return p, nil
}

// wholeLines splits off complete lines. The unfinished line of a program that died is
// no answer.
func (p *process) wholeLines(data []byte, last bool) (int, []byte, error) {
	if line, _, ok := bytes.Cut(data, []byte{'\n'}); ok {
		return len(line) + 1, line, nil
	}
	if last {
		p.rest = data
	}
	return 0, nil, nil
}

// errEnded says that a process exited, or closed its standard output, before it answered.
var errEnded = errors.New("the program ended before it answered")

// ask writes a line, unless it is nil, and reads one, which is valid until the next call.
// The error is errEnded or the context's.
func (p *process) ask(ctx context.Context, line []byte) ([]byte, error) {
	stop := context.AfterFunc(ctx, func() {
		past := time.Unix(1, 0)
		if p.out.SetReadDeadline(past) != nil || p.in.SetWriteDeadline(past) != nil {
			kill(p.cmd) // for pipes without deadlines
		}
	})
	if _, err := p.in.Write(line); err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	// A process that does not read its input may still have answered.
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

// end ends the program and everything it started, and returns once none of its processes is
// left. With patient, the program has some time after the end of its input.
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
	kill(p.cmd) // also what it started, which may still run
	<-p.exited
	p.out.Close()
	select {
	case <-p.told:
	case <-time.After(tellingEnd): // a process that left the group keeps standard error open
	}
	p.err.Close()
}

// quoted quotes a line of a program, shortened if it is long.
func quoted(line []byte) string {
	const most = 200
	if len(line) <= most {
		return fmt.Sprintf("%q", line)
	}
	return fmt.Sprintf("%q… (%d bytes)", bytes.ToValidUTF8(line[:most], nil), len(line))
}

package program

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"sync"

	"github.com/refract-eval/refract/internal/text"
)

// Bounds of what is shown of standard error.
const (
	mostShown = 100  // lines of standard error, of all processes together
	mostSaid  = 500  // bytes of a line
	lastLines = 3    // that an error quotes
	readAhead = 4096 // bytes
)

// stderr is what the processes of a program write to their standard error.
type stderr struct {
	log  func(line string)   // is told each line, if not nil, and bounded
	hide func(string) string // takes secrets out of a line

	mu    sync.Mutex
	name  string // of the program, as lines have it
	shown int
	last  []string
}

// setName names the lines from now on.
func (s *stderr) setName(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.name = name
}

// listen reads until the end.
func (s *stderr) listen(r io.Reader) {
	lines := bufio.NewReaderSize(r, readAhead)
	for {
		line, more, err := lines.ReadLine()
		for more && err == nil { // the rest of a long line
			_, more, err = lines.ReadLine()
		}
		if err != nil {
			return
		}
		// A bar of progress overwrites its line.
		line = bytes.TrimRight(line, "\r")
		line = line[bytes.LastIndexByte(line, '\r')+1:]
		shown := s.hide(string(line)) // before it is cut
		s.add(shown[:min(len(shown), mostSaid)])
	}
}

func (s *stderr) add(line string) {
	line = text.Visible(line)
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.last); n == 0 || s.last[n-1] != line { // a process that is started again says the same
		s.last = append(s.last, line)[max(0, n+1-lastLines):]
	}
	if s.shown++; s.log == nil || s.shown > mostShown+1 {
		return
	}
	if s.shown > mostShown {
		line = "more of its standard error is left out"
	}
	s.log(s.name + ": " + line)
}

// note logs a line of Refract's own.
func (s *stderr) note(line string) {
	if s.log != nil {
		s.mu.Lock()
		name := s.name
		s.mu.Unlock()
		s.log(name + ": " + line)
	}
}

// lastWords are the last lines.
func (s *stderr) lastWords() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.last, "; ")
}

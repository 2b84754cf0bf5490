package program

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"sync"

	"github.com/refract-eval/refract/internal/text"
)

// Bounds on what is shown of standard error.
const (
	mostShown = 100  // lines shown, of all processes together
	mostSaid  = 500  // bytes of a line
	lastLines = 3    // that an error quotes, or first ones
	readAhead = 4096 // bytes
)

// stderr collects what the processes of a program write to their standard error.
type stderr struct {
	log  func(line string)   // called with each line, up to a bound; may be nil
	hide func(string) string // removes secrets from a line

	mu    sync.Mutex
	name  string // of the program, as a prefix of lines
	shown int
	first []string
	last  []string
}

// setName sets the prefix of later lines.
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
		// A progress bar overwrites its line.
		line = bytes.TrimRight(line, "\r")
		line = line[bytes.LastIndexByte(line, '\r')+1:]
		shown := s.hide(string(line)) // before the line is shortened
		s.add(shown[:min(len(shown), mostSaid)])
	}
}

func (s *stderr) add(line string) {
	line = text.Visible(line)
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.last); n == 0 || s.last[n-1] != line { // a restarted process repeats itself
		s.last = append(s.last, line)[max(0, n+1-lastLines):]
	}
	if len(s.first) < lastLines {
		s.first = append(s.first, line)
	}
	if s.shown++; s.log == nil || s.shown > mostShown+1 {
		return
	}
	if s.shown > mostShown {
		line = "more of its standard error is left out"
	}
	s.log(s.name + ": " + line)
}

// note logs a line from Refract.
func (s *stderr) note(line string) {
	if s.log != nil {
		s.mu.Lock()
		name := s.name
		s.mu.Unlock()
		s.log(name + ": " + line)
	}
}

// words returns the first lines, or the last ones.
func (s *stderr) words(first bool) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first {
		return strings.Join(s.first, "; ")
	}
	return strings.Join(s.last, "; ")
}

package child

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
	MostShown = 100  // lines of standard error, of all processes together
	MostSaid  = 500  // bytes of a line
	lastLines = 3    // that an error quotes
	readAhead = 4096 // bytes
)

// Said is what the processes of a program write to their standard error. Its zero
// value keeps the last lines alone.
type Said struct {
	Log  func(line string)   // is told each line, if not nil, and bounded
	Hide func(string) string // takes secrets out of a line; nil keeps them

	mu    sync.Mutex
	name  string // of the program, as lines have it
	shown int
	last  []string
}

// Of gives the lines from now on a name.
func (s *Said) Of(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.name = name
}

// Listen reads until the end.
func (s *Said) Listen(r io.Reader) {
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
		shown := string(line)
		if s.Hide != nil { // before it is cut
			shown = s.Hide(shown)
		}
		s.add(shown[:min(len(shown), MostSaid)])
	}
}

func (s *Said) add(line string) {
	line = text.Visible(line)
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.last); n == 0 || s.last[n-1] != line { // a process that is started again says the same
		s.last = append(s.last, line)[max(0, n+1-lastLines):]
	}
	if s.shown++; s.Log == nil || s.shown > MostShown+1 {
		return
	}
	if s.shown > MostShown {
		line = "more of its standard error is left out"
	}
	s.Log(s.name + ": " + line)
}

// Note logs a line of refract's own.
func (s *Said) Note(line string) {
	if s.Log != nil {
		s.mu.Lock()
		name := s.name
		s.mu.Unlock()
		s.Log(name + ": " + line)
	}
}

// LastWords are the last lines.
func (s *Said) LastWords() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.last, "; ")
}

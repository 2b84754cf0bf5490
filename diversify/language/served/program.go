package served

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/refract-eval/refract/diversify/language"
	"github.com/refract-eval/refract/internal/child"
)

const (
	// timeout is how long a line of the program may take, its models' loading included.
	timeout = 2 * time.Minute
	// tries are made of a request with which the process ends.
	tries = 3
	// mostTexts of a request. More that wait go into the next one.
	mostTexts = 64
)

// Program is a running program as [language.Models]. One process serves all who ask
// at a time: what they ask while it is busy is its next request. One that ends is
// started again; where that does not help, the Program fails, now and later. It must
// be closed.
type Program struct {
	program child.Program
	name    string // of the models

	queue   sync.Mutex
	waiting []*asked

	turn    sync.Mutex // to speak with the process
	process *child.Process
	last    int   // id of a request
	failed  error // why it answers no more
}

// asked is a question, and what became of it.
type asked struct {
	question
	probabilities []float64
	err           error
	done          bool
}

var _ language.Models = (*Program)(nil)

// Start starts a program. Errors: there is none, and what it says is no hello.
func Start(path string) (*Program, error) {
	p := &Program{program: child.Program{Argv: []string{path}, Environ: environ(), Timeout: timeout}}
	if err := p.start(); err != nil {
		return nil, fmt.Errorf("the language models' program %q: %w", path, err)
	}
	return p, nil
}

// Name implements [language.Models]: that of the program's models.
func (p *Program) Name() string { return p.name }

// Probabilities implements [language.Models].
func (p *Program) Probabilities(text string, codes []string) ([]float64, error) {
	a := &asked{question: question{text, codes}}
	p.queue.Lock()
	p.waiting = append(p.waiting, a)
	p.queue.Unlock()
	p.turn.Lock()
	defer p.turn.Unlock()
	for !a.done { // by another one's turn
		p.queue.Lock()
		n := min(len(p.waiting), mostTexts)
		batch := slices.Clone(p.waiting[:n])
		p.waiting = p.waiting[n:]
		p.queue.Unlock()
		p.answer(batch)
	}
	return a.probabilities, a.err
}

// answer answers questions, and settles them.
func (p *Program) answer(batch []*asked) {
	p.last++
	r := request{ID: p.last, Texts: make([]question, len(batch))}
	for i, a := range batch {
		r.Texts[i] = a.question
	}
	all, err := p.ask(&r)
	for i, a := range batch {
		a.done, a.err = true, err
		if err == nil {
			a.probabilities = all[i]
		}
	}
}

// ask asks until there is an answer, or the Program fails.
func (p *Program) ask(r *request) ([][]float64, error) {
	if p.failed != nil {
		return nil, p.failed
	}
	line, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		all, err := p.try(append(line, '\n'), r)
		if err == nil {
			return all, nil
		}
		p.end()
		if !errors.Is(err, child.ErrEnded) || try == tries {
			p.failed = fmt.Errorf("the language models' program %q: %w", p.program.Argv[0], err)
			return nil, p.failed
		}
	}
}

func (p *Program) try(line []byte, r *request) ([][]float64, error) {
	if p.process == nil {
		if err := p.start(); err != nil {
			return nil, err
		}
	}
	said, err := p.program.Ask(context.Background(), p.process, line)
	if err != nil {
		p.process = nil
		return nil, err
	}
	var a answer
	err = read(said, &a)
	switch {
	case err != nil:
	case a.ID != r.ID:
		err = fmt.Errorf(`"id" is not the %d of the request`, r.ID)
	case a.Error != "":
		return nil, fmt.Errorf("it says: %.1000q", a.Error)
	case len(a.Probabilities) != len(r.Texts):
		err = fmt.Errorf("it has probabilities of %d texts for %d", len(a.Probabilities), len(r.Texts))
	}
	for i := 0; err == nil && i < len(r.Texts); i++ {
		of := a.Probabilities[i]
		if len(of) != len(r.Texts[i].Codes) || slices.ContainsFunc(of, func(v float64) bool { return v < 0 || v > 1 }) {
			err = fmt.Errorf("text %d has no probability from 0 to 1 for each of %d languages", i+1, len(r.Texts[i].Codes))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("it wrote a line that is no answer: %w: %s", err, child.Quoted(said))
	}
	return a.Probabilities, nil
}

// start starts a process, of the models of the first one.
func (p *Program) start() error {
	process, said, err := p.program.Start(context.Background())
	if err != nil {
		return err
	}
	p.process = process
	var h hello
	err = read(said, &h)
	switch {
	case err != nil:
	case h.Protocol != protocol:
		err = fmt.Errorf("it speaks version %d of the protocol, and %d is wanted; install the two programs at one version", h.Protocol, protocol)
	case h.Models == "" || len(h.Models) > 80 || strings.ContainsAny(h.Models, "|;()\n"):
		err = errors.New("its models have no name")
	case p.name != "" && h.Models != p.name:
		err = fmt.Errorf("its models were %q before", p.name)
	}
	if err != nil {
		err = fmt.Errorf("it wrote a line that is no hello: %w: %s", err, child.Quoted(said))
		p.end()
		return err
	}
	p.name = h.Models
	return nil
}

// end ends the process, if there is one.
func (p *Program) end() {
	if p.process != nil {
		p.process.End(false)
		p.process = nil
	}
}

// Close ends the process. Who asks later is told so.
func (p *Program) Close() error {
	p.turn.Lock()
	defer p.turn.Unlock()
	p.end()
	p.failed = errors.New("the language models' program was closed")
	return nil
}

// read reads a line that is one object of known members.
func read(line []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return errors.New("there is more than one value")
	}
	return nil
}

// environ is what the program gets: what Go's runtime reads, and no secret.
func environ() []string {
	out := []string{}
	for _, name := range []string{"GOMAXPROCS", "GOMEMLIMIT", "GOGC", "GODEBUG", "GOTRACEBACK"} {
		if v, ok := os.LookupEnv(name); ok {
			out = append(out, name+"="+v)
		}
	}
	return out
}

package program

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/redact"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/metrics"
)

// config says what a metric is made of.
type config struct {
	Command   []string      // the program and its arguments
	Name      string        // of the metric, after "exec:"; by default from the hello line
	Environ   []string      // environment as NAME=VALUE; see withhold
	Processes int           // maximum number at a time
	Timeout   time.Duration // for each batch
	Start     time.Duration // for the first hello line; Timeout if 0. Later ones have the longer of the two
	Secrets   []string      // hidden in everything it writes; see withhold
	// Log, if not nil, is called with each line of standard error, up to a bound, from any
	// number of goroutines.
	Log func(line string)
	// Failed, if not nil, is called for each cell that the program fails at although it scores
	// others. If it returns true, the cell is metrics.Failed; otherwise scoring ends.
	Failed func(why error) bool
}

// defaultTimeout is the time limit for a batch.
const defaultTimeout = 10 * time.Minute

const (
	patience     = 10 * time.Second // for a hello line: the default, and else before a note says that it is late
	defaultBatch = 16
	tries        = 3 // for a batch whose process dies; once for a part of it
)

// metric is computed by a program. It is safe for concurrent use and must be closed.
type metric struct {
	cfg   config
	hello *hello
	info  metrics.Info
	said  stderr
	slots chan struct{} // has a token for each process that may score

	mu   sync.Mutex
	idle []*process
	last int // id of the last request

	witness llm.Witness
}

// newMetric starts the program and returns the metric that it announces, or a
// *metrics.StartError. The context is only for the start.
func newMetric(ctx context.Context, cfg config) (*metric, error) {
	m := &metric{cfg: cfg, slots: make(chan struct{}, cfg.Processes)}
	m.said.hide, m.said.log = redact.Values(cfg.Secrets), cfg.Log
	m.info.Name = Name + ":" + cmp.Or(cfg.Name, m.said.hide(redact.CommandLine(cfg.Command)))
	m.said.setName(m.info.Name)
	for range cfg.Processes {
		m.slots <- struct{}{}
	}
	p, err := m.start(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, &metrics.StartError{Name: m.info.Name, Err: err}
	}
	m.idle = []*process{p}
	m.info = m.hello.info
	m.info.Storable = len(m.hello.Signature) > 0 // else we cannot know when its numbers change
	m.info.Pace = metrics.Pace{Batch: m.batch(), Calls: m.cfg.Processes}
	if cfg.Name != "" {
		m.info.Name = Name + ":" + cfg.Name
	}
	m.said.setName(m.info.Name)
	return m, nil
}

// Info implements metrics.Metric with what the program declares.
func (m *metric) Info() metrics.Info { return m.info }

// Signature implements metrics.Metric. It has the program's settings, sorted by key, and a
// hash of the rest of the hello line that concerns scores.
func (m *metric) Signature(metrics.Level) metrics.Signature {
	sig := metrics.Signature{{Key: "program", Value: m.hello.Name}}
	for _, key := range slices.Sorted(maps.Keys(m.hello.Signature)) {
		sig = sig.With(key, m.hello.Signature[key])
	}
	i := m.info
	hash := sha256.Sum256(fmt.Append(nil, i.NeedsSource, i.NeedsReferences, i.Direction, i.Lower, i.Upper))
	return sig.With("hello", hex.EncodeToString(hash[:4]))
}

// HasNative implements metrics.NativeScorer.
func (m *metric) HasNative() bool { return m.hello.Native }

func (m *metric) batch() int {
	if m.hello.Batch > 0 {
		return m.hello.Batch
	}
	return defaultBatch
}

// Score implements metrics.Metric.
func (m *metric) Score(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	return m.score(ctx, blocks, false, tries)
}

// ScoreNative implements metrics.NativeScorer.
func (m *metric) ScoreNative(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	return m.score(ctx, blocks, true, tries)
}

func (m *metric) score(ctx context.Context, blocks []metrics.Block, native bool, tries int) ([]metrics.Scores, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rows := make([]scored, len(blocks))
	for i, b := range blocks {
		rows[i].Block = b
	}
	for batch := range slices.Chunk(rows, m.batch()) {
		if err := m.halving(ctx, native, tries).Do(ctx, batch); err != nil {
			return nil, err
		}
	}
	out := make([]metrics.Scores, len(rows))
	for i, r := range rows {
		out[i] = r.Scores
	}
	return out, nil
}

// request has a process score blocks. If the process dies or hangs, another one takes over.
func (m *metric) request(ctx context.Context, blocks []scored, native bool, tries int) error {
	select {
	case _, open := <-m.slots:
		if !open {
			return errors.New("the metric is closed")
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { m.slots <- struct{}{} }()
	r := &request{Native: native}
	for _, b := range blocks {
		r.Segments = append(r.Segments, segment{b.Source, b.Hypotheses, b.References})
	}
	m.mu.Lock()
	m.last++
	r.ID = m.last
	m.mu.Unlock()
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		err := m.try(ctx, append(line, '\n'), r, blocks)
		switch {
		case err == nil || ctx.Err() != nil, !errors.Is(err, errEnded) && !errors.Is(err, errLate), try == tries && try == 1:
			return err
		case try == tries:
			return fmt.Errorf("%w; failed %d times on the same batch", err, tries)
		}
		m.said.note(fmt.Sprintf("%v, with request %d, which has %s; it is started again", err, r.ID, english.Count(len(blocks), "segment", "segments")))
	}
}

// try has a process score blocks, and ends the process if it cannot go on.
func (m *metric) try(ctx context.Context, line []byte, r *request, blocks []scored) error {
	var p *process
	m.mu.Lock()
	if n := len(m.idle); n > 0 {
		p, m.idle = m.idle[n-1], m.idle[:n-1]
	}
	m.mu.Unlock()
	if p == nil {
		var err error
		if p, err = m.start(ctx); err != nil {
			return err
		}
	}
	answer, err := m.answer(ctx, p, line, m.cfg.Timeout)
	if err != nil {
		return err
	}
	err = m.readAnswer(answer, r, blocks)
	if err != nil && !errors.As(err, new(*saidError)) {
		err = fmt.Errorf("the program wrote a line that is no answer: %w: %s", err, quoted([]byte(m.said.hide(string(answer)))))
		p.end(false)
		return err
	}
	m.mu.Lock()
	m.idle = append(m.idle, p)
	m.mu.Unlock()
	return err
}

// errLate says that a process did not answer in time.
var errLate = errors.New("the program gave no answer in time")

// answer sends a line to a process and returns the answer. A process that gives none in the time is
// ended; the error is then errLate, errEnded or the context's.
func (m *metric) answer(ctx context.Context, p *process, line []byte, limit time.Duration) ([]byte, error) {
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	answer, err := p.ask(within, line)
	if err == nil {
		return answer, nil
	}
	first := m.said.words(true) // before it complains about its end
	p.end(false)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case within.Err() != nil:
		err = fmt.Errorf("%w: %v, which timeout=DURATION before the program raises", errLate, limit)
	case errors.Is(err, errEnded):
		err = fmt.Errorf("%w (%s)", err, p.cmd.ProcessState)
	}
	if first != "" && m.hello == nil && within.Err() != nil {
		err = fmt.Errorf("%w; it first said: %s", err, first)
	} else if last := m.said.words(false); last != "" {
		err = fmt.Errorf("%w; it last said: %s", err, last)
	}
	return nil, err
}

// start starts a process, whose hello line must agree with the first process's.
func (m *metric) start(ctx context.Context) (*process, error) {
	limit := max(m.cfg.Start, m.cfg.Timeout)
	if m.hello == nil {
		limit = cmp.Or(m.cfg.Start, limit)
	}
	if limit > patience {
		late := time.AfterFunc(patience, func() { m.said.note(fmt.Sprintf("its hello line is waited for, until timeout=%v", limit)) })
		defer late.Stop()
	}
	p, err := startProcess(m.cfg.Command, m.cfg.Environ, m.said.listen)
	if err != nil {
		return nil, err
	}
	const described = "docs/reference/protocols.md says how a program begins"
	line, err := m.answer(ctx, p, nil, limit)
	if err != nil {
		err = fmt.Errorf("no hello line: %w", err)
		if errors.Is(err, errLate) {
			if len(p.rest) > 0 {
				err = fmt.Errorf("%w; it wrote %s, without an end of line", err, quoted([]byte(m.said.hide(string(p.rest)))))
			}
			err = fmt.Errorf("%w; %s", err, described)
		}
		return nil, err
	}
	h, err := readHello(line)
	switch {
	case err != nil:
		err = fmt.Errorf("the program wrote a line that is no hello: %w: %s; %s", err, quoted([]byte(m.said.hide(string(line)))), described)
	case m.hello != nil && !reflect.DeepEqual(h, m.hello):
		err = fmt.Errorf("the program's processes announced different metrics: %s", quoted([]byte(m.said.hide(string(line)))))
	default:
		if m.hello == nil {
			m.hello = h
		}
		return p, nil
	}
	p.end(false)
	return nil, err
}

// Close ends all processes and returns once none is left. It waits for requests in
// progress.
func (m *metric) Close() error {
	for range m.cfg.Processes {
		if _, open := <-m.slots; !open {
			return nil
		}
	}
	close(m.slots)
	var all sync.WaitGroup
	for _, p := range m.idle {
		all.Go(func() { p.end(true) })
	}
	all.Wait()
	return nil
}

package pool

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/metrics"
)

// house makes metrics for a pool, and knows what becomes of them.
type house struct {
	mu    sync.Mutex
	made  []string // specs
	ended []string // likewise, of metrics that were closed
	calls []int    // segments of each call
	used  int      // calls of metrics that were closed before
}

// note adds to what a house knows.
func (h *house) note(add func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	add()
}

// closed are the specs of metrics that were closed.
func (h *house) closed() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(slices.Sorted(slices.Values(h.ended)), " ")
}

// length is a metric that scores by the length of a hypothesis, after a while. A
// hypothesis "end" ends it, and so does the first segment with "once" that the house
// has.
type length struct {
	house  *house
	spec   string
	closed bool // under the house's lock
}

func (l *length) Info() metrics.Info {
	return metrics.Info{Name: l.spec, NeedsReferences: true, NeedsSource: l.spec == "sourced", Direction: metrics.HigherIsBetter, Upper: math.Inf(1),
		Pace: metrics.Pace{Batch: 1000, Calls: 1}} // all that waits comes in one call
}

func (l *length) Signature(metrics.Level) metrics.Signature {
	return metrics.Signature{{Key: "length", Value: l.spec}}
}

func (l *length) Score(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	time.Sleep(time.Second)
	l.house.note(func() {
		l.house.calls = append(l.house.calls, len(blocks))
		if l.closed {
			l.house.used++
		}
	})
	out := make([]metrics.Scores, len(blocks))
	for i, b := range blocks {
		for _, h := range b.Hypotheses {
			if h == "end" || h == "once" && len(blocks) > 1 {
				return nil, fmt.Errorf("the program of %s ended", l.spec)
			}
			for range b.Columns() {
				out[i].Values = append(out[i].Values, float64(len(h)))
			}
		}
	}
	return out, ctx.Err()
}

func (l *length) Close() error {
	l.house.note(func() {
		l.closed = true
		l.house.ended = append(l.house.ended, l.spec)
	})
	if l.spec == "stubborn" {
		return errors.New("it does not end")
	}
	return nil
}

// open returns a pool of at most two engines.
func open(ctx context.Context, h *house) *Pool {
	return New(ctx, Config{
		Metric: func(_ context.Context, spec string) (metrics.Metric, error) {
			h.note(func() { h.made = append(h.made, spec) })
			if strings.HasPrefix(spec, "no ") {
				return nil, errors.New("there is none of this name")
			}
			return &length{house: h, spec: spec}, nil
		},
		Warn: func(err error) { h.note(func() { h.ended = append(h.ended, err.Error()) }) },
		Most: 2,
	})
}

func recipe(specs ...string) *Recipe {
	return &Recipe{
		Key: strings.Join(specs, " "), Metrics: specs,
		Settings: func(ms []metrics.Metric) (out []refract.Setting, err error) {
			for _, m := range ms {
				out = append(out, refract.Setting{Metric: m, Aggregator: aggregate.Must("max")})
			}
			return out, nil
		},
		Engine: func(settings []refract.Setting, warn func(string)) (*refract.Engine, error) {
			return refract.NewEngine(settings, refract.Options{Warn: warn})
		},
	}
}

// texts are segments of a hypothesis each.
func texts(hypotheses ...string) (out []*refract.Segment) {
	for i, h := range hypotheses {
		out = append(out, &refract.Segment{
			ID: fmt.Sprint(i), References: []refract.Text{refract.NewText("r")},
			Hypotheses: []refract.Hypothesis{{System: "s", Text: refract.NewText(h)}},
		})
	}
	return out
}

// lengths are the scores of a request, by metric and segment; those that are not there
// are -1.
func lengths(s *Scores) (out [][]float64) {
	for _, seg := range s.Segments {
		for k, m := range seg.Metrics {
			if k == len(out) {
				out = append(out, nil)
			}
			v := -1.0
			if m.Status[0] == metrics.Scored {
				v = m.Values[0]
			}
			out[k] = append(out[k], v)
		}
	}
	return out
}

// want asks for scores, and compares. Errors are part of what is wanted.
func want(t *testing.T, p *Pool, r *Recipe, segments []*refract.Segment, expected string) {
	t.Helper()
	s, err := p.Score(t.Context(), r, segments)
	got := fmt.Sprint(err)
	if err == nil {
		if got = fmt.Sprint(lengths(s)); s.Ended != nil {
			got += " " + s.Ended.Error()
		}
	}
	if !strings.Contains(got, expected) {
		t.Errorf("%s: %s, and not %s", r.Key, got, expected)
	}
}

// in runs a test with a pool, in time that passes at once.
func in(t *testing.T, test func(t *testing.T, p *Pool, h *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &house{}
		p := open(t.Context(), h)
		test(t, p, h)
		p.Close()
		if h.used > 0 {
			t.Errorf("%d calls of metrics that were closed", h.used)
		}
		made := slices.DeleteFunc(slices.Clone(h.made), func(spec string) bool { return strings.HasPrefix(spec, "no ") })
		ended := slices.DeleteFunc(slices.Clone(h.ended), func(spec string) bool { return spec == "it does not end" })
		slices.Sort(made)
		if slices.Sort(ended); !slices.Equal(made, ended) {
			t.Errorf("%q were made, and %q closed", made, ended)
		}
	})
}

// What waits for an engine is scored together, and each request gets its own scores.
func TestTogether(t *testing.T) {
	in(t, func(t *testing.T, p *Pool, h *house) {
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				want(t, p, recipe("a"), texts(strings.Repeat("x", i), "yy"), fmt.Sprintf("[[%d 2]]", i))
			})
		}
		all.Wait()
		if len(h.made) != 1 || len(h.calls) > 3 {
			t.Errorf("%q were made, and called with %d segments", h.made, h.calls)
		}
	})
}

// A metric that ends in a run of several requests fails only the one that ends it, and
// is made anew.
func TestEnded(t *testing.T) {
	in(t, func(t *testing.T, p *Pool, h *house) {
		want(t, p, recipe("a", "b"), texts("x"), "[[1] [1]]")
		var all sync.WaitGroup
		all.Go(func() { want(t, p, recipe("a", "b"), texts("first"), "[[5] [5]]") }) // what follows waits for it
		synctest.Wait()
		all.Go(func() { want(t, p, recipe("a", "b"), texts("xx"), "[[2] [2]]") })
		all.Go(func() { want(t, p, recipe("a", "b"), texts("y", "end"), "the program of") })
		all.Go(func() { want(t, p, recipe("a", "b"), texts("once"), "[[4] [4]]") })
		all.Wait()
		want(t, p, recipe("a", "b"), texts("xxx"), "[[3] [3]]")
	})
}

// A metric that ends takes its own engines along, and no others.
func TestEndedAlone(t *testing.T) {
	in(t, func(t *testing.T, p *Pool, h *house) {
		want(t, p, recipe("a"), texts("x"), "[[1]]")
		want(t, p, recipe("b"), texts("x"), "[[1]]")
		want(t, p, recipe("a"), texts("end"), "the program of a ended")
		want(t, p, recipe("a"), texts("x"), "[[1]]")
		want(t, p, recipe("b"), texts("x"), "[[1]]")
		if got := strings.Join(h.made, " "); got != "a b a" {
			t.Errorf("%s were made", got)
		}
	})
}

// Engines share metrics. The least used engine is dropped, and with it a metric that
// no other has; one that runs goes on to its end.
func TestDropped(t *testing.T) {
	in(t, func(t *testing.T, p *Pool, h *house) {
		want(t, p, recipe("a", "b"), texts("x"), "[[1] [1]]")
		want(t, p, recipe("a"), texts("x"), "[[1]]")
		var all sync.WaitGroup
		all.Go(func() { want(t, p, recipe("a", "b"), texts("xx"), "[[2] [2]]") })
		all.Go(func() { want(t, p, recipe("a"), texts("xx"), "[[2]]") })
		synctest.Wait()
		for _, spec := range []string{"c", "stubborn"} {
			all.Go(func() { want(t, p, recipe(spec), texts("x"), "[[1]]") })
			synctest.Wait()
		}
		if got := h.closed(); got != "" {
			t.Errorf("%s were closed under way", got)
		}
		all.Wait()
		synctest.Wait()
		if got := h.closed(); got != "a b" {
			t.Errorf("%s were closed", got)
		}
		want(t, p, recipe("b"), texts("x"), "[[1]]") // c is dropped
		want(t, p, recipe("c"), texts("x"), "[[1]]") // stubborn is
		synctest.Wait()
		if !strings.Contains(h.closed(), "it does not end") {
			t.Error("nobody is told of the metric that does not end")
		}
	})
}

// What cannot be made is tried again by the next request.
func TestNotMade(t *testing.T) {
	in(t, func(t *testing.T, p *Pool, h *house) {
		for range 2 {
			want(t, p, recipe("a", "no b"), texts("x"), "there is none of this name")
		}
		if got := strings.Join(h.made, " "); strings.Count(got, "no b") != 2 {
			t.Errorf("%s were made", got)
		}
	})
}

// A request that is cancelled keeps no others from their scores, and a run that nobody
// waits for ends.
func TestCancelled(t *testing.T) {
	in(t, func(t *testing.T, p *Pool, h *house) {
		want(t, p, recipe("a"), texts("x"), "[[1]]")
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for _, segments := range [][]*refract.Segment{texts("first"), texts("a", "b"), texts("c")} {
			all.Go(func() {
				if _, err := p.Score(ctx, recipe("a"), segments); !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		all.Go(func() { want(t, p, recipe("a"), texts("xx"), "[[2]]") })
		synctest.Wait()
		cancel()
		all.Wait()
		if n := h.calls[len(h.calls)-1]; n != 1 {
			t.Errorf("%d segments were scored, and one is wanted", n)
		}
	})
}

// A request whose segments lack what a metric needs is scored alone, and leaves the
// metric as it is.
func TestSourceless(t *testing.T) {
	in(t, func(t *testing.T, p *Pool, h *house) {
		with := texts("xx")
		with[0].Source = refract.NewText("s")
		want(t, p, recipe("sourced"), with, "[[2]]")
		want(t, p, recipe("sourced"), texts("x"), "source")
		want(t, p, recipe("sourced"), with, "[[2]]")
		if len(h.made) != 1 {
			t.Errorf("%q were made", h.made)
		}
	})
}

// A metric that is lent is that of the engines, until it fails.
func TestLend(t *testing.T) {
	in(t, func(t *testing.T, p *Pool, h *house) {
		want(t, p, recipe("a"), texts("x"), "[[1]]")
		for _, failed := range []bool{false, true, true} {
			m, back, err := p.Lend("a")
			if err != nil || m.Info().Name != "a" {
				t.Fatal(m, err)
			}
			back(failed)
		}
		if _, _, err := p.Lend("no c"); err == nil {
			t.Error("there is one of every name")
		}
		want(t, p, recipe("a"), texts("x"), "[[1]]")
		if got := strings.Join(h.made, " "); got != "a a no c a" {
			t.Errorf("%s were made", got)
		}
	})
}

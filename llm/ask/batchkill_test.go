package ask

import (
	"context"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

// roundTrip makes a function an http.RoundTripper.
type roundTrip func(*http.Request) (*http.Response, error)

func (t roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// killed is the value with which a run panics instead of being killed.
type killed struct{ moment string }

// killer counts moments and kills a run at one of them.
type killer struct{ at, n int }

func (k *killer) moment(what string) {
	if k.n++; k.n == k.at {
		panic(killed{what})
	}
}

// killStore has two moments for every answer.
type killStore struct {
	cache.Store
	k *killer
}

func (s killStore) Put(ctx context.Context, records ...cache.Record) ([][]byte, error) {
	s.k.moment("before answers are stored")
	defer s.k.moment("after answers were stored")
	return s.Store.Put(ctx, records...)
}

// run runs and returns the moment at which it was killed, if it was. Every request and every write to
// the journal and the store has two moments: before it, and after it, when its answer is lost. A
// write to the journal has a third in the middle.
func (k *killer) run(t testing.TB, b *Batches, h *llmtest.Handler, prompts []string) (moment string, err error) {
	store := b.Store
	b.Store = killStore{store, k}
	b.Client = newClient(t, h, func(cfg *llm.Config) {
		cfg.Transport = roundTrip(func(req *http.Request) (*http.Response, error) {
			k.moment("before " + req.Method + " " + req.URL.Path)
			resp, err := h.Transport().RoundTrip(req)
			k.moment("after " + req.Method + " " + req.URL.Path)
			return resp, err
		})
	})
	b.written = func(line []byte, done bool) {
		if done {
			k.moment("after a write")
			return
		}
		k.moment("before a write")
		if k.n++; k.n == k.at {
			f, err := os.OpenFile(b.Journal, os.O_WRONLY|os.O_APPEND, 0)
			assert.NoError(t, err)
			_, _ = f.Write(line[:len(line)/2])
			_ = f.Close()
			panic(killed{"in the midst of a write"})
		}
	}
	defer func() {
		b.Store, b.written, b.Client = store, nil, newClient(t, h, nil)
		switch v := recover().(type) {
		case nil:
		case killed:
			moment = v.moment
		default:
			panic(v)
		}
	}()
	return "", fill(context.Background(), b, prompts)
}

// troubled returns a server with an expiring batch, failing rows and short pages of the list.
func troubled() *llmtest.Handler {
	h := &llmtest.Handler{}
	h.FailPrompt(promptOf(1), llmtest.Status(500, "oh"))
	h.FailPrompt(promptOf(4), llmtest.ContextLength())
	h.Batch.PageSize = 1
	h.Batch.Plan = plans(llmtest.BatchPlan{Gets: 1}, llmtest.BatchPlan{Status: "expired", Unanswered: 1})
	return h
}

const killRows = 7 // in batches of 3

// wantTroubled checks the answers of a troubled server, which must have been asked twice only for
// rows that failed.
func wantTroubled(t testing.TB, h *llmtest.Handler, b *Batches) {
	t.Helper()
	for i, p := range prompts(killRows) {
		a, err := result(t, b, p)
		if (err != nil) != (i == 4) || i != 4 && a.Text != llmtest.Answer("test-model", p, 0) {
			t.Errorf("prompt %d: %+v, %v", i, a, err)
		}
	}
	wantSubmitted(t, h, killRows, map[int]int{1: 2})
}

// A run that is killed or cancelled at any moment is continued by the next one.
func TestKilledAtEveryMoment(t *testing.T) {
	moments := map[string]bool{}
	for at := 1; ; at++ {
		h := troubled()
		b := newBatches(t, h)
		b.maxRows = 3
		moment, err := (&killer{at: at}).run(t, b, h, prompts(killRows))
		require.NoError(t, err)
		if moment == "" {
			break
		}
		moments[moment] = true
		mustFill(t, b, prompts(killRows))
		if wantTroubled(t, h, b); t.Failed() {
			t.Fatalf("killed at moment %d, %s", at, moment)
		}
	}
	assert.GreaterOrEqual(t, len(moments), 15, "killed only at %v", moments)
	for at := 1; ; at++ {
		h := troubled()
		b := newBatches(t, h)
		b.maxRows = 3
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		b.Client = newClient(t, h, func(cfg *llm.Config) {
			cfg.Transport = roundTrip(func(req *http.Request) (*http.Response, error) {
				if n++; n == at {
					cancel()
				}
				return h.Transport().RoundTrip(req)
			})
		})
		err := fill(ctx, b, prompts(killRows))
		cancel()
		if err == nil {
			return
		}
		b.Client = newClient(t, h, nil)
		mustFill(t, b, prompts(killRows))
		if wantTroubled(t, h, b); t.Failed() {
			t.Fatalf("cancelled at moment %d: %v", at, err)
		}
	}
}

// The same for runs that are killed again and again, a little later each time.
func TestKilledAgainAndAgain(t *testing.T) {
	for first := range 4 {
		h := troubled()
		b := newBatches(t, h)
		b.maxRows = 3
		for at := first + 1; ; at += 4 {
			moment, err := (&killer{at: at}).run(t, b, h, prompts(killRows))
			require.NoError(t, err)
			if moment == "" {
				break
			}
		}
		if wantTroubled(t, h, b); t.Failed() {
			t.Fatalf("killed first at %d", first+1)
		}
	}
}

package batch

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"testing"

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
	"pgregory.net/rapid"
)

// killed is what a run panics with in place of dying.
type killed struct{ moment string }

// killer counts moments and kills a run at one of them.
type killer struct {
	at, n int
}

func (k *killer) moment(what string) {
	if k.n++; k.n == k.at {
		panic(killed{what})
	}
}

// arm makes every request and every write of the journal two moments: before
// it, and after it, when its answer is lost. A write has a third: in its midst.
func (k *killer) arm(t testing.TB, r *Runner, h *llmtest.Handler) {
	r.Client = newClient(t, h, func(cfg *llm.Config) {
		cfg.Transport = roundTrip(func(req *http.Request) (*http.Response, error) {
			k.moment("before " + req.Method + " " + req.URL.Path)
			resp, err := h.Transport().RoundTrip(req)
			k.moment("after " + req.Method + " " + req.URL.Path)
			return resp, err
		})
	})
	r.written = func(line []byte, done bool) {
		if !done {
			k.moment("before a write")
			if k.n++; k.n == k.at {
				f, err := os.OpenFile(r.Journal, os.O_WRONLY|os.O_APPEND, 0)
				if err != nil {
					t.Error(err)
				}
				_, _ = f.Write(line[:len(line)/2])
				_ = f.Close()
				panic(killed{"in the midst of a write"})
			}
			return
		}
		if !bytes.Contains(line, []byte(eventFinished)) { // that run came to its end
			k.moment("after a write")
		}
	}
}

// run runs and tells the moment at which it was killed, if it was.
func (k *killer) run(t testing.TB, r *Runner, n int, rs results) (moment string) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case killed:
			moment = v.moment
		default:
			panic(v)
		}
	}()
	err := r.Run(context.Background(), items(n), func(res Result) error {
		k.moment("before a result is stored")
		err := rs.keep(t)(res)
		k.moment("after a result was stored")
		return err
	})
	if err != nil {
		t.Errorf("run: %v", err)
	}
	return ""
}

// troubled is a server with a batch that expires, rows that fail and pages of
// the list that are short.
func troubled() *llmtest.Handler {
	h := &llmtest.Handler{}
	h.FailPrompt(promptOf(1), llmtest.Status(500, "oh"))
	h.FailPrompt(promptOf(4), llmtest.ContextLength())
	h.Batch.PageSize = 1
	h.Batch.Plan = plans(llmtest.BatchPlan{Gets: 1}, llmtest.BatchPlan{Status: "expired", Unanswered: 1})
	return h
}

const killRows = 7 // in batches of 3

func wantTroubled(t testing.TB, h *llmtest.Handler, rs results) {
	t.Helper()
	if len(rs) != killRows {
		t.Errorf("%d results, want %d", len(rs), killRows)
	}
	for i := range killRows {
		res := rs[idOf(promptOf(i))]
		if (res.Err != nil) != (i == 4) || i != 4 && res.Response.Text != llmtest.Answer("test-model", promptOf(i), 0) {
			t.Errorf("prompt %d: result %+v", i, res)
		}
	}
	wantSubmitted(t, h, killRows, map[int]int{1: 2})
}

// A run that is killed at any moment goes on in the next one, which asks for
// nothing twice but what failed.
func TestKilledAtEveryMoment(t *testing.T) {
	moments := map[string]int{}
	for at := 1; ; at++ {
		h := troubled()
		r := newRunner(t, h)
		r.maxRows = 3
		k := &killer{at: at}
		k.arm(t, r, h)
		moment := k.run(t, r, killRows, results{})
		if moment == "" {
			break
		}
		moments[moment]++
		r.written = nil
		r.Client = newClient(t, h, nil)
		rs := mustRun(t, r, items(killRows))
		wantTroubled(t, h, rs)
		if t.Failed() {
			t.Fatalf("killed at moment %d, %s", at, moment)
		}
	}
	if len(moments) < 15 {
		t.Errorf("killed only at %v", moments)
	}
}

// The same, killed again and again, with results stored meanwhile: rows that
// have one are no items of the next run.
func TestKilledAgainAndAgain(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := troubled()
		r := newRunner(t, h)
		r.maxRows = rapid.IntRange(1, 4).Draw(rt, "rows")
		stored := results{}
		for range 30 {
			k := &killer{at: rapid.IntRange(1, 60).Draw(rt, "at")}
			k.arm(t, r, h)
			if killedRun(rt, k, r, stored) {
				continue
			}
			break
		}
		r.written = nil
		r.Client = newClient(t, h, nil)
		if killedRun(rt, &killer{}, r, stored) {
			rt.Fatal("killed without a killer")
		}
		if len(stored) != killRows {
			rt.Fatalf("%d results, want %d", len(stored), killRows)
		}
		for i := range killRows {
			if res := stored[idOf(promptOf(i))]; (res.Err != nil) != (i == 4) {
				rt.Errorf("prompt %d: result %+v", i, res)
			}
		}
		for id, n := range h.Batch.Submitted() {
			if n > 2 || n > 1 && id != idOf(promptOf(1)) {
				rt.Errorf("row %s was submitted %d times", id, n)
			}
		}
	})
}

// killedRun runs for the rows that are not stored.
func killedRun(rt *rapid.T, k *killer, r *Runner, stored results) (died bool) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case killed:
			died = true
		default:
			panic(v)
		}
	}()
	left := func(yield func(Item, error) bool) {
		for i := range killRows {
			if it := item(promptOf(i)); stored[it.ID].ID == "" && !yield(it, nil) {
				return
			}
		}
	}
	err := r.Run(context.Background(), left, func(res Result) error {
		k.moment("before")
		stored[res.ID] = res
		k.moment("after")
		return nil
	})
	if err != nil {
		rt.Fatal(err)
	}
	return false
}

// Rows that are no items of the next run are left alone, and found when they
// are items again.
func TestFewerItemsAfterTheKill(t *testing.T) {
	for at := 1; ; at++ {
		h := troubled()
		r := newRunner(t, h)
		r.maxRows = 3
		k := &killer{at: at}
		k.arm(t, r, h)
		moment := k.run(t, r, killRows, results{})
		if moment == "" {
			return
		}
		r.written = nil
		r.Client = newClient(t, h, nil)
		before := h.Batch.Submitted()
		wantAnswers(t, mustRun(t, r, items(1)), 1)
		for id, n := range h.Batch.Submitted() {
			if n > before[id] && id != idOf(promptOf(0)) {
				t.Errorf("row %s, which is no item, was submitted", id)
			}
		}
		rs := mustRun(t, r, items(killRows))
		if len(rs) != killRows {
			t.Errorf("%d results", len(rs))
		}
		// A request that failed for good is asked again by a run after one
		// that came to its end.
		for id, n := range h.Batch.Submitted() {
			if n > 2 || n == 2 && id != idOf(promptOf(1)) && id != idOf(promptOf(4)) {
				t.Errorf("row %s was submitted %d times", id, n)
			}
		}
		if t.Failed() {
			t.Fatalf("killed at moment %d, %s", at, moment)
		}
	}
}

// Cancelling the context at any moment is as good as a kill.
func TestCancelledAtEveryMoment(t *testing.T) {
	for at := 1; ; at++ {
		h := troubled()
		r := newRunner(t, h)
		r.maxRows = 3
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		r.Client = newClient(t, h, func(cfg *llm.Config) {
			cfg.Transport = roundTrip(func(req *http.Request) (*http.Response, error) {
				if n++; n == at {
					cancel()
				}
				resp, err := h.Transport().RoundTrip(req)
				if n++; n == at {
					cancel()
				}
				return resp, err
			})
		})
		err := r.Run(ctx, items(killRows), results{}.keep(t))
		if err == nil {
			cancel()
			return
		}
		if ctx.Err() == nil {
			t.Fatal(err)
		}
		r.Client = newClient(t, h, nil)
		wantTroubled(t, h, mustRun(t, r, items(killRows)))
		if t.Failed() {
			t.Fatalf("cancelled at moment %d", at)
		}
	}
}

// Attempts are counted over restarts.
func TestAttemptsOverRestarts(t *testing.T) {
	for at := 1; ; at++ {
		h := &llmtest.Handler{}
		h.FailPrompt(promptOf(1), llmtest.Repeat(99, llmtest.Status(500, "never"))...)
		r := newRunner(t, h)
		k := &killer{at: at}
		k.arm(t, r, h)
		moment := k.run(t, r, 2, results{})
		if moment == "" {
			return
		}
		r.written = nil
		r.Client = newClient(t, h, nil)
		rs := mustRun(t, r, items(2))
		if err := rs[idOf(promptOf(1))].Err; !errors.Is(err, llm.ErrUnavailable) {
			t.Errorf("error %v", err)
		}
		wantSubmitted(t, h, 2, map[int]int{1: maxAttempts})
		if t.Failed() {
			t.Fatalf("killed at moment %d, %s", at, moment)
		}
	}
}

// A batch that failed its validation counts as never submitted, also where the
// run was killed before it could say so.
func TestKilledAfterAFailedValidation(t *testing.T) {
	for at := 1; ; at++ {
		h := &llmtest.Handler{}
		h.Batch.Plan = plans(llmtest.BatchPlan{Problems: []llmtest.BatchProblem{{Line: 1, Message: "no"}}})
		r := newRunner(t, h)
		r.attempts = 1
		k := &killer{at: at}
		k.arm(t, r, h)
		died := killedByError(t, k, r)
		r.written = nil
		r.Client = newClient(t, h, nil)
		rs := results{}
		err := r.Run(t.Context(), items(2), rs.keep(t))
		var refused *RefusedError
		if errors.As(err, &refused) { // it had not been said
			err = r.Run(t.Context(), items(2), rs.keep(t))
		}
		if err != nil {
			t.Fatal(err)
		}
		wantAnswers(t, rs, 2)
		wantSubmitted(t, h, 2, nil)
		if t.Failed() {
			t.Fatalf("killed at moment %d", at)
		}
		if !died {
			return
		}
	}
}

// killedByError runs to a refused batch, unless it dies before.
func killedByError(t *testing.T, k *killer, r *Runner) (died bool) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case killed:
			died = true
		default:
			panic(v)
		}
	}()
	var refused *RefusedError
	if err := r.Run(t.Context(), items(2), results{}.keep(t)); !errors.As(err, &refused) {
		t.Errorf("error %v", err)
	}
	return false
}

package load_test

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/refract-eval/refract/internal/llmtest"
)

// kind is a kind of failure.
type kind struct {
	name  string
	fault llmtest.Fault
}

// kinds lists all of them. A client's timeout must be shorter than forever and longer than
// the trickle of a good answer.
func kinds() []kind {
	busy := llmtest.Status(http.StatusTooManyRequests, "slow down")
	return []kind{
		{"429", busy},
		{"429-retry-after", llmtest.With("Retry-After", "1", busy)},
		{"500", llmtest.Status(http.StatusInternalServerError, "out of order")},
		{"502-page", llmtest.HTML(http.StatusBadGateway)},
		{"503", llmtest.Status(http.StatusServiceUnavailable, "overloaded")},
		{"504-page", llmtest.HTML(http.StatusGatewayTimeout)},
		{"hang", llmtest.Hang()},
		{"reset", llmtest.Reset()},
		{"cut", llmtest.Truncated()},
		{"malformed", llmtest.Malformed()},
		{"garbage", llmtest.Garbage()},
		{"no-choices", llmtest.NoChoices()},
		{"wrong-type", llmtest.Body(http.StatusOK, "application/json", `{"model":"m","choices":"none","usage":[]}`)},
		{"wrong-shape", llmtest.Body(http.StatusOK, "application/json", `[1,2,3]`)},
		{"error-in-200", llmtest.ErrorBody(http.StatusBadGateway, "upstream is gone")},
		{"endless-trickle", trickle(strconv.Quote("never whole"), 100*time.Millisecond, 1<<20)},
	}
}

// trickle sends the first bytes of a body one by one, with a pause after each.
func trickle(body string, pause time.Duration, bytes int) llmtest.Fault {
	return func(w http.ResponseWriter, r *llmtest.Request) {
		w.Header().Set("Content-Type", "application/json")
		flush := http.NewResponseController(w).Flush
		for i := range bytes {
			if _, err := w.Write([]byte{body[min(i, len(body)-2)]}); err != nil || flush() != nil {
				return
			}
			select {
			case <-time.After(pause):
			case <-r.Context().Done():
				return
			}
		}
	}
}

// schedule says which attempts fail, and how. Except for storms, it depends only on the
// seed, the prompt and the number of attempts with it, and not on time or order.
type schedule struct {
	seed  uint64
	rate  float64 // share of attempts that fail
	first int     // only among the first so many attempts with a prompt
	kinds []kind

	// Every storm-th call begins a storm, in which all calls get 429; 0 for none.
	storm    int
	storming time.Duration
	storms   int
	until    time.Time // when the current storm ends
}

// pick returns the fault of the n-th attempt (from 0) with a prompt, or nil.
func (s *schedule) pick(prompt string, n int) *kind {
	if n >= s.first {
		return nil
	}
	h := hash(strconv.FormatUint(s.seed, 10), prompt, strconv.Itoa(n))
	if float64(h>>11)/(1<<53) >= s.rate {
		return nil
	}
	return &s.kinds[hash(fmt.Sprint(h))%uint64(len(s.kinds))]
}

// stormy returns the fault of the n-th call overall (from 0) if it is in a storm, or nil.
// Every second storm has Retry-After.
func (s *schedule) stormy(n int, now time.Time) *kind {
	if s.storm > 0 && n > 0 && n%s.storm == 0 {
		s.storms++
		s.until = now.Add(s.storming)
	}
	if !now.Before(s.until) {
		return nil
	}
	return &s.kinds[s.storms%2]
}

package load_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/refract-eval/refract/internal/llmtest"
)

// modelServer is a model server for measurements and faults, in a separate process. It
// answers chat and completions at /v1 with paraphrases of the prompt's reference, after a
// fixed time. GET /stats returns its counts, and with -log GET /calls returns every prompt
// in the order of the calls.
//
// The first line on standard output is the base URL. It ends when standard input does.
type modelServer struct {
	schedule
	handler *llmtest.Handler
	latency time.Duration
	slow    float64
	endless string // "flood" or "drip": how endless answers are sent
	keep    bool
	bad     float64

	calls, running, most atomic.Int64
	answered             atomic.Int64 // number of good answers
	mu                   sync.Mutex
	attempts             map[string]int // by prompt, if there are faults
	injected             map[string]int // by kind
	log                  []string
}

// serverMain runs instead of the tests if the test binary is started as a server.
func serverMain(args []string) error {
	s := &modelServer{attempts: map[string]int{}, injected: map[string]int{}}
	flags := flag.NewFlagSet("server", flag.ContinueOnError)
	flags.DurationVar(&s.latency, "latency", 0, "time from a request to its answer")
	flags.BoolVar(&s.keep, "log", false, "keep the prompts for /calls")
	flags.Uint64Var(&s.seed, "seed", 1, "of the faults")
	flags.Float64Var(&s.rate, "faults", 0, "share of attempts that fail")
	flags.IntVar(&s.first, "first", 3, "attempts with a prompt that may fail")
	flags.IntVar(&s.storm, "storm", 0, "every so many calls a storm of 429 begins")
	flags.DurationVar(&s.storming, "storming", 500*time.Millisecond, "time that a storm takes")
	flags.Float64Var(&s.slow, "slow", 0, "share of good answers that trickle in")
	flags.Float64Var(&s.bad, "builders", -1, "answer only the prompts of builders, and this share of them badly")
	flags.StringVar(&s.endless, "endless", "", "flood or drip: answers that never end, as fast as the client reads or a byte at a time")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s.kinds = kinds()
	return s.serve()
}

func (s *modelServer) serve() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	s.handler = &llmtest.Handler{Forget: true, Decide: s.decide, Answer: func(r *llmtest.Request) string { return paraphrase(r.Prompt) }}
	mux.Handle("POST /v1/", s)
	mux.Handle("GET /v1/models", s.handler)
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /stats", s.stats)
	mux.HandleFunc("GET /calls", s.list)
	srv := &http.Server{Handler: mux}
	fmt.Printf("http://%s/v1\n", l.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = srv.Close()
	}()
	if err := srv.Serve(l); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// ServeHTTP answers a call, and counts how many are running.
func (s *modelServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for now := s.running.Add(1); ; {
		most := s.most.Load()
		if now <= most || s.most.CompareAndSwap(most, now) {
			break
		}
	}
	defer s.running.Add(-1)
	s.handler.ServeHTTP(w, r)
}

// decide waits as long as an answer takes, and returns anything but a plain good answer.
func (s *modelServer) decide(r *llmtest.Request) llmtest.Fault {
	begun := time.Now()
	prompt := r.Prompt
	if s.bad >= 0 { // builders ask the same with several seeds
		prompt = string(r.Raw)
	}
	if fault := s.note(int(s.calls.Add(1)-1), prompt); fault != nil {
		return fault
	}
	select {
	case <-time.After(s.latency - time.Since(begun)):
	case <-r.Context().Done():
		return func(http.ResponseWriter, *llmtest.Request) {} // the client is gone
	}
	switch {
	case s.endless == "flood":
		return flood
	case s.endless == "drip":
		return trickle(strconv.Quote("never whole"), 20*time.Millisecond, 1<<20)
	case s.bad >= 0:
		text, finish, known := llmtest.BuilderAnswer(r, s.bad)
		if !known {
			return llmtest.Status(http.StatusNotFound, "no builder asks this")
		}
		s.answered.Add(1)
		return llmtest.Finish(finish, text)
	case s.slow > 0 && float64(hash("slow", r.Prompt)>>11)/(1<<53) < s.slow:
		return drip
	}
	s.answered.Add(1)
	return nil
}

// flood sends an endless answer.
func flood(w http.ResponseWriter, _ *llmtest.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, err := io.WriteString(w, `{"choices":[{"message":{"content":"`)
	for text := bytes.Repeat([]byte("more "), 1<<14); err == nil; {
		_, err = w.Write(text)
	}
}

// drip sends a good answer in twenty pieces.
func drip(w http.ResponseWriter, r *llmtest.Request) {
	whole := httptest.NewRecorder()
	llmtest.Finish("stop", paraphrase(r.Prompt))(whole, r)
	body, flush := whole.Body.Bytes(), http.NewResponseController(w).Flush
	for piece := len(body)/20 + 1; len(body) > 0; {
		n := min(piece, len(body))
		if _, err := w.Write(body[:n]); err != nil || flush() != nil {
			return
		}
		body = body[n:]
		time.Sleep(10 * time.Millisecond)
	}
}

// note counts a call and returns its fault, or nil.
func (s *modelServer) note(call int, prompt string) llmtest.Fault {
	if !s.keep && s.rate == 0 && s.storm == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keep {
		s.log = append(s.log, prompt)
	}
	if k := s.stormy(call, time.Now()); k != nil {
		s.injected["storm-"+k.name]++
		return k.fault
	}
	n := s.attempts[prompt]
	s.attempts[prompt]++
	k := s.pick(prompt, n)
	if k == nil {
		return nil
	}
	s.injected[k.name]++
	return k.fault
}

func (s *modelServer) stats(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	writeJSON(w, stats{Calls: int(s.calls.Load()), Answered: int(s.answered.Load()), Most: int(s.most.Load()), Injected: s.injected})
}

func (s *modelServer) list(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	writeJSON(w, s.log)
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

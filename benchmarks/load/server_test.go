package load_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
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
	if s.bad >= 0 {
		mux.Handle("POST /v1/", &llmtest.Handler{Forget: true, Decide: s.teach})
	} else {
		mux.HandleFunc("POST /v1/chat/completions", s.answer)
		mux.HandleFunc("POST /v1/completions", s.answer)
	}
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"m","object":"model"}]}`)
	})
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

// request has the relevant fields of a body.
type request struct {
	Prompt   string `json:"prompt"`
	Messages []struct {
		Content string `json:"content"`
	} `json:"messages"`
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func (s *modelServer) answer(w http.ResponseWriter, hr *http.Request) {
	begun := time.Now()
	call := int(s.calls.Add(1) - 1)
	for now := s.running.Add(1); ; {
		most := s.most.Load()
		if now <= most || s.most.CompareAndSwap(most, now) {
			break
		}
	}
	defer s.running.Add(-1)
	body := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(body)
	body.Reset()
	if _, err := body.ReadFrom(hr.Body); err != nil {
		return
	}
	var r request
	if err := json.Unmarshal(body.Bytes(), &r); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	prompt, chat := r.Prompt, len(r.Messages) > 0
	if chat {
		prompt = r.Messages[len(r.Messages)-1].Content
	}
	if fault := s.note(call, prompt); fault != nil {
		fault(w, &llmtest.Request{Request: hr, Prompt: prompt, Chat: chat})
		return
	}
	if wait := s.latency - time.Since(begun); wait > 0 {
		select {
		case <-time.After(wait):
		case <-hr.Context().Done():
			return
		}
	}
	switch s.endless {
	case "flood":
		flood(w)
		return
	case "drip":
		trickle(strconv.Quote("never whole"), 20*time.Millisecond, 1<<20)(w, &llmtest.Request{Request: hr})
		return
	}
	good := appendAnswer(nil, prompt, chat)
	if s.slow > 0 && float64(hash("slow", prompt)>>11)/(1<<53) < s.slow {
		drip(w, good)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(good)))
	s.answered.Add(1)
	_, _ = w.Write(good)
}

// flood sends an endless answer.
func flood(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	_, err := io.WriteString(w, `{"choices":[{"message":{"content":"`)
	for text := bytes.Repeat([]byte("more "), 1<<14); err == nil; {
		_, err = w.Write(text)
	}
}

// drip sends a good answer in twenty pieces.
func drip(w http.ResponseWriter, body []byte) {
	flush := http.NewResponseController(w).Flush
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

// appendAnswer writes the body of a good answer. A token is a word.
func appendAnswer(b []byte, prompt string, chat bool) []byte {
	text := paraphrase(prompt)
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // impossible: a string always has a JSON form
	}
	in, out := strings.Count(prompt, " ")+1, strings.Count(text, " ")+1
	object, before, after := "text_completion", `"text":`, ""
	if chat {
		object, before, after = "chat.completion", `"message":{"role":"assistant","content":`, "}"
	}
	return fmt.Appendf(b, `{"id":"load-1","object":%q,"created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop",%s%s%s}],`+
		`"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`, object, before, quoted, after, in, out, in+out)
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

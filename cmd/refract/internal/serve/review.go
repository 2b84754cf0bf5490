package serve

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/refract-eval/refract/diversify/review"
	"github.com/refract-eval/refract/internal/jsonline"
)

// mostDecision limits the size of a request; no edited answer is longer.
const mostDecision = 1 << 20

// Review shows a page of answers on a loopback address, and adds each decision
// to a file before the page says that it is kept. Its address has a random
// token, and requests for another host are refused, so that no other page and no other user
// of the machine can read or decide.
type Review struct {
	page  []byte
	token string
	host  string

	mu      sync.Mutex
	file    *os.File
	decided map[string]bool // answers whose decision changed since the server began
	known   map[string]review.Item
}

// NewReview returns a server that shows a page of answers, and adds decisions to an open file.
func NewReview(page []byte, items []review.Item, file *os.File) *Review {
	s := &Review{page: page, token: rand.Text(), file: file, decided: map[string]bool{}, known: map[string]review.Item{}}
	for _, it := range items {
		s.known[it.Answer] = it
	}
	return s
}

// Listen opens a loopback address, such as 127.0.0.1:0, and returns the listener and the
// URL of the page.
func (s *Review) Listen(address string) (net.Listener, string, error) {
	if !Local(hostOf(address)) {
		return nil, "", fmt.Errorf("%s can be reached from other machines; use 127.0.0.1:PORT, and ssh -L to reach it from another", address)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, "", err
	}
	s.host = l.Addr().String()
	return l, "http://" + s.host + "/" + s.token + "/", nil
}

// Serve answers requests until the context ends, and waits for those that are
// being answered.
func (s *Review) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: s.handler(), ReadTimeout: 30 * time.Second, WriteTimeout: 30 * time.Second,
		ErrorLog: log.New(io.Discard, "", 0), // the address has the token in it
	}
	if err := Until(ctx, server, l, 5*time.Second); ctx.Err() == nil {
		return err
	}
	return nil
}

// Count returns the number of answers with a new decision, without those taken back.
func (s *Review) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.decided)
}

func (s *Review) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /"+s.token+"/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(s.page)
	})
	mux.HandleFunc("POST /"+s.token+"/decision", s.decide)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
		} {
			w.Header().Set(name, value)
		}
		// A foreign page whose name resolves to this machine has another host; a
		// foreign page that posts here has another origin.
		if origin := r.Header.Get("Origin"); r.Host != s.host || origin != "" && origin != "http://"+s.host {
			http.Error(w, "this page is for the browser of this machine", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// decide keeps a decision about an answer that is shown.
func (s *Review) decide(w http.ResponseWriter, r *http.Request) {
	body, unread := io.ReadAll(http.MaxBytesReader(w, r.Body, mostDecision))
	d, err := review.Parse(body)
	it, known := s.known[d.Answer]
	status := http.StatusBadRequest
	switch {
	case unread != nil:
		status, err = http.StatusRequestEntityTooLarge, errors.New("the request is too long or broken")
	case err == nil && !known:
		err = errors.New("the page shows no such answer")
	case err == nil:
		err = d.OneLine(it.Reference)
	}
	if err == nil {
		d.Segment, d.Prompt, d.Drawn = it.Segment, it.Prompt, it.Drawn
		status, err = http.StatusInternalServerError, s.keep(&d)
	}
	if err != nil {
		http.Error(w, err.Error(), status)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *Review) keep(d *review.Decision) error {
	line, err := json.Marshal(d)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err = s.file.Write(append(jsonline.Escape(line), '\n')); err == nil {
		err = s.file.Sync()
	}
	if err != nil {
		return err
	}
	if it := s.known[d.Answer]; d.Choice == review.Undo || d.Choice == it.Choice && d.Text == it.Edited {
		delete(s.decided, d.Answer)
	} else {
		s.decided[d.Answer] = true
	}
	return nil
}

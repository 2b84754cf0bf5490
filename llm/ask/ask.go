// Package ask gets the answers to requests: from a store, and from a model
// where the store has none.
//
//  1. Look reads stored answers in bulk.
//  2. Claim takes it upon this process to ask for the rest, where several
//     processes share a store.
//  3. Ask begins a call for each, in the order in which it is called and up to
//     a number of calls at a time. Equal requests in flight are one call, which
//     belongs to none of those who wait for it.
//  4. The answer is stored, and what the store then has is handed on.
//
// An Asker serves any number of uses at a time, each of them a Run.
package ask

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/llm"
)

// Defaults of Config.
const (
	DefaultConcurrency = 8
	DefaultDrain       = 30 * time.Second
)

// Completer asks a model for one answer; [llm.Client] is one. It is called
// concurrently, and must return soon after the context ends.
type Completer interface {
	Complete(ctx context.Context, r llm.Request) (llm.Response, error)
}

// ErrNotStored says that the store lacks an answer and that there is no client
// to ask for it.
var ErrNotStored = errors.New("the answer is not stored, and no client is set to ask for it")

// Config says where answers come from.
type Config struct {
	// Client answers what the Store lacks. If it is nil, that is an error
	// which wraps ErrNotStored.
	Client Completer
	Store  cache.Store // never nil
	// Concurrency is how many calls run at once, over all uses; 0 means
	// DefaultConcurrency.
	Concurrency int
	// Drain is how long calls that are in flight may go on when something else
	// has ended the run; 0 means DefaultDrain, a negative value not at all.
	// They have been paid for. The end of the context cuts it short.
	Drain time.Duration
	// Tolerate is how many requests may fail on their own account, such as
	// prompts that are too long, before the run ends. Before the model has
	// answered any, none may.
	Tolerate int
}

// Question is one request.
type Question struct {
	Request cache.Request // as the store knows it
	Key     cache.Key     // of Request
	Wire    llm.Request   // as the client is given it
	Client  Completer     // nil means that of the Config
}

// Result is what became of a question.
type Result struct {
	Answer cache.Answer // meaningless beside an Err
	// Called says that the model was called for it, and that nobody else who
	// had the same question has been told so.
	Called bool
	// Err is why there is no answer. If it is Tolerated, it concerns this
	// question alone; else it ends the run.
	Err       error
	Tolerated bool
}

// Asker asks. It is safe for concurrent use: all uses share its bound on
// calls, and calls in flight.
type Asker struct {
	cfg     Config
	answers *cache.Answers
	slots   chan struct{} // holds one element for each call
	puts    chan struct{} // and one for each answer that is being stored

	mu      sync.Mutex
	flights map[cache.Key]*flight // calls
	mine    map[cache.Key]bool    // claimed, and not answered yet; false while the claim is being made
	uses    int                   // runs
	workers *workers              // while there are uses

	answered  atomic.Bool  // the model has answered, in this run or an earlier one
	tolerated atomic.Int64 // calls that failed on their own account
}

// New returns an Asker.
func New(cfg Config) *Asker {
	cfg.Concurrency = cmp.Or(cfg.Concurrency, DefaultConcurrency)
	cfg.Drain = cmp.Or(cfg.Drain, DefaultDrain)
	return &Asker{
		cfg:     cfg,
		answers: cache.NewAnswers(cfg.Store),
		slots:   make(chan struct{}, cfg.Concurrency),
		puts:    make(chan struct{}, cfg.Concurrency),
		flights: make(map[cache.Key]*flight),
		mine:    make(map[cache.Key]bool),
	}
}

// claims reports whether the Asker claims what it asks for. Without a client
// nobody is asked.
func (a *Asker) claims() bool { return a.cfg.Client != nil }

// Look returns the stored answers of keys, as cache.Answers does.
func (a *Asker) Look(ctx context.Context, keys []cache.Key) (answers []cache.Answer, found []bool, err error) {
	answers, found, err = a.answers.Get(ctx, keys)
	if err != nil {
		return nil, nil, err
	}
	if len(answers) != len(keys) || len(found) != len(keys) {
		return nil, nil, errors.New("the store has given another number of answers than it was asked for")
	}
	for _, f := range found {
		if f {
			a.answered.Store(true)
			break
		}
	}
	return answers, found, nil
}

// client is whom a question goes to, or nil.
func (a *Asker) client(q *Question) Completer {
	if q.Client != nil {
		return q.Client
	}
	return a.cfg.Client
}

// Entry is what the store keeps of an answer.
func Entry(r cache.Request, resp llm.Response) cache.Entry {
	return cache.Entry{Request: r, Answer: cache.Answer{
		Text: resp.Text, HasText: resp.HasText,
		FinishReason: resp.FinishReason, ServedModel: resp.Model,
		// A count below 0 is none, and no reason to lose the answer.
		PromptTokens: max(0, resp.PromptTokens), CompletionTokens: max(0, resp.CompletionTokens),
		Created: time.Now(),
	}}
}

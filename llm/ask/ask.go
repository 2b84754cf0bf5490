// Package ask gets answers to requests from a store, and asks a model for those
// that are not stored.
//
// A [Job] makes its requests in rounds. For each round an [Asker]
//
//  1. looks up stored answers, of several jobs at once;
//  2. claims missing answers, so that processes that share a store agree on who
//     asks for them;
//  3. asks the model, in the order of the requests, with a bounded number of
//     concurrent calls, as long as the budget lasts; equal requests share a
//     call;
//  4. stores each answer, and uses the one that the store then has;
//  5. gives the job the results, and gets its next round.
//
// [Asker.Do] runs one job to its end, and [Asker.Stream] many, in order.
// [Asker.Plan] tells what they would ask, and what that may cost.
//
// # Why rounds
//
// What a job asks next may depend on answers: a variant that the checks rejected is asked for
// again. A job gets all results of a
// round at once, in the order of its questions, so that its next round does not depend on which
// answer came first, and a run that was killed asks the same questions again and finds them stored.
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

// DefaultConcurrency is the default of Config.Concurrency.
const DefaultConcurrency = 8

// Completer asks a model for one answer; [llm.Client] implements it. It must be safe for concurrent
// use, and return soon after the context ends.
type Completer interface {
	Complete(ctx context.Context, r llm.Request) (llm.Response, error)
}

// ErrNotStored says that an answer is not stored and there is no client to ask for it.
var ErrNotStored = errors.New("the answer is not stored, and no client is set to ask for it")

// ErrTolerance says that more requests failed because of their content than Config.Tolerate
// allows.
var ErrTolerance = errors.New("no more failed requests are tolerated")

// Config says where answers come from.
type Config struct {
	// Client answers requests that are not in the Store. If it is nil, such a request is an
	// error that wraps ErrNotStored.
	Client Completer
	Store  cache.Store // must not be nil
	Budget *Budget     // bounds the calls; nil for no bound
	// Concurrency is the number of concurrent calls, over all uses; 0 means
	// DefaultConcurrency.
	Concurrency int
	// Tolerate is the number of requests that may fail because of their content before the run
	// ends: prompts that are too long, or that the model fails at although it answers others.
	Tolerate int
	// LeftOut, if not nil, is called once for each parameter that is left out because a
	// model refuses it, as this run or an earlier one found.
	LeftOut func(what string, earlier bool)
	// OtherForm, if not nil, is called once for each model that refuses the first form of
	// questions and answers the other.
	OtherForm func(model string, why error)
	// Choose says whether to ask the other form of a question. It is called, concurrently,
	// whenever neither form is stored, and may use the Asker. Nil means no.
	Choose func(context.Context) (other bool, err error)
}

// Question is one request.
type Question struct {
	Request cache.Request // the form for the store
	Key     cache.Key     // of Request
	Wire    llm.Request   // the form for the client
	Client  Completer     // nil means the Config's; its type must be comparable
	Chosen  []string      // parameters that the user chose: they are sent even if the model refuses them

	// For Plan:
	Expected int // estimated tokens of the answer; 0 if unknown
	// Follow is the number of requests that are sure to follow. Each repeats this one and its
	// answer.
	Follow int

	// Other is the same question in another form, nil for none. A stored answer to either is
	// used, preferably to this one; if there is none, Config.Choose says which to ask. If the
	// server refuses this one, the other is asked.
	Other *Question
}

// Result is the outcome of a question.
type Result struct {
	Answer cache.Answer // meaningless if Err is set
	Params cache.Params // parameters with which the answer was asked for
	// Called says that the model was called for it. If equal questions share a call, it is
	// set for one of them.
	Called bool
	// Err is why there is no answer. If it is Tolerated, it concerns only this question;
	// otherwise it ends the run.
	Err       error
	Tolerated bool
	// Other says that the result belongs to the question's other form.
	Other bool
}

// Asker gets answers for jobs. It is safe for concurrent use; all uses share the bound on calls and
// the calls in flight.
type Asker struct {
	cfg     Config
	store   *keptStore
	answers *cache.Answers
	slots   chan struct{} // holds one element per call
	puts    chan struct{} // holds one element per answer being stored

	mu      sync.Mutex
	calls   map[cache.Key]*call // in flight, or about to begin
	failing map[*run]failure    // runs that ended with a failed call, and wait for others

	refused *refusals
	models  sync.Map // of place to *model

	answered  atomic.Bool  // the model has answered, in this run or an earlier one
	tolerated atomic.Int64 // calls that failed because of their content
}

// Concurrency returns the number of concurrent calls.
func (a *Asker) Concurrency() int { return cap(a.slots) }

// New returns an Asker.
func New(cfg Config) *Asker {
	cfg.Concurrency = cmp.Or(cfg.Concurrency, DefaultConcurrency)
	store := &keptStore{Store: cfg.Store}
	return &Asker{
		cfg:     cfg,
		store:   store,
		answers: cache.NewAnswers(store),
		slots:   make(chan struct{}, cfg.Concurrency),
		puts:    make(chan struct{}, cfg.Concurrency),
		calls:   make(map[cache.Key]*call),
		failing: make(map[*run]failure),
		refused: newRefusals(cfg.Store, cfg.LeftOut),
	}
}

// client returns the Completer for a question, or nil.
func (a *Asker) client(q *Question) Completer {
	if q.Client != nil {
		return q.Client
	}
	return a.cfg.Client
}

// Entry returns the entry to store for an answer.
func Entry(r cache.Request, resp llm.Response) cache.Entry {
	return cache.Entry{Request: r, Answer: cache.Answer{
		Text: resp.Text, HasText: resp.HasText,
		FinishReason: resp.FinishReason, ServedModel: resp.Model,
		// A negative count counts as unknown; the answer is kept.
		PromptTokens: max(0, resp.PromptTokens), CompletionTokens: max(0, resp.CompletionTokens),
		Created: time.Now(),
	}}
}

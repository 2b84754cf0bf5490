// Package ask gets the answers to requests: from a store, and from a model
// where the store has none.
//
// A [Job] gives its requests in rounds. For each round an [Asker] does this:
//
//  1. Look up: it reads the stored answers, those of several jobs at once.
//  2. Claim: where several processes share a store, they agree on who asks for
//     an answer that it lacks.
//  3. Call: it asks the model, in the order of the requests and up to a number
//     of calls at a time, as long as the budget lasts. Equal requests are one
//     call.
//  4. Store: it stores the answer, and uses what the store then has.
//  5. Go on: it gives the job the results, and asks for its next round.
//
// [Asker.Do] takes one job to its end and [Asker.Stream] many, in order.
// [Asker.Plan] tells what they would ask, and what that may cost.
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

// DefaultConcurrency is that of Config.
const DefaultConcurrency = 8

// drain is how long calls in flight may go on when a failure has ended the run: they
// have been paid for. The end of the context cuts it short, but for one that an
// [llm.Interrupt] has stopped: calls then go on until it gives them up.
const drain = 30 * time.Second

// Completer asks a model for one answer; [llm.Client] is one. It is called
// concurrently, and must return soon after the context ends.
type Completer interface {
	Complete(ctx context.Context, r llm.Request) (llm.Response, error)
}

// ErrNotStored says that the store lacks an answer and that there is no client
// to ask for it.
var ErrNotStored = errors.New("the answer is not stored, and no client is set to ask for it")

// ErrTolerance says that more requests failed on their own account than
// Config.Tolerate allows.
var ErrTolerance = errors.New("no more failed requests are tolerated")

// Config says where answers come from.
type Config struct {
	// Client answers what the Store lacks. If it is nil, that is an error
	// which wraps ErrNotStored.
	Client Completer
	Store  cache.Store // never nil
	Budget *Budget     // bounds the calls; nil for no bound
	// Concurrency is how many calls run at once, over all uses; 0 means
	// DefaultConcurrency.
	Concurrency int
	// Tolerate is how many requests may fail on their own account, such as
	// prompts that are too long, before the run ends.
	Tolerate int
	// LeftOut, if not nil, is told once of each parameter that a model refuses and that
	// questions are asked without.
	LeftOut func(what string)
	// Choose says whether the other form of questions that have one is asked. It
	// is called whenever the store lacks both, concurrently, and may use the
	// Asker. Nil means no.
	Choose func(context.Context) (other bool, err error)
}

// Question is one request.
type Question struct {
	Request cache.Request // as the store knows it
	Key     cache.Key     // of Request
	Wire    llm.Request   // as the client is given it
	Client  Completer     // nil means that of the Config
	Chosen  []string      // parameters that the user chose: they are sent, also where the model refuses them

	// For Plan:
	Expected int // estimated tokens of the answer; 0 where nothing is known of it
	// Follow is how many requests are sure to follow. Each repeats this one
	// and the answer to it.
	Follow int

	// Other is the same question in another form, nil for none. A stored answer
	// to either serves, to this one first; where there is none, Config.Choose
	// says which is asked.
	Other *Question
}

// Result is what became of a question.
type Result struct {
	Answer cache.Answer // meaningless beside an Err
	Params cache.Params // that the answer was asked for with
	// Called says that the model was called for it. Of equal questions that
	// share a call, one is told so.
	Called bool
	// Err is why there is no answer. If it is Tolerated, it concerns this
	// question alone; else it ends the run.
	Err       error
	Tolerated bool
	// Other says that the result is that of the question's other form.
	Other bool
}

// Asker asks. It is safe for concurrent use: all uses share its bound on
// calls, and calls in flight.
type Asker struct {
	cfg     Config
	store   *keptStore
	answers *cache.Answers
	slots   chan struct{} // holds one element for each call
	puts    chan struct{} // and one for each answer that is being stored

	mu    sync.Mutex
	calls map[cache.Key]*call // in flight, or about to begin

	refused *refusals

	answered  atomic.Bool  // the model has answered, in this run or an earlier one
	tolerated atomic.Int64 // calls that failed on their own account
}

// Concurrency is how many calls run at once.
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
		refused: newRefusals(cfg.Store, cfg.LeftOut),
	}
}

// client is who answers a question, or nil.
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

package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/embeddings"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/redact"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
)

// serverFlags say which servers are called, how many calls run at a time, and where
// answers are stored.
type serverFlags struct {
	cache       string
	offline     bool
	baseURLs    []string
	concurrency int
	timeout     time.Duration
	retries     int
	wait        time.Duration
	announced   *sync.Once // that OpenAI is asked, as no server is named
	clients     *sync.Map  // by endpoint and server
}

// defaultConcurrency is what a small server can take. A server that is asked for too much
// refuses calls, which wait and are tried again.
const defaultConcurrency = 32

// register adds the flags of a command that asks servers for answers, or for vectors.
func (s *serverFlags) register(cmd *cobra.Command, answer string) {
	s.announced, s.clients = &sync.Once{}, &sync.Map{}
	flag := modelFlags.of(cmd)
	flag("cache", plain(&s.cache, "refract-cache.sqlite"), "`FILE` or postgres:// address that stores every "+answer, fromConfig, neutral, names(writesCache), checked(cache.CheckName))
	flag("offline", plain(&s.offline, false), "make no call: every "+answer+" must be in the cache", neutral, withMatrix)
	flag("base-url", plain(&s.baseURLs, nil), "`URL` of a server, ending in /v1 (repeatable; default OPENAI_BASE_URL, or OpenAI)", shown, fromConfig, neutral)
	flag("concurrency", plain(&s.concurrency, defaultConcurrency), "most calls at a time, to each server", fromConfig, neutral, atLeast(1))
	flag("timeout", plain(&s.timeout, llm.DefaultTimeout), "time limit of one attempt", fromConfig, neutral, inRange("more than 0", func(v float64) bool { return v > 0 }))
	flag("retries", plain(&s.retries, llm.DefaultMaxRetries), "attempts after the first, not counting waits that a server asks for; 0 for none, and for no such wait", fromConfig, neutral, atLeast(0))
	flag("wait", plain(&s.wait, 0), "how long to wait for servers that are not ready yet, such as 30m; the waits that a server asks for may take so long for a call, or 10m", fromConfig, neutral)
}

// callFlags are the flags of commands that ask models for text: servers, tolerated
// failures and budgets.
type callFlags struct {
	serverFlags
	tolerate int
	prices   string
	maxCost  float64
	maxCalls int
	maxTime  time.Duration
	dryRun   bool
}

// register adds them, with what is known of a command's prices.
func (c *callFlags) register(cmd *cobra.Command, answer string, ofPrices ...fact) {
	c.serverFlags.register(cmd, answer)
	modelFlags.of(cmd)("tolerate", plain(&c.tolerate, 100), "requests that may fail by themselves, such as too long prompts, while the server answers others, before the run stops", neutral, atLeast(0))
	flag, ofPrices := budgetFlags.of(cmd), append(ofPrices, fromConfig)
	flag("prices", &parsed[string]{to: &c.prices, parse: asIs, kind: tableType}, "YAML or JSON `FILE` with the prices of models", append(ofPrices, names(readsPrices))...)
	flag("max-cost", plain(&c.maxCost, 0), "stop before this run costs more", append(ofPrices, aboveZero)...)
	flag("max-calls", plain(&c.maxCalls, 0), "stop after this many calls", fromConfig, aboveZero)
	flag("max-time", plain(&c.maxTime, 0), "start no call after this time, such as 8h", fromConfig, aboveZero)
}

// registerDryRun adds --dry-run.
func (c *callFlags) registerDryRun(cmd *cobra.Command, makes string) {
	budgetFlags.of(cmd)("dry-run", plain(&c.dryRun, false), "show calls, tokens and cost to come, and "+makes, shown, notByHuman)
}

// calling reports whether the run may make calls.
func (c *callFlags) calling() bool { return !c.offline && !c.dryRun }

func (c *callFlags) limits() ask.Limits {
	return ask.Limits{Calls: c.maxCalls, Cost: c.maxCost, Time: c.maxTime}
}

// readPrices reads the table of prices, if there is one. With --max-cost it must have
// the models.
func (c *callFlags) readPrices(models ...string) (ask.Prices, error) {
	if c.prices == "" {
		if c.maxCost > 0 {
			return nil, usagef("--max-cost needs --prices: a file with the prices of the models")
		}
		return nil, nil
	}
	name, in := "--prices", io.Reader(strings.NewReader(c.prices))
	if !strings.HasPrefix(c.prices, "{") {
		file, err := os.Open(c.prices)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		name, in = c.prices, file
	}
	prices, err := ask.ReadPrices(name, in)
	if err != nil {
		return nil, err
	}
	for _, m := range models {
		if _, err := prices.For(m); err != nil {
			return nil, usagef("%s: %w", name, err)
		}
	}
	return prices, nil
}

// openStore opens the cache, and returns what closes it. A dry run finds an empty one where
// there is none yet. What the cache cannot store is written elsewhere.
func (c *callFlags) openStore(ctx context.Context, e *env) (opened cache.Store, end func(), err error) {
	mode := []cache.Option{e.cacheWarnings()}
	if !c.calling() {
		mode = append(mode, cache.ReadOnly())
	}
	db, err := cache.Open(ctx, c.cache, mode...)
	switch {
	case c.dryRun && errors.Is(err, fs.ErrNotExist) && !cache.IsPostgres(c.cache):
		return cache.NewMemory(), func() {}, nil
	case err != nil:
		return nil, nil, err // not db: a nil *cache.Database is not a nil store
	case !c.calling():
		return db, func() { db.Close() }, nil
	}
	dir := "."
	if f := e.command.Flags().Lookup("output"); f != nil {
		dir = filepath.Dir(f.Value.String())
	}
	spare := cache.NewSpare(db, c.cache, dir, os.TempDir())
	n, err := spare.TakeUp(ctx)
	if n > 0 {
		e.note("%s that an earlier run could not store: now in %s", english.Thousands(n, "answer"), c.storedIn())
	}
	if err != nil {
		e.warn("answers that an earlier run could not store are not taken up: %v", err)
	}
	return spare, func() { c.closeSpare(e, spare) }, nil
}

// closeSpare closes the cache, and says what it could not store.
func (c *callFlags) closeSpare(e *env, spare *cache.Spare) {
	if saved, _, _ := spare.Unstored(); saved > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_, _ = spare.TakeUp(ctx) // there may be room again; if not, the warning below says what is left
		cancel()
	}
	saved, files, lost := spare.Unstored()
	if saved > 0 {
		e.warn("%s could not be stored, and wait in %s: the next run with this cache and the same output takes them up, as does refract cache import %s FILE", english.Thousands(saved, "answer"), strings.Join(files, " and "), c.storedIn())
	}
	if lost > 0 {
		e.warn("%s could neither be stored nor written to the output's folder or the temporary one, and are lost", english.Thousands(lost, "answer"))
	}
	spare.Close()
}

// storedIn is the name of the cache in messages, without secrets.
func (s *serverFlags) storedIn() string { return redact.Address(cache.Shown(s.cache)) }

// leftOut notes that a model refuses a parameter. If an earlier run found that, its records
// show it.
func (e *env) leftOut(what string, earlier bool) {
	if !earlier {
		e.note("%s", what)
	}
}

// cacheWarnings makes a cache warn while it waits.
func (e *env) cacheWarnings() cache.Option { return cache.Tell(func(m string) { e.warn("%s", m) }) }

// urls are the servers to ask, at least one.
func (s *serverFlags) urls(e *env, service llm.Service) []string {
	if len(s.baseURLs) > 0 {
		return s.baseURLs
	}
	if named := e.getenv(service.Address); named != "" {
		urls := strings.Fields(strings.ReplaceAll(named, ",", " "))
		for i, u := range urls {
			if service == llm.Messages.Service() { // Anthropic's clients expect an address without the version
				urls[i] = strings.TrimSuffix(strings.TrimRight(u, "/"), "/v1") + "/v1"
			}
		}
		return urls
	}
	return []string{service.URL}
}

// atOnce is the number of calls at a time, over all servers.
func (s *serverFlags) atOnce(e *env) int { return s.concurrency * len(s.urls(e, llm.Chat.Service())) }

// config is the configuration of a client, without its servers.
func (s *serverFlags) config() llm.Config {
	cfg := llm.Config{
		MaxInFlight: s.concurrency,
		Timeout:     s.timeout, MaxRetries: s.retries, MaxRetryWait: max(s.wait, llm.DefaultMaxRetryWait),
		UserAgent: "refract/" + refract.Version,
	}
	if s.retries == 0 {
		cfg.MaxRetries = -1 // the client's word for none
	}
	return cfg
}

// client is the client of all servers, or of the named one, which it waits for at first.
func (s *serverFlags) client(e *env, endpoint llm.Endpoint, server string) (*llm.Client, error) {
	key := string(endpoint) + " " + server
	if c, made := s.clients.Load(key); made {
		return c.(*llm.Client), nil
	}
	cfg := s.config()
	cfg.Endpoint, cfg.Wait, cfg.Warn = endpoint, s.wait, func(err error) { e.warn("%v", err) }
	service := endpoint.Service()
	urls := s.urls(e, service)
	unnamed := server == "" && len(s.baseURLs) == 0 && e.getenv(service.Address) == ""
	if server != "" {
		urls = []string{server}
	}
	cfg.Announce = func() {
		s.announced.Do(func() {
			if unnamed {
				e.note("neither --base-url nor %s is set: the run asks %s", service.Address, service.URL)
			}
			if slices.Contains(urls, service.URL) && e.getenv(service.Key) == "" {
				e.warn("%s is not set, and %s wants a key", service.Key, service.URL)
			}
		})
	}
	for _, url := range urls {
		cfg.Servers = append(cfg.Servers, llm.Server{BaseURL: url, APIKey: e.getenv(service.Key)})
	}
	client, err := llm.New(cfg)
	if err != nil {
		return nil, usagef("%w", err)
	}
	s.clients.Store(key, client)
	return client, nil
}

// asked is the client of a run, nil if nothing is called. A dry run has made one, to find what is wrong
// with its settings.
func (c *callFlags) asked(e *env, endpoint llm.Endpoint, server string) (*llm.Client, error) {
	if c.offline {
		return nil, nil
	}
	client, err := c.client(e, endpoint, server)
	if c.dryRun || err != nil {
		return nil, err
	}
	return client, nil
}

// completer is the same for questions.
func (c *callFlags) completer(e *env, endpoint llm.Endpoint, server string) (ask.Completer, error) {
	if client, err := c.asked(e, endpoint, server); client == nil {
		return nil, err // not client: a nil *llm.Client is not a nil Completer
	} else {
		return client, nil
	}
}

// watch makes a run's progress say what its calls wait for.
func (s *serverFlags) watch(p *report.Progress) *report.Progress {
	p.Watch(func() string {
		var all llm.Load
		s.clients.Range(func(_, client any) bool {
			l := client.(*llm.Client).Load()
			all.InFlight += l.InFlight
			all.Retrying += l.Retrying
			all.Failure = cmp.Or(l.Failure, all.Failure)
			if l.Paused.After(all.Paused) {
				all.Paused = l.Paused
			}
			return true
		})
		var says []string
		if all.InFlight > 0 {
			says = append(says, english.Count(all.InFlight, "call")+" in flight")
		}
		if all.Retrying > 0 {
			says = append(says, fmt.Sprintf("%d to be tried again as a server %s", all.Retrying, all.Failure))
		}
		if !all.Paused.IsZero() {
			says = append(says, "server pauses until "+all.Paused.Format(time.TimeOnly))
		}
		return strings.Join(says, ", ")
	})
	return p
}

// answered counts the answers of models that a run waits for.
type answered struct {
	mu             sync.Mutex
	called, stored int   // by calls of this run, and from the cache or equal to another
	failed         int   // requests that no answer came to
	tolerated      int   // of them, those that failed by themselves
	why            error // the first of these errors
}

// add counts an answer, and shows that it has come.
func (a *answered) add(p *report.Progress, spend *ask.Budget, r ask.Result) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case r.Err != nil: // asked, refused, or shared with another request
		a.failed++
		p.Count("failed", 1)
		p.Add(1)
		if r.Tolerated { // any other error ends the run, which reports it
			if a.tolerated++; a.why == nil {
				a.why = r.Err
			}
		}
	case !r.Called:
		a.stored++
		p.AddCached(1)
	default:
		a.called++
		p.Add(1)
		p.Count("tokens", r.Answer.PromptTokens+r.Answer.CompletionTokens)
		showCost(p, spend)
	}
}

// showCost shows what calls have cost so far.
func showCost(p *report.Progress, spend *ask.Budget) {
	if s := spend.Spent(); s.Priced {
		p.Note("cost", fmt.Sprintf("%.4f", s.Cost))
	}
}

// note reports where the answers came from; of names what they are about, or is "".
func (a *answered) note(e *env, of string) {
	failed := ""
	if a.failed > 0 {
		failed = fmt.Sprintf(", %d failed", a.failed)
	}
	if n := a.called + a.stored; n+a.failed > 0 {
		e.note("%s: %d by calls, %d from the cache or equal to others%s", english.Thousands(n, "answer"+of, "answers"+of), a.called, a.stored, failed)
	}
	if a.tolerated > 0 {
		first := fmt.Sprintf(". The first: %v", a.why)
		if of != "" {
			first = "" // the engine already names the cells
		}
		e.warn("%s failed; the next run asks for them again%s", english.Thousands(a.tolerated, "request"), first)
	}
}

// ended reports what the calls cost and, if the run failed with answers stored, the
// command that continues it.
func (c *callFlags) ended(ctx context.Context, e *env, spent ask.Spent, called int, err error) {
	if spent.Priced && spent.Calls > 0 {
		e.note("the calls cost %.4f", spent.Cost)
	}
	if spent.Priced {
		e.warnOf(spent.Guessed, "answers without token counts, each counted at its highest possible cost")
	}
	if err == nil || errors.Is(err, ask.ErrNotStored) || errors.Is(err, embeddings.ErrNotStored) || called == 0 && ctx.Err() == nil {
		return
	}
	e.note("%s of this run stored in %s; this command continues:", english.Count(called, "answer"), c.storedIn())
	e.note("  refract %s", redact.CommandLine(e.args))
	if redact.Hides(e.args) {
		e.note("  first replace USER, QUERY, ADDRESS, SECRET and … by what they hide")
	}
}

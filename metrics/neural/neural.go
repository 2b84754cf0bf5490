package neural

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics"
)

// Name is the name of the metric in a spec.
const Name = "oip"

// KeyVariable is the environment variable that holds the bearer token.
const KeyVariable = "OIP_API_KEY"

// Environment configures metrics.
type Environment struct {
	// Client has limits, timeouts and retries; the servers come from the spec.
	Client llm.Config
	Key    string        // bearer token; "" for none
	Wait   time.Duration // how long to wait for a server that is not ready
	// Budget bounds the number of scoring calls, not their cost; nil means no bound.
	Budget *ask.Budget
	// Failed, if not nil, is called for each row that gets no score although the server scores
	// others. If it returns true, the cells of the row are metrics.Failed; otherwise scoring ends.
	Failed func(why error) bool
	// Warn, if not nil, is called for each of several servers that does not answer at first.
	Warn func(error)
}

// Factory makes metrics "oip:URL/MODEL[,OPTION=VALUE…]". open is called for each new
// metric.
func Factory(open func(context.Context) (Environment, error)) metrics.Factory {
	return metrics.Factory{
		Name: Name, Runs: "OIP server", Summary: "a neural metric on a server of the Open Inference Protocol: COMET, BERTScore, …", Tail: "URL/MODEL[,OPTION=VALUE…]", Options: options,
		New: func(ctx context.Context, v *metrics.Values) (metrics.Metric, error) {
			spec, err := parseSpec(v)
			if err != nil {
				return nil, v.Wrong(err)
			}
			env, err := open(ctx)
			if err != nil {
				return nil, err
			}
			return newMetric(ctx, spec, env)
		},
	}
}

// metric is a model on servers. It is safe for concurrent use.
type metric struct {
	spec   spec
	client *llm.Client
	budget *ask.Budget // of the scoring calls
	failed func(why error) bool
	why    atomic.Pointer[error] // the first of a row without a score
	scored atomic.Bool           // some row has a score
	open   atomic.Int32          // calls of Score
	form   *form
	info   metrics.Info
	sig    metrics.Signature
	first  *result // the answer that later ones must agree with

	witness llm.Witness
	calls   *semaphore.Weighted // requests at a time
	ids     atomic.Int64
}

// inFlight is the number of concurrent requests per server: enough to keep it busy while
// others are on their way.
const inFlight = 4

// newMetric asks the servers about the model and returns it as a metric, or a
// *metrics.StartError.
func newMetric(ctx context.Context, s spec, env Environment) (metrics.Metric, error) {
	m := &metric{spec: s, budget: env.Budget, failed: env.Failed}
	cfg := env.Client
	for _, u := range s.urls {
		cfg.Servers = append(cfg.Servers, llm.Server{BaseURL: u, APIKey: env.Key})
	}
	cfg.Protocol = &llm.Protocol{Health: llm.Call{Method: http.MethodGet, Path: "/v2/health/ready", Model: s.model, Most: 1 << 20, Read: ready}, Key: KeyVariable}
	cfg.MaxInFlight = min(inFlight, cmp.Or(cfg.MaxInFlight, inFlight))
	most := cfg.MaxInFlight * len(s.urls)
	m.calls = semaphore.NewWeighted(int64(most))
	var err error
	if m.client, err = llm.New(cfg); err != nil {
		return nil, err
	}
	if err := m.begin(ctx, env); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, &metrics.StartError{Name: s.name(), Err: err}
	}
	m.info.Pace = metrics.Pace{Batch: 256, Calls: most} // a call has room for a few requests with many texts
	return m, nil
}

// begin asks the servers about the model and has it score one pair, which shows the model's
// facts.
func (m *metric) begin(ctx context.Context, env Environment) error {
	d, err := m.describe(ctx, env)
	if err != nil {
		return err
	}
	if v := m.spec.version; v != "" && len(d.Versions) > 0 && !slices.Contains(d.Versions, v) {
		return fmt.Errorf("the model has no version %q: the server has %s; leave version out to take its choice", v, strings.Join(d.Versions, ", "))
	}
	if m.form, err = formOf(d, m.spec.output); err != nil {
		return err
	}
	first, err := m.ask(ctx, []scored{{row: known}})
	if err == nil && math.IsNaN(first.scores[0]) {
		err = fmt.Errorf("the server gave no number for the text %q", known[hypothesis])
	}
	if err != nil {
		return err
	}
	facts := first.facts
	if m.info, err = m.spec.info(facts); err != nil {
		return err
	}
	if facts != nil && facts.Needs != nil && slices.Contains(facts.Needs, inSource) != m.form.reads[source] {
		return fmt.Errorf("the model's facts say that it needs %q, and its inputs are %s", facts.Needs, names(d.Inputs))
	}
	m.first, m.info.Explains = first, m.form.spans
	m.info.Storable = facts != nil // else we cannot know when a model's numbers change
	m.info.Name, m.info.NeedsSource, m.info.NeedsReferences = m.spec.name(), m.form.reads[source], m.form.reads[reference]
	m.sig = metrics.Signature{{Key: "model", Value: m.spec.model}}
	m.sig = m.sig.With(slices.Concat(
		metrics.Given("model-version", first.version, ""),
		metrics.Given("platform", d.Platform, ""),
		metrics.Given("output", m.spec.output, defaultOutput),
	)...)
	if facts != nil {
		m.sig = facts.sign(m.sig)
	}
	return nil
}

// known is the pair that is scored at first.
var known = row{"The weather is fine today.", "The weather is fine today.", "The weather is fine today."}

// describe returns what all servers say about the model. Servers that do not answer are
// skipped: if they recover, their answers must agree with the first one.
func (m *metric) describe(ctx context.Context, env Environment) (*description, error) {
	faults := m.client.Await(ctx, "", env.Wait)
	found := make([]description, len(faults))
	for i, err := range m.client.Each(ctx, func(i int) llm.Call { return m.spec.metadata(&found[i]) }) {
		faults[i] = cmp.Or(faults[i], err)
	}
	well := slices.Index(faults, nil)
	if well < 0 {
		err := faults[0]
		for _, e := range faults[1:] {
			err = fmt.Errorf("%w; %w", err, e)
		}
		return nil, err
	}
	for i, err := range faults {
		if err == nil && !reflect.DeepEqual(found[i], found[well]) {
			return nil, fmt.Errorf("servers have different models of this name: %.600q and %.600q", fmt.Sprintf("%+v", found[well]), fmt.Sprintf("%+v", found[i]))
		}
		if err != nil && env.Warn != nil {
			env.Warn(fmt.Errorf("%s goes on without a server: %w", m.spec.name(), err))
		}
	}
	return &found[well], nil
}

// Info implements metrics.Metric.
func (m *metric) Info() metrics.Info { return m.info }

// Signature implements metrics.Metric.
func (m *metric) Signature(metrics.Level) metrics.Signature { return m.sig }

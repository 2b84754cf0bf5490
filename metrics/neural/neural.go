package neural

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics"
)

// Name is that of the metric in a spec.
const Name = "oip"

// KeyVariable is the environment variable that holds the bearer token.
const KeyVariable = "OIP_API_KEY"

// Environment gives metrics the ways of a program.
type Environment struct {
	// Client has limits, times and retries; its servers are those of the spec.
	Client llm.Config
	Key    string        // bearer token of all servers; "" for none
	Wait   time.Duration // for servers that are not ready at first
	// Budget bounds the calls that score, without a cost; nil for no bound.
	Budget *ask.Budget
	// LookAhead makes metrics that look ahead alone: they ask what the model is, and
	// for no score.
	LookAhead bool
	// Warn, if not nil, is told of each server of several that does not answer at first.
	Warn func(error)
}

// Factory makes metrics "oip:URL/MODEL[,OPTION=VALUE…]". open is called for each
// metric that is made.
func Factory(open func(context.Context) (Environment, error)) metrics.Factory {
	return metrics.Factory{
		Name: Name, Runs: metrics.Inference, Summary: "a neural metric on a server of the Open Inference Protocol: COMET, BERTScore, …", Tail: tail, Options: options,
		New: func(ctx context.Context, v *metrics.Values) (metrics.Metric, error) {
			spec, err := ParseSpec(v.Tail())
			if err != nil {
				return nil, v.Wrong(err)
			}
			env, err := open(ctx)
			if err != nil {
				return nil, err
			}
			return New(ctx, spec, env)
		},
	}
}

// Metric is a model on servers. It is safe for concurrent use.
type Metric struct {
	spec   Spec
	client *llm.Client
	budget *ask.Budget
	wire   *rest
	form   *form
	info   metrics.Info
	sig    metrics.Signature
	first  *result // the answer that later ones must agree with
	at     string  // the server that gave it

	size  *atomic.Int64       // bytes of text in a request, at most
	calls *semaphore.Weighted // requests at a time
	most  int                 // of them
	ids   atomic.Int64
}

var (
	_ metrics.NativeScorer = (*Metric)(nil)
	_ metrics.Foreseeing   = (*Metric)(nil)
)

// inFlight is how many requests a server has at a time: enough to keep it busy
// while others are on their way.
const inFlight = 4

// New asks the servers what the model is, and returns it as a metric, or a
// *metrics.StartError.
func New(ctx context.Context, spec Spec, env Environment) (*Metric, error) {
	m := &Metric{spec: spec, budget: env.Budget, size: size(cmp.Or(spec.Bytes, defaultSize))}
	cfg := env.Client
	m.wire = &rest{model: spec.Model, version: spec.Version}
	for _, u := range spec.URLs {
		cfg.Servers = append(cfg.Servers, llm.Server{BaseURL: u, APIKey: env.Key})
	}
	cfg.Protocol = &llm.Protocol{Health: m.wire.ready(), Key: KeyVariable}
	perServer := min(inFlight, cmp.Or(cfg.MaxInFlight, inFlight))
	cfg.MaxInFlight = perServer
	m.most = perServer * len(spec.URLs)
	m.calls = semaphore.NewWeighted(int64(m.most))
	var err error
	if m.client, err = llm.New(cfg); err != nil {
		return nil, err
	}
	if err := m.begin(ctx, env); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, &metrics.StartError{Name: spec.name(), Err: err}
	}
	return m, nil
}

// begin asks the servers what the model is, and has it score one pair, unless it is
// to look ahead.
func (m *Metric) begin(ctx context.Context, env Environment) error {
	faults := m.client.Await(ctx, "", env.Wait)
	if err := ctx.Err(); err != nil {
		return err
	}
	if !slices.Contains(faults, nil) {
		return joined(faults)
	}
	found := make([]description, len(faults))
	for i, err := range m.client.Each(ctx, func(i int) llm.Call { return m.wire.metadata(&found[i]) }) {
		faults[i] = cmp.Or(faults[i], err)
	}
	d, err := m.agreed(found, faults, env.Warn)
	if err != nil {
		return err
	}
	if v := m.spec.Version; v != "" && len(d.Versions) > 0 && !slices.Contains(d.Versions, v) {
		return fmt.Errorf("the model has no version %q: the server has %s; leave version out to take its choice", v, strings.Join(d.Versions, ", "))
	}
	if m.form, err = formOf(d, m.spec.Output); err != nil {
		return err
	}
	if env.LookAhead {
		m.first = new(result)
	} else if err := m.probe(ctx); err != nil {
		return err
	}
	if m.info, err = m.spec.info(m.first.facts); err != nil {
		return err
	}
	if f := m.first.facts; f != nil && f.Needs != nil && slices.Contains(f.Needs, inSource) != m.form.source {
		return fmt.Errorf("the model's facts say that it needs %q, and its inputs are %s", f.Needs, names(d.Inputs))
	}
	m.info.Explains, m.info.Keep = m.form.spans, metrics.KeepAlways
	if m.first.facts == nil {
		m.info.Keep = metrics.KeepNever // a model without facts does not say when its numbers change
	}
	m.info.Pace = metrics.Pace{Batch: 256, Calls: m.most} // a call has room for some requests of many texts
	m.info.Name, m.info.NeedsSource, m.info.NeedsReferences = m.spec.name(), m.form.source, m.form.reference
	m.sig = m.sign(d)
	return nil
}

// joined are errors in a line.
func joined(errs []error) error {
	err := errs[0]
	for _, e := range errs[1:] {
		err = fmt.Errorf("%w; %w", err, e)
	}
	return err
}

// agreed is what all servers say of the model, but for those that say nothing: they
// may be well later, and are held to the first answer then.
func (m *Metric) agreed(found []description, faults []error, warn func(error)) (*description, error) {
	first := -1
	for i, err := range faults {
		switch {
		case err != nil:
		case first < 0:
			first = i
		case fmt.Sprint(found[i]) != fmt.Sprint(found[first]):
			return nil, fmt.Errorf("servers have different models of this name: %.600q and %.600q", fmt.Sprintf("%+v", found[first]), fmt.Sprintf("%+v", found[i]))
		}
	}
	if first < 0 {
		return nil, joined(faults)
	}
	for _, err := range faults {
		if err != nil && warn != nil {
			warn(fmt.Errorf("%s goes on without a server: %w", m.spec.name(), err))
		}
	}
	return &found[first], nil
}

// probe scores one pair, and keeps what the model says of itself.
func (m *Metric) probe(ctx context.Context) error {
	const text = "The weather is fine today."
	r, server, err := m.ask(ctx, []row{{text, text, []string{text}}})
	m.first, m.at = r, server
	return err
}

func (m *Metric) sign(d *description) metrics.Signature {
	sig := metrics.Signature{{Key: "model", Value: m.spec.Model}}
	if m.first.version != "" {
		sig = sig.With("model-version", m.first.version)
	}
	if d.Platform != "" {
		sig = sig.With("platform", d.Platform)
	}
	if m.spec.Output != defaultOutput {
		sig = sig.With("output", m.spec.Output)
	}
	if f := m.first.facts; f != nil {
		sig = f.sign(sig)
	}
	return sig
}

// Info implements metrics.Metric.
func (m *Metric) Info() metrics.Info { return m.info }

// Signature implements metrics.Metric.
func (m *Metric) Signature(metrics.Level) metrics.Signature { return m.sig }

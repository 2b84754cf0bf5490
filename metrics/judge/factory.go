package judge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// Environment gives judges their models.
type Environment struct {
	Asker *ask.Asker // if nil, judges can only be described; they cannot score
	// Model is used by judges that are tuned to no checkpoint, if their spec names none.
	Model    string
	Policy   Policy // if the spec sets none
	Hardened bool   // if the spec does not say
	// Source and Target are the names of the dataset's languages, such as "German", for judges
	// whose spec does not give sl and tl; "" if unknown.
	Source, Target string
	// Client returns the client for a judge and the server that its spec names ("" for the
	// default ones). Nil means the Asker's client.
	Client func(r *Resolved, baseURL string) (ask.Completer, error)
	// Observe, if not nil, is called with every answer, from any number of goroutines.
	Observe func(ask.Result)
}

// FileMetric is the name of the metric "judge-file:FILE[,OPTION=VALUE…]".
const FileMetric = "judge-file"

// Registry lists judges as metrics: the built-in ones, their hardened forms, and
// FileMetric, whose definitions must not use a reserved name. open is called for each new
// judge and returns its environment.
func Registry(open func(context.Context) (Environment, error), reserved ...string) metrics.Registry {
	const options = "OPTION=VALUE,…"
	make := func(ctx context.Context, d *Definition, hardened bool, spec string) (metrics.Metric, error) {
		env, err := open(ctx)
		if err != nil {
			return nil, err
		}
		env.Hardened = env.Hardened || hardened
		return metrics.Registry{d.Factory(env)}.Parse(ctx, strings.TrimSuffix(spec, ":"))
	}
	var all metrics.Registry
	for _, hardened := range []bool{false, true} {
		for _, name := range Names() {
			f := metrics.Factory{Name: name, Tail: options, Unlisted: hardened, New: func(ctx context.Context, v *metrics.Values) (metrics.Metric, error) {
				return make(ctx, mustRead(name), hardened, name+":"+v.Tail())
			}}
			if hardened {
				f.Name += HardenedSuffix // a hardened metric's name is also a spec of it
			}
			all = append(all, f)
		}
	}
	return append(all, metrics.Factory{
		Name: FileMetric, Tail: "FILE[," + options + "]", Unlisted: true,
		New: func(ctx context.Context, v *metrics.Values) (metrics.Metric, error) {
			path, options, _ := strings.Cut(v.Tail(), ",")
			d, err := ReadDefinition(path, reserved...)
			if err != nil {
				return nil, err
			}
			m, err := make(ctx, d, false, d.Name+":"+options)
			if err != nil {
				err = fmt.Errorf("%s: %w", path, err)
			}
			return m, err
		},
	})
}

// ReadDefinition reads a definition from a file. Its name must not be a built-in judge's or
// a reserved one.
func ReadDefinition(path string, reserved ...string) (*Definition, error) {
	if path == "" {
		return nil, errors.New("no file is named: write " + FileMetric + ":my-judge.yaml")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, err := parseDefinition(path, f)
	if err != nil {
		return nil, err
	}
	if slices.Contains(append(Names(), reserved...), d.Name) {
		return nil, fmt.Errorf("%s: %q is the name of a built-in metric; give the judge another one", path, d.Name)
	}
	return d, nil
}

// FindSpec finds the definition that a spec names, by "NAME" or FileMetric and a file, and
// the options after it.
func FindSpec(spec string, reserved ...string) (*Definition, map[string]string, error) {
	name, rest, _ := strings.Cut(spec, ":")
	path, options, _ := strings.Cut(rest, ",")
	read := func() (*Definition, error) { return ReadDefinition(path, reserved...) }
	if name != FileMetric {
		options, read = rest, func() (*Definition, error) { return Find(name) }
	}
	d, err := read()
	if err != nil {
		return nil, nil, err
	}
	set := map[string]string{}
	if options != "" {
		err = metrics.EachOption(options, func(key, value string, bare bool) error {
			if set[key] = value; bare {
				return fmt.Errorf("option %q: want name=value", key)
			}
			return nil
		})
	}
	return d, set, err
}

// OptionServer is the option that names the server of a metric that asks a model.
const OptionServer = "base-url"

// The options that every judge has.
const (
	optionModel       = "model"
	optionRevision    = "revision"
	optionServer      = OptionServer
	optionUnparseable = "unparseable"
	optionHardened    = "hardened"
	optionSamples     = "samples"
	optionMaxTokens   = "max-tokens"
	optionCombine     = "combine"
)

// optionEndpoint chooses between the endpoints for chats, unless a definition has an option of that
// name.
const optionEndpoint = "endpoint"

func (d *Definition) otherEndpoint() bool {
	own := slices.ContainsFunc(d.Options, func(o option) bool { return o.Name == optionEndpoint })
	return cmp.Or(d.Endpoint, llm.Chat) == llm.Chat && !own
}

func commonOptions(d *Definition) []metrics.Option {
	model := "--judge-model"
	if d.Model != "" {
		model = "the judge's own"
	}
	return []metrics.Option{
		{Key: optionModel, Default: model, Values: "NAME", Doc: "model to ask"},
		{Key: optionRevision, Values: "TEXT", Doc: "revision of the model's weights, for the store and the signature"},
		{Key: optionServer, Default: "--base-url", Values: "URL", Doc: "server of this judge's model"},
		{Key: optionUnparseable, Default: "exclude", Values: "exclude|zero|NUMBER|retry[:N]|fail", Doc: "what an answer without a score counts as"},
		{Key: optionHardened, Default: "no", Values: "yes|no", Doc: "fence the texts off as data: another metric than the published one"},
		{Key: optionMaxTokens, Default: "the judge's own", Values: "N", Doc: "longest answer, with the reasoning of a model that thinks"},
		{Key: optionSamples, Default: strconv.Itoa(max(1, d.Sampling.Samples)), Values: "N", Doc: "answers that a score is combined of"},
		{Key: optionCombine, Default: string(cmp.Or(d.Sampling.Combine, analysis.Mean)), Values: strings.Join(analysis.Combinations(), "|"), Doc: "how samples are combined"},
	}
}

// isCommonOption reports whether every judge has an option of that name.
func isCommonOption(name string) bool {
	return slices.ContainsFunc(commonOptions(&Definition{}), func(o metrics.Option) bool { return o.Key == name })
}

// Factory makes metrics from specs such as "gemba-da:sl=Chinese,tl=English,model=NAME".
func (d *Definition) Factory(env Environment) metrics.Factory {
	f := metrics.Factory{Name: d.Name, Summary: d.Summary, Runs: "LLM server", Source: d.Source}
	for _, o := range d.Options {
		def := o.Default
		if o.Required {
			def = "required"
		}
		f.Options = append(f.Options, metrics.Option{Key: o.Name, Default: def, Values: o.valuesHelp(), Doc: o.Doc})
	}
	if d.otherEndpoint() {
		f.Options = append(f.Options, metrics.Option{Key: optionEndpoint, Default: string(llm.Chat), Values: string(llm.Chat) + "|" + string(llm.Messages), Doc: "endpoint of the server; Anthropic's is messages"})
	}
	f.Options = append(f.Options, commonOptions(d)...)
	f.New = func(_ context.Context, v *metrics.Values) (metrics.Metric, error) { return d.metric(v, env) }
	return f
}

// resolved is the judge that the options choose.
func (d *Definition) resolved(v *metrics.Values, env Environment) (*Resolved, error) {
	set := map[string]string{}
	languages := map[string]string{"sl": env.Source, "tl": env.Target}
	for _, o := range d.Options {
		switch known := languages[o.Name]; {
		case v.Has(o.Name):
			set[o.Name] = v.String(o.Name, "")
		case o.Required && known != "" && len(o.Choices) == 0:
			set[o.Name] = known
		}
	}
	r, err := d.Resolve(set)
	if err != nil {
		return nil, err
	}
	if d.otherEndpoint() {
		r.endpoint = llm.Endpoint(v.Enum(optionEndpoint, string(r.endpoint), string(llm.Chat), string(llm.Messages)))
	}
	if v.Bool(optionHardened, env.Hardened) {
		return r.Hardened()
	}
	return r, nil
}

func (d *Definition) metric(v *metrics.Values, env Environment) (metrics.Metric, error) {
	r, err := d.resolved(v, env)
	if err != nil {
		return nil, err
	}
	cfg := config{judge: r, asker: env.Asker, policy: env.Policy, observe: env.Observe, revision: v.String(optionRevision, "")}
	cfg.samples = v.Int(optionSamples, d.Sampling.Samples, 1, maxSamples)
	cfg.maxTokens = v.Int(optionMaxTokens, d.Sampling.MaxTokens, 0, maxAnswer)
	cfg.combine = analysis.Combination(v.Enum(optionCombine, string(d.Sampling.Combine), analysis.Combinations()...))
	cfg.model = cmp.Or(v.String(optionModel, ""), r.Model(), env.Model)
	switch {
	case v.Has(optionMaxTokens) && (r.IsLikelihood() || cfg.maxTokens == 0):
		return nil, errors.New("option max-tokens: at least 1, and of a judge that writes an answer")
	case cfg.samples > 1 && r.IsLikelihood():
		return nil, errors.New("option samples: a likelihood is the same each time")
	case cfg.samples == 1 && v.Has(optionCombine):
		return nil, errors.New("option combine is for more than one sample: add samples=N")
	case cfg.model == "":
		return nil, errors.New("no model is named, and this judge works with any: add model=NAME, or --judge-model")
	}
	if v.Has(optionUnparseable) {
		if cfg.policy, err = ParsePolicy(v.String(optionUnparseable, "")); err != nil {
			return nil, fmt.Errorf("option %s: %w", optionUnparseable, err)
		}
	}
	if env.Client != nil {
		if cfg.client, err = env.Client(r, v.String(optionServer, "")); err != nil {
			return nil, err
		}
	}
	return newJudge(cfg)
}

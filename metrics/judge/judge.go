package judge

import (
	"cmp"
	"errors"
	"strconv"
	"strings"

	"github.com/refract-eval/refract/internal/answer"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// Config says of what a Judge is made.
type Config struct {
	// Judge says what is asked, and how answers are read.
	Judge *Resolved
	// Model is asked; "" means the checkpoint that the definition names.
	Model    string
	Revision string // of the model's weights; may be ""
	Asker    *ask.Asker
	// Client answers what the Asker's store lacks; nil means the Asker's own.
	Client ask.Completer
	Policy Policy // for answers without a score
	// Samples is how many answers a score is combined of, and Combine how; zero
	// values stand for those of the definition.
	Samples int
	Combine analysis.Combination
	// Observe, if not nil, is told of every answer. It is called from any
	// number of goroutines.
	Observe func(Event)
}

// Event describes one answer.
type Event struct {
	Called bool // the model was called for it; else it was stored, or equal to another
	Failed bool // there is none
	// Tokens as the server counted them.
	PromptTokens, CompletionTokens int
}

// Judge is a metric whose scores a language model states. It is safe for
// concurrent use.
type Judge struct {
	cfg    Config
	parser answer.Parser   // nil for a likelihood
	errors []answer.Parser // of the answers to the turns before the last; nil where a turn states none
	rules  analysis.Rules
	info   metrics.Info
}

var (
	_ metrics.Foreseeing = (*Judge)(nil)
)

// New returns a judge, or why the configuration cannot work.
func New(cfg Config) (*Judge, error) {
	r := cfg.Judge
	cfg.Model = cmp.Or(cfg.Model, r.Model())
	if cfg.Model == "" {
		return nil, errors.New("no model is named, and the judge works with any: name the one to ask")
	}
	cfg.Samples = cmp.Or(cfg.Samples, r.definition.Sampling.Samples)
	cfg.Combine = cmp.Or(cfg.Combine, r.definition.Sampling.Combine)
	j := &Judge{cfg: cfg, rules: r.Rules()}
	if !r.IsLikelihood() {
		var err error
		if j.parser, err = r.Parser(); err != nil {
			return nil, err
		}
		for _, t := range r.turns[:len(r.turns)-1] {
			var p answer.Parser
			if t.Errors != nil {
				if p, err = answer.New(*t.Errors); err != nil {
					return nil, err
				}
			}
			j.errors = append(j.errors, p)
		}
	}
	j.info = r.Info()
	j.info.Name, j.info.Explains = j.name(), true
	calls := 0
	if cfg.Asker != nil {
		calls = cfg.Asker.Concurrency()
	}
	// The calls of one segment stand next to each other, and there are enough at a time.
	j.info.Pace = metrics.Pace{Batch: min(max(16, calls), 256), Calls: 2}
	if value, is := j.cfg.Policy.Counts(analysis.Unparseable); is {
		j.info.Lower, j.info.Upper = min(j.info.Lower, value), max(j.info.Upper, value)
	}
	return j, nil
}

// name is the definition's spec with what else tells two metrics apart.
func (j *Judge) name() string {
	var more []string
	if j.cfg.Model != j.cfg.Judge.Model() {
		more = append(more, "model="+j.cfg.Model)
	}
	if j.cfg.Revision != "" {
		more = append(more, "revision="+j.cfg.Revision)
	}
	s := j.cfg.Judge.definition.Sampling
	if j.cfg.Samples != s.Samples {
		more = append(more, optionSamples+"="+strconv.Itoa(j.cfg.Samples))
	}
	if j.cfg.Samples > 1 && j.cfg.Combine != s.Combine {
		more = append(more, optionCombine+"="+string(j.cfg.Combine))
	}
	if p := j.cfg.Policy.String(); p != (Policy{}).String() {
		more = append(more, "unparseable="+p)
	}
	name := j.cfg.Judge.Spec()
	for _, m := range more {
		if strings.Contains(name, ":") {
			name += "," + m
		} else {
			name += ":" + m
		}
	}
	return name
}

// Info implements metrics.Metric.
func (j *Judge) Info() metrics.Info { return j.info }

// Signature implements metrics.Metric. "prompt" is the beginning of
// Resolved.Hash.
func (j *Judge) Signature(metrics.Level) metrics.Signature {
	sig := metrics.Signature{{Key: "model", Value: j.cfg.Model}}
	if j.cfg.Revision != "" {
		sig = sig.With("revision", j.cfg.Revision)
	}
	mode := "faithful"
	if j.cfg.Judge.IsHardened() {
		mode = "hardened"
	}
	sig = sig.With("prompt", j.cfg.Judge.Hash()[:12]).With("mode", mode).With("unparseable", j.cfg.Policy.String())
	if j.cfg.Samples > 1 {
		sig = sig.With("samples", strconv.Itoa(j.cfg.Samples)).With("combine", string(j.cfg.Combine))
	}
	return sig
}

// Resolved returns the definition of the judge.
func (j *Judge) Resolved() *Resolved { return j.cfg.Judge }

// Model returns the name of the model that is asked.
func (j *Judge) Model() string { return j.cfg.Model }

package judge

import (
	"strconv"
	"strings"

	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge/answer"
)

// config says what a Judge is made of.
type config struct {
	judge    *Resolved // the definition: requests, and how answers are read
	model    string
	revision string // of the model's weights; may be ""
	asker    *ask.Asker
	client   ask.Completer // answers what is not stored; nil for the asker's client
	policy   Policy        // for answers without a score
	samples  int           // answers combined into a score
	// maxTokens bounds the answer to each turn.
	maxTokens int
	combine   analysis.Combination
	observe   func(ask.Result)
}

// Judge is a metric whose scores a language model states. It is safe for
// concurrent use.
type Judge struct {
	cfg    config
	parser answer.Parser   // nil for a likelihood
	errors []answer.Parser // for the answers to the turns before the last; nil for a turn without errors
	rules  analysis.Rules
	info   metrics.Info
}

var _ metrics.Foreseeing = (*Judge)(nil)

func newJudge(cfg config) (*Judge, error) {
	r := cfg.judge
	j := &Judge{cfg: cfg, rules: r.answer.Rules()}
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
	if cfg.asker != nil {
		calls = cfg.asker.Concurrency()
	}
	// The calls of one segment are adjacent, and there are enough of them at a time.
	j.info.Pace = metrics.Pace{Batch: min(max(16, calls), 256), Calls: 2}
	if value, is := j.cfg.policy.Counts(analysis.Unparseable); is {
		j.info.Lower, j.info.Upper = min(j.info.Lower, value), max(j.info.Upper, value)
	}
	return j, nil
}

// name is the definition's spec, plus settings that distinguish metrics.
func (j *Judge) name() string {
	var more []string
	add := func(differs bool, option, value string) {
		if differs {
			more = append(more, option+"="+value)
		}
	}
	c, s := j.cfg, j.cfg.judge.definition.Sampling
	add(c.model != c.judge.Model(), optionModel, c.model)
	add(c.revision != "", optionRevision, c.revision)
	add(c.maxTokens != s.MaxTokens, optionMaxTokens, strconv.Itoa(c.maxTokens))
	add(c.samples != s.Samples, optionSamples, strconv.Itoa(c.samples))
	add(c.samples > 1 && c.combine != s.Combine, optionCombine, string(c.combine))
	add(c.policy.String() != (Policy{}).String(), optionUnparseable, c.policy.String())
	name := c.judge.Spec()
	if more == nil {
		return name
	}
	separator := ":"
	if strings.Contains(name, ":") {
		separator = ","
	}
	return name + separator + strings.Join(more, ",")
}

// Info implements metrics.Metric.
func (j *Judge) Info() metrics.Info { return j.info }

// Signature implements metrics.Metric. "prompt" is the start of Resolved.Hash.
func (j *Judge) Signature(metrics.Level) metrics.Signature {
	sig := metrics.Signature{{Key: "model", Value: j.cfg.model}}
	if j.cfg.revision != "" {
		sig = sig.With("revision", j.cfg.revision)
	}
	mode := "faithful"
	if j.cfg.judge.hardened {
		mode = "hardened"
	}
	sig = sig.With("prompt", j.cfg.judge.Hash()[:12]).With("mode", mode).With("unparseable", j.cfg.policy.String())
	if j.cfg.maxTokens != j.cfg.judge.definition.Sampling.MaxTokens {
		sig = sig.With("max_tokens", strconv.Itoa(j.cfg.maxTokens))
	}
	if j.cfg.samples > 1 {
		sig = sig.With("samples", strconv.Itoa(j.cfg.samples)).With("combine", string(j.cfg.combine))
	}
	return sig
}

// Resolved returns the definition of the judge.
func (j *Judge) Resolved() *Resolved { return j.cfg.judge }

// Model returns the name of the judge's model.
func (j *Judge) Model() string { return j.cfg.model }

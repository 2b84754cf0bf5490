package judge

import (
	"strconv"
	"strings"

	"github.com/refract-eval/refract/internal/answer"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// config says of what a Judge is made.
type config struct {
	judge    *Resolved // what is asked, and how answers are read
	model    string
	revision string // of the model's weights; may be ""
	asker    *ask.Asker
	client   ask.Completer // answers what the asker's store lacks; nil for the asker's own
	policy   Policy        // for answers without a score
	samples  int           // answers that a score is combined of
	combine  analysis.Combination
	observe  func(ask.Result)
}

// Judge is a metric whose scores a language model states. It is safe for
// concurrent use.
type Judge struct {
	cfg    config
	parser answer.Parser   // nil for a likelihood
	errors []answer.Parser // of the answers to the turns before the last; nil where a turn states none
	rules  analysis.Rules
	info   metrics.Info
}

var (
	_ metrics.Foreseeing = (*Judge)(nil)
)

func newJudge(cfg config) (*Judge, error) {
	r := cfg.judge
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
	if cfg.asker != nil {
		calls = cfg.asker.Concurrency()
	}
	// The calls of one segment stand next to each other, and there are enough at a time.
	j.info.Pace = metrics.Pace{Batch: min(max(16, calls), 256), Calls: 2}
	if value, is := j.cfg.policy.Counts(analysis.Unparseable); is {
		j.info.Lower, j.info.Upper = min(j.info.Lower, value), max(j.info.Upper, value)
	}
	return j, nil
}

// name is the definition's spec with what else tells two metrics apart.
func (j *Judge) name() string {
	var more []string
	if j.cfg.model != j.cfg.judge.Model() {
		more = append(more, "model="+j.cfg.model)
	}
	if j.cfg.revision != "" {
		more = append(more, "revision="+j.cfg.revision)
	}
	s := j.cfg.judge.definition.Sampling
	if j.cfg.samples != s.Samples {
		more = append(more, optionSamples+"="+strconv.Itoa(j.cfg.samples))
	}
	if j.cfg.samples > 1 && j.cfg.combine != s.Combine {
		more = append(more, optionCombine+"="+string(j.cfg.combine))
	}
	if p := j.cfg.policy.String(); p != (Policy{}).String() {
		more = append(more, "unparseable="+p)
	}
	name := j.cfg.judge.Spec()
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
	sig := metrics.Signature{{Key: "model", Value: j.cfg.model}}
	if j.cfg.revision != "" {
		sig = sig.With("revision", j.cfg.revision)
	}
	mode := "faithful"
	if j.cfg.judge.IsHardened() {
		mode = "hardened"
	}
	sig = sig.With("prompt", j.cfg.judge.Hash()[:12]).With("mode", mode).With("unparseable", j.cfg.policy.String())
	if j.cfg.samples > 1 {
		sig = sig.With("samples", strconv.Itoa(j.cfg.samples)).With("combine", string(j.cfg.combine))
	}
	return sig
}

// Resolved returns the definition of the judge.
func (j *Judge) Resolved() *Resolved { return j.cfg.judge }

// Model returns the name of the model that is asked.
func (j *Judge) Model() string { return j.cfg.model }

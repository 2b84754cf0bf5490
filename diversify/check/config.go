package check

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract/internal/english"
)

// Accepted is the verdict on an answer that may serve as a reference.
const Accepted = "accepted"

// The verdicts on answers that may not, in the order of the checks.
const (
	ReasonBlocked   = "blocked"   // the server withheld the text
	ReasonCut       = "cut"       // the end is missing
	ReasonEmpty     = "empty"     // no text
	ReasonGarbled   = "garbled"   // markup, loops, characters that are no text
	ReasonRefusal   = "refusal"   // speaks of the task in place of doing it
	ReasonCopy      = "copy"      // an original, or the source, unchanged
	ReasonDuplicate = "duplicate" // the same as an accepted answer
	ReasonLanguage  = "language"  // another language than the reference's
	ReasonLength    = "length"    // much shorter or longer than the reference
	ReasonNumbers   = "numbers"   // a number or date is lost, new or changed
	ReasonUnclear   = "unclear"   // likely no rewriting, or not all of it, or more than it
)

// Reasons returns all verdicts but Accepted, in the order of the checks.
func Reasons() []string {
	return []string{ReasonBlocked, ReasonCut, ReasonEmpty, ReasonGarbled, ReasonRefusal, ReasonCopy, ReasonDuplicate,
		ReasonLanguage, ReasonLength, ReasonNumbers, ReasonUnclear}
}

// Checks returns the checks that can be switched on and off: all but
// ReasonBlocked and ReasonEmpty, for an answer without a text never is a
// reference.
func Checks() []string {
	return []string{ReasonCut, ReasonGarbled, ReasonRefusal, ReasonCopy, ReasonDuplicate, ReasonLanguage, ReasonLength, ReasonNumbers, ReasonUnclear}
}

// The defaults of Config.
const (
	DefaultMinRatio     = 0.4
	DefaultMaxRatio     = 2.5
	DefaultSlack        = 50
	DefaultMinListShare = 0.6
	DefaultOverlap      = 0.4
)

// Config says what is cleaned and checked. Its zero value does all that needs
// no Detector.
type Config struct {
	// Cleaning names the steps to apply, of those that Steps lists; nil means
	// all of them, and an empty list none. The order is always that of Steps.
	Cleaning []string
	// Checks names the checks to make, of those that Checks lists; nil means all
	// of them (language if there is a Detector), and an empty list none.
	Checks []string
	// Prompts are the texts that stood before the reference in the requests. An
	// answer that begins with one of them has it taken off.
	Prompts []string

	// Exact compares texts for copies and duplicates byte by byte. Otherwise
	// texts are the same which differ only in Unicode compatibility forms (NFKC),
	// case, punctuation and white space.
	Exact bool

	// MinRatio and MaxRatio bound the length of an answer in characters,
	// divided by that of its reference; 0 means DefaultMinRatio and
	// DefaultMaxRatio. Lengths that differ by Slack characters or less are never
	// at fault, for short texts vary a lot; 0 means DefaultSlack, a negative
	// number no slack. In scripts without spaces between words a third of Slack
	// applies.
	MinRatio, MaxRatio float64
	Slack              int

	// MinListShare is for the check of cut answers: an answer that began with
	// a list number, and is shorter than this share of its reference, is taken for
	// the first item of a list. 0 means DefaultMinListShare; a negative number
	// switches that off.
	MinListShare float64

	// Detector is needed for the language check.
	Detector Detector
	// Overlap spares the Detector work: an answer of which at least this share
	// of words occurs in the reference, and half of it without names, is taken to
	// be in its language. 0 means DefaultOverlap; 1 or more asks the Detector
	// about every answer.
	Overlap float64
}

// Detector tells languages apart.
type Detector interface {
	// Beside returns what tells whether an answer to a reference is in another
	// language than that: what is to be said of it, or "". The answer comes
	// without the words that it shares with the reference, and whole. The function
	// serves one goroutine, Beside many. It fails where it cannot tell, which ends a run.
	Beside(reference string) func(rest, answer string) (string, error)
	// Signature states what changes its answers.
	Signature() string
}

// Checker judges answers. It is safe for concurrent use if its Detector is.
type Checker struct {
	cfg    Config
	on     map[string]bool // names of the checks that were asked for
	steps  []step
	checks []checkStep // those that are made, in order
	// prompts are Config.Prompts in lower case, without white space around.
	prompts []string
}

// New returns a Checker, or says what is wrong with the configuration.
func New(cfg Config) (*Checker, error) {
	c := &Checker{cfg: cfg, on: map[string]bool{}}
	if err := c.complete(); err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	checks := c.cfg.Checks
	if checks == nil {
		checks = Checks()
		if cfg.Detector == nil {
			checks = slices.DeleteFunc(checks, func(s string) bool { return s == ReasonLanguage })
		}
	}
	for _, name := range checks {
		if !slices.Contains(Checks(), name) {
			return nil, fmt.Errorf("check: %s", english.Unknown("check", name, Checks()))
		}
		c.on[name] = true
	}
	if c.on[ReasonLanguage] && cfg.Detector == nil {
		return nil, errors.New("check: the language check needs a Detector")
	}
	for _, name := range cfg.Cleaning {
		if !slices.Contains(Steps(), name) {
			return nil, fmt.Errorf("check: %s", english.Unknown("cleaning step", name, Steps()))
		}
	}
	c.steps = slices.DeleteFunc(allSteps(), func(s step) bool {
		return cfg.Cleaning != nil && !slices.Contains(cfg.Cleaning, s.name)
	})
	c.checks = slices.DeleteFunc(checkSteps(), func(k checkStep) bool { return !c.Makes(k.reason) })
	for _, p := range cfg.Prompts {
		if p = strings.TrimSpace(strings.ToLower(p)); p != "" {
			c.prompts = append(c.prompts, p)
		}
	}
	return c, nil
}

// complete fills in the defaults and refuses what cannot be meant.
func (c *Checker) complete() error {
	cfg := &c.cfg
	for _, f := range []struct {
		name  string
		value *float64
		def   float64
	}{
		{"MinRatio", &cfg.MinRatio, DefaultMinRatio}, {"MaxRatio", &cfg.MaxRatio, DefaultMaxRatio},
		{"MinListShare", &cfg.MinListShare, DefaultMinListShare}, {"Overlap", &cfg.Overlap, DefaultOverlap},
	} {
		if math.IsNaN(*f.value) || math.IsInf(*f.value, 0) {
			return fmt.Errorf("the value of %s is %v; it must be a number", f.name, *f.value)
		}
		if *f.value == 0 {
			*f.value = f.def
		}
	}
	if cfg.Slack == 0 {
		cfg.Slack = DefaultSlack
	}
	switch {
	case cfg.MinRatio < 0 || cfg.MinRatio > 1:
		return fmt.Errorf("the value of MinRatio is %v; it must be above 0 and at most 1", cfg.MinRatio)
	case cfg.MaxRatio < 1:
		return fmt.Errorf("the value of MaxRatio is %v; it must be at least 1", cfg.MaxRatio)
	case cfg.Overlap < 0:
		return fmt.Errorf("the value of Overlap is %v; it must be above 0", cfg.Overlap)
	}
	return nil
}

// Steps returns the names of the cleaning steps that are applied, in order.
func (c *Checker) Steps() []string {
	var names []string
	for _, s := range c.steps {
		names = append(names, s.name)
	}
	return names
}

// Makes reports whether the Checker may give a verdict: whether that check is
// on.
func (c *Checker) Makes(reason string) bool {
	return c.on[reason] || reason == ReasonBlocked || reason == ReasonEmpty
}

// rules is the version of the rules, to be raised with every change of what
// is cleaned or caught.
const rules = "13"

// Signature states all that changes verdicts or cleaned texts, on one line:
// steps, checks and their thresholds, a hash of the prompts, the version of
// the rules. Equal signatures give equal results.
func (c *Checker) Signature() string {
	var b strings.Builder
	list := func(key string, names []string) {
		b.WriteString(key + ":")
		if len(names) == 0 {
			b.WriteString("none")
		}
		b.WriteString(strings.Join(names, "+"))
	}
	var checks []string
	for _, name := range Checks() {
		if c.on[name] {
			checks = append(checks, name)
		}
	}
	list("clean", c.Steps())
	list("|check", checks)
	float := func(key string, f float64) { b.WriteString("|" + key + ":" + strconv.FormatFloat(f, 'g', -1, 64)) }
	if c.on[ReasonCopy] || c.on[ReasonDuplicate] {
		same := "normalized"
		if c.cfg.Exact {
			same = "exact"
		}
		b.WriteString("|same:" + same)
	}
	if c.on[ReasonCut] {
		float("list", c.cfg.MinListShare)
	}
	if c.on[ReasonLength] {
		float("min", c.cfg.MinRatio)
		float("max", c.cfg.MaxRatio)
		float("slack", float64(max(c.cfg.Slack, 0)))
	}
	if c.on[ReasonLanguage] {
		b.WriteString("|detector:" + c.cfg.Detector.Signature())
		float("overlap", c.cfg.Overlap)
	}
	if len(c.prompts) > 0 && slices.ContainsFunc(c.steps, func(s step) bool { return s.name == StepRestated }) {
		h := fnv.New64a()
		for _, p := range c.prompts {
			h.Write([]byte(p + "\x00"))
		}
		fmt.Fprintf(&b, "|prompts:%016x", h.Sum64())
	}
	b.WriteString("|rules:" + rules)
	return b.String()
}

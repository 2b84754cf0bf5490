package check

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
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
	ReasonGarbled   = "garbled"   // markup, characters that are no text
	reasonRefusal   = "refusal"   // refuses the task
	ReasonCopy      = "copy"      // an original, or the source, unchanged
	ReasonDuplicate = "duplicate" // the same as an accepted answer
	ReasonLanguage  = "language"  // another language than the reference's
	reasonLength    = "length"    // much shorter or longer than the reference
	reasonNumbers   = "numbers"   // a number or date is lost, new or changed
	reasonUnclear   = "unclear"   // likely no rewriting, or not all of it, or more than it
	ReasonUnlike    = "unlike"    // few words in common with the reference, and some sign of a reply
)

// Reasons returns all verdicts but Accepted, in the order of the checks.
func Reasons() []string {
	return []string{ReasonBlocked, ReasonCut, ReasonEmpty, ReasonGarbled, reasonRefusal, ReasonCopy, ReasonDuplicate,
		ReasonLanguage, reasonLength, reasonNumbers, reasonUnclear, ReasonUnlike}
}

// Checks returns the checks that can be switched on and off: all but
// ReasonBlocked and ReasonEmpty, for an answer without a text never is a
// reference.
func Checks() []string {
	return slices.DeleteFunc(Reasons(), func(s string) bool { return s == ReasonBlocked || s == ReasonEmpty })
}

// The bounds of the length of an answer in characters, divided by that of its reference.
const minRatio, maxRatio = 0.4, 2.5

// Config says what is checked. Its zero value does all that needs no Detector.
type Config struct {
	// Checks names the checks to make, of those that Checks lists; nil means all
	// of them (language if there is a Detector), and an empty list none.
	Checks []string
	// Prompts are the texts that stood before the reference in the requests. An
	// answer that begins with one of them has it taken off.
	Prompts []string
	// Detector is needed for the language check.
	Detector Detector
}

// Detector tells languages apart.
type Detector interface {
	// Beside returns what tells whether an answer to a reference is in another
	// language than that: what is to be said of it, or "". The answer comes
	// without the words that it shares with the reference, and whole. The function
	// serves one goroutine, Beside many.
	Beside(reference string) func(rest, answer string) string
	// Signature states what changes its answers.
	Signature() string
}

// Checker judges answers. It is safe for concurrent use if its Detector is.
type Checker struct {
	cfg     Config
	prompts []string // in lower case, without white space around
}

// New returns a Checker, or says what is wrong with the configuration.
func New(cfg Config) (*Checker, error) {
	if cfg.Checks == nil {
		cfg.Checks = slices.DeleteFunc(Checks(), func(s string) bool { return s == ReasonLanguage && cfg.Detector == nil })
	}
	for _, name := range cfg.Checks {
		if !slices.Contains(Checks(), name) {
			return nil, fmt.Errorf("check: %s", english.Unknown("check", name, Checks()))
		}
	}
	if slices.Contains(cfg.Checks, ReasonLanguage) && cfg.Detector == nil {
		return nil, errors.New("check: the language check needs a Detector")
	}
	c := &Checker{cfg: cfg}
	for _, p := range cfg.Prompts {
		if p = strings.TrimSpace(strings.ToLower(p)); p != "" {
			c.prompts = append(c.prompts, p)
		}
	}
	return c, nil
}

// Makes reports whether the Checker may give a verdict: whether that check is
// on.
func (c *Checker) Makes(reason string) bool {
	return slices.Contains(c.cfg.Checks, reason) || reason == ReasonBlocked || reason == ReasonEmpty
}

// rules is the version of the rules, to be raised with every change of what
// is cleaned or caught.
const rules = "15"

// Signature states all that changes verdicts or cleaned texts, on one line:
// checks and their bounds, a hash of the prompts, the version of the rules.
// Equal signatures give equal results.
func (c *Checker) Signature() string {
	var checks []string
	for _, name := range Checks() {
		if c.Makes(name) {
			checks = append(checks, name)
		}
	}
	s := "check:" + cmp.Or(strings.Join(checks, "+"), "none")
	if c.Makes(reasonLength) {
		s += fmt.Sprintf("|min:%v|max:%v", minRatio, maxRatio)
	}
	if c.Makes(ReasonLanguage) {
		s += "|detector:" + c.cfg.Detector.Signature()
	}
	if len(c.prompts) > 0 {
		h := fnv.New64a()
		h.Write([]byte(strings.Join(c.prompts, "\x00")))
		s += fmt.Sprintf("|prompts:%016x", h.Sum64())
	}
	return s + "|rules:" + rules
}

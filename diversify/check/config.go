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

// Accepted is the verdict on an answer that can be used as a reference.
const Accepted = "accepted"

// Verdicts on answers that cannot be used as references, in the order of the checks.
const (
	ReasonBlocked   = "blocked"   // the server withheld the text
	ReasonCut       = "cut"       // the end is missing
	ReasonEmpty     = "empty"     // no text
	ReasonGarbled   = "garbled"   // markup, or characters that are not text
	reasonRefusal   = "refusal"   // refuses the task
	ReasonCopy      = "copy"      // an original, or the source, unchanged
	ReasonDuplicate = "duplicate" // the same as an accepted answer
	ReasonLanguage  = "language"  // another language than the reference's
	reasonLength    = "length"    // much shorter or longer than the reference
	reasonNumbers   = "numbers"   // a number or date was lost, added or changed
	reasonUnclear   = "unclear"   // probably not a rewriting, or incomplete, or with additions
	ReasonUnlike    = "unlike"    // few words in common with the reference, and signs of a reply
)

// Reasons returns all verdicts but Accepted, in the order of the checks.
func Reasons() []string {
	return []string{ReasonBlocked, ReasonCut, ReasonEmpty, ReasonGarbled, reasonRefusal, ReasonCopy, ReasonDuplicate,
		ReasonLanguage, reasonLength, reasonNumbers, reasonUnclear, ReasonUnlike}
}

// Checks returns the checks that can be switched off: all except ReasonBlocked and
// ReasonEmpty, because an answer without a text can never be a reference.
func Checks() []string {
	return slices.DeleteFunc(Reasons(), func(s string) bool { return s == ReasonBlocked || s == ReasonEmpty })
}

// Bounds of the length of an answer in characters, divided by the length of its reference.
const minRatio, maxRatio = 0.4, 2.5

// Config says what is checked. Its zero value makes all checks that need no Detector.
type Config struct {
	// Checks names the checks to make, from the list that the function Checks returns. nil
	// means all (language only with a Detector), an empty list none.
	Checks []string
	// Prompts are the texts before the reference in the requests. They are removed
	// from the beginning of answers.
	Prompts []string
	// Language is the code of the references' language, such as "de"; "" if unknown. The word
	// lists of package alarm need it; else they recognise it by each reference.
	Language string
	// Detector is needed for the language check.
	Detector Detector
}

// Detector tells languages apart.
type Detector interface {
	// Beside returns a function that tells whether an answer is in another language than
	// the reference. The function gets the answer without the words that it shares with
	// the reference, and the whole answer. It returns a sentence about the language, or "".
	// Beside is safe for concurrent use, the function is not.
	Beside(reference string) func(rest, answer string) string
	// Signature states everything that changes the results.
	Signature() string
}

// Checker judges answers. It is safe for concurrent use if its Detector is.
type Checker struct {
	cfg     Config
	prompts []string // in lower case, without surrounding white space
}

// New returns a Checker, or an error if the configuration is wrong.
func New(cfg Config) (*Checker, error) {
	if cfg.Checks == nil {
		cfg.Checks = slices.DeleteFunc(Checks(), func(s string) bool { return s == ReasonLanguage && cfg.Detector == nil })
	}
	for _, name := range cfg.Checks {
		if !slices.Contains(Checks(), name) {
			return nil, english.Unknown("check", name, Checks())
		}
	}
	if slices.Contains(cfg.Checks, ReasonLanguage) && cfg.Detector == nil {
		return nil, errors.New("the language check needs a Detector")
	}
	c := &Checker{cfg: cfg}
	for _, p := range cfg.Prompts {
		if p = strings.TrimSpace(strings.ToLower(p)); p != "" {
			c.prompts = append(c.prompts, p)
		}
	}
	return c, nil
}

// Makes reports whether the Checker can give a verdict, that is whether its check is on.
func (c *Checker) Makes(reason string) bool {
	return slices.Contains(c.cfg.Checks, reason) || reason == ReasonBlocked || reason == ReasonEmpty
}

// rules is the version of the rules. It must be raised with every change to cleaning or
// checks.
const rules = "18"

// Signature states, on one line, everything that changes verdicts or cleaned texts: checks
// and their bounds, a hash of the prompts, the version of the rules. Equal signatures mean
// equal results.
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
	if c.cfg.Language != "" {
		s += "|language:" + c.cfg.Language
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

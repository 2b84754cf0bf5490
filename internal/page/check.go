package page

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/report"
)

// maxIndex is what fits in the 16 bits in which the page keeps an index.
const maxIndex = math.MaxUint16

// anchors gives out the addresses within a page.
type anchors map[string]bool

// take returns id, or one made of prefix and a number where id is "".
func (a anchors) take(id, prefix string) (string, error) {
	if id == "" {
		for n := 1; ; n++ {
			if id = prefix + "-" + strconv.Itoa(n); !a[id] {
				break
			}
		}
	}
	for _, r := range id {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' {
			return "", fmt.Errorf("id %q: use letters, digits and hyphens only", id)
		}
	}
	if a[id] {
		return "", fmt.Errorf("id %q is used twice", id)
	}
	a[id] = true
	return id, nil
}

func checkRanking(r *Ranking) error {
	if len(r.Settings) == 0 {
		return errors.New("a ranking needs at least one setting")
	}
	for _, s := range r.Systems {
		if n := 1 + len(s.Under); n != len(r.Settings) {
			return fmt.Errorf("system %s has %d places for %d settings", report.Visible(s.Name), n, len(r.Settings))
		}
	}
	return nil
}

func (e *Explorer) check() error {
	if e.Segments == nil {
		return errors.New("explorer: no segments")
	}
	for _, c := range []struct {
		what string
		n    int
	}{{"systems", len(e.Systems)}, {"prompts", len(e.Prompts)}, {"settings", len(e.Settings)}} {
		if c.n > maxIndex-1 {
			return fmt.Errorf("explorer: %d %s, and a page holds %d", c.n, c.what, maxIndex-1)
		}
	}
	for _, s := range e.Settings {
		if s.Metric < -1 || s.Metric >= len(e.Metrics) {
			return fmt.Errorf("explorer: setting %q names metric %d of %d", s.Name, s.Metric, len(e.Metrics))
		}
	}
	return nil
}

// check looks whether a segment fits the explorer, so that the page need not.
func (s *Segment) check(e *Explorer) error {
	if len(s.References) > maxIndex-1 {
		return fmt.Errorf("%d references, and a page holds %d", len(s.References), maxIndex-1)
	}
	for i, r := range s.References {
		if r.Prompt < -1 || r.Prompt >= len(e.Prompts) {
			return fmt.Errorf("reference %d: prompt %d of %d", i+1, r.Prompt, len(e.Prompts))
		}
	}
	seen := make(map[int]bool, len(s.Outputs))
	for i := range s.Outputs {
		o := &s.Outputs[i]
		if o.System < 0 || o.System >= len(e.Systems) {
			return fmt.Errorf("output %d: system %d of %d", i+1, o.System, len(e.Systems))
		}
		name := e.Systems[o.System]
		if seen[o.System] {
			return fmt.Errorf("system %q: two outputs", name)
		}
		seen[o.System] = true
		if err := o.check(e, s); err != nil {
			return fmt.Errorf("system %q: %w", name, err)
		}
	}
	return nil
}

func (o *Output) check(e *Explorer, s *Segment) error {
	if len(o.Human) != len(e.Humans) {
		return fmt.Errorf("%d human scores for %d kinds", len(o.Human), len(e.Humans))
	}
	if len(o.Scores) != len(e.Settings) {
		return fmt.Errorf("%d scores for %d settings", len(o.Scores), len(e.Settings))
	}
	for k, c := range o.Scores {
		if c.Decided < 0 || c.Decided > len(s.References) {
			return fmt.Errorf("setting %q: reference %d of %d decided", e.Settings[k].Name, c.Decided, len(s.References))
		}
	}
	if o.Cells != nil && len(o.Cells) != len(e.Metrics) {
		return fmt.Errorf("cells of %d metrics for %d", len(o.Cells), len(e.Metrics))
	}
	for k, row := range o.Cells {
		if row != nil && len(row) != len(s.References) {
			return fmt.Errorf("metric %q: %d cells for %d references", e.Metrics[k].Name, len(row), len(s.References))
		}
	}
	length := utf8.RuneCountInString(o.Text.Value)
	for _, m := range o.Matches {
		if m.Reference < 0 || m.Reference >= len(s.References) {
			return fmt.Errorf("a match with reference %d of %d", m.Reference+1, len(s.References))
		}
		if err := checkGrams(m.InOutput, length); err != nil {
			return fmt.Errorf("match with reference %d: output: %w", m.Reference+1, err)
		}
		of := utf8.RuneCountInString(s.References[m.Reference].Text.Value)
		if err := checkGrams(m.InReference, of); err != nil {
			return fmt.Errorf("match with reference %d: reference: %w", m.Reference+1, err)
		}
	}
	for _, r := range o.Reports {
		for i, f := range r.Errors {
			if err := f.Span.check(length); err != nil {
				return fmt.Errorf("judge %q: error %d: %w", r.Judge, i+1, err)
			}
		}
	}
	return nil
}

func checkGrams(grams []Gram, length int) error {
	for _, g := range grams {
		if err := g.check(length); err != nil {
			return err
		}
		if g.N < 1 {
			return fmt.Errorf("an n-gram of order %d", g.N)
		}
	}
	return nil
}

func (s Span) check(length int) error {
	if s.Start < 0 || s.End < s.Start || s.End > length {
		return fmt.Errorf("runes %d to %d of a text of %d", s.Start, s.End, length)
	}
	return nil
}

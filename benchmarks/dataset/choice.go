package dataset

import (
	"context"
	"fmt"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/text"
)

// Choice selects systems and domains of a dataset. The zero Choice selects everything.
type Choice struct {
	Systems        []string `yaml:"systems"` // none: all
	WithoutSystems []string `yaml:"without_systems"`
	Domains        []string `yaml:"domains"` // none: all
}

// All reports whether everything is selected.
func (c *Choice) All() bool {
	return len(c.Systems) == 0 && len(c.WithoutSystems) == 0 && len(c.Domains) == 0
}

// has reports whether a system is selected.
func (c *Choice) has(system string) bool {
	return (len(c.Systems) == 0 || slices.Contains(c.Systems, system)) && !slices.Contains(c.WithoutSystems, system)
}

// Of returns the selected part of a segment, which itself stays unchanged; nil if the
// segment is from another domain.
func (c *Choice) Of(s *refract.Segment) *refract.Segment {
	if len(c.Domains) > 0 && !slices.Contains(c.Domains, s.Domain) {
		return nil
	}
	out := *s
	out.Hypotheses = slices.DeleteFunc(slices.Clone(s.Hypotheses), func(h refract.Hypothesis) bool { return !c.has(h.System) })
	out.Judgements = slices.DeleteFunc(slices.Clone(s.Judgements), func(j refract.Judgement) bool { return !c.has(j.System) })
	return &out
}

// Census collects the names in a dataset that a Choice can refer to.
type Census struct{ systems, domains []string }

// Add adds the names in a segment.
func (n *Census) Add(s *refract.Segment) {
	add := func(to *[]string, name string) {
		if !slices.Contains(*to, name) {
			*to = append(*to, name)
		}
	}
	for i := range s.Hypotheses {
		add(&n.systems, s.Hypotheses[i].System)
	}
	for i := range s.Judgements {
		add(&n.systems, s.Judgements[i].System)
	}
	if s.Domain != "" {
		add(&n.domains, s.Domain)
	}
}

// Without returns the systems that a choice leaves out.
func (n *Census) Without(c *Choice) []string {
	return slices.DeleteFunc(slices.Clone(n.systems), c.has)
}

// Check reports a name in a choice that the dataset does not have.
func (n *Census) Check(c *Choice) error {
	for _, of := range []struct {
		kind          string
		chosen, known []string
	}{{"system", c.Systems, n.systems}, {"system", c.WithoutSystems, n.systems}, {"domain", c.Domains, n.domains}} {
		for _, name := range of.chosen {
			switch {
			case len(of.known) == 0:
				return fmt.Errorf("no %s %s: no segment has one", of.kind, text.Quote(name))
			case !slices.Contains(of.known, name):
				return fmt.Errorf("no %s %s%s; there are %s", of.kind, text.Quote(name), didYouMean(name, of.known), quotedNames(of.known))
			}
		}
	}
	if k := slices.IndexFunc(c.Systems, func(s string) bool { return slices.Contains(c.WithoutSystems, s) }); k >= 0 {
		return fmt.Errorf("system %s is both chosen and left out", text.Quote(c.Systems[k]))
	}
	if len(c.WithoutSystems) > 0 && !slices.ContainsFunc(n.systems, c.has) {
		return fmt.Errorf("every system is left out; keep one of %s", quotedNames(n.systems))
	}
	return nil
}

// Chosen returns the selected part of a dataset. A name that the dataset does not have is
// an error: before the first segment if the dataset can be read twice, and otherwise after
// the last.
func Chosen(ds refract.Dataset, c Choice) refract.Dataset {
	if c.All() {
		return ds
	}
	base := asSet(ds)
	read := base.read.through(func(context.Context) (step, error) {
		var names Census
		return step{
			each: func(s *refract.Segment) (*refract.Segment, error) {
				names.Add(s)
				return c.Of(s), nil
			},
			end: func() error { return names.Check(&c) },
		}, nil
	})
	return &set{stream: base.stream, foreign: base.foreign, read: func(ctx context.Context, each func(*refract.Segment) error) error {
		if Rereadable(base) {
			if err := read(ctx, func(*refract.Segment) error { return ctx.Err() }); err != nil {
				return err
			}
		}
		return read(ctx, each)
	}}
}

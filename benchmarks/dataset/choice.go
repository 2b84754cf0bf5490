package dataset

import (
	"context"
	"fmt"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/text"
)

// Choice says which systems and domains of a dataset are looked at. The zero
// Choice leaves nothing out.
type Choice struct {
	Systems        []string `yaml:"systems"` // none: all
	WithoutSystems []string `yaml:"without_systems"`
	Domains        []string `yaml:"domains"` // none: all
}

// All says that nothing is left out.
func (c *Choice) All() bool {
	return len(c.Systems) == 0 && len(c.WithoutSystems) == 0 && len(c.Domains) == 0
}

// has says whether a system is chosen.
func (c *Choice) has(system string) bool {
	return (len(c.Systems) == 0 || slices.Contains(c.Systems, system)) && !slices.Contains(c.WithoutSystems, system)
}

// Of returns what is chosen of a segment, which stays as it is; nil where it is
// of another domain.
func (c *Choice) Of(s *refract.Segment) *refract.Segment {
	if len(c.Domains) > 0 && !slices.Contains(c.Domains, s.Domain) {
		return nil
	}
	out := *s
	out.Hypotheses = slices.DeleteFunc(slices.Clone(s.Hypotheses), func(h refract.Hypothesis) bool { return !c.has(h.System) })
	out.Judgements = slices.DeleteFunc(slices.Clone(s.Judgements), func(j refract.Judgement) bool { return !c.has(j.System) })
	return &out
}

// Census gathers the names of a dataset that a Choice is made from.
type Census struct{ systems, domains []string }

// Add adds those of a segment.
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

// Without are the systems that a choice leaves out.
func (n *Census) Without(c *Choice) []string {
	return slices.DeleteFunc(slices.Clone(n.systems), c.has)
}

// Check finds a name of a choice that a dataset lacks.
func (n *Census) Check(c *Choice) error {
	for _, of := range []struct {
		kind          string
		chosen, known []string
	}{{"system", c.Systems, n.systems}, {"system", c.WithoutSystems, n.systems}, {"domain", c.Domains, n.domains}} {
		for _, name := range of.chosen {
			switch {
			case len(of.known) == 0:
				return fmt.Errorf("no %s %s: no segment states one", of.kind, text.Quote(name))
			case !slices.Contains(of.known, name):
				return fmt.Errorf("no %s %s%s; there are %s", of.kind, text.Quote(name), didYouMean(name, of.known), quotedNames(of.known))
			}
		}
	}
	if k := slices.IndexFunc(c.Systems, func(s string) bool { return slices.Contains(c.WithoutSystems, s) }); k >= 0 {
		return fmt.Errorf("system %s is both chosen and left out", text.Quote(c.Systems[k]))
	}
	return nil
}

// Chosen returns a dataset of what is chosen of another one. A name that it
// lacks is an error: before the first segment, where it can be read twice, and
// else after the last one.
func Chosen(ds refract.Dataset, c Choice) refract.Dataset {
	if c.All() {
		return ds
	}
	base := asSet(ds)
	d := &set{stream: base.stream, foreign: base.foreign}
	read := func(ctx context.Context, each func(*refract.Segment) error) error {
		var names Census
		err := base.read(ctx, func(s *refract.Segment) error {
			names.Add(s)
			if s = c.Of(s); s == nil {
				return nil
			}
			return each(s)
		})
		if err == nil {
			err = names.Check(&c)
		}
		return err
	}
	d.read = func(ctx context.Context, each func(*refract.Segment) error) error {
		if Rereadable(base) {
			if err := read(ctx, func(*refract.Segment) error { return ctx.Err() }); err != nil {
				return err
			}
		}
		return read(ctx, each)
	}
	return d
}

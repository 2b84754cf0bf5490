package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract/aggregate"
)

// setting is one way to score a dataset, with its table.
type setting struct {
	name       SettingName
	label      string // for people
	series     *series
	aggregator aggregate.Aggregator
	set        columnsOf
	whole      bool // the set is all references
	setName    func() string
	table      *table
	signature  string
	single     bool // the baseline that others are compared with
}

// PlanError says that a plan asks for what cannot be.
type PlanError struct{ Err error }

// Error is that of the cause.
func (e *PlanError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *PlanError) Unwrap() error { return e.Err }

func planErrorf(format string, args ...any) error { return &PlanError{fmt.Errorf(format, args...)} }

// settings lists all settings of a dataset, by metric, set and aggregator,
// without their tables. Those that are the single reference in other words are
// there once, unless the plan repeats them.
func (r *run) settings(ctx context.Context, d *data) ([]*setting, error) {
	chosen := slices.DeleteFunc(slices.Clone(r.p.Sets), func(s Set) bool { return s.BesideVariants && !d.variants })
	sets := make([]setting, len(chosen))
	base := 0
	for i, s := range chosen {
		columns, err := d.columns(ctx, s)
		if err != nil {
			return nil, err
		}
		sets[i] = setting{set: columns, whole: columns.whole(d.segments), setName: d.nameOf(columns)}
		if chosen[base].Kind != KindOriginal && s.Kind == KindOriginal {
			base = i
		}
		for k := range i {
			if sets[k].set.equal(columns) {
				r.note("%s: the references %q and %q are the same", d.Name, chosen[k].Name, s.Name)
			}
		}
	}
	var out []*setting
	for _, of := range d.series {
		for i, set := range chosen {
			for k, a := range r.p.Aggregators {
				switch {
				case !of.info.NeedsReferences:
					if i > 0 || k > 0 {
						continue
					}
				case a.Single():
					if i != base && !r.p.Repeat {
						continue // the first reference is the same in all sets, but for chosen ones
					}
				case a.Native() && !of.hasNative():
					if r.p.Strict {
						return nil, of.noNative()
					}
					r.note("%s has no rule of its own for several references, so that there is no native setting of it", of.info.Name)
					continue
				case a.Native() && of.own && !sets[i].whole:
					r.note("%s: the native scores of %s are of all references, and not of %q", d.Name, of.info.Name, set.Name)
					continue
				case !r.p.Repeat && sets[i].set.firsts() && slices.ContainsFunc(r.p.Aggregators, isSingle):
					r.note("%s: the references %q are one a segment, so that %q is single", d.Name, set.Name, a.Name())
					continue
				}
				s := sets[i]
				s.series, s.aggregator, s.name = of, a, SettingName{of.info.Name, set.Name, a.Name()}
				if !of.info.NeedsReferences {
					s.name.References, s.name.Aggregator = "", ""
				}
				s.single = a.Single() || !of.info.NeedsReferences
				out = append(out, &s)
			}
		}
	}
	return out, nil
}

func isSingle(a aggregate.Aggregator) bool { return a.Single() }
func isNative(a aggregate.Aggregator) bool { return a.Native() }

// noNative says what to do where a metric lacks native scores.
func (s *series) noNative() error {
	if s.own {
		return fmt.Errorf("the matrix has no native scores of %s; they are stored by 'refract score --per cell -a native'", s.info.Name)
	}
	return planErrorf("%s has no rule of its own for several references; use another aggregator than native", s.info.Name)
}

// fill makes the tables of all settings.
func (r *run) fill(ctx context.Context, d *data, settings []*setting) error {
	err := parallel(ctx, len(settings), func(ctx context.Context, i int) (err error) {
		s := settings[i]
		s.table, err = r.values(ctx, d, s)
		return err
	})
	if err != nil {
		return err
	}
	for i, s := range settings {
		t := s.table
		s.signature = s.series.signature(s.aggregator, t.minRefs, t.maxRefs, s.setName())
		s.label = s.name.label(t)
		if r.p.Repeat {
			continue
		}
		if k := slices.IndexFunc(settings[:i], func(b *setting) bool { return b.series == s.series && b.table.key() == t.key() }); k >= 0 {
			_, cells := t.judged()
			r.same = append(r.same, same{d.Name, s.name, settings[k].name, s.label, settings[k].label, cells})
		}
	}
	return nil
}

// label says a setting without its metric, such as "max over 11 references
// (all)".
func (n SettingName) label(t *table) string {
	switch {
	case n.Aggregator == "":
		return "without references"
	case n.Aggregator == "single":
		return "single"
	}
	count := fmt.Sprintf("%d references", t.maxRefs)
	if t.minRefs != t.maxRefs {
		count = fmt.Sprintf("%d to %d references", t.minRefs, t.maxRefs)
	}
	return fmt.Sprintf("%s over %s (%s)", n.Aggregator, count, n.References)
}

// pair is two settings to compare.
type pair struct{ a, b *setting }

// pairs finds the settings to compare.
func (r *run) pairs(d *data, settings []*setting) ([]pair, error) {
	var out []pair
	switch r.p.Pairing {
	case NoPair, EveryPair:
		return nil, nil
	case WithSingle:
		bases := map[*series]*setting{}
		for _, s := range settings {
			if b := bases[s.series]; b == nil || s.single && !b.single {
				bases[s.series] = s
			}
		}
		for _, s := range settings {
			if b := bases[s.series]; b != s {
				out = append(out, pair{s, b})
			}
		}
		return out, nil
	}
	find := func(n SettingName, of *series) *setting {
		for _, s := range settings {
			if s.series == of && (s.name.Aggregator == n.Aggregator || s.name.Aggregator == "") && (s.name.References == n.References || s.single) {
				return s
			}
		}
		return nil
	}
	for _, c := range r.p.Comparisons {
		found := 0
		for _, of := range d.series {
			other := of
			if c.A.Metric != "" {
				at := slices.IndexFunc(d.series, func(s *series) bool { return s.goesBy(c.B.Metric) })
				if !of.goesBy(c.A.Metric) || at < 0 {
					continue
				}
				other = d.series[at]
			}
			if a, b := find(c.A, of), find(c.B, other); a != nil && b != nil && a != b {
				out = append(out, pair{a, b})
				found++
			}
		}
		if found == 0 {
			return nil, fmt.Errorf("no such settings to compare: %s and %s; a setting with one reference a segment is single, and native needs a metric that defines it", c.A, c.B)
		}
	}
	return out, nil
}

// goesBy reports whether a spec or a name is that of the series.
func (s *series) goesBy(name string) bool {
	return name == s.info.Name || name == s.spec || name == storedSpec+":"+s.info.Name
}

// String is such as "bleu max all".
func (n SettingName) String() string {
	return strings.Join(slices.DeleteFunc([]string{n.Metric, n.Aggregator, n.References}, func(s string) bool { return s == "" }), " ")
}

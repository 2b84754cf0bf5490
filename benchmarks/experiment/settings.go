package experiment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/matrix"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/metrics"
)

// setting is one way to score a dataset, with its table.
type setting struct {
	name       SettingName
	label      string // for people
	series     *series
	aggregator aggregate.Aggregator
	set        columnsOf
	whole      bool     // whether the set is all references
	order      *ordered // instead of a set: its first columns
	first      int
	setName    string // as signatures state it
	table      *table
	signature  string
	single     bool     // the baseline that others are compared with
	as         *setting // the setting with the same scores that represents it, or nil
}

// columns returns the columns of a segment that the setting uses.
func (s *setting) columns(i int) []int {
	if s.order != nil {
		return s.order.take(i, s.first)
	}
	return s.set[i]
}

// PlanError says that a plan asks for something impossible.
type PlanError struct{ Err error }

// Error returns the cause's message.
func (e *PlanError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *PlanError) Unwrap() error { return e.Err }

func planErrorf(format string, args ...any) error { return &PlanError{fmt.Errorf(format, args...)} }

// settings lists all settings of a dataset, by metric, set and aggregator,
// without their tables.
func (r *run) settings(d *data) ([]*setting, error) {
	chosen := slices.DeleteFunc(slices.Clone(r.p.Sets), func(s Set) bool { return s.BesideVariants && !d.variants })
	sets := make([]setting, len(chosen))
	base := 0
	for i, s := range chosen {
		columns, err := d.columns(s)
		if err != nil {
			return nil, err
		}
		sets[i] = setting{set: columns, whole: columns.whole(d.segments), setName: d.setName(columns)}
		if !chosen[base].original() && s.original() {
			base = i
		}
		if most := columns.most(); s.First > most {
			r.note("%s: the references %q are %s at most, as no segment has more", d.Name, s.Name, english.Count(most, "reference"))
		}
	}
	var out []*setting
	single := "" // name of the first references
	for _, of := range d.series {
		for i, set := range chosen {
			for k, a := range r.p.Aggregators {
				a = a.For(of.higher())
				r.tellWorst(of, a)
				switch {
				case !of.info.NeedsReferences:
					if i > 0 || k > 0 {
						continue
					}
				case a.Single():
					if i != base {
						continue // the first reference is the same in all sets except chosen ones
					}
				case a.Native() && !of.hasNative():
					if r.p.Strict {
						return nil, of.noNative()
					}
					if m, stored := of.metric.(*matrix.Metric); stored && !m.Stored.HasNative() {
						r.tell("native left out: the matrix has no native scores")
						continue
					}
					if !r.p.Preferred {
						r.note("%s has no native rule for several references, so it has no native setting", of.info.Name)
					}
					continue
				case a.Native() && of.own && !sets[i].whole:
					r.note("%s: the native scores of %s are of all references, and not of %q", d.Name, of.info.Name, set.Name)
					continue
				}
				s := sets[i]
				if a.Single() {
					if single == "" {
						single = d.setName(s.set.first())
					}
					s.setName = single
				}
				s.series, s.aggregator, s.name = of, a, SettingName{of.info.Name, set.Name, a.Name()}
				if !of.info.NeedsReferences {
					s.name.References, s.name.Aggregator = "", ""
				}
				s.single = a.Single() || !of.info.NeedsReferences
				out = append(out, &s)
				if r.p.Preferred {
					break
				}
			}
		}
	}
	return out, nil
}

// noNative says what to do if a metric lacks native scores.
func (s *series) noNative() error {
	if s.own {
		return fmt.Errorf("the matrix has no native scores of %s; store them with 'refract score --per cell -a native'", s.info.Name)
	}
	return planErrorf("%s has no native rule for several references; use another aggregator", s.info.Name)
}

// fill makes the tables of all settings, and finds equal ones: those with the same scores
// of as many references. One represents them all, if possible the single reference.
func (r *run) fill(ctx context.Context, d *data, settings []*setting, res *Result) error {
	err := parallel(ctx, len(settings), func(ctx context.Context, i int) error {
		_, err := r.values(d, settings[i])
		return err
	})
	if err != nil {
		return err
	}
	for _, s := range settings {
		t := s.table
		s.signature = s.series.signature(s.aggregator, t.minRefs, t.maxRefs, s.setName)
		s.label = s.name.label(t)
		var k int
		if n, _ := fmt.Sscanf(s.name.Aggregator, "best:k=%d", &k); n == 1 && k > t.maxRefs {
			r.note("%s: %s is of %s at most, as no score has more", d.Name, s.name.Aggregator, english.Count(t.maxRefs, "reference"))
		}
	}
	for single, rest := 0, slices.Clone(settings); len(rest) > 0; {
		if single = slices.IndexFunc(rest, func(s *setting) bool { return s.single }); single < 0 {
			single = 0
		}
		first := rest[single]
		rest = slices.DeleteFunc(slices.Delete(rest, single, single+1), func(s *setting) bool {
			_, cells := s.table.judged()
			if s.series != first.series || s.table.minRefs != first.table.minRefs || s.table.maxRefs != first.table.maxRefs ||
				cells == 0 || s.table.key() != first.table.key() {
				return false
			}
			s.as = first
			res.Same = append(res.Same, Same{d.Name, s.name, first.name, s.label, first.label, cells})
			return true
		})
	}
	return nil
}

// label describes a setting without its metric, such as "max over 11 references (all)".
func (n SettingName) label(t *table) string {
	switch {
	case n.Aggregator == "":
		return "without references"
	case n.Aggregator == "single":
		return "single"
	}
	count := english.Count(t.maxRefs, "reference")
	if t.minRefs != t.maxRefs {
		count = fmt.Sprintf("%d to %d references", t.minRefs, t.maxRefs)
	}
	references, first := n.References, 0
	if k, _ := fmt.Sscanf(references, "first %d", &first); k == 1 && first > t.maxRefs {
		references += ", all there are"
	}
	return fmt.Sprintf("%s over %s (%s)", n.Aggregator, count, references)
}

// Across describes a setting, by its label, next to one of another metric.
func (n SettingName) Across(label string) string {
	if n.Aggregator == "" {
		return n.Metric
	}
	return n.Metric + " " + label
}

// pair is two settings of a metric to compare.
type pair struct{ a, b *setting }

// pairs returns the pairs of settings to compare: those that the plan lists, every setting
// with the one that the plan names, or all settings of a metric with each other, first of
// all with the single reference. Files of scores are compared like settings of one metric.
func (r *run) pairs(d *data, settings []*setting) (out []pair, err error) {
	if r.p.Pairing == NoPair {
		return nil, nil
	}
	find := func(n SettingName, of *series) *setting {
		for _, s := range settings {
			a := slices.IndexFunc(r.p.Aggregators, func(a aggregate.Aggregator) bool { return a.Name() == n.Aggregator })
			if s.series == of && a >= 0 && s.name.Aggregator == r.p.Aggregators[a].For(of.higher()).Name() && (s.single || s.name.References == n.References) {
				return cmp.Or(s.as, s)
			}
		}
		return nil
	}
	for _, c := range r.p.Comparisons {
		found := false
		for _, of := range d.series {
			a, b := find(c.A, of), find(c.B, of)
			if found = found || a != nil && b != nil; a != nil && b != nil && a != b { // otherwise they are reported as equal
				out = append(out, pair{a, b})
			}
		}
		if !found {
			return nil, fmt.Errorf("no such settings to compare: %s and %s; a setting with one reference a segment is single, and native needs a metric that defines it", c.A, c.B)
		}
	}
	if len(r.p.Comparisons) > 0 {
		return out, nil
	}
	bases, err := r.against(settings)
	if err != nil {
		return nil, err
	}
	settings = slices.DeleteFunc(slices.Clone(settings), func(s *setting) bool { return s.as != nil })
	for _, s := range settings {
		if bases[s] == nil {
			r.note("%s has no setting %s, so its settings are not compared", s.name.Metric, r.p.Against)
		}
	}
	for i, s := range settings {
		base := bases[s]
		if base == nil || slices.ContainsFunc(settings[:i], func(o *setting) bool { return bases[o] == base }) {
			continue
		}
		of := slices.DeleteFunc(slices.Clone(settings), func(o *setting) bool { return o == base || bases[o] != base })
		for _, s := range of {
			out = append(out, pair{s, base})
		}
		for i, b := range of {
			for _, a := range of[i+1:] {
				if r.p.Against == "" {
					out = append(out, pair{a, b})
				}
			}
		}
	}
	return out, nil
}

// comparedOf are the pairs of a table of every pair: those given, and between metrics that
// have only one setting.
func comparedOf(pairs []pair, settings []*setting) map[[2]SettingName]bool {
	out := map[[2]SettingName]bool{}
	for _, pr := range pairs {
		out[[2]SettingName{pr.a.name, pr.b.name}] = true
	}
	var alone []SettingName
	for _, s := range settings {
		if !slices.ContainsFunc(settings, func(o *setting) bool { return o != s && o.series == s.series }) {
			alone = append(alone, s.name)
		}
	}
	for i, a := range alone {
		for _, b := range alone[:i] {
			out[[2]SettingName{a, b}] = true
		}
	}
	return out
}

// against returns for each setting the baseline of those that it is compared with.
func (r *run) against(settings []*setting) (map[*setting]*setting, error) {
	bases := map[*setting]*setting{}
	one := func(s *series) bool { return s.file && !s.info.NeedsReferences } // one score of an output
	within := func(a, b *setting) bool { return a.series == b.series || one(a.series) && one(b.series) }
	// Over one reference all aggregators are the single reference, which max seldom means.
	ofOne := func(s *setting) int {
		if s.as != nil && s.as.single {
			return 1
		}
		return 0
	}
	candidates := slices.SortedStableFunc(slices.Values(settings), func(a, b *setting) int { return cmp.Compare(ofOne(a), ofOne(b)) })
	for _, s := range settings {
		for _, b := range candidates {
			named, whole := r.isBase(b)
			last := ofOne(b)
			if b = cmp.Or(b.as, b); r.p.Against != "" && !named || !whole && !within(s, b) {
				continue
			}
			switch old := bases[s]; {
			case old == nil || r.p.Against == "" && b.single && !old.single:
				bases[s] = b
			case r.p.Against != "" && old != b && last == 0:
				return nil, planErrorf("against %s: that is both %s and %s: name one of them", r.p.Against, old.name, b.name)
			}
		}
	}
	if len(bases) == 0 && len(settings) > 0 {
		var names []string
		for _, s := range settings {
			names = append(names, s.name.String())
		}
		return nil, planErrorf("against: %s", english.Unknown("setting", r.p.Against, names))
	}
	return bases, nil
}

// isBase reports whether the plan's baseline names a setting, also one whose metric takes
// the minimum for max, and whether with its metric.
func (r *run) isBase(s *setting) (is, whole bool) {
	is, whole = s.name.is(r.p.Against)
	for _, a := range r.p.Aggregators {
		if n := s.name; !is && a.For(s.series.higher()).Name() == n.Aggregator {
			n.Aggregator = a.Name()
			is, whole = n.is(r.p.Against)
		}
	}
	return is, whole
}

// is reports whether a text names the setting, and whether with its metric.
func (n SettingName) is(text string) (is, whole bool) {
	if n.Aggregator == "" {
		return text == n.Metric, text == n.Metric
	}
	short := n.Aggregator + " " + n.References
	whole = text == n.Metric+" "+n.Aggregator || text == n.Metric+" "+short
	return whole || text == n.Aggregator || text == short, whole
}

func (s *series) higher() bool { return s.info.Direction == metrics.HigherIsBetter }

// tellWorst notes once that an aggregator takes a metric's worst reference.
func (r *run) tellWorst(s *series, a aggregate.Aggregator) {
	if s.info.NeedsReferences && a.TakesWorst(s.higher()) {
		r.tell(a.Worst(s.info.Name))
	}
}

// String returns a name such as "bleu max all".
func (n SettingName) String() string {
	return strings.Join(slices.DeleteFunc([]string{n.Metric, n.Aggregator, n.References}, func(s string) bool { return s == "" }), " ")
}

package command

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/metrics"
)

// systemScores are the scores of systems, for a table.
type systemScores struct {
	acc        *refract.Systems
	settings   []refract.Setting
	scores     []refract.SystemScore         // by setting, and then by system
	intervals  []significance.CorpusInterval // of each score; nil without --confidence
	confidence float64
	verbose    bool
	digits     func(usual int) int
	ended      map[string]string // why a metric did
}

// resample computes the intervals of all scores.
func (s *systemScores) resample(ctx context.Context) error {
	s.intervals = make([]significance.CorpusInterval, len(s.scores))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range s.scores {
		if s.intervals[i] = (significance.CorpusInterval{Mean: math.NaN(), Half: math.NaN()}); !s.scores[i].OK {
			continue
		}
		group.Go(func() (err error) {
			rows, value := s.acc.Samples(&s.scores[i])
			s.intervals[i], err = significance.Corpus(ctx, rows, value, s.confidence)
			return err
		})
	}
	return group.Wait()
}

// bounds are the ends of an interval.
func bounds(ci significance.CorpusInterval) report.Value {
	return report.Interval(ci.Mean-ci.Half, ci.Mean+ci.Half)
}

// forPrograms has a row for each score.
func (s *systemScores) forPrograms() *report.NamedTable {
	table := &report.NamedTable{Columns: []report.Column{
		textColumn("id"), textColumn("system"), textColumn("metric"), textColumn("aggregate"), countColumn("references"), numberColumn("score", 0), textColumn("status"),
		countColumn("segments"), countColumn("missing"), countColumn("missing_references"), textColumn("method"), textColumn("signature"),
	}}
	add := func(c report.Column, of func(i int) report.Value) {
		table.Columns = append(table.Columns, c)
		for i := range table.Rows {
			table.Rows[i] = append(table.Rows[i], of(i))
		}
	}
	for i := range s.scores {
		sc := &s.scores[i]
		set := s.settings[sc.Setting]
		table.Add(nil, sc.System, set.Metric.Info().Name, report.StringOrNull(set.AggregatorName()), sc.MaxReferences, scoreValue(sc), sc.Status.String(),
			sc.Segments, sc.Missing, sc.MissingReferences, method(sc), s.acc.Signature(sc).String())
	}
	if s.intervals != nil {
		add(intervalColumn("ci", 0), func(i int) report.Value { return bounds(s.intervals[i]) })
		add(numberColumn("ci_mean", 0), func(i int) report.Value { return report.Float(s.intervals[i].Mean) })
	}
	if s.verbose {
		add(textColumn("detail"), func(i int) report.Value { return report.StringOrNull(s.detail(&s.scores[i])) })
	}
	if len(s.ended) > 0 {
		add(textColumn("ended"), func(i int) report.Value {
			return report.StringOrNull(s.ended[s.settings[s.scores[i].Setting].Metric.Info().Name])
		})
	}
	return table
}

// method says for programs how a score of a system is computed.
func method(sc *refract.SystemScore) string {
	if sc.Pooled {
		return "corpus"
	}
	return "average"
}

// heading says how the scores of each metric are computed.
func (s *systemScores) heading() string {
	ways := byFact(len(s.scores), func(i int) (quantity, metric string) {
		if quantity = "mean of segments"; s.scores[i].Pooled {
			quantity = "corpus"
		}
		return quantity, s.settings[s.scores[i].Setting].Metric.Info().Name
	})
	slices.SortFunc(ways, func(a, b sharedFact) int { return cmp.Compare(a.fact, b.fact) })
	var parts []string
	for _, w := range ways {
		part := w.fact
		if len(ways) > 1 {
			part = strings.Join(slices.Compact(w.names), " and ") + ", " + part
		}
		parts = append(parts, part)
	}
	return "scores of systems: " + strings.Join(parts, "; ")
}

// where returns a value that holds, or a missing one.
func where(holds bool, v report.Value) report.Value {
	if !holds {
		return report.Null()
	}
	return v
}

func scoreValue(sc *refract.SystemScore) report.Value { return where(sc.OK, report.Float(sc.Value)) }

// detail is what a corpus score is made of, "" where its metric does not say.
func (s *systemScores) detail(sc *refract.SystemScore) string {
	m, ok := s.settings[sc.Setting].Metric.(metrics.CorpusDetail)
	if !ok || sc.Statistics == nil {
		return ""
	}
	return m.CorpusDetail(sc.Statistics)
}

// forPeople has a row for each system and a column for each setting.
func (s *systemScores) forPeople() *report.NamedTable {
	systems := len(s.scores) / len(s.settings)
	table := &report.NamedTable{Heading: s.heading(), Columns: []report.Column{{Name: "system"}}}
	for k, set := range s.settings {
		digits := s.digits(decimals(s.scores[k*systems:][:systems]))
		best := 1
		if set.Metric.Info().Direction == metrics.LowerIsBetter {
			best = -1
		}
		table.Columns = append(table.Columns, report.Column{Name: s.name(k), Kind: report.KindFloat, Digits: digits, Best: best})
		if s.intervals != nil {
			table.Columns = append(table.Columns, report.Column{Name: s.name(k) + " ci", Header: fmt.Sprintf("%g%% ci", 100*s.confidence), Kind: report.KindInterval, Digits: digits})
		}
	}
	for i := range systems {
		row := []any{s.scores[i].System}
		for sc := i; sc < len(s.scores); sc += systems {
			row = append(row, scoreValue(&s.scores[sc]))
			if s.intervals != nil {
				row = append(row, bounds(s.intervals[sc]))
			}
		}
		table.Add(row...)
	}
	s.notes(table, systems)
	return table
}

// ownRule reports whether a setting is the only one of its metric, and by the metric's own
// rule for several references, as it is unless others are asked for.
func (s *systemScores) ownRule(k int) bool {
	of := func(set refract.Setting) bool { return set.Metric == s.settings[k].Metric }
	first := slices.IndexFunc(s.settings, of)
	return s.settings[k].Aggregator.Native() && first == k && !slices.ContainsFunc(s.settings[k+1:], of)
}

// references are the fewest and the most references of a segment under a setting.
func (s *systemScores) references(k int) (least, most int) {
	refs := span{}
	for i := range s.scores {
		if sc := &s.scores[i]; sc.Setting == k && sc.Segments > 0 {
			refs.add(sc.MinReferences, sc.MaxReferences)
		}
	}
	return refs.least, refs.most
}

// name is the heading of a setting. A metric's own rule is named only where it matters: with
// several references.
func (s *systemScores) name(k int) string {
	set := s.settings[k]
	switch least, most := s.references(k); {
	case !s.ownRule(k):
		return set.String()
	case most <= 1:
		return set.Metric.Info().Name
	case least < most:
		return fmt.Sprintf("%s over %d to %d references", set.Metric.Info().Name, least, most)
	default:
		return fmt.Sprintf("%s over %d references", set.Metric.Info().Name, most)
	}
}

// decimals is 1 if some score reaches 10, as BLEU's do, else 3.
func decimals(scores []refract.SystemScore) int {
	if slices.ContainsFunc(scores, func(sc refract.SystemScore) bool { return math.Abs(sc.Value) >= 10 }) {
		return 1
	}
	return 3
}

// notes say what is missing, what scores are made of, and their signatures.
func (s *systemScores) notes(table *report.NamedTable, systems int) {
	var people []string
	for i := range systems {
		if s.scores[i].Human {
			people = append(people, s.scores[i].System)
		}
	}
	if len(people) > 0 {
		table.Note("references, not systems: %s; a reference scored against itself is perfect", strings.Join(people, ", "))
	}
	for i := range systems {
		lacks := byFact(len(s.settings), func(k int) (string, string) { return lacking(&s.scores[k*systems+i]), s.name(k) })
		for _, g := range lacks {
			of := ""
			if len(g.names) < len(s.settings) {
				of = " (" + strings.Join(g.names, ", ") + ")"
			}
			table.Note("%s: %s%s", s.scores[i].System, g.fact, of)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.ended)) {
		table.Note("%s ended: %s", name, s.ended[name])
	}
	for i := range s.scores {
		sc := &s.scores[i]
		if detail := s.detail(sc); s.verbose && detail != "" {
			table.Note("%s: %s|%s = %.1f %s", sc.System, s.settings[sc.Setting].Metric.Info().Name, s.acc.Signature(sc), sc.Value, detail)
		}
	}
	for k, set := range s.settings {
		if _, most := s.references(k); s.ownRule(k) && most > 1 {
			table.Note("%s: %s (native)", s.name(k), cmp.Or(set.Metric.Info().Rule, "the metric's own rule for several references"))
		}
	}
	if s.intervals != nil {
		table.Note("%g%% ci: as in sacreBLEU, the mean of 1,000 resamples of segments (seed 12345) ± half the range of the middle %[1]g%%", 100*s.confidence)
	}
	for k := range s.settings {
		signatures := byFact(systems, func(i int) (string, string) {
			sc := &s.scores[k*systems+i]
			switch {
			case !sc.OK:
				return "", ""
			case sc.Pooled:
				return "(corpus): " + s.acc.Signature(sc).String(), sc.System
			}
			return "(mean): " + s.acc.Signature(sc).String(), sc.System
		})
		for _, g := range signatures {
			name := s.name(k)
			if len(signatures) > 1 { // their outputs met different numbers of references
				name += " of " + strings.Join(g.names, ", ")
			}
			table.Note("%s %s", name, g.fact)
		}
	}
}

// sharedFact is a fact, and the names of all that it is true of.
type sharedFact struct {
	fact  string
	names []string
}

// byFact returns the facts about n things, in order of their first appearance; "" is none.
func byFact(n int, of func(i int) (fact, name string)) (out []sharedFact) {
	for i := range n {
		fact, name := of(i)
		if fact == "" {
			continue
		}
		at := slices.IndexFunc(out, func(g sharedFact) bool { return g.fact == fact })
		if at < 0 {
			at = len(out)
			out = append(out, sharedFact{fact: fact})
		}
		out[at].names = append(out[at].names, name)
	}
	return out
}

// lacking says what is missing in a score; "" if nothing is.
func lacking(sc *refract.SystemScore) string {
	var parts []string
	if sc.Missing > 0 {
		part := fmt.Sprintf("segments without a score: %d of %d", sc.Missing, sc.Segments+sc.Missing)
		if !sc.OK {
			part += " (" + sc.Status.String() + ")"
		}
		parts = append(parts, part)
	}
	if sc.MissingReferences > 0 {
		parts = append(parts, fmt.Sprintf("missing scores against references: %d", sc.MissingReferences))
	}
	return strings.Join(parts, ", ")
}

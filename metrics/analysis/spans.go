package analysis

import (
	"cmp"
	"slices"
)

// SpanAgreement says how far two judges mark the same errors in texts. Errors
// without a span in the text are Unplaced, and in no overlap. The agreements on
// many texts add up, so that ratios are micro-averages. Characters are runes.
type SpanAgreement struct {
	// Exact counts spans that both have with the same ends, each once.
	Exact Overlap
	// Partial pairs spans that overlap one to one, and credits a pair with the
	// F1 of its characters.
	Partial Overlap
	// Characters counts the characters that both mark.
	Characters Overlap
	// Graded does so with half the credit where the severities differ, as the
	// task on error spans of WMT 2023 does (Blain et al., 2023, Findings of the
	// WMT 2023 Shared Task on Quality Estimation). The severity of a character in
	// several spans is the worst one.
	Graded   Overlap
	Unplaced [2]int
	// Severities are those of the pairs of Partial, "" where none is stated.
	Severities [][2]Severity
}

// Overlap is what two judges share, and what each of them has.
type Overlap struct {
	Credit float64
	Of     [2]int
}

// Recall is the share of what the first has; NaN if that is nothing.
func (o Overlap) Recall() float64 { return o.Credit / float64(o.Of[0]) }

// Precision is the share of what the second has; NaN if that is nothing.
func (o Overlap) Precision() float64 { return o.Credit / float64(o.Of[1]) }

// F1 is the harmonic mean of precision and recall; NaN if neither has anything.
func (o Overlap) F1() float64 { return 2 * o.Credit / float64(o.Of[0]+o.Of[1]) }

func (o *Overlap) add(p Overlap) {
	o.Credit += p.Credit
	o.Of[0] += p.Of[0]
	o.Of[1] += p.Of[1]
}

// Add takes in the agreement on other texts.
func (s *SpanAgreement) Add(o *SpanAgreement) {
	s.Exact.add(o.Exact)
	s.Partial.add(o.Partial)
	s.Characters.add(o.Characters)
	s.Graded.add(o.Graded)
	s.Unplaced[0] += o.Unplaced[0]
	s.Unplaced[1] += o.Unplaced[1]
	s.Severities = append(s.Severities, o.Severities...)
}

// CompareSpans compares the errors that two judges mark in the same text.
func CompareSpans(a, b []Error) *SpanAgreement {
	s := &SpanAgreement{}
	var spans [2][]graded
	for side, errors := range [][]Error{a, b} {
		for i := range errors {
			if e := &errors[i]; e.Place.HasSpan() && e.Span.End > e.Span.Start {
				spans[side] = append(spans[side], graded{e.Span, e.Severity})
			} else {
				s.Unplaced[side]++
			}
		}
	}
	of := [2]int{len(spans[0]), len(spans[1])}
	s.Exact, s.Partial = Overlap{equalSpans(spans), of}, Overlap{Of: of}
	for _, p := range pairSpans(spans) {
		s.Partial.Credit += p.credit
		s.Severities = append(s.Severities, [2]Severity{spans[0][p.of[0]].severity, spans[1][p.of[1]].severity})
	}
	s.countCharacters(spans)
	return s
}

// graded is a span with its severity.
type graded struct {
	Span
	severity Severity
}

// Rank orders severities from the mildest: 0 for one that is not stated, then
// neutral ones, minor, major and critical. Another word has none.
func (s Severity) Rank() (int, bool) {
	i := slices.Index([]Severity{"", "neutral", Minor, Major, Critical}, s)
	return i, i >= 0
}

func equalSpans(spans [2][]graded) (n float64) {
	left := map[Span]int{}
	for _, s := range spans[0] {
		left[s.Span]++
	}
	for _, s := range spans[1] {
		if left[s.Span] > 0 {
			left[s.Span]--
			n++
		}
	}
	return n
}

// spanPair is a span of each side, by index.
type spanPair struct {
	of     [2]int
	credit float64
	same   bool // severity
}

// pairSpans takes the pair with the most credit, then the best one of the spans
// that are left, and so on. Of equal pairs those of one severity go first, and
// then those that begin first, so that the sides can be exchanged.
func pairSpans(spans [2][]graded) []spanPair {
	var all, out []spanPair
	for i, a := range spans[0] {
		for k, b := range spans[1] {
			if shared := min(a.End, b.End) - max(a.Start, b.Start); shared > 0 {
				credit := 2 * float64(shared) / float64(a.End-a.Start+b.End-b.Start)
				all = append(all, spanPair{[2]int{i, k}, credit, a.severity == b.severity})
			}
		}
	}
	slices.SortStableFunc(all, func(p, q spanPair) int {
		if c := cmp.Compare(q.credit, p.credit); c != 0 {
			return c
		}
		if p.same != q.same {
			if p.same {
				return -1
			}
			return 1
		}
		a, b := [2]graded{spans[0][p.of[0]], spans[1][p.of[1]]}, [2]graded{spans[0][q.of[0]], spans[1][q.of[1]]}
		return cmp.Or(
			cmp.Compare(min(a[0].Start, a[1].Start), min(b[0].Start, b[1].Start)),
			cmp.Compare(max(a[0].Start, a[1].Start), max(b[0].Start, b[1].Start)),
			cmp.Compare(min(a[0].End, a[1].End), min(b[0].End, b[1].End)),
			cmp.Compare(max(a[0].End, a[1].End), max(b[0].End, b[1].End)),
			cmp.Compare(min(a[0].severity, a[1].severity), min(b[0].severity, b[1].severity)),
			cmp.Compare(max(a[0].severity, a[1].severity), max(b[0].severity, b[1].severity)),
		)
	})
	var taken [2]map[int]bool
	taken[0], taken[1] = map[int]bool{}, map[int]bool{}
	for _, p := range all {
		if !taken[0][p.of[0]] && !taken[1][p.of[1]] {
			taken[0][p.of[0]], taken[1][p.of[1]] = true, true
			out = append(out, p)
		}
	}
	return out
}

// countCharacters goes from one end of a span to the next: between them, all
// characters are in the same spans.
func (s *SpanAgreement) countCharacters(spans [2][]graded) {
	var ends []int
	for _, side := range spans {
		for _, g := range side {
			ends = append(ends, g.Start, g.End)
		}
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	for i := 1; i < len(ends); i++ {
		n := ends[i] - ends[i-1]
		var worst [2]Severity
		var marked [2]bool
		for side := range spans {
			worst[side], marked[side] = worstOver(spans[side], ends[i-1])
			if marked[side] {
				s.Characters.Of[side] += n
			}
		}
		if marked[0] && marked[1] {
			s.Characters.Credit += float64(n)
			if worst[0] == worst[1] {
				s.Graded.Credit += float64(n)
			} else {
				s.Graded.Credit += float64(n) / 2
			}
		}
	}
	s.Graded.Of = s.Characters.Of
}

// worstOver is the worst severity of the spans that hold a character.
func worstOver(spans []graded, at int) (worst Severity, marked bool) {
	for _, g := range spans {
		if g.Start > at || g.End <= at {
			continue
		}
		rank, _ := g.severity.Rank()
		if than, _ := worst.Rank(); !marked || rank > than || rank == than && g.severity > worst {
			worst = g.severity
		}
		marked = true
	}
	return worst, marked
}

// SeverityAgreement compares the severities of spans that go together, where both
// judges state one: how many pairs there are, the share of equal ones, and
// Krippendorff's alpha on an ordinal scale. They are NaN where there is none.
func (s *SpanAgreement) SeverityAgreement() (pairs int, equal, alpha float64) {
	var units [][]float64
	for _, p := range s.Severities {
		a, okA := p[0].Rank()
		b, okB := p[1].Rank()
		if !okA || !okB || a == 0 || b == 0 {
			continue
		}
		units = append(units, []float64{float64(a), float64(b)})
		if a == b {
			equal++
		}
	}
	return len(units), equal / float64(len(units)), Alpha(units, true)
}

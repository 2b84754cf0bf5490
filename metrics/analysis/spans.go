package analysis

// SpanCounts compare the error spans of a judge with those of a person in one output, or
// summed over outputs. They count characters, each as often as errors cover it, by the rule of
// WMT25's shared task on error spans: a critical error is a major one, and an error without a
// span, or of no severity, counts nothing.
type SpanCounts struct {
	Agreed          float64 // 1 for a character marked by both with one severity, else 0.5
	Marked, Claimed float64 // by the person and by the judge
}

// CountSpans compares the errors in an output of length characters.
func CountSpans(length int, people, judge []Error) SpanCounts {
	var out SpanCounts
	theirs, ours := covered(length, people), covered(length, judge)
	for i := range length {
		p, j := theirs[i], ours[i]
		major, minor := min(p.major, j.major), min(p.minor, j.minor)
		all, claimed := p.major+p.minor, j.major+j.minor
		out.Agreed += major + minor + min(all-major-minor, claimed-major-minor)/2
		out.Marked += all
		out.Claimed += claimed
	}
	return out
}

// depth is how many errors of each severity cover a character.
type depth struct{ major, minor float64 }

func covered(length int, errors []Error) []depth {
	out := make([]depth, length)
	for i := range errors {
		e := &errors[i]
		if !e.Counts() {
			continue
		}
		for k := max(0, e.Span.Start); k < min(length, e.Span.End); k++ {
			if e.Severity == Minor {
				out[k].minor++
			} else {
				out[k].major++
			}
		}
	}
	return out
}

// Counts reports whether an error has a span and a severity, so that CountSpans counts it.
func (e *Error) Counts() bool {
	return e.Place.HasSpan() && (e.Severity == Critical || e.Severity == Major || e.Severity == Minor)
}

// Sums returns the counts as a list, which can be added up.
func (c SpanCounts) Sums() []float64 { return []float64{c.Agreed, c.Marked, c.Claimed} }

// Precision is the share of what the judge marked that the person marked too; 1 if the judge
// marked nothing.
func (c SpanCounts) Precision() float64 { return share(c.Agreed, c.Claimed) }

// Recall is the share of what the person marked that the judge marked too; 1 if the person
// marked nothing.
func (c SpanCounts) Recall() float64 { return share(c.Agreed, c.Marked) }

// F1 is the harmonic mean of precision and recall; 0 if both are.
func (c SpanCounts) F1() float64 {
	p, r := c.Precision(), c.Recall()
	if p+r == 0 {
		return 0
	}
	return 2 * p * r / (p + r)
}

func share(part, of float64) float64 {
	if of == 0 {
		return 1
	}
	return part / of
}

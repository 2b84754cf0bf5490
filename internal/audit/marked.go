package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract/internal/report"
	"github.com/refract-eval/refract/metrics/analysis"
)

// maxMarks bounds the errors that are shown of one text.
const maxMarks = 200

// severities have colours, the worst first; any other severity has the last one.
var severities = [...]struct{ name, colour string }{
	{"critical", "\x1b[1;97;41m"}, {"major", "\x1b[1;31m"}, {"minor", "\x1b[33m"}, {"", "\x1b[36m"},
}

const plain = "\x1b[0m"

func level(s analysis.Severity) int {
	for i := range severities {
		if severities[i].name == string(s) {
			return i
		}
	}
	return len(severities) - 1
}

// marked shows a text on one line for a terminal, with a line for each error below
// it. Marked parts have the colour of the worst error in them or, without colour,
// stand in brackets; a small number after a part tells which errors end there. All
// texts are untrusted: what controls a terminal is shown by report.Visible.
func marked(text string, errors []analysis.Error, colour bool) string {
	left := len(errors) - maxMarks
	shown := slices.Clone(errors[:min(len(errors), maxMarks)])
	runes := []rune(text)
	cuts := []int{0, len(runes)}
	for i := range shown {
		s := &shown[i].Span
		s.Start, s.End = min(max(s.Start, 0), len(runes)), min(max(s.End, 0), len(runes))
		if !shown[i].Place.HasSpan() || s.Start >= s.End {
			*s = analysis.Span{}
			continue
		}
		cuts = append(cuts, s.Start, s.End)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	open, end := bracketsFor(text)
	var b strings.Builder
	for k := 1; k < len(cuts); k++ {
		worst, opens := len(severities), 0
		var ends []int
		for i := range shown {
			if s := shown[i].Span; s.Start <= cuts[k-1] && cuts[k] <= s.End {
				worst = min(worst, level(shown[i].Severity))
				if s.Start == cuts[k-1] {
					opens++
				}
				if s.End == cuts[k] {
					ends = append(ends, i)
				}
			}
		}
		// The innermost bracket closes first.
		slices.SortStableFunc(ends, func(a, b int) int { return cmp.Compare(shown[b].Span.Start, shown[a].Span.Start) })
		part := report.Visible(string(runes[cuts[k-1]:cuts[k]]))
		switch {
		case !colour:
			part = strings.Repeat(open, opens) + part
		case worst < len(severities):
			part = severities[worst].colour + part + plain
		}
		b.WriteString(part)
		for i, m := range ends {
			if !colour {
				b.WriteString(end)
			} else if i > 0 {
				b.WriteString("·")
			}
			b.WriteString(superscript(m + 1))
		}
	}
	b.WriteByte('\n')
	for i := range shown {
		number := strconv.Itoa(i + 1)
		if colour {
			number = severities[level(shown[i].Severity)].colour + number + plain
		}
		b.WriteString("  " + number + " " + remark(&shown[i]) + "\n")
	}
	if left > 0 {
		fmt.Fprintf(&b, "  and %d more errors, not shown\n", left)
	}
	return b.String()
}

// remark is the line below the text about an error.
func remark(e *analysis.Error) string {
	kind := e.Aspect
	if e.Dimension != "" {
		kind = e.Dimension + ": " + kind
	}
	var parts []string
	if head := strings.Trim(string(e.Severity)+", "+kind, ", "); head != "" {
		parts = append(parts, report.Visible(head))
	}
	if e.Span == (analysis.Span{}) {
		where := map[analysis.Place]string{
			analysis.Absent: "not in the text", analysis.InSource: "in the source", analysis.NotStated: "no location stated",
		}[e.Place]
		where = cmp.Or(where, "no place in the text")
		if e.Location != "" {
			where = "“" + report.Visible(e.Location) + "” " + where
		}
		parts = append(parts, where)
	}
	if e.Explanation != "" {
		parts = append(parts, report.Visible(e.Explanation))
	}
	return cmp.Or(strings.Join(parts, ": "), "error")
}

// bracketsFor chooses a pair of brackets that the text does not have.
func bracketsFor(text string) (open, end string) {
	for _, pair := range []string{"«»", "⟦⟧", "⟪⟫"} {
		if !strings.ContainsAny(text, pair) {
			return pair[:len(pair)/2], pair[len(pair)/2:]
		}
	}
	return "«", "»"
}

func superscript(n int) string {
	return strings.Map(func(r rune) rune { return []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")[r-'0'] }, strconv.Itoa(n))
}

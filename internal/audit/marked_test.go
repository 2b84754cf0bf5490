package audit

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/internal/report"
	"github.com/refract-eval/refract/metrics/analysis"
)

func located(start, end int, severity analysis.Severity, aspect string) analysis.Error {
	return analysis.Error{Place: analysis.InHypothesis, Span: analysis.Span{Start: start, End: end}, Severity: severity, Aspect: aspect}
}

func TestMarked(t *testing.T) {
	var many []analysis.Error
	for i := range maxMarks + 30 {
		many = append(many, located(i%3, i%3+1, analysis.Minor, "x"))
	}
	for _, c := range []struct {
		name, text string
		errors     []analysis.Error
		colour     bool
		want       string
	}{
		{"none", "All is well.", nil, false, "All is well.\n"},
		{"one", "The cat sat.", []analysis.Error{{Place: analysis.Approximate, Span: analysis.Span{Start: 4, End: 7}, Severity: "major", Dimension: "Accuracy", Aspect: "Word", Explanation: "It is a dog."}}, false,
			"The «cat»¹ sat.\n  1 major, Accuracy: Word: It is a dog.\n"},
		{"nested", "one two three four", []analysis.Error{located(0, 18, "minor", "outer"), located(4, 13, "major", "middle"), located(8, 13, "critical", "inner")}, false,
			"«one «two «three»³»² four»¹\n  1 minor, outer\n  2 major, middle\n  3 critical, inner\n"},
		{"overlapping, in colour", "one two three", []analysis.Error{located(0, 7, "minor", "left"), located(4, 13, "major", "right")}, true,
			"\x1b[33mone \x1b[0m\x1b[1;31mtwo\x1b[0m¹\x1b[1;31m three\x1b[0m²\n  \x1b[33m1\x1b[0m minor, left\n  \x1b[1;31m2\x1b[0m major, right\n"},
		{"without a span", "one", []analysis.Error{{Location: "three", Place: analysis.InSource}, {Place: analysis.NotStated, Aspect: "a"}, {}}, false,
			"one\n  1 “three” in the source\n  2 a: no location stated\n  3 no place in the text\n"},
		{"beyond the ends", "日本語", []analysis.Error{located(-3, 1, "", ""), located(2, 99, "", ""), located(7, 9, "", "")}, false,
			"«日»¹本«語»²\n  1 error\n  2 error\n  3 no place in the text\n"},
		{"brackets", "he said «no»", []analysis.Error{located(9, 11, "minor", "")}, false, "he said «⟦no⟧¹»\n  1 minor\n"},
		{"hostile", "\x1b[2J\u202e", []analysis.Error{{Aspect: "\x07", Explanation: "a\nb", Location: "\x1b"}}, false,
			`\x1b[2J\u202e` + "\n" + `  1 \x07: “\x1b” no place in the text: a\nb` + "\n"},
	} {
		if diff := cmp.Diff(c.want, marked(c.text, c.errors, c.colour)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if got := marked("abc", many, false); !strings.HasSuffix(got, "and 30 more errors, not shown\n") {
		t.Errorf("%q", got)
	}
}

var ansi = regexp.MustCompile("\x1b\\[[0-9;]*m")

// What is shown are lines of visible text, and the text can be read whole.
func TestMarkedIsVisible(t *testing.T) {
	text := rapid.Map(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom([]string{"\x1b[2J", "\u202e", "\u2028", "\n", "\t", "\r", "\xff", "«", "⟦", "中文", "e\u0301", "\x00"}), rapid.String()), 0, 6),
		func(p []string) string { return strings.Join(p, "") })
	rapid.Check(t, func(t *rapid.T) {
		s := text.Draw(t, "text")
		errors := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) analysis.Error {
			e := located(rapid.IntRange(-2, 20).Draw(t, "start"), rapid.IntRange(-2, 20).Draw(t, "end"), analysis.Severity(text.Draw(t, "severity")), text.Draw(t, "aspect"))
			e.Explanation, e.Location = text.Draw(t, "explanation"), text.Draw(t, "location")
			return e
		}), 0, 6).Draw(t, "errors")
		plain := marked(s, errors, false)
		for _, shown := range []string{plain, ansi.ReplaceAllString(marked(s, errors, true), "")} {
			lines := strings.Split(strings.TrimSuffix(shown, "\n"), "\n")
			if len(lines) != 1+len(errors) {
				t.Fatalf("%d lines for %d errors: %q", len(lines), len(errors), shown)
			}
			for _, l := range lines {
				if report.Visible(l) != l {
					t.Fatalf("%q is not visible", l)
				}
			}
		}
		first, _, _ := strings.Cut(plain, "\n")
		bare := func(s string) string {
			return regexp.MustCompile(`[«»⟦⟧⟪⟫⁰¹²³-⁹]`).ReplaceAllString(s, "")
		}
		if bare(first) != bare(report.Visible(s)) {
			t.Fatal(fmt.Sprintf("the text is %q, not %q", first, s))
		}
	})
}

package diversify_test

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/report"
)

// An example is what people read, whatever form it came in.
func TestPatternExample(t *testing.T) {
	for form, want := range map[string]string{"json": "“Red it is.”", "": `“{"text":"Red it is."}”`} {
		var p diversify.Patterns
		raw := refract.NewText(`{"text":"Red it is."}`)
		p.Add(&refract.Segment{Rejected: []refract.Variant{{Verdict: "copy", Origin: &refract.Origin{Raw: raw, Form: form}}}})
		var b strings.Builder
		if err := p.Table().Write(&b, report.CSV, true); err != nil {
			t.Fatal(err)
		}
		if rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll(); err != nil || !slices.Contains(rows[1], want) {
			t.Errorf("form %q: %q, %v", form, rows, err)
		}
	}
}

func TestPattern(t *testing.T) {
	for _, c := range []struct{ verdict, detail, want string }{
		{"cut", "", "cut"},
		{"refusal", `it begins with "i'm sorry" and speaks of "the \"text\""…`, "refusal: it begins with … and speaks of …"},
		{"length", "311 characters for 1,024", "length: … characters for …"},
	} {
		if got := diversify.Pattern(&refract.Variant{Verdict: c.verdict, Detail: c.detail}); got != c.want {
			t.Errorf("Pattern(%q, %q) = %q; want %q", c.verdict, c.detail, got, c.want)
		}
	}
}

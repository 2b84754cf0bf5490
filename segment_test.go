package refract_test

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
)

func TestTextJSON(t *testing.T) {
	for in, want := range map[string]refract.Text{
		`null`:      {},
		`""`:        refract.NewText(""),
		`"a\u00e9"`: refract.NewText("aé"),
		`"null"`:    refract.NewText("null"),
	} {
		got := refract.NewText("from before")
		if err := json.Unmarshal([]byte(in), &got); err != nil || got != want {
			t.Errorf("%s is read as %+v, %v, want %+v", in, got, err, want)
		}
	}
	for _, bad := range []string{`1`, `{}`, `["a"]`, `true`} {
		var got refract.Text
		if err := json.Unmarshal([]byte(bad), &got); err == nil || got.Valid {
			t.Errorf("%s is read as %+v, %v, want an error", bad, got, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		want := []refract.Text{{}, refract.NewText(rapid.String().Draw(t, "text"))}
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got []refract.Text
		if err := json.Unmarshal(b, &got); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%s comes back as %+v, %v", b, got, err)
		}
	})
}

func TestPosition(t *testing.T) {
	for want, p := range map[string]refract.Position{
		`"a\nb":3`: {File: "a\nb", Line: 3},
		"":         {Line: 3}, "a.jsonl": {File: "a.jsonl"}, "a.jsonl:3": {File: "a.jsonl", Line: 3},
	} {
		if got := p.String(); got != want {
			t.Errorf("%+v is written %q, want %q", p, got, want)
		}
	}
}

func TestAllReferences(t *testing.T) {
	a, b, v := refract.NewText("a"), refract.Text{}, refract.NewText("v")
	s := refract.Segment{References: []refract.Text{a, b}, Variants: []refract.Variant{{Reference: 1, Text: v}, {Text: b}}}
	dst := make([]refract.Text, 0, 8)
	got := s.AllReferences(append(dst, v))
	if want := []refract.Text{v, a, b, v, b}; !slices.Equal(got, want) {
		t.Errorf("references %v, want %v", got, want)
	}
	if s.NumReferences() != 4 || (&refract.Segment{}).NumReferences() != 0 {
		t.Errorf("%d references", s.NumReferences())
	}
}

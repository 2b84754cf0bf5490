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

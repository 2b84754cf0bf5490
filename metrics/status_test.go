package metrics

import (
	"strings"
	"testing"
)

func TestStatusNames(t *testing.T) {
	for _, s := range []Status{Scored, MissingHypothesis, MissingReference, MissingSource, Failed} {
		got, err := ParseStatus(s.String())
		if err != nil || got != s {
			t.Errorf("ParseStatus(%q) = %v, %v", s.String(), got, err)
		}
	}
	if got := Status(10).String(); got != "Status(10)" {
		t.Errorf("an unknown status is written %q", got)
	}
	for _, bad := range []string{"", "Scored", "Status(10)", "missing_reference"} {
		if s, err := ParseStatus(bad); err == nil {
			t.Errorf("ParseStatus(%q) = %v, want an error", bad, s)
		}
	}
	if _, err := ParseStatus("missing_reference"); !strings.Contains(err.Error(), `did you mean "missing-reference"`) {
		t.Errorf("no suggestion: %v", err)
	}
}

package metrics

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestStatusNames(t *testing.T) {
	for _, s := range []Status{Scored, MissingHypothesis, MissingReference, MissingSource, Failed} {
		got, err := ParseStatus(s.String())
		assert.True(t, err == nil && got == s, "ParseStatus(%q) = %v, %v", s.String(), got, err)
	}
	assert.Equal(t, "Status(10)", Status(10).String(), "an unknown status is written")
	for _, bad := range []string{"", "Scored", "Status(10)", "missing_reference"} {
		s, err := ParseStatus(bad)
		assert.Error(t, err, "ParseStatus(%q) = %v, want an error", bad, s)
	}
	_, err := ParseStatus("missing_reference")
	assert.ErrorContains(t, err, `did you mean "missing-reference"`, "no suggestion")
}

package jsonline_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract/internal/jsonline"
)

// Blank lines are skipped but counted, and an error names the line that could not be read.
func TestLines(t *testing.T) {
	var got []string
	for l, err := range jsonline.Lines(strings.NewReader("\ufeff{}\r\n\n [1] \n"+strings.Repeat("x", 2<<20)), 1<<20) {
		got = append(got, fmt.Sprintf("%d %s %v", l.Number, l.Text, err))
	}
	assert.Equal(t, []string{"1 {} <nil>", "3 [1] <nil>", "4  the line has more than 1 MiB; write one JSON object on each line"}, got)
}

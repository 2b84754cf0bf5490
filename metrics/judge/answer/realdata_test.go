package answer_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge/answer"
)

// eachLine decodes the JSON Lines of a file in $REFRACT_DATA, or in shared/data next to the
// repository's root folder, and returns their number.
func eachLine[T any](t *testing.T, name string, f func(n int, row T)) (n int) {
	t.Helper()
	dir := os.Getenv("REFRACT_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared", "data")
	}
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Skipf("no real data: %v; set REFRACT_DATA to the folder that holds %s", err, name)
	}
	for line := range bytes.Lines(data) {
		var row T
		require.NoError(t, json.Unmarshal(line, &row), "line %d", n+1)
		f(n, row)
		n++
	}
	return n
}

func TestTIGERScoreAnswers(t *testing.T) {
	p, stated := parser(t, answer.Spec{Kind: answer.TIGERScore}), parser(t, answer.Spec{Kind: answer.TIGERScore, Total: "stated"})
	disagree := 0
	n := eachLine(t, "tigerscore/outputs.jsonl", func(i int, row struct{ Output string }) {
		r := p.Parse(row.Output)
		if r.Outcome != analysis.Scored && r.Outcome != analysis.NoError {
			t.Errorf("line %d: %s (%s)", i+1, r.Outcome, r.Detail)
			return
		}
		if r.StatedErrors == nil || *r.StatedErrors != len(r.Errors) || r.StatedTotal == nil {
			t.Errorf("line %d: the statement is not read, or %d errors are too few", i+1, len(r.Errors))
			return
		}
		if *r.StatedTotal+*r.Score != 0 {
			disagree++
		}
		if got := stated.Parse(row.Output); !got.Outcome.HasScore() || *got.Score+*r.StatedTotal != 0 || (got.Detail != r.Detail) != (*r.StatedTotal+*r.Score != 0) {
			t.Errorf("line %d: the stated total gives %s %v (%s), want %v", i+1, got.Outcome, got.Score, got.Detail, -*r.StatedTotal)
		}
		// All text except labels is in a field, so nothing is lost.
		read := 0
		for _, e := range r.Errors {
			read += letters(e.Location) + letters(e.Aspect) + letters(e.Explanation)
			if e.Severity == "" || e.Explanation == "" || e.Aspect == "" {
				t.Errorf("line %d: a field is missing in %+v", i+1, e)
			}
		}
		_, body, _ := strings.Cut(row.Output[strings.LastIndex(row.Output, "model-generated output contains"):], "\n")
		labels := letters("Error location") + letters("Error aspect") + letters("Explanation") + letters("Severity Major") + letters("Score reduction")
		want := letters(body) - labels*len(r.Errors)
		assert.Equal(t, want, read, "line %d: the fields hold %d letters, the answer %d", i+1, read, want)
	})
	if n != 187 || disagree != 10 {
		t.Errorf("%d answers, of which %d state another total than their sum; want 187 and 10", n, disagree)
	}
}

// letters counts the ASCII letters of a text. "Minor" and "Major" have equally many.
func letters(s string) int {
	n := 0
	for i := range len(s) {
		if c := s[i] | 0x20; 'a' <= c && c <= 'z' {
			n++
		}
	}
	return n
}

// TestXGPTScoreAnswers parses the JSON turn in the variations that models write.
func TestXGPTScoreAnswers(t *testing.T) {
	p := parser(t, answer.Spec{Kind: answer.Errors, Form: answer.XGPTScore})
	n := eachLine(t, "tigerscore/xgptscore.responses.jsonl", func(i int, row struct{ Responses []json.RawMessage }) {
		turn := row.Responses[len(row.Responses)-1]
		var want struct {
			Errors map[string]struct {
				Reduction float64 `json:"score_reduction"`
			}
		}
		require.NoError(t, json.Unmarshal(turn, &want))
		sum := 0.0
		for _, e := range want.Errors {
			sum += e.Reduction
		}
		plain := string(turn)
		loose := strings.TrimSuffix(plain, "}") + ",}"
		whole := p.Parse(plain).Errors
		for _, text := range []string{plain, "```json\n" + plain + "\n```", "Here is the JSON:\n" + plain + "\nDone.", loose} {
			r := p.Parse(text)
			if !r.Outcome.HasScore() || *r.Score != 0-sum || len(r.Errors) != len(want.Errors) {
				t.Errorf("line %d: got %s %v with %d errors (%s), want %v with %d", i+1, r.Outcome, show(r.Score), len(r.Errors), r.Detail, 0-sum, len(want.Errors))
			}
			assert.Empty(t, cmp.Diff(whole, r.Errors), "line %d", i+1)
		}
		r := p.Parse(plain[:len(plain)-2])
		assert.Equal(t, analysis.Unparseable, r.Outcome, "line %d: a cut answer is %s", i+1, r.Outcome)
	})
	assert.NotEqual(t, 0, n, "no answers")
}

package command

import (
	"bytes"
	"cmp"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/diversify"
)

func openSample(t *testing.T) refract.Dataset {
	t.Helper()
	ds, err := dataset.Open("jsonl:sample/sample.jsonl", dataset.Options{})
	require.NoError(t, err)
	return ds
}

func TestSample(t *testing.T) {
	kinds, ids, total := map[string]int{}, map[string]bool{}, map[string]float64{}
	segments := 0
	for s, err := range openSample(t).Segments(t.Context()) {
		require.NoError(t, err)
		segments++
		kinds[s.ID[:max(0, strings.LastIndex(s.ID, "-"))]]++
		ids[s.ID] = true
		whole := len(s.References) == 1 && s.References[0].Value != "" && s.Source.Valid && s.Domain != "" && s.Document != "" && len(s.Hypotheses) == 6 && len(s.Judgements) == 6
		for _, h := range s.Hypotheses {
			whole = whole && h.Text.Value != ""
		}
		for _, j := range s.Judgements {
			whole = whole && j.Name == "authors" && j.Valid && j.Score >= 0 && j.Score <= 100
			total[j.System] += j.Score
		}
		assert.True(t, whole, "%+v lacks something", s)
	}
	assert.GreaterOrEqual(t, segments, 100)
	assert.Len(t, ids, segments, "ids are there twice")
	assert.Equal(t, []string{"cap", "de-en", "en-de", "sum"}, slices.Sorted(maps.Keys(kinds)))
	// The systems differ clearly by their authors' judgement, but for two.
	byQuality := slices.SortedFunc(maps.Keys(total), func(a, b string) int { return cmp.Compare(total[b], total[a]) })
	require.Equal(t, []string{"fine-tuned", "general", "small", "terse", "pivot", "word-by-word"}, byQuality)
	for i := range byQuality[1:] {
		if gap := (total[byQuality[i]] - total[byQuality[i+1]]) / float64(segments); gap < 3 && byQuality[i] != "terse" {
			t.Errorf("%s is better than %s by %.1f points only", byQuality[i], byQuality[i+1], gap)
		}
	}
}

// expanded is the sample with its recorded answers; no call is made.
func expanded(t *testing.T) refract.InMemory {
	t.Helper()
	out, sum, err := expandSample(t.Context())
	require.NoError(t, err)
	answers, err := os.ReadFile("sample/answers.jsonl")
	require.NoError(t, err)
	// One answer is rejected, and a second sample takes its place.
	if want := len(out)*len(diversify.Ten()) + 1; sum.Cached != want || sum.Rejected != 1 || bytes.Count(answers, []byte("\n")) != want {
		t.Errorf("%d answers used of %d, want %d", sum.Cached, bytes.Count(answers, []byte("\n")), want)
	}
	return out
}

func TestAnswers(t *testing.T) {
	for _, s := range expanded(t) {
		var prompts []string
		for _, v := range s.Variants {
			prompts = append(prompts, v.Prompt)
			if !v.Text.Valid || v.Text.Value == "" || v.Text == s.References[0] {
				t.Errorf("%s, %s: %+v is no paraphrase", s.ID, v.Prompt, v.Text)
			}
		}
		if len(prompts) != 10 || len(slices.Compact(slices.Sorted(slices.Values(prompts)))) != 10 {
			t.Errorf("%s: answers to %q, want one to each of ten prompts", s.ID, prompts)
		}
	}
}

// Package conformance holds cases of multi-reference scoring with sacreBLEU's values:
// ragged and missing references, empty texts, transposed layouts, duplicates, n-grams that
// complement each other, ties of length, systems without an output.
//
//  1. generate.py writes cases.jsonl with sacreBLEU and documents its fields.
//  2. The test here runs every case through Refract's engine.
//  3. run.py runs every case through other packages, as their users would, and
//     results.json is its last result; docs/reference/conformance.md shows it.
package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/bleu"
	"github.com/refract-eval/refract/metrics/chrf"
	"github.com/refract-eval/refract/metrics/ter"
)

// within is the largest allowed difference from sacreBLEU.
const within = 1e-9

// testCase is a line of cases.jsonl; generate.py documents the fields.
type testCase struct {
	Name, Metric, Level, Aggregate string
	Hypotheses                     []*string
	References, Streams            [][]*string
	Expect                         any // a number, or "refuse", or "missing"
	Rest                           *float64
}

func readCases(t *testing.T) (all []testCase) {
	t.Helper()
	data, err := os.ReadFile("cases.jsonl")
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		var c testCase
		err := json.Unmarshal([]byte(line), &c)
		require.NoError(t, err, "cases.jsonl, case %d", len(all)+1)
		all = append(all, c)
	}
	return all
}

// TestCases runs every case as a user of the library would.
func TestCases(t *testing.T) {
	for _, c := range readCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			if c.Streams != nil {
				_, err := dataset.OpenLines(lineFiles(t, c), dataset.Options{})
				assert.Error(t, err, "the files were opened: %v", c.Expect)
				return
			}
			score, err := corpusScore(t, c, refract.Options{})
			switch want := c.Expect.(type) {
			case float64:
				if err != nil || !score.OK || score.Missing > 0 {
					t.Fatalf("score %+v, error %v; want %v", score, err, want)
				}
				near(t, score.Value, want)
				if c.Level == "sentence" {
					near(t, sentenceScore(t, c).Value, want)
				}
			case string:
				refused(t, c, score, err)
			}
		})
	}
}

// refused expects that no number is taken for the score of all segments: an error, or a
// score that says what is missing.
func refused(t *testing.T, c testCase, score refract.SystemScore, err error) {
	t.Helper()
	var none *refract.NoReferencesError
	if err != nil && !errors.As(err, &none) {
		t.Fatal(err)
	}
	assert.False(t, err == nil && score.Missing == 0, "score %+v, which does not say what is missing", score)
	score, err = corpusScore(t, c, refract.Options{AllowNoReferences: true})
	require.NoError(t, err)
	if score.OK != (c.Rest != nil) || score.Missing == 0 {
		t.Fatalf("with segments left out: %+v; want %v", score, c.Rest)
	}
	if c.Rest != nil {
		near(t, score.Value, *c.Rest)
	} else if c.Level == "sentence" && sentenceScore(t, c).Status == metrics.Scored {
		t.Error("the sentence has a score")
	}
}

func near(t *testing.T, got, want float64) {
	t.Helper()
	assert.True(t, math.Abs(got-want) <= within, "got %v, sacreBLEU has %v", got, want)
}

type memory = refract.InMemory

func text(s *string) refract.Text {
	if s == nil {
		return refract.Text{}
	}
	return refract.NewText(*s)
}

func segments(c testCase) (all memory) {
	for i, h := range c.Hypotheses {
		s := &refract.Segment{ID: fmt.Sprint(i + 1), Hypotheses: []refract.Hypothesis{{System: "system", Text: text(h)}}}
		for _, r := range c.References[i] {
			s.References = append(s.References, text(r))
		}
		all = append(all, s)
	}
	return all
}

func engine(t *testing.T, c testCase, o refract.Options) *refract.Engine {
	t.Helper()
	registry := metrics.Registry{bleu.Factory(), chrf.Factory(), chrf.PlusPlusFactory(), ter.Factory()}
	m, err := registry.Parse(t.Context(), c.Metric)
	require.NoError(t, err)
	a, err := aggregate.Parse(c.Aggregate)
	require.NoError(t, err)
	e, err := refract.NewEngine([]refract.Setting{{Metric: m, Aggregator: a}}, o)
	require.NoError(t, err)
	return e
}

// corpusScore returns the system's score; a sentence counts as a corpus of one.
func corpusScore(t *testing.T, c testCase, o refract.Options) (refract.SystemScore, error) {
	t.Helper()
	if c.Level == "sentence" {
		o.Scope = refract.Averaged
	}
	e := engine(t, c, o)
	systems := e.Systems()
	if err := e.Run(t.Context(), segments(c), systems.Add); err != nil {
		return refract.SystemScore{}, err
	}
	return systems.Scores()[0], nil
}

func sentenceScore(t *testing.T, c testCase) refract.Reduced {
	t.Helper()
	e := engine(t, c, refract.Options{AllowNoReferences: true})
	scores, err := e.Score(t.Context(), segments(c))
	require.NoError(t, err)
	r, err := e.Reducer().Reduce(scores[0], 0, 0)
	require.NoError(t, err)
	return r
}

// lineFiles writes one file for each stream, as for sacreBLEU's command.
func lineFiles(t *testing.T, c testCase) dataset.LinesSpec {
	t.Helper()
	folder := t.TempDir()
	write := func(name string, lines []*string) string {
		var b strings.Builder
		for _, l := range lines {
			b.WriteString(*l + "\n")
		}
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
		return path
	}
	spec := dataset.LinesSpec{Hypotheses: []dataset.NamedFile{{Name: "system", Path: write("system", c.Hypotheses)}}}
	for i, s := range c.Streams {
		spec.References = append(spec.References, write(fmt.Sprint("reference", i), s))
	}
	return spec
}

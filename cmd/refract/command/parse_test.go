package command

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/cmd/refract/internal/audit"
	"github.com/refract-eval/refract/metrics/analysis"
)

// dataFile returns a file of real data, or skips.
func dataFile(t *testing.T, path ...string) string {
	t.Helper()
	file := filepath.Join(append([]string{realData(t)}, path...)...)
	if _, err := os.Stat(file); err != nil {
		t.Skipf("%s is not there", filepath.Join(path...))
	}
	return file
}

// parseFile runs refract parse and returns its rows and its standard error.
func parseFile(t *testing.T, args ...string) ([]audit.Row, string) {
	t.Helper()
	code, out, errs := askHere(t, append([]string{"parse"}, args...)...)
	require.Equal(t, exitDone, code, errs)
	var rows []audit.Row
	for d := json.NewDecoder(strings.NewReader(out)); ; {
		var r audit.Row
		if err := d.Decode(&r); err == io.EOF {
			return rows, errs
		} else if err != nil {
			t.Fatal(err)
		}
		require.Equal(t, len(rows)+1, r.Line, "row")
		rows = append(rows, r)
	}
}

// The released answers of InstructScore on WMT22 zh-en give the paper's figures, Kendall 0.403
// and Pearson 0.519, with unparseable answers as 0. REFRACT_WHOLE reads them all; else the first
// 3,000 are read, which have figures of their own.
func TestParseInstructScore(t *testing.T) {
	atLength(t)
	want := struct {
		answers, counts                     int
		said                                string
		zero, zeroPearson, exclude, pearson float64
	}{3000, 0, "3000 answers: ", 0.37613, 0.46257, 0.38369, 0.47757}
	if os.Getenv("REFRACT_WHOLE") != "" {
		want.answers, want.counts, want.said = 26250, 4, "26250 answers: 26200 with a score, 50 without"
		want.zero, want.zeroPearson, want.exclude, want.pearson = 0.4027, 0.5183, 0.4072, 0.5284
	}
	f, err := os.Open(dataFile(t, "instructscore", "wmt22.zh-en.outputs.jsonl.gz"))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	var mqm []float64
	var text []byte
	for s := bufio.NewScanner(z); len(mqm) < want.answers && s.Scan(); {
		var row struct{ MQM float64 }
		require.NoError(t, json.Unmarshal(s.Bytes(), &row))
		mqm, text = append(mqm, row.MQM), append(append(text, s.Bytes()...), '\n')
	}
	file := filepath.Join(t.TempDir(), "outputs.jsonl")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	rows, errs := parseFile(t, "instructscore", file, "--unparseable", "exclude")
	if len(rows) != want.answers || !strings.Contains(errs, want.said) {
		t.Fatalf("%d rows for %d: %s", len(rows), len(mqm), errs)
	}
	zeros := make([]float64, len(rows))
	var gold, scores []float64
	counts := 0 // reports whose stated count is another
	for i, r := range rows {
		if r.Score != nil {
			gold, scores, zeros[i] = append(gold, mqm[i]), append(scores, *r.Score), *r.Score
		}
		if slices.ContainsFunc(r.Problems, func(p analysis.Problem) bool { return p.Code == "count" }) {
			counts++
		}
	}
	for _, c := range []struct {
		name             string
		gold, scores     []float64
		kendall, pearson float64
	}{{"zero", mqm, zeros, want.zero, want.zeroPearson}, {"exclude", gold, scores, want.exclude, want.pearson}} {
		kendall, pearson := correlate.Kendall(c.gold, c.scores), correlate.Pearson(c.gold, c.scores)
		if math.Abs(kendall-c.kendall) > 5e-5 || math.Abs(pearson-c.pearson) > 5e-5 {
			t.Errorf("%s: Kendall %.5f and Pearson %.5f, want %v and %v", c.name, kendall, pearson, c.kendall, c.pearson)
		}
	}
	assert.Equal(t, want.counts, counts)
}

// All released TIGERScore answers can be read, with or without the prompt
// before them.
func TestParseTIGERScore(t *testing.T) {
	rows, _ := parseFile(t, "tigerscore", dataFile(t, "tigerscore", "outputs.jsonl"))
	totals := 0
	for _, r := range rows {
		assert.True(t, r.Outcome.HasScore(), "line %d: %s: %s", r.Line, r.Outcome, r.Detail)
		for _, p := range r.Problems {
			if p.Code == "total" {
				totals++
			}
		}
	}
	if len(rows) != 187 || totals == 0 || totals > 15 {
		t.Errorf("%d rows, of which %d state another total than the sum", len(rows), totals)
	}
	t.Logf("%d rows, %d totals differ", len(rows), totals)
}

package command

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Scores and intervals are those of refract score, and every table has the
// differences and p-values of the others.
func TestSystemsAgree(t *testing.T) {
	atLength(t)
	dir := t.TempDir()
	require.NoError(t, saveSample(dir))
	type row struct {
		Metric, Aggregate, System, Result string
		A                                 string `json:"system_a"`
		B                                 string `json:"system_b"`
		Signature                         string
		Score, Delta, P                   float64
		Mean                              float64 `json:"ci_mean"`
		CI                                []float64
	}
	ask := func(args ...string) []row {
		t.Helper()
		code, out, stderr := askHere(t, append(args, filepath.Join(dir, "sample.jsonl"), "-m", "bleu", "-m", "ter", "-a", "native,max", "-f", "json")...)
		var rows []row
		err := json.Unmarshal([]byte(out), &rows)
		require.True(t, code == 0 && err == nil, "%v: exit %d, %v\n%s", args, code, err, stderr)
		return rows
	}
	type key struct{ metric, aggregate, system string }
	scores := map[key]row{}
	for _, r := range ask("score", "--confidence") {
		scores[key{r.Metric, r.Aggregate, r.System}] = r
	}
	systems := map[key]row{}
	for _, r := range ask("systems", "--resamples", "1000", "--resample-by", "segment") {
		k := key{r.Metric, r.Aggregate, r.System}
		if want := scores[k]; r.Score != want.Score || r.Mean != want.Mean || r.Signature != want.Signature || r.CI[0] != want.CI[0] || r.CI[1] != want.CI[1] {
			t.Errorf("systems: %+v, and score: %+v", r, want)
		}
		systems[k] = r
	}
	require.True(t, len(systems) == 6*4 && len(scores) == len(systems), "%d and %d rows", len(systems), len(scores))
	const baseline = "fine-tuned" // the first
	others := 0
	for _, r := range ask("systems", "--table", pairsTable, "--resamples", "1000", "--resample-by", "segment") {
		if r.A != baseline {
			continue
		}
		want := systems[key{r.Metric, r.Aggregate, r.B}]
		assert.True(t, r.Delta == -want.Delta && r.P == want.P, "pairs: %+v, and systems: %+v", r, want)
		others++
	}
	assert.True(t, others == 5*4, "%d rows of other tables", others)
}

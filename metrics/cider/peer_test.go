package cider

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/metrics"
)

// TestPeer compares with the rows of benchmarks/peers/cider_vectors.py, within
// an absolute difference of 1e-9.
func TestPeer(t *testing.T) {
	path := os.Getenv("REFRACT_CIDER_VECTORS")
	if path == "" {
		t.Skip("REFRACT_CIDER_VECTORS is not set: make the file with benchmarks/peers/cider_vectors.py")
	}
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	rows, scores, worst := 0, 0, 0.0
	for in := json.NewDecoder(file); ; rows++ {
		var row struct {
			Hypotheses []string
			References [][]string
			Scores     []float64
			Mean       float64
		}
		if err := in.Decode(&row); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		w := mustFit(options{}, row.References).NewWorkspace().(*workspace)
		sum := 0.0
		for i, h := range row.Hypotheses {
			w.Load(metrics.Block{Hypotheses: []string{h}, References: row.References[i]})
			got := w.Native(nil)[0]
			sum += got
			scores++
			if worst = max(worst, math.Abs(got-row.Scores[i])); !near(got, row.Scores[i]) {
				t.Errorf("row %d: %q against %q: %v, pycocoevalcap has %v", rows+1, h, row.References[i], got, row.Scores[i])
			}
		}
		mean := sum / float64(len(row.Scores))
		assert.True(t, near(mean, row.Mean), "row %d: mean %v, pycocoevalcap has %v", rows+1, mean, row.Mean)
	}
	require.NotEqual(t, 0, scores, "%s has no row", path)
	t.Logf("%d datasets, %d scores, largest difference %.3g", rows, scores, worst)
}

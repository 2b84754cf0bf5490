package bleu

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// vectorsEnv names the folder that benchmarks/peers/sentencepiece_vectors.py fills.
const vectorsEnv = "REFRACT_SENTENCEPIECE_VECTORS"

// Every text is split as SentencePiece itself splits it.
func TestSentencePiece(t *testing.T) {
	folder := os.Getenv(vectorsEnv)
	if folder == "" {
		t.Skipf("%s is not set: make the folder with benchmarks/peers/sentencepiece_vectors.py", vectorsEnv)
	}
	file, err := os.Open(filepath.Join(folder, "pieces.jsonl"))
	require.NoError(t, err)
	defer file.Close()
	encoders := map[string]*spEncoder{}
	texts, pieces := 0, 0
	for in := json.NewDecoder(file); ; {
		var row struct {
			Model, Text string
			Pieces      []string
		}
		if err := in.Decode(&row); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		e := encoders[row.Model]
		if e == nil {
			data, err := os.ReadFile(filepath.Join(folder, row.Model))
			require.NoError(t, err)
			m, err := parseModel(data)
			require.NoError(t, err, "%s", row.Model)
			e = m.newEncoder()
			encoders[row.Model] = e
		}
		texts, pieces = texts+1, pieces+len(row.Pieces)
		got := encoded(e, row.Text)
		assert.True(t, slices.Equal(got, row.Pieces), "%s: %q\n got %q\nwant %q", row.Model, row.Text, got, row.Pieces)
	}
	require.NotEqual(t, 0, texts, "there is no text")
	t.Logf("%d models, %d texts, %d pieces", len(encoders), texts, pieces)
}

func encoded(e *spEncoder, text string) []string {
	var out []string
	e.encode(text, func(p []byte) { out = append(out, string(p)) })
	return out
}

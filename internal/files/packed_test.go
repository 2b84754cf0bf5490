package files_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/internal/files"
)

func pack(t rapid.TB, name string, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := files.NewWriter(&out, name)
	if err == nil {
		_, err = w.Write(text)
	}
	err = errors.Join(err, w.Close())
	require.NoError(t, err)
	return out.Bytes()
}

func unpack(file []byte) (string, error) {
	r := files.NewReader(io.NopCloser(bytes.NewReader(file)))
	b, err := io.ReadAll(r)
	return string(b), errors.Join(err, r.Close())
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(rapid.String().Draw(t, "text"))
		got, err := unpack(text)
		require.True(t, err == nil && got == string(text), "plain: %q, %v", got, err)
		for _, name := range []string{"a.gz", "a.ZST"} {
			file := pack(t, name, text)
			if got, err := unpack(file); err != nil || got != string(text) {
				t.Fatalf("%s: %q, %v", name, got, err)
			}
			// Concatenated files read as one.
			if got, err := unpack(append(file, file...)); err != nil || got != string(text)+string(text) {
				t.Fatalf("%s twice: %q, %v", name, got, err)
			}
			cut := file[:rapid.IntRange(4, len(file)-1).Draw(t, "cut")]
			_, err := unpack(cut)
			require.ErrorContains(t, err, "cut off or damaged", "%s, %d of %d bytes", name, len(cut), len(file))
		}
	})
}

// A compressed file that unpacks to far more than its size is refused.
func TestOversizedContentIsRefused(t *testing.T) {
	zeros := make([]byte, 100<<20)
	for _, name := range []string{"a.gz", "a.zst"} {
		file := pack(t, name, zeros)
		got, err := unpack(file)
		if err == nil || !strings.Contains(err.Error(), "more than 250 times as large") || len(got) > 65<<20 {
			t.Errorf("%s: %d of %d bytes, %v", name, len(got), len(zeros), err)
		}
		if got, err := unpack(pack(t, name, zeros[:50<<20])); err != nil || len(got) != 50<<20 {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f }

// An error of reading the file is not reported as damage.
func TestReadErrorIsNotDamage(t *testing.T) {
	fault := failing{errors.New("no such disk")}
	for _, head := range [][]byte{nil, pack(t, "a.gz", []byte("text"))[:12], pack(t, "a.zst", []byte("text"))[:8]} {
		r := files.NewReader(io.NopCloser(io.MultiReader(bytes.NewReader(head), fault)))
		_, err := io.ReadAll(r)
		assert.True(t, err == error(fault), "%d bytes: %v", len(head), err)
	}
}

func TestName(t *testing.T) {
	for path, want := range map[string]string{"a.jsonl": "a.jsonl", "d/a.jsonl.gz": "d/a.jsonl", "a.txt.ZST": "a.txt", "gz": "gz", "": ""} {
		assert.Equal(t, want, files.Unpacked(path), path)
		w, err := files.NewWriter(io.Discard, path)
		assert.True(t, err == nil && (w == nil) == (want == path), "%q: %v, %v", path, w, err)
	}
}

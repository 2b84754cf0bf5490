package embeddings_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/embeddings"
	"github.com/refract-eval/refract/llm"
)

// vector returns the vector that the models below give a text.
func vector(text string, dimensions int) []float32 {
	h := fnv.New32a()
	fmt.Fprint(h, text)
	v := make([]float32, dimensions)
	for i := range v {
		v[i] = float32(h.Sum32()>>i&0xff) + 0.1*float32(i+1)
	}
	return v
}

// model is a client whose answers a test can spoil.
type model struct {
	spoil func(r llm.EmbedRequest, v [][]float32) ([][]float32, error)

	mu    sync.Mutex
	calls int
	texts []string
}

func (m *model) Embed(_ context.Context, r llm.EmbedRequest) (llm.EmbedResponse, error) {
	m.mu.Lock()
	m.calls++
	m.texts = append(m.texts, r.Texts...)
	m.mu.Unlock()
	var out [][]float32
	for _, t := range r.Texts {
		out = append(out, vector(t, cmp.Or(r.Dimensions, 8)))
	}
	if m.spoil != nil {
		var err error
		if out, err = m.spoil(r, out); err != nil {
			return llm.EmbedResponse{}, err
		}
	}
	return llm.EmbedResponse{Vectors: out}, nil
}

func numbered(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint("text ", i))
	}
	return out
}

func checkVectors(t rapid.TB, texts []string, got [][]float32, dimensions int) {
	t.Helper()
	require.Len(t, got, len(texts), "%d vectors for", len(got))
	for i, text := range texts {
		require.True(t, slices.Equal(got[i], vector(text, dimensions)), "the vector of text %d is that of another", i)
	}
}

func TestModelKeepsTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{}
		s := &embeddings.Model{Client: m, Name: "m", Store: cache.NewMemory(),
			Batch: rapid.IntRange(1, 7).Draw(t, "batch"), Concurrency: rapid.IntRange(1, 5).Draw(t, "calls"),
			Dimensions: rapid.SampledFrom([]int{0, 3}).Draw(t, "dimensions")}
		texts := numbered(rapid.IntRange(0, 30).Draw(t, "texts"))
		got, err := s.Embed(t.Context(), texts)
		require.NoError(t, err)
		checkVectors(t, texts, got, cmp.Or(s.Dimensions, 8))
		require.Equal(t, (len(texts)+s.Batch-1)/s.Batch, m.calls)
	})
}

func TestModelRefusesBadAnswers(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(v [][]float32) [][]float32
		says  string
	}{
		"too few":     {func(v [][]float32) [][]float32 { return v[1:] }, "1 vectors for 2 texts"},
		"empty":       {func(v [][]float32) [][]float32 { v[1] = nil; return v }, "not finite"},
		"lengths":     {func(v [][]float32) [][]float32 { v[1] = v[1][1:]; return v }, "7 dimensions for model"},
		"not numbers": {func(v [][]float32) [][]float32 { v[0][2] = float32(math.NaN()); return v }, "not finite"},
		"zeros":       {func(v [][]float32) [][]float32 { clear(v[1]); return v }, `for the text "text 1": vectors cannot be compared: all 8 dimensions are 0`},
	} {
		m := &model{spoil: func(_ llm.EmbedRequest, v [][]float32) ([][]float32, error) { return tc.spoil(v), nil }}
		store := cache.NewMemory()
		_, err := (&embeddings.Model{Client: m, Name: "m", Store: store}).Embed(t.Context(), numbered(2))
		if err == nil || !strings.Contains(err.Error(), tc.says) || !strings.Contains(err.Error(), `"m"`) {
			t.Errorf("%s: %v", name, err)
		}
		missing, err := (&embeddings.Model{Name: "m", Store: store}).Missing(t.Context(), numbered(2))
		assert.True(t, err == nil && len(missing) == 2, "%s: %v is missing in the store, %v", name, missing, err)
	}
	// Batches of different dimensions are refused, too.
	m := &model{spoil: func(r llm.EmbedRequest, v [][]float32) ([][]float32, error) {
		if r.Texts[0] == "text 1" {
			v[0] = v[0][:4]
		}
		return v, nil
	}}
	_, err := (&embeddings.Model{Store: cache.NewMemory(), Name: "m", Client: m, Batch: 1}).Embed(t.Context(), numbered(2))
	assert.Error(t, err, "batches of different dimensions were taken")
	_, err = (&embeddings.Model{Store: cache.NewMemory(), Name: "m", Client: m}).Embed(t.Context(), []string{"a", ""})
	assert.ErrorContains(t, err, "a text is empty")
}

func TestModelStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := &model{spoil: func(_ llm.EmbedRequest, v [][]float32) ([][]float32, error) {
		cancel()
		return v, nil
	}}
	_, err := (&embeddings.Model{Store: cache.NewMemory(), Name: "m", Client: m, Batch: 1, Concurrency: 1}).Embed(ctx, numbered(50))
	assert.ErrorIs(t, err, context.Canceled)
	assert.LessOrEqual(t, m.calls, 2)
	failed := errors.New("down")
	m = &model{spoil: func(llm.EmbedRequest, [][]float32) ([][]float32, error) { return nil, failed }}
	if _, err := (&embeddings.Model{Store: cache.NewMemory(), Name: "m", Client: m, Batch: 1, Concurrency: 1}).Embed(t.Context(), numbered(50)); !errors.Is(err, failed) || m.calls > 2 {
		t.Errorf("error %v after %d calls", err, m.calls)
	}
}

// Vectors that are in flight when a run is interrupted are stored, and no others are
// asked for.
func TestModelInterrupted(t *testing.T) {
	ctx, interrupt := llm.Interruptible(t.Context())
	m := &model{spoil: func(_ llm.EmbedRequest, v [][]float32) ([][]float32, error) {
		interrupt.Stop()
		return v, nil
	}}
	s := &embeddings.Model{Store: cache.NewMemory(), Name: "m", Client: m, Batch: 2, Concurrency: 1}
	if _, err := s.Embed(ctx, numbered(50)); !errors.Is(err, context.Canceled) || s.Asked() != len(m.texts) {
		t.Errorf("%d of %d vectors were kept: %v", s.Asked(), len(m.texts), err)
	}
	s.Client = nil
	if got, err := s.Embed(t.Context(), m.texts); err != nil {
		t.Error(err)
	} else {
		checkVectors(t, m.texts, got, 8)
	}
}

// With any store and any number of calls, each text is asked for once and gets its own
// vector.
func TestModelAsksOnce(t *testing.T) {
	file := func(t *testing.T) cache.Store {
		s, err := cache.Open(t.Context(), filepath.Join(t.TempDir(), "cache.sqlite"))
		require.NoError(t, err)
		t.Cleanup(func() { s.Close() })
		return s
	}
	for name, store := range map[string]cache.Store{"memory": cache.NewMemory(), "sqlite": file(t)} {
		t.Run(name, func(t *testing.T) {
			m := &model{}
			c := &embeddings.Model{Client: m, Name: "m", Batch: 2, Store: store}
			for _, texts := range [][]string{{"a", "b", "a"}, {}, {"b", "c", "c", "a"}, {"c"}} {
				got, err := c.Embed(t.Context(), texts)
				require.NoError(t, err)
				checkVectors(t, texts, got, 8)
			}
			slices.Sort(m.texts)
			if !slices.Equal(m.texts, []string{"a", "b", "c"}) || c.Asked() != 3 || c.Stored() != 3 {
				t.Errorf("asked for %q; counts %d and %d", m.texts, c.Asked(), c.Stored())
			}
			// Another model, revision or number of dimensions gives another vector.
			for _, other := range []*embeddings.Model{
				{Store: store, Name: "n"}, {Store: store, Name: "m", Revision: "2"}, {Store: store, Name: "m", Dimensions: 8},
			} {
				_, err := other.Embed(t.Context(), []string{"a"})
				assert.ErrorIs(t, err, embeddings.ErrNotStored, "%+v", other)
			}
			got, err := (&embeddings.Model{Store: store, Name: "m"}).Embed(t.Context(), []string{"c", "a"})
			require.NoError(t, err)
			checkVectors(t, []string{"c", "a"}, got, 8)
		})
	}
}

// Vectors that were received before an error stay stored.
func TestModelKeepsVectorsBeforeAnError(t *testing.T) {
	store, failed := cache.NewMemory(), errors.New("down")
	m := &model{spoil: func(r llm.EmbedRequest, v [][]float32) ([][]float32, error) {
		if r.Texts[0] == "text 6" {
			return nil, failed
		}
		return v, nil
	}}
	c := &embeddings.Model{Client: m, Name: "m", Batch: 2, Concurrency: 1, Store: store}
	_, err := c.Embed(t.Context(), numbered(10))
	require.ErrorIs(t, err, failed)
	m.spoil, m.texts = nil, nil
	got, err := c.Embed(t.Context(), numbered(10))
	require.NoError(t, err)
	checkVectors(t, numbered(10), got, 8)
	// The call after the failed one may already have been in flight.
	assert.True(t, slices.Min(m.texts) >= "text 6" && slices.Contains(m.texts, "text 6"), "asked again for %q", m.texts)
}

func TestDamagedVectors(t *testing.T) {
	for _, text := range []string{"", "no base64!", "AAAA", "AACAfw==", "AACAP"} {
		store := cache.NewMemory()
		e := cache.Entry{Request: cache.Request{Kind: embeddings.Kind, Model: "m", Prompt: "a"}}
		e.Text, e.HasText = text, true
		if _, err := cache.NewAnswers(store).Put(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		_, err := (&embeddings.Model{Store: store, Name: "m"}).Embed(t.Context(), []string{"a"})
		assert.ErrorContains(t, err, "stored vector", text)
	}
}

// A text that the server fails at has no vector if the server answers another text, and the others have
// theirs; if it answers none, the run ends.
func TestModelFailsAtOneText(t *testing.T) {
	down := fmt.Errorf("no: %w", llm.ErrUnavailable)
	for name, tc := range map[string]struct {
		spoil func(i int, v [][]float32) error // of a request with the text 17, at index i
		most  int                              // calls
	}{
		"500":        {func(int, [][]float32) error { return down }, 100},
		"not finite": {func(i int, v [][]float32) error { v[i] = nil; return nil }, 3},
		"zeros":      {func(i int, v [][]float32) error { clear(v[i]); return nil }, 3},
	} {
		m := &model{spoil: func(r llm.EmbedRequest, v [][]float32) ([][]float32, error) {
			if i := slices.Index(r.Texts, "text 17"); i >= 0 {
				return v, tc.spoil(i, v)
			}
			return v, nil
		}}
		var refused []string
		c := &embeddings.Model{Client: m, Name: "m", Batch: 16, Store: cache.NewMemory(), Refused: func(text string, _ error) bool {
			refused = append(refused, text)
			return true
		}}
		got, err := c.Embed(t.Context(), numbered(40))
		if err != nil || !slices.Equal(refused, []string{"text 17"}) || got[17] != nil || m.calls > tc.most {
			t.Fatalf("%s: %v, refused %q after %d calls", name, err, refused, m.calls)
		}
		checkVectors(t, append(numbered(17), numbered(40)[18:]...), append(got[:17:17], got[18:]...), 8)
		c.Store, c.Refused = cache.NewMemory(), func(string, error) bool { return false }
		_, err = c.Embed(t.Context(), numbered(40))
		assert.ErrorContains(t, err, `the text "text 17"`, "%s: a text that is not borne is not named", name)
	}
	dead := &model{spoil: func(llm.EmbedRequest, [][]float32) ([][]float32, error) { return nil, down }}
	c := &embeddings.Model{Client: dead, Name: "m", Batch: 16, Concurrency: 1, Store: cache.NewMemory(), Refused: func(string, error) bool { return true }}
	if _, err := c.Embed(t.Context(), numbered(40)); !errors.Is(err, llm.ErrUnavailable) || dead.calls > 4 {
		t.Errorf("a server that is down: %v after %d calls", err, dead.calls)
	}
}

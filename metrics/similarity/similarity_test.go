package similarity_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/embeddings"
	"github.com/refract-eval/refract/internal/metricstest"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/similarity"
)

// server gives every text a vector and records which it was asked for.
type server struct {
	mu    sync.Mutex
	asked []string
	zero  string // the text with a zero vector
}

func vector(text string) []float32 {
	h := fnv.New64a()
	fmt.Fprint(h, text)
	v := make([]float32, 5)
	for i := range v {
		v[i] = float32(int8(h.Sum64()>>(8*i))) + 0.5
	}
	return v
}

func (s *server) Embed(_ context.Context, r llm.EmbedRequest) (llm.EmbedResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out llm.EmbedResponse
	for _, t := range r.Texts {
		s.asked = append(s.asked, t)
		v := vector(t)
		if t == s.zero {
			clear(v)
		}
		out.Vectors = append(out.Vectors, v)
	}
	return out, nil
}

func metric(t rapid.TB, s *server) metrics.Metric {
	m, err := similarity.New(&embeddings.Model{Client: s, Store: cache.NewMemory(), Name: "m", Batch: 3})
	require.NoError(t, err)
	return m
}

func TestPromises(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		metricstest.Promises(t, metric(t, &server{}), metricstest.Block().Draw(rt, "block"))
	})
}

// The scores follow the definition, and no text is asked for twice.
func TestScores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &server{}
		blocks := rapid.SliceOfN(metricstest.Block(), 1, 4).Draw(t, "blocks")
		out, err := metric(t, s).Score(t.Context(), blocks)
		require.NoError(t, err)
		for i, b := range blocks {
			for j, h := range b.Hypotheses {
				for k, r := range b.References {
					cell := j*len(b.References) + k
					status := metrics.Scored
					if out[i].Status != nil {
						status = out[i].Status[cell]
					}
					if h == "" || r == "" {
						require.Equal(t, metrics.Failed, status, "%q and %q: status", h, r)
						continue
					}
					var dot, hh, rr float64
					x, y := vector(h), vector(r)
					for d := range x {
						dot += float64(x[d]) * float64(y[d])
						hh += float64(x[d]) * float64(x[d])
						rr += float64(y[d]) * float64(y[d])
					}
					if want := dot / math.Sqrt(hh*rr); status != metrics.Scored || math.Abs(out[i].Values[cell]-want) > 1e-12 {
						t.Fatalf("%q and %q: %v (%v), want %v", h, r, out[i].Values[cell], status, want)
					}
				}
			}
		}
		slices.Sort(s.asked)
		require.LessOrEqual(t, len(s.asked)-len(slices.Compact(s.asked)), 0)
	})
}

func TestForecast(t *testing.T) {
	s := &server{}
	m := metric(t, s)
	block := func(texts ...string) metrics.Block {
		return metrics.Block{Hypotheses: texts[:1], References: texts[1:]}
	}
	_, err := m.Score(t.Context(), []metrics.Block{block("a", "b")})
	require.NoError(t, err)
	f := m.(metrics.Foreseeing).Foresee()
	for _, b := range [][]metrics.Block{{block("a", "c", "d"), block("", "e")}, {block("f", "a"), block("c", "a")}} {
		out, err := f.Score(t.Context(), b)
		require.True(t, err == nil && out[0].Status[0] == metrics.Unneeded, "%v %v", out, err)
	}
	want := metrics.Outlook{Model: "m", Cells: 5, Stored: 1, Calls: 2, PromptTokens: 4}
	got := f.Outlook()
	assert.True(t, got == want && len(s.asked) == 2, "%+v after %d texts, want %+v", got, len(s.asked), want)
}

func TestSignature(t *testing.T) {
	for _, c := range []struct {
		model           *embeddings.Model
		name, signature string
	}{
		{&embeddings.Model{Name: "m", Batch: 7}, "embedding:model=m", "model:m|similarity:cosine"},
		{&embeddings.Model{Name: "m", Revision: "r", Dimensions: 64}, "embedding:model=m,revision=r,dimensions=64", "model:m|revision:r|dimensions:64|similarity:cosine"},
	} {
		m, err := similarity.New(c.model)
		require.NoError(t, err)
		if got := m.Signature(metrics.Sentence).String(); got != c.signature || m.Info().Name != c.name {
			t.Errorf("%s: %s, want %s: %s", m.Info().Name, got, c.name, c.signature)
		}
	}
	_, err := similarity.New(&embeddings.Model{})
	assert.Error(t, err, "a model without a name was taken")
}

// Without a server, a vector that is not stored is an error.
func TestNotStored(t *testing.T) {
	m, err := similarity.New(&embeddings.Model{Store: cache.NewMemory(), Name: "m"})
	require.NoError(t, err)
	_, err = m.Score(t.Context(), []metrics.Block{{Hypotheses: []string{"a"}, References: []string{"b"}}})
	assert.ErrorIs(t, err, embeddings.ErrNotStored)
}

// An error about a zero vector names its text.
func TestZeroVectorNamesText(t *testing.T) {
	blocks := []metrics.Block{{Hypotheses: []string{"a"}, References: []string{"b"}}, {Hypotheses: []string{"c"}, References: []string{"d", "e"}}}
	_, err := metric(t, &server{zero: "e"}).Score(t.Context(), blocks)
	assert.True(t, errors.Is(err, embeddings.ErrVector) && strings.Contains(err.Error(), `"e"`), "got %v", err)
}

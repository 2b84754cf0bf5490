package diversify_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/llm"
)

// forgetful answers some requests with the reference itself, depending on prompt and
// sample.
type forgetful struct {
	mu     sync.Mutex
	copies int // percent of requests
	asked  map[string]int
}

// drawn returns a pseudorandom number below n that depends only on the words.
func drawn(n int, words ...any) int {
	sum := sha256.Sum256([]byte(fmt.Sprint(words...)))
	return int(binary.LittleEndian.Uint32(sum[:])) % n
}

func (f *forgetful) Complete(_ context.Context, r llm.Request) (llm.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := drawn(100, r.Prompt, f.asked[r.Prompt])
	f.asked[r.Prompt]++
	_, text, _ := strings.Cut(r.Prompt, ": ")
	if n >= f.copies {
		text = fmt.Sprintf("%s, which stands at %d and %d.", strings.TrimSuffix(text, "."), f.asked[r.Prompt], drawn(1<<30, r.Prompt))
	}
	return llm.Response{Text: text, HasText: true, FinishReason: "stop", PromptTokens: 10, CompletionTokens: 5}, nil
}

// With any answers, a segment ends up complete or was asked in all rounds, no request is
// made twice, and a run over the stored answers gives the same result.
func TestComplete(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &forgetful{copies: rapid.IntRange(0, 100).Draw(t, "copies"), asked: map[string]int{}}
		store := cache.NewMemory()
		cfg := config(f)
		cfg.Store, cfg.Check = store, checker(t, "copy")
		cfg.Prompts = diversify.Ten()[:rapid.IntRange(1, 3).Draw(t, "prompts")]
		cfg.Resample = rapid.IntRange(0, 2).Draw(t, "resample")
		cfg.Complete = rapid.IntRange(1, 12).Draw(t, "complete")
		cfg.Rounds = rapid.IntRange(1, 4).Draw(t, "rounds")
		ds := numbered(rapid.IntRange(1, 3).Draw(t, "segments"))
		x, err := diversify.New(cfg)
		require.NoError(t, err)
		out, sum, err := run(context.Background(), x, ds)
		require.NoError(t, err)
		calls, lacking := 0, 0
		for _, n := range f.asked {
			calls += n
		}
		if sum.Calls != calls || sum.Cached != 0 {
			t.Fatalf("%d calls and %d cached, asked %d", sum.Calls, sum.Cached, calls)
		}
		for _, s := range out {
			lack := max(0, cfg.Complete-len(s.Variants))
			lacking += lack
			if least := len(s.References)*len(cfg.Prompts) + cfg.Rounds; lack > 0 && len(s.Variants)+len(s.Rejected) < least {
				t.Fatalf("segment %s lacks %d after %d answers, want at least %d", s.ID, lack, len(s.Variants)+len(s.Rejected), least)
			}
		}
		require.Equal(t, lacking, sum.Lacking)
		cfg.Client = nil
		x, err = diversify.New(cfg)
		require.NoError(t, err)
		again, _, err := run(context.Background(), x, ds)
		if err != nil || !cmp.Equal(out, again) {
			t.Fatalf("from the store: %v, %s", err, cmp.Diff(out, again))
		}
	})
}

// For a segment whose variants people or a judge rejected, new requests are made, and Plan
// finds the same requests.
func TestCompleteContinues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &forgetful{copies: rapid.IntRange(0, 60).Draw(t, "copies"), asked: map[string]int{}}
		cfg := config(f)
		cfg.Check = checker(t, "copy", "duplicate")
		cfg.Prompts = diversify.Ten()[:rapid.IntRange(1, 3).Draw(t, "prompts")]
		cfg.Complete = rapid.IntRange(1, 8).Draw(t, "complete")
		first, err := diversify.New(cfg)
		require.NoError(t, err)
		ds, _, err := run(context.Background(), first, numbered(3))
		require.NoError(t, err)
		refused := map[string]bool{}
		for _, s := range ds {
			n := rapid.IntRange(0, len(s.Variants)).Draw(t, "refused")
			for _, v := range s.Variants[:n] {
				v.Verdict, v.Review = "review", refract.ReviewReject
				s.Rejected = append(s.Rejected, v)
				refused[s.ID+v.Text.Value] = true
			}
			s.Variants = s.Variants[n:]
		}
		cfg.Store = cache.NewMemory() // requests are not repeated even if the store has lost the answers
		x, err := diversify.New(cfg)
		require.NoError(t, err)
		o, err := x.Plan(context.Background(), segments(ds), nil)
		require.NoError(t, err)
		out, sum, err := run(context.Background(), x, segments(ds))
		require.NoError(t, err)
		least := o.Needed
		require.Equal(t, sum.Calls == 0, least == 0, "%d calls, foreseen %d", sum.Calls, least)
		added := 0
		for i, s := range out {
			added += len(s.Variants) - len(ds[i].Variants)
			type key struct {
				reference, sample int
				prompt            string
			}
			met := map[key]bool{}
			for _, v := range slices.Concat(s.Variants, s.Rejected) {
				k := key{v.Reference, v.Sample, v.Prompt}
				require.False(t, met[k], "segment %s has %v twice", s.ID, k)
				met[k] = true
			}
			for _, v := range s.Variants {
				if refused[s.ID+v.Text.Value] {
					t.Fatalf("segment %s has a refused text again: %q", s.ID, v.Text.Value)
				}
			}
			if len(s.Variants) > max(cfg.Complete, len(ds[i].Variants)) || !cmp.Equal(s.Variants[:len(ds[i].Variants)], ds[i].Variants) {
				t.Fatalf("segment %s: %d variants of %d wanted", s.ID, len(s.Variants), cfg.Complete)
			}
		}
		require.Equal(t, sum.Variants, added)
	})
}

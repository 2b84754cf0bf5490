package cache_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/cache"
)

// opener opens stores on the same database.
type opener func(t *testing.T, opts ...cache.Option) *cache.Database

// runShared tests a database that processes share. fresh returns an opener for a new, empty
// database.
func runShared(t *testing.T, fresh func(t *testing.T) opener) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, opener)
	}{
		{"claims of two", claimsOfTwo},
		{"a claim that is given up", claimCancelled},
		{"a claim that is released later", releaseLater},
		{"a claim ends with its process", claimAbandoned},
		{"each answer asked for once", askedOnce},
		{"stats", stats},
		{"read only", readOnly},
		{"closed", closed},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, fresh(t)) })
	}
}

func claimsOfTwo(t *testing.T, open opener) {
	sa, sb := open(t), open(t)
	a, b := claimer{t, sa}, claimer{t, sb}
	a.claim("1 2 3", "yes yes yes")
	b.claim("2 4 1", "no yes no")
	a.claim("1 4", "yes no")
	// Put releases the claim, but then there is an answer.
	mustPut(t, sa, newEntry(1))
	b.claim("1 2", "no no")
	assert.Equal(t, newEntry(1).Answer, mustGet(t, sb, newEntry(1).Request))
	// If another store puts the answer, the holder's claim is not granted again.
	mustPut(t, sb, newEntry(3))
	a.claim("3 2", "no yes")
	a.release("2 9")
	b.release("3") // already released
	b.claim("2", "yes")
	a.claim("2", "no")
	a.claim("5 6", "yes yes")
	a.release("4") // claimed by another store
	a.claim("4", "no")
	require.NoError(t, sa.Close())
	b.claim("5 6 2", "yes yes yes")
}

func claimCancelled(t *testing.T, open opener) {
	sa, sb := open(t, cache.Lease(time.Second)), open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := sa.Claim(ctx, keysOf(t, "1"))
	assert.ErrorIs(t, err, context.Canceled, "Claim")
	assert.ErrorIs(t, sa.Release(ctx, keysOf(t, "1")), context.Canceled, "Release")
	// Whenever the context ends, no key stays claimed for long that was not granted.
	for i := range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		keys := keysOf(t, strconv.Itoa(10+i))
		var wg sync.WaitGroup
		wg.Go(cancel)
		granted, err := sa.Claim(ctx, keys)
		wg.Wait()
		if err == nil && !granted[0] {
			t.Error("not granted")
		}
		for {
			got, otherErr := sb.Claim(t.Context(), keys)
			if otherErr != nil || got[0] && err == nil {
				t.Fatalf("after Claim = %v, %v the other one is granted %v, %v", granted, err, got, otherErr)
			}
			if got[0] || err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func claimAbandoned(t *testing.T, open opener) {
	sa, sb := open(t, cache.Lease(time.Second)), open(t, cache.Lease(time.Second))
	claimer{t, sa}.claim("1 2", "yes yes")
	claimer{t, sb}.claim("3", "yes")
	time.Sleep(1200 * time.Millisecond) // it is alive and renews its lease
	claimer{t, sb}.claim("1", "no")
	cache.Abandon(sa)
	claimer{t, sb}.claim("3", "yes")
	awaitClaim(t, sb, keysOf(t, "1 2 3"))
	// If it was not dead after all, it finds out that its claims are lost, but its
	// answers are still accepted.
	claimer{t, sa}.claim("1 4", "no yes")
	mustPut(t, sa, newEntry(1))
	claimer{t, sb}.claim("1 4", "no no")
}

// releaseLater tests that claims are released later if their caller's context ended before.
func releaseLater(t *testing.T, open opener) {
	sa, sb := open(t, cache.Lease(300*time.Millisecond)), open(t)
	claimer{t, sa}.claim("1 2", "yes yes")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, sa.Release(ctx, keysOf(t, "1")), context.Canceled, "Release")
	awaitClaim(t, sb, keysOf(t, "1"))
}

// askedOnce lets workers of two stores get the same answers by the rules: look up, claim,
// ask, store; or look up again if another worker asks.
func askedOnce(t *testing.T, open opener) {
	stores := []*cache.Database{open(t), open(t)}
	const keys, workers = 60, 8
	var asked [keys]atomic.Int64
	get := func(s *cache.Database, n int) error {
		key := []cache.Key{newEntry(n).Request.Key()}
		for {
			_, found, err := cache.NewAnswers(s).Get(t.Context(), key)
			if err != nil || found[0] {
				return err
			}
			granted, err := s.Claim(t.Context(), key)
			if err != nil {
				return err
			}
			if granted[0] {
				asked[n].Add(1)
				return putEntry(t.Context(), s, newEntry(n))
			}
			time.Sleep(time.Millisecond)
		}
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			// Workers of the same store have different keys, because a process
			// has other means to ask only once.
			for n := w / 2; n < keys; n += workers / 2 {
				if err := get(stores[w%2], n); err != nil {
					t.Errorf("worker %d, entry %d: %v", w, n, err)
					return
				}
			}
		})
	}
	wg.Wait()
	for n := range asked {
		assert.EqualValues(t, 1, asked[n].Load(), n)
	}
}

func stats(t *testing.T, open opener) {
	s := open(t)
	for i := range 3 {
		e := newEntry(i)
		switch i {
		case 1:
			e.Request.Kind, e.Request.Model = "completions", "model-b"
		case 2:
			e.Text, e.HasText = "", false
		}
		mustPut(t, s, e)
	}
	require.NoError(t, cache.NewScores(s).Put(t.Context(), [][32]byte{{1}}, [][]byte{{1}}))
	got, err := s.Stats(t.Context())
	want := cache.Stats{
		Scores: 1, Entries: 3, Missing: 1, PromptTokens: 5 + 6 + 7, CompletionTokens: 6,
		Models: map[string]int64{"model-a": 2, "model-b": 1},
	}
	assert.True(t, err == nil && fmt.Sprint(got) == fmt.Sprint(want), "got  %+v, %v\nwant %+v", got, err, want)
}

func readOnly(t *testing.T, open opener) {
	s := open(t)
	mustPut(t, s, newEntry(1))
	r := open(t, cache.ReadOnly())
	mustPut(t, s, newEntry(7))
	for _, n := range []int{1, 7} { // a reader sees records that others have stored since
		assert.Equal(t, newEntry(n).Answer, mustGet(t, r, newEntry(n).Request))
	}
	_, found, err := cache.NewAnswers(r).Get(t.Context(), keysOf(t, "2 1"))
	assert.True(t, err == nil && !found[0] && found[1], "GetMany = %v, %v", found, err)
	for what, do := range map[string]func() error{
		"Put":     func() error { return putEntry(t.Context(), r, newEntry(2)) },
		"Claim":   func() error { _, err := r.Claim(t.Context(), keysOf(t, "2")); return err },
		"Release": func() error { return r.Release(t.Context(), keysOf(t, "2")) },
	} {
		assert.ErrorIs(t, do(), cache.ErrReadOnly, what)
	}
}

func closed(t *testing.T, open opener) {
	s := open(t)
	mustPut(t, s, newEntry(1))
	claimer{t, s}.claim("2", "yes")
	for range 2 {
		require.NoError(t, s.Close())
	}
	for what, do := range map[string]func() error{
		"Get":     func() error { _, _, err := getAnswer(t.Context(), s, newEntry(1).Request.Key()); return err },
		"Put":     func() error { return putEntry(t.Context(), s, newEntry(2)) },
		"Claim":   func() error { _, err := s.Claim(t.Context(), keysOf(t, "2")); return err },
		"Release": func() error { return s.Release(t.Context(), keysOf(t, "2")) },
		"Stats":   func() error { _, err := s.Stats(t.Context()); return err },
		"Verify":  func() error { _, _, err := s.Verify(t.Context()); return err },
		"Entries": func() error {
			for _, err := range cache.NewAnswers(s).Entries(t.Context()) {
				return err
			}
			return nil
		},
	} {
		assert.ErrorIs(t, do(), cache.ErrClosed, what)
	}
}

// awaitClaim claims keys again and again, until all of them are granted.
func awaitClaim(t *testing.T, s cache.Store, keys []cache.Key) {
	t.Helper()
	for {
		granted, err := s.Claim(t.Context(), keys)
		require.NoError(t, err)
		if !slices.Contains(granted, false) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// claimer writes claims as numbers of entries.
type claimer struct {
	t     *testing.T
	store cache.Store
}

func (c claimer) claim(numbers, want string) {
	c.t.Helper()
	granted, err := c.store.Claim(c.t.Context(), keysOf(c.t, numbers))
	require.NoError(c.t, err, "Claim of %s", numbers)
	words := make([]string, len(granted))
	for i, ok := range granted {
		words[i] = map[bool]string{true: "yes", false: "no"}[ok]
	}
	assert.Equal(c.t, want, strings.Join(words, " "), "Claim of %s", numbers)
}

func (c claimer) release(numbers string) {
	c.t.Helper()
	require.NoError(c.t, c.store.Release(c.t.Context(), keysOf(c.t, numbers)), "Release of %s", numbers)
}

func keysOf(t *testing.T, numbers string) []cache.Key {
	t.Helper()
	var keys []cache.Key
	for _, word := range strings.Fields(numbers) {
		n, err := strconv.Atoi(word)
		require.NoError(t, err)
		keys = append(keys, newEntry(n).Request.Key())
	}
	return keys
}

// open opens a cache for the duration of a test.
func open(t testing.TB, file string, opts ...cache.Option) *cache.Database {
	t.Helper()
	s, err := cache.Open(t.Context(), file, opts...)
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, s.Close(), "Close")
	})
	return s
}

func TestConformance(t *testing.T) {
	t.Run("memory", func(t *testing.T) { runSuite(t, func(*testing.T) cache.Store { return cache.NewMemory() }) })
	t.Run("sqlite", func(t *testing.T) {
		runSuite(t, func(t *testing.T) cache.Store { return open(t, filepath.Join(t.TempDir(), "answers.db")) })
	})
}

// place returns an opener for a file or a database.
func place(where string) opener {
	return func(t *testing.T, opts ...cache.Option) *cache.Database { return open(t, where, opts...) }
}

func TestConformanceShared(t *testing.T) {
	runShared(t, func(t *testing.T) opener { return place(filepath.Join(t.TempDir(), "answers.db")) })
}

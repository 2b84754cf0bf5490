package cache_test

import (
	"context"
	"errors"
	"testing"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/cache/cachetest"
)

// counting counts the Gets that reach a store, and can fail.
type counting struct {
	cache.Store
	gets int
	fail error
}

func (c *counting) Get(ctx context.Context, key cache.Key) (cache.Entry, bool, error) {
	c.gets++
	if c.fail != nil {
		return cache.Entry{}, false, c.fail
	}
	return c.Store.Get(ctx, key)
}

func (c *counting) Put(ctx context.Context, e cache.Entry) error {
	if c.fail != nil {
		return c.fail
	}
	return c.Store.Put(ctx, e)
}

func TestLRUAnswersFromMemory(t *testing.T) {
	below := &counting{Store: cache.NewMemory()}
	s := cache.NewLRU(below, 2)
	get := func(n, wantBelow int) {
		t.Helper()
		before := below.gets
		e, ok, err := s.Get(t.Context(), cachetest.Entry(n).Request.Key())
		if err != nil || !ok || e != cachetest.Entry(n) {
			t.Errorf("Get of %d = %+v, %v, %v", n, e, ok, err)
		}
		if got := below.gets - before; got != wantBelow {
			t.Errorf("Get of %d asked the store below %d times, want %d", n, got, wantBelow)
		}
	}
	for n := range 3 {
		if err := s.Put(t.Context(), cachetest.Entry(n)); err != nil {
			t.Fatal(err)
		}
	}
	get(0, 1)
	get(0, 0)
	get(1, 1)
	get(0, 0)
	get(2, 1) // 1 leaves
	get(0, 0)
	get(1, 1)
}

// What the store below did not accept is not there; a failure is not
// remembered.
func TestLRUFailureBelow(t *testing.T) {
	below := &counting{Store: cache.NewMemory(), fail: errors.New("broken")}
	s := cache.NewLRU(below, 0)
	e := cachetest.Entry(1)
	if err := s.Put(t.Context(), e); !errors.Is(err, below.fail) {
		t.Errorf("Put = %v", err)
	}
	if _, ok, err := s.Get(t.Context(), e.Request.Key()); ok || !errors.Is(err, below.fail) {
		t.Errorf("Get = %v, %v", ok, err)
	}
	below.fail = nil
	if _, ok, err := s.Get(t.Context(), e.Request.Key()); ok || err != nil {
		t.Errorf("Get = %v, %v", ok, err)
	}
}

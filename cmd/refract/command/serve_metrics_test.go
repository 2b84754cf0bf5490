package command

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/metrics"
)

// closing notes that it is closed.
type closing struct {
	metrics.Metric
	spec   string
	mu     *sync.Mutex // metrics are closed at the same time
	closed *[]string
}

func (c closing) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	*c.closed = append(*c.closed, c.spec)
	return errors.New(c.spec + " does not end well")
}

// A pool shares metrics, drops the least used one once nobody uses it, makes one anew
// that failed, and tries again to make one that could not be made.
func TestMetricPool(t *testing.T) { synctest.Test(t, testMetricPool) }

func testMetricPool(t *testing.T) {
	var made, closed, warned []string
	var mu sync.Mutex
	p := newMetricPool(t.Context(), 2, func(_ context.Context, of pooledSpec) (metrics.Metric, error) {
		spec := of.spec
		made = append(made, spec)
		if spec == "none" {
			return nil, errors.New("there is none of this name")
		}
		return closing{spec: spec, mu: &mu, closed: &closed}, nil
	}, func(err error) {
		mu.Lock()
		defer mu.Unlock()
		warned = append(warned, err.Error())
	})
	lend := func(spec string) func(bool) {
		t.Helper()
		m, err := p.lend(pooledSpec{spec: spec})
		require.Equal(t, spec == "none", err != nil, "%v %v", spec, err)
		return func(failed bool) { p.giveBack(m, failed) }
	}
	expect := func(wantMade, wantClosed string) {
		t.Helper()
		synctest.Wait()
		if m, c := strings.Join(made, " "), strings.Join(closed, " "); m != wantMade || c != wantClosed {
			t.Errorf("%q were made and %q closed, want %q and %q", m, c, wantMade, wantClosed)
		}
	}
	a, again := lend("a"), lend("a")
	lend("none")
	lend("none")
	expect("a none none", "")
	lend("b")(false)
	lend("c")(false) // for which a and b leave no room
	expect("a none none b c", "")
	again(false)
	expect("a none none b c", "")
	a(false)
	expect("a none none b c", "a")
	lend("b")(true)
	expect("a none none b c", "a b")
	lend("b")(false)
	p.close()
	assert.True(t, len(closed) == 4 && len(warned) == 4, "%q were closed, and %q told", closed, warned)
}

package ordered_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/refract-eval/refract/internal/ordered"
)

// upTo yields 0 to n-1, and then the error if there is one.
func upTo(n int, err error) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i := range n {
			if !yield(i, nil) {
				return
			}
		}
		if err != nil {
			yield(0, err)
		}
	}
}

func TestMap(t *testing.T) {
	broken := errors.New("broken")
	for _, x := range []struct {
		name     string
		in       iter.Seq2[int, error]
		at       int // f fails here
		stop     int // yield fails here
		want     int // results
		fails    bool
		parallel int
	}{
		{"all", upTo(100, nil), -1, -1, 100, false, 4},
		{"none", upTo(0, nil), -1, -1, 0, false, 4},
		{"input fails", upTo(50, broken), -1, -1, 50, true, 4},
		{"work fails", upTo(100, broken), 30, -1, 30, true, 4},
		{"caller fails", upTo(100, nil), -1, 20, 20, true, 1},
	} {
		var got []int
		var running, most atomic.Int32
		err := ordered.Map(t.Context(), x.parallel, x.in, func(i int) (int, error) {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			if i%3 == 0 {
				time.Sleep(time.Millisecond)
			}
			if i == x.at {
				return 0, broken
			}
			return i * i, nil
		}, func(sq int) error {
			if len(got) == x.stop {
				return broken
			}
			got = append(got, sq)
			return nil
		})
		if errors.Is(err, broken) != x.fails || len(got) != x.want || int(most.Load()) > x.parallel {
			t.Errorf("%s: %v, %d results, %d at a time", x.name, err, len(got), most.Load())
		}
		for i, sq := range got {
			if sq != i*i {
				t.Errorf("%s: result %d is %d", x.name, i, sq)
			}
		}
	}
}

// The context ends it where the input blocks, and where work does.
func TestMapEnds(t *testing.T) {
	for _, blocks := range []string{"input", "work"} {
		ctx, cancel := context.WithCancel(t.Context())
		hang := make(chan struct{})
		var got []int
		err := ordered.Map(ctx, 2, func(yield func(int, error) bool) {
			if yield(1, nil) && blocks == "input" {
				<-hang
			}
			yield(2, nil)
		}, func(i int) (int, error) {
			if i == 2 {
				<-hang
			}
			return i, nil
		}, func(i int) error {
			got = append(got, i)
			cancel()
			return nil
		})
		if !errors.Is(err, context.Canceled) || !slices.Equal(got, []int{1}) {
			t.Errorf("%s blocks: %v, %v", blocks, err, got)
		}
		close(hang)
	}
}

package experiment

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPace(t *testing.T) {
	begun := time.Now()
	for total, want := range map[int][]time.Duration{1000: {108 * time.Second}, 100: nil} {
		var said []time.Duration
		var told []int64
		p := &pace{begun: begun, total: total}
		for _, seconds := range []time.Duration{4, 12, 14, 31, 59, 60} { // too early to tell, time to, and said already
			p.add(50, begun.Add(seconds*time.Second), func(left time.Duration) { said = append(said, left) }, func(done int64) { told = append(told, done) })
		}
		require.Equal(t, want, said)
		require.Equal(t, []int64{200, 300}, told)
	}
}

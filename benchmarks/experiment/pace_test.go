package experiment

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPace(t *testing.T) {
	begun := time.Now()
	for total, want := range map[int][]time.Duration{1000: {294 * time.Second}, 100: nil} {
		var said []time.Duration
		p := &pace{begun: begun, total: total}
		for _, seconds := range []time.Duration{4, 6, 7} { // too soon to tell, time to, and said already
			p.add(10, begun.Add(seconds*time.Second), func(left time.Duration) { said = append(said, left) })
		}
		require.Equal(t, want, said)
	}
}

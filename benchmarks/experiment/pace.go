package experiment

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

// pace foresees how long the resamples of all rows take.
type pace struct {
	begun time.Time
	total int // resamples
	done  atomic.Int64
	said  sync.Once
	told  atomic.Int64 // half minutes
}

// add counts resamples. After five seconds it says, once, how long the others take, if that is a
// minute or more; but not before so many are done that those under way hardly count. Every half minute it tells how many are done.
func (p *pace) add(n int, now time.Time, say func(left time.Duration), tell func(done int64)) {
	done, since := p.done.Add(int64(n)), now.Sub(p.begun)
	left := time.Duration(float64(since) * (float64(p.total)/float64(done) - 1))
	if since >= 5*time.Second && done >= min(100, int64(p.total)/10) && left >= time.Minute {
		p.said.Do(func() { say(left) })
	}
	if at := int64(since / (time.Minute / 2)); p.told.Swap(at) < at {
		tell(done)
	}
}

// foresee warns if the intervals take long, and says what takes less.
func (r *run) foresee(left time.Duration) {
	var slow []string
	for _, st := range r.p.Statistics {
		if s := st.Measure.Statistic; s == correlate.StatSoftAccuracy || s.Calibrated() {
			slow = append(slow, st.Label())
		}
	}
	quicker := fmt.Sprintf("%d resamples instead of %d take a fifth of that, and with 0 there are none", (r.p.Bootstrap.Resamples+4)/5, r.p.Bootstrap.Resamples)
	if len(slow) > 0 && len(slow) < len(r.p.Statistics) {
		quicker += ", and without " + strings.Join(slow, " and ") + " the others take less"
	}
	r.warn("the intervals take about %v more; %s", left.Round(time.Minute/2), quicker)
}

package cache

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseAge reads a duration as Go writes it, or a whole number of days or
// weeks.
func ParseAge(s string) (time.Duration, error) {
	for unit, length := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		digits, found := strings.CutSuffix(s, unit)
		if !found {
			continue
		}
		const most = 100 * 366 * 24 * time.Hour // a time.Duration holds little more
		n, err := strconv.ParseUint(digits, 10, 32)
		if err != nil || n > uint64(most/length) {
			return 0, fmt.Errorf("%q is no number of days or weeks up to a hundred years, such as 90d", s)
		}
		return time.Duration(n) * length, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no duration: write it as 90d, 2w or 12h", s)
	}
	return d, nil
}

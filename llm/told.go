package llm

import (
	"encoding/json"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// toldWait returns how long a server asks to wait before the next attempt, by an exact statement in a
// header or in its message, or else by the times at which its limits reset; 0 if it does not say.
func toldWait(e *Error, resp *http.Response, body []byte, now time.Time) time.Duration {
	if resp == nil {
		return 0
	}
	for _, name := range []string{"Retry-After-Ms", "X-Ms-Retry-After-Ms"} {
		if wait := waitIn(resp.Header.Get(name)+"ms", now); wait > 0 {
			return wait
		}
	}
	if wait := waitIn(resp.Header.Get("Retry-After"), now); wait > 0 || e.retries != allRetries {
		return wait
	}
	if said := saidWait.FindSubmatch(body[:min(len(body), 64<<10)]); said != nil {
		if wait := waitIn(string(said[1]), now); wait > 0 {
			return wait
		}
	}
	if e.Kind != ErrRateLimited { // good answers state the reset times as well
		return 0
	}
	return min(resetWait(resp.Header, body, now), resetLook)
}

// resetLook is the longest wait for a limit to reset: part of it is back earlier.
const resetLook = time.Minute

// saidWait matches the wait in the messages of OpenAI, Azure, Gemini, LiteLLM and Groq, and Gemini's
// field for it.
var saidWait = regexp.MustCompile(`(?i)(?:(?:try again|retry)(?: after| in) |"retryDelay":\s*")([0-9][0-9.hms]*(?: ?(?:milliseconds|seconds?|minutes?)\b)?)`)

// limits are the limits of which servers state the time of reset.
var limits = []string{"requests", "tokens", "input-tokens", "output-tokens"}

// resetWait returns the longest time until a limit resets: of those that are used up, if the server
// says which.
func resetWait(h http.Header, body []byte, now time.Time) (wait time.Duration) {
	usedUp := false
	for _, limit := range limits {
		for _, stem := range []string{"X-Ratelimit-%-" + limit, "Anthropic-Ratelimit-" + limit + "-%"} {
			reset := waitIn(h.Get(strings.Replace(stem, "%", "reset", 1)), now)
			switch left := h.Get(strings.Replace(stem, "%", "remaining", 1)); {
			case left == "0" && !usedUp:
				usedUp, wait = true, reset
			case left == "0" || !usedUp:
				wait = max(wait, reset)
			}
		}
	}
	if wait == 0 {
		wait = waitIn(h.Get("X-Ratelimit-Reset"), now)
	}
	if wait > 0 {
		return wait
	}
	var inside struct { // OpenRouter's, of the server behind it
		Error struct {
			Metadata struct {
				Headers map[string]json.RawMessage `json:"headers"`
			} `json:"metadata"`
		} `json:"error"`
	}
	_ = json.Unmarshal(body, &inside)
	return waitIn(jsonText(inside.Error.Metadata.Headers["X-RateLimit-Reset"]), now)
}

// longestPause is longer than any call waits.
const longestPause = 1000 * time.Hour

// units are words for units of time.
var units = strings.NewReplacer(" ", "", "milliseconds", "ms", "seconds", "s", "second", "s", "minutes", "m", "minute", "m")

// waitIn parses a time to wait: a number of seconds, a duration such as 6m0s, a time by HTTP or RFC 3339,
// or the seconds or milliseconds since 1970. It returns 0 for anything else.
func waitIn(s string, now time.Time) time.Duration {
	for _, parse := range []func(string) (time.Time, error){http.ParseTime, func(s string) (time.Time, error) { return time.Parse(time.RFC3339, s) }} {
		if at, err := parse(strings.TrimSpace(s)); err == nil {
			return max(0, at.Sub(now))
		}
	}
	s = strings.TrimRight(units.Replace(strings.ToLower(strings.TrimSpace(s))), ".")
	f, err := strconv.ParseFloat(s, 64)
	if d, notDuration := time.ParseDuration(s); notDuration == nil {
		f, err = d.Seconds(), nil
	}
	const epoch = 9e8 // 1998
	switch {
	case math.IsNaN(f), err != nil && !math.IsInf(f, 1):
		return 0
	case f >= epoch*1000 && !math.IsInf(f, 1):
		f = f/1000 - float64(now.UnixMilli())/1000
	case f >= epoch && !math.IsInf(f, 1):
		f -= float64(now.UnixMilli()) / 1000
	}
	return time.Duration(max(0, min(f, longestPause.Seconds())) * float64(time.Second))
}

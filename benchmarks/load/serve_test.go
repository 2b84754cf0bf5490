//go:build unix

package load_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// scoreCall sends the parameters of a request for scores, and reads the answer.
type scoreCall func(tb testing.TB, params string)

// serving starts refract serve, by its pipes or over HTTP. Its standard error goes to errs.
func serving(tb testing.TB, web bool, errs io.Writer, env ...string) scoreCall {
	tb.Helper()
	args := []string{"serve"}
	if web {
		args = append(args, "--listen", "127.0.0.1:0")
	}
	cmd := refractCommand(tb, args...)
	cmd.Stderr, cmd.Env = errs, append(os.Environ(), env...)
	in, out, first := piped(tb, cmd)
	check := func(tb testing.TB, answer []byte, err error) {
		require.True(tb, err == nil && bytes.Contains(answer, []byte(`"settings":`)), "%.300s: %v", answer, err)
	}
	if !web {
		return func(tb testing.TB, params string) {
			_, err := io.WriteString(in, `{"id":1,"method":"score","params":`+params+"}\n")
			line, more := out.ReadBytes('\n')
			check(tb, line, errors.Join(err, more))
		}
	}
	var hello struct{ URL, Token string }
	require.NoError(tb, json.Unmarshal(first, &hello))
	return func(tb testing.TB, params string) {
		r, err := http.NewRequest(http.MethodPost, hello.URL+"/v1/score", strings.NewReader(params))
		require.NoError(tb, err)
		r.Header.Set("Authorization", "Bearer "+hello.Token)
		resp, err := http.DefaultClient.Do(r)
		require.NoError(tb, err)
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		check(tb, body, err)
	}
}

// One request at a time to refract serve. The least median of 100 calls counts, because
// other processes can only make it larger.
func BenchmarkServe(b *testing.B) {
	for _, web := range []bool{false, true} {
		call := serving(b, web, os.Stderr)
		median := func(params string) (least float64) {
			for range 30 {
				times := make([]float64, 100)
				for i := range times {
					begun := time.Now()
					call(b, params)
					times[i] = float64(time.Since(begun).Nanoseconds()) / 1000
				}
				slices.Sort(times)
				if m := times[len(times)/2]; least == 0 || m < least {
					least = m
				}
			}
			return least
		}
		way := map[bool]string{false: "pipe", true: "http"}[web]
		b.Run(way, func(b *testing.B) {
			for b.Loop() {
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(median(scoreRequest(b, "bleu", 1, 1, 1)), "us/pair-bleu")
				for _, shape := range [][3]int{{1, 1, 1}, {1, 64, 4}, {64, 1, 4}} {
					b.ReportMetric(median(scoreRequest(b, "chrf", shape[0], shape[1], shape[2])), fmt.Sprintf("us/%dx%dx%d-chrf", shape[0], shape[1], shape[2]))
				}
			}
		})
	}
}

// liveHeap follows the heap in the lines of GODEBUG=gctrace=1: MiB that were live after a
// collection.
type liveHeap struct {
	mu         sync.Mutex
	rest       []byte
	last, most int
}

var liveMiB = regexp.MustCompile(`->(\d+) MB, `)

// Write implements io.Writer.
func (h *liveHeap) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rest = append(h.rest, p...)
	for {
		line, rest, whole := bytes.Cut(h.rest, []byte{'\n'})
		if !whole {
			return len(p), nil
		}
		if m := liveMiB.FindSubmatch(line); m != nil {
			h.last, _ = strconv.Atoi(string(m[1]))
			h.most = max(h.most, h.last)
		}
		h.rest = rest
	}
}

// A server that stays open keeps its memory: after the first requests the live heap grows by
// no more than 5 MiB, by pipes and over HTTP, with equal requests and with ones that differ.
// REFRACT_SOAK is how long to ask in all.
func TestServeSoak(t *testing.T) {
	soak, least := time.Duration(0), 2000
	if os.Getenv("REFRACT_LOAD") == "full" {
		least = 300_000
	}
	if text := os.Getenv("REFRACT_SOAK"); text != "" {
		var err error
		soak, err = time.ParseDuration(text)
		require.NoError(t, err)
	}
	for _, web := range []bool{false, true} {
		for _, differ := range []bool{false, true} {
			t.Run(fmt.Sprintf("web=%t,differ=%t", web, differ), func(t *testing.T) {
				heap := &liveHeap{}
				call, warm, from := serving(t, web, heap, "GODEBUG=gctrace=1"), min(10_000, least/2), 0
				params := strings.Replace(scoreRequest(t, "bleu", 1, 1, 1), `["bleu"]`, `["bleu","chrf","ter"]`, 1)
				begun, n := time.Now(), 0
				for ; n < least || time.Since(begun) < soak/4; n++ {
					asked := params
					if differ {
						asked = strings.ReplaceAll(params, "number 0", fmt.Sprintf("number %d of %x", n, n*7919))
					}
					if call(t, asked); n == warm {
						heap.mu.Lock()
						from = heap.last
						heap.most = from
						heap.mu.Unlock()
					}
				}
				took := time.Since(begun)
				heap.mu.Lock()
				defer heap.mu.Unlock()
				t.Logf("%d requests, %v each: %d MiB live after %d, at most %d later", n, took/time.Duration(n), from, warm, heap.most)
				assert.True(t, from != 0 && heap.most <= from+5, "the live heap grows")
			})
		}
	}
}

// scoreRequest returns a request with the given numbers of segments, hypotheses and
// references.
func scoreRequest(tb testing.TB, metric string, segments, hypotheses, references int) string {
	tb.Helper()
	sentence := func(i, j int) string {
		return fmt.Sprintf("The %s %s the %s in the %s of number %d.", nouns[(i+j)%len(nouns)], links[(3*i+j)%len(links)], nouns[(7*i+j)%len(nouns)], nouns[(5*i+3*j)%len(nouns)], i)
	}
	all := make([]map[string]any, segments)
	for i := range all {
		own, refs := map[string]string{}, make([]string, references)
		for h := range hypotheses {
			own[fmt.Sprintf("s%02d", h)] = sentence(i+h, 1)
		}
		for r := range refs {
			refs[r] = sentence(i, r+2)
		}
		all[i] = map[string]any{"id": fmt.Sprint(i), "hypotheses": own, "references": refs}
	}
	params, err := json.Marshal(map[string]any{"segments": all, "metrics": []string{metric}, "aggregate": []string{"max"}})
	require.NoError(tb, err)
	return string(params)
}

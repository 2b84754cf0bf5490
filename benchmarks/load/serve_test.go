//go:build unix

package load_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"
)

// One request at a time to refract serve, over standard input and output. The minimum of
// the medians of 100 calls counts, because other processes can only make them larger.
func BenchmarkServe(b *testing.B) {
	in, out, _ := piped(b, refractCommand(b, "serve"))
	id := 0
	ask := func(params string) {
		id++
		if _, err := fmt.Fprintf(in, `{"id":%d,"method":"score","params":%s}`+"\n", id, params); err != nil {
			b.Fatal(err)
		}
		line, err := out.ReadSlice('\n')
		for err == bufio.ErrBufferFull {
			_, err = out.ReadSlice('\n')
		}
		if err != nil || bytes.Contains(line, []byte(`"error":`)) {
			b.Fatalf("%s: %v", line, err)
		}
	}
	median := func(params string) (least float64) {
		for range 9 {
			times := make([]float64, 100)
			for i := range times {
				begun := time.Now()
				ask(params)
				times[i] = float64(time.Since(begun).Nanoseconds()) / 1000
			}
			slices.Sort(times)
			if m := times[len(times)/2]; least == 0 || m < least {
				least = m
			}
		}
		return least
	}
	for b.Loop() {
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(median(scoreRequest(b, "bleu", 1, 1, 1)), "us/pair-bleu")
		for _, shape := range [][3]int{{1, 1, 1}, {1, 64, 4}, {64, 1, 4}} {
			b.ReportMetric(median(scoreRequest(b, "chrf", shape[0], shape[1], shape[2])), fmt.Sprintf("us/%dx%dx%d-chrf", shape[0], shape[1], shape[2]))
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
	if err != nil {
		tb.Fatal(err)
	}
	return string(params)
}

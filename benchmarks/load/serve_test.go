//go:build unix

package load_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/chrf"
)

// served is a running refract serve.
type served struct {
	ask  func(tb testing.TB, params string) // asks for scores, and waits
	line *lineClient                        // nil over HTTP
}

// lineClient speaks the protocol of lines.
type lineClient struct {
	out io.Writer
	in  *bufio.Reader
	id  int
}

// send writes a request. An answer is owed.
func (c *lineClient) send(tb testing.TB, params string) {
	tb.Helper()
	c.id++
	if _, err := fmt.Fprintf(c.out, `{"id":%d,"method":"score","params":%s}`+"\n", c.id, params); err != nil {
		tb.Fatal(err)
	}
}

// receive reads an answer, which has to be a result.
func (c *lineClient) receive(tb testing.TB) {
	tb.Helper()
	line, err := c.in.ReadSlice('\n')
	for err == bufio.ErrBufferFull {
		_, err = c.in.ReadSlice('\n')
	}
	if err != nil || bytes.Contains(line, []byte(`"error":`)) {
		tb.Fatalf("%s: %v", line, err)
	}
}

// startServe starts the program, on a way that requests come.
func startServe(tb testing.TB, way string) *served {
	tb.Helper()
	args := map[string][]string{"stdio": nil, "http": {"--listen", "127.0.0.1:0"}}[way]
	cmd := refractCommand(tb, append([]string{"serve"}, args...)...)
	in, lines, first := piped(tb, cmd)
	var hello struct{ URL, Token string }
	if err := json.Unmarshal(first, &hello); err != nil {
		tb.Fatal(err)
	}
	s := &served{}
	if way == "http" {
		s.ask = web(tb, hello.URL, hello.Token)
		return s
	}
	s.line = &lineClient{out: in, in: lines}
	s.ask = func(tb testing.TB, params string) {
		s.line.send(tb, params)
		s.line.receive(tb)
	}
	return s
}

// web asks over HTTP on one connection, without the goroutines that http.Client has
// beside it, which would be measured too.
func web(tb testing.TB, at, token string) func(tb testing.TB, params string) {
	tb.Helper()
	u, err := url.Parse(at)
	if err != nil {
		tb.Fatal(err)
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close() })
	in := bufio.NewReader(conn)
	return func(tb testing.TB, params string) {
		fmt.Fprintf(conn, "POST /v1/score HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", u.Host, token, len(params), params)
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			tb.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			tb.Fatalf("%s: %s %v", resp.Status, body, err)
		}
	}
}

// rounds and each are how often, and of how many calls, a median is taken. The least of
// the medians counts: other processes make them larger, and nothing makes them smaller.
const (
	rounds = 9
	each   = 100
)

// median is the least median time of a call, in microseconds.
func median(call func()) float64 {
	var least float64
	for range rounds {
		times := make([]float64, each)
		for i := range times {
			begun := time.Now()
			call()
			times[i] = float64(time.Since(begun).Nanoseconds()) / 1000
		}
		slices.Sort(times)
		if m := times[each/2]; least == 0 || m < least {
			least = m
		}
	}
	return least
}

// scoreRequest is one of so many segments, each of so many hypotheses and references.
func scoreRequest(tb testing.TB, metric, aggregator string, segments, hypotheses, references int) (params string, all []*refract.Segment) {
	tb.Helper()
	sentence := func(i, j int) string {
		return fmt.Sprintf("The %s %s the %s in the %s of number %d.", nouns[(i+j)%len(nouns)], links[(3*i+j)%len(links)], nouns[(7*i+j)%len(nouns)], nouns[(5*i+3*j)%len(nouns)], i)
	}
	lines := make([]string, segments)
	for i := range lines {
		own := map[string]string{}
		for h := range hypotheses {
			own[fmt.Sprintf("s%02d", h)] = sentence(i+h, 1)
		}
		refs := make([]string, references)
		for r := range refs {
			refs[r] = sentence(i, r+2)
		}
		line, err := json.Marshal(map[string]any{"id": fmt.Sprint(i), "hypotheses": own, "references": refs})
		if err != nil {
			tb.Fatal(err)
		}
		lines[i] = string(line)
	}
	list, err := json.Marshal(map[string]any{"metrics": []string{metric}, "aggregate": []string{aggregator}})
	if err != nil {
		tb.Fatal(err)
	}
	params = fmt.Sprintf(`{"segments":[%s],%s`, strings.Join(lines, ","), list[1:])
	file := filepath.Join(tb.TempDir(), "segments.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		tb.Fatal(err)
	}
	ds, err := dataset.Open("jsonl:"+file, dataset.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	for s, err := range ds.Segments(tb.Context()) {
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, s)
	}
	return params, all
}

// One request at a time, on the ways that they come, and beside it what the scores of
// the larger ones take in this process: segments in memory, through the engine.
func BenchmarkServe(b *testing.B) {
	for _, way := range []string{"stdio", "http"} {
		b.Run(way, func(b *testing.B) {
			s := startServe(b, way)
			b.ReportMetric(0, "ns/op")
			for b.Loop() {
				for _, metric := range []string{"chrf", "bleu"} {
					params, _ := scoreRequest(b, metric, "max", 1, 1, 1)
					b.ReportMetric(median(func() { s.ask(b, params) }), "us/pair-"+metric)
				}
				for _, shape := range [][2]int{{1, 64}, {64, 1}} {
					params, segments := scoreRequest(b, "chrf", "max", shape[0], shape[1], 4)
					asked := median(func() { s.ask(b, params) })
					scored := median(func() { scoring(b, segments) })
					b.ReportMetric(asked, fmt.Sprintf("us/%dx%dx4", shape[0], shape[1]))
					b.ReportMetric(scored, fmt.Sprintf("us/%dx%dx4-scoring", shape[0], shape[1]))
				}
			}
		})
	}
}

// scoring scores segments by chrF and its largest value over the references.
func scoring(b *testing.B, segments []*refract.Segment) {
	b.Helper()
	m, err := chrf.New(chrf.Defaults())
	if err != nil {
		b.Fatal(err)
	}
	eng, err := refract.NewEngine([]refract.Setting{{Metric: m, Aggregator: aggregate.Must("max")}}, refract.Options{Workers: 1})
	if err != nil {
		b.Fatal(err)
	}
	reducer := eng.Reducer()
	err = eng.Run(context.Background(), dataset.InMemory(segments), func(s *refract.SegmentScores) error {
		for h := range s.Segment.Hypotheses {
			if r, err := reducer.Reduce(s, 0, h); err != nil || r.Status != metrics.Scored {
				return cmp.Or(err, fmt.Errorf("%s", r.Status))
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

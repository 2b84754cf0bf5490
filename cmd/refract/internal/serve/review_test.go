package serve_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/cmd/refract/internal/serve"
	"github.com/refract-eval/refract/diversify/review"
)

func TestReview(t *testing.T) {
	items := []review.Item{{Answer: "a", Segment: "1", Reference: "It is red."}, {Answer: "b", Segment: "2", Reference: "It is hot."}}
	path := filepath.Join(t.TempDir(), "d.jsonl")
	file, _, _, err := review.Open(path)
	require.NoError(t, err)
	defer file.Close()
	s := serve.NewReview([]byte("page"), items, file)
	for _, address := range []string{"0.0.0.0:0", "192.0.2.1:0", ":0", "x"} {
		if l, _, err := s.Listen(address); err == nil {
			l.Close()
			t.Errorf("the page is served at %s", address)
		}
	}
	l, url, err := s.Listen("127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, l) }()
	send := func(method, url, body string, change func(*http.Request)) int {
		t.Helper()
		r, err := http.NewRequest(method, url, strings.NewReader(body))
		require.NoError(t, err)
		if change != nil {
			change(r)
		}
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		resp.Body.Close()
		return resp.StatusCode
	}
	good := fmt.Sprintf(`{"answer":%q,"segment":"forged","decision":"reject"}`, items[0].Answer)
	root, _, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	for _, c := range []struct {
		what, method, url, body string
		change                  func(*http.Request)
		want                    int
	}{
		{"page", "GET", url, "", nil, 200},
		{"wrong token", "POST", "http://" + root + "/A/decision", good, nil, 404},
		{"rebound name", "GET", url, "", func(r *http.Request) { r.Host = "example.org" }, 403},
		{"another page", "POST", url + "decision", good, func(r *http.Request) { r.Header.Set("Origin", "http://example.org") }, 403},
		{"decision", "POST", url + "decision", good, nil, 204},
		{"unknown answer", "POST", url + "decision", `{"answer":"x","decision":"reject"}`, nil, 400},
		{"two lines", "POST", url + "decision", fmt.Sprintf(`{"answer":%q,"decision":"edit","text":"a\nb"}`, items[0].Answer), nil, 400},
		{"one taken back", "POST", url + "decision", fmt.Sprintf(`{"answer":%q,"decision":"accept"}`, items[1].Answer), nil, 204},
		{"taking it back", "POST", url + "decision", fmt.Sprintf(`{"answer":%q,"decision":"undo"}`, items[1].Answer), nil, 204},
		{"no decision", "POST", url + "decision", `{}`, nil, 400},
		{"too long", "POST", url + "decision", strings.Repeat(" ", 2<<20), nil, 413},
	} {
		assert.Equal(t, c.want, send(c.method, c.url, c.body, c.change), "%s", c.what)
	}
	// A decision that is on its way at the end is kept.
	conn, err := net.Dial("tcp", root)
	require.NoError(t, err)
	defer conn.Close()
	place := strings.TrimPrefix(url, "http://"+root)
	fmt.Fprintf(conn, "POST %sdecision HTTP/1.1\r\nHost: %s\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", place, root, len(good))
	in := bufio.NewReader(conn)
	line, err := in.ReadString('\n')
	require.True(t, err == nil && strings.Contains(line, "100 Continue"), "%q, %v", line, err)
	stop()
	fmt.Fprint(conn, good)
	assert.NoError(t, <-ended)
	assert.Equal(t, 1, s.Count())
	d, err := review.Read(path)
	assert.True(t, err == nil && d.Count(review.Reject) == 1, "%+v, %v; want one decision to reject", d, err)
	b, _ := os.ReadFile(path)
	assert.NotContains(t, string(b), "forged", "the page's word for the segment is believed: %s", b)
}

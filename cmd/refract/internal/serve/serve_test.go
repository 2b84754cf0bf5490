package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/semaphore"
)

// echo returns a server with three methods: echo returns its parameters, fail fails, and
// wait runs until it is cancelled.
func echo() *Server {
	s := New("1.2", func(err error) (bool, string) { return false, err.Error() })
	s.Handle("echo", func(_ context.Context, params []byte) ([]byte, error) { return params, nil })
	s.Handle("fail", func(context.Context, []byte) ([]byte, error) { return nil, errors.New("it cannot be done") })
	s.Handle("wait", func(ctx context.Context, _ []byte) ([]byte, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	return s
}

// answers returns the lines that a server writes after its hello.
func answers(t testing.TB, input string) []string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, echo().Serve(t.Context(), strings.NewReader(input), &out, echo().Hello("", "")))
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	return lines[1:]
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`{"id":1,"method":"echo","params":{"a":[1,"x"]}}`, `{"id":1,"result":{"a":[1,"x"]}}`},
		{`{"params":{},"method":"echo","id":"é\n"}`, `{"id":"é\n","result":{}}`},
		{`{"id":-3,"method":"echo"}`, `{"id":-3,"result":{}}`},
		{`{"id":1,"method":"fail"}`, `{"id":1,"error":{"code":"failed","message":"it cannot be done"}}`},
		{`{"id":1,"method":"ech"}`, `{"id":1,"error":{"code":"usage","message":"unknown method \"ech\"; did you mean \"echo\"? (known: echo, fail, wait, cancel)"}}`},
		{`{"id":1,"method":"cancel","params":{"id":2}}`, `{"id":1,"result":{"cancelled":false}}`},
		{"\ufeff{\"id\":1,\"method\":\"cancel\"}\r", `{"id":1,"error":{"code":"usage","message":"params has no \"id\", which names the request to cancel"}}`},
		{`{"id":1,"method":"cancel","params":{}}`, `{"id":1,"error":{"code":"usage","message":"params has no \"id\", which names the request to cancel"}}`},
		{`{"id":1,"method":"echo","more":2}`, `{"id":1,"error":{"code":"usage","message":"unknown field \"more\"; the fields are id, method, params"}}`},
		{`{"id":1,"id":2,"method":"echo"}`, `{"id":null,"error":{"code":"usage","message":"line 1: field \"id\" is there twice"}}`},
		{`{"id":1,"method":"echo","params":[]}`, `{"id":1,"error":{"code":"usage","message":"field params must be an object"}}`},
		{`{"id":1.5,"method":"echo"}`, `{"id":null,"error":{"code":"usage","message":"line 1: field id must be an integer, or a text of up to 80 bytes"}}`},
		{`{"id":null,"method":"echo"}`, `{"id":null,"error":{"code":"usage","message":"line 1: field id must be an integer, or a text of up to 80 bytes"}}`},
		{`{"method":"echo"}`, `{"id":null,"error":{"code":"usage","message":"line 1: the request has no \"id\": an integer, or a text of up to 80 bytes"}}`},
		{`{"id":1}`, `{"id":1,"error":{"code":"usage","message":"the request has no \"method\""}}`},
		{`{"id":1,"method":"echo","params":{"a":NaN}}`, `{"id":null,"error":{"code":"usage","message":"line 1: bad JSON: invalid character 'N' at start of value; JSON has no NaN: write null for a missing value"}}`},
		{"{\"id\":1,\"method\":\"\xff\"}", `{"id":null,"error":{"code":"usage","message":"line 1: bad JSON: invalid UTF-8"}}`},
		{`{"id":1,"method":"echo","params":{"a":` + strings.Repeat("[", 10000), `{"id":null,"error":{"code":"usage","message":"line 1: bad JSON: exceeded max depth"}}`},
		{" \r", `{"id":null,"error":{"code":"usage","message":"line 1: the line is empty; a request is a JSON object"}}`},
		{`null`, `{"id":null,"error":{"code":"usage","message":"line 1: a request must be a JSON object, not null"}}`},
	} {
		got := answers(t, c.line+"\n")
		assert.True(t, len(got) == 1 && got[0] == c.want, "%.80s\ngot  %s\nwant %s", c.line, got, c.want)
	}
}

// dial connects to a server. It returns the connection, a scanner of its answers and a channel
// with the error of Serve.
func dial(ctx context.Context, s *Server) (net.Conn, *bufio.Scanner, chan error) {
	ours, theirs := net.Pipe()
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, theirs, theirs, s.Hello("", "")) }()
	lines := bufio.NewScanner(ours)
	lines.Scan() // the hello
	return ours, lines, done
}

func TestCancel(t *testing.T) {
	conn, lines, _ := dial(t.Context(), echo())
	defer conn.Close()
	expect := func(want ...string) {
		t.Helper()
		for range want {
			lines.Scan()
			if !strings.Contains(strings.Join(want, " "), lines.Text()) {
				t.Errorf("%s is none of %s", lines.Text(), want)
			}
		}
	}
	io.WriteString(conn, `{"id":7,"method":"wait"}`+"\n"+`{"id":7,"method":"echo"}`+"\n")
	expect(`{"id":null,"error":{"code":"usage","message":"line 2: the id 7 belongs to a request that is not answered yet"}}`)
	io.WriteString(conn, `{"id":"7","method":"cancel","params":{"id":"7"}}`+"\n")
	expect(`{"id":"7","result":{"cancelled":false}}`) // the text "7" is not the integer 7
	io.WriteString(conn, `{"id":8,"method":"cancel","params":{"id":7}}`+"\n")
	expect(`{"id":8,"result":{"cancelled":true}}`, `{"id":7,"error":{"code":"cancelled","message":"the request was cancelled"}}`)
	io.WriteString(conn, `{"id":7,"method":"echo"}`+"\n")
	expect(`{"id":7,"result":{}}`)
}

// When the context ends, open requests are answered, although the input has not ended.
func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	conn, lines, done := dial(ctx, echo())
	defer conn.Close()
	io.WriteString(conn, `{"id":7,"method":"wait"}`+"\n")
	io.WriteString(conn, `{"id":8,"method":"echo"}`+"\n")
	lines.Scan() // both requests have arrived
	stop()
	if lines.Scan(); lines.Text() != `{"id":7,"error":{"code":"cancelled","message":"the request was cancelled"}}` {
		t.Error(lines.Text())
	}
	assert.ErrorIs(t, <-done, context.Canceled)
}

// No line is read while too many requests are unanswered.
func TestBackPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		s := echo()
		in, w := io.Pipe()
		go func() {
			for i := range 2 * MaxPending {
				if _, err := fmt.Fprintf(w, "{\"id\":%d,\"method\":\"wait\"}\n", i); err != nil {
					return
				}
			}
		}()
		var out bytes.Buffer
		done := make(chan error, 1)
		go func() { done <- s.Serve(ctx, in, &out, s.Hello("", "")) }()
		synctest.Wait()
		stop()
		<-done
		in.Close()
		assert.Equal(t, MaxPending, strings.Count(out.String(), `"code":"cancelled"`))
	})
}

// Nor is one read while unanswered requests have too many bytes together, whether or not the
// client reads answers. A client that does not read is cut off once the context ends.
func TestBackPressureOfBytes(t *testing.T) {
	for name, method := range map[string]string{"requests that last": "wait", "answers that are not read": "echo"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				s := echo()
				s.large.all = semaphore.NewWeighted(10_000)
				conn, _, done := dial(ctx, s)
				sent := 0
				go func() {
					for ; ; sent++ {
						if _, err := fmt.Fprintf(conn, `{"id":%d,"method":%q,"params":{"a":"%01000d"}}`+"\n", sent, method, 0); err != nil {
							return
						}
					}
				}()
				synctest.Wait()
				assert.False(t, s.large.all.TryAcquire(1000), "there is room, and it does not read")
				// Unread requests fit into the reader's buffer.
				most := 10 + (1<<16)/1000
				assert.True(t, sent >= 9 && sent <= most, "%d requests were taken, and not from 9 to %d", sent, most)
				begun := time.Now()
				stop()
				<-done
				assert.Equal(t, lastWord, time.Since(begun), "it ended after")
				conn.Close()
			})
		})
	}
}

// Requests wait while the expected answers together exceed the bound. A request whose answer
// exceeds it without others is refused.
func TestExpect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := echo()
		begun := 0
		expect := func(bytes int64) {
			s.Handle(fmt.Sprint(bytes), func(ctx context.Context, _ []byte) ([]byte, error) {
				if err := Expect(ctx, bytes); err != nil {
					return nil, err
				}
				begun++
				time.Sleep(time.Second)
				return []byte("{}"), nil
			})
		}
		const half = maxBytes/2 + 1
		expect(half)
		expect(maxBytes + 1)
		conn, lines, done := dial(t.Context(), s)
		for id := range 3 {
			fmt.Fprintf(conn, `{"id":%d,"method":"%d"}`+"\n", id, half)
		}
		for n := range 3 {
			synctest.Wait()
			assert.Equal(t, n+1, begun)
			lines.Scan()
		}
		fmt.Fprintf(conn, `{"id":4,"method":"%d"}`+"\n", maxBytes+1)
		if lines.Scan(); lines.Text() != `{"id":4,"error":{"code":"usage","message":"the request takes about 256 MiB for scores and its answer, and at most 256 are allowed: split it"}}` {
			t.Error(lines.Text())
		}
		conn.Close()
		<-done
		assert.True(t, s.answers.TryAcquire(maxBytes), "an answer takes room still")
	})
}

// A line that is too long is skipped without being held in memory.
func TestLongLine(t *testing.T) {
	long := io.LimitReader(zeros{}, MaxLine+1)
	in := io.MultiReader(long, strings.NewReader("\n"+`{"id":1,"method":"echo"}`))
	var out bytes.Buffer
	s := echo()
	require.NoError(t, s.Serve(t.Context(), in, &out, nil))
	want := `{"id":null,"error":{"code":"usage","message":"line 1: the request has more than 64 MiB; split it"}}` + "\n" + `{"id":1,"result":{}}` + "\n"
	assert.True(t, out.String() == want && s.large.all.TryAcquire(maxShared), out.String())
}

type zeros struct{}

// Read implements io.Reader.
func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// FuzzLines tests that every line gets exactly one answer and the server keeps running.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"method":"echo","params":{"a":1}}`, "\n\n", `{"id":"a","method":"fail"}` + "\n" + `{"id":"a","method":"cancel","params":{"id":1}}`,
		`{"id":1,"id":1}`, "{\"id\":\"\xff\"}", `{"id":"\ud800"}`, `{"id":1e9}`, `[[[[`, `{"id":99999999999999999999}`, `{"id":"x","method":"echo","params":{"a":"\u2028"}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		if strings.Contains(input, "wait") {
			return // nobody would cancel it
		}
		lines := strings.Split(input, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		got := answers(t, strings.Join(append(lines, `{"id":"the last","method":"echo","params":{}}`), "\n"))
		require.Len(t, got, len(lines)+1, "%d answers to", len(got))
		last := false
		for _, line := range got {
			var a struct {
				ID     *json.RawMessage
				Result *json.RawMessage
				Error  *struct{ Code, Message string }
			}
			d := json.NewDecoder(strings.NewReader(line))
			d.DisallowUnknownFields()
			err := d.Decode(&a)
			require.True(t, err == nil && (a.Result == nil) != (a.Error == nil), "%q: %v", line, err)
			last = last || line == `{"id":"the last","result":{}}`
		}
		require.True(t, last, "the last line has no answer: %q", got)
	})
}

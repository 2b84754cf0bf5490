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
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

// echo is a server whose method echo gives back its parameters, fail fails, and wait
// lasts until it is cancelled.
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

// answers are the lines that a server writes after its hello.
func answers(t testing.TB, input string) []string {
	t.Helper()
	var out bytes.Buffer
	if err := echo().Serve(t.Context(), strings.NewReader(input), &out, echo().Hello()); err != nil {
		t.Fatal(err)
	}
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
		{`{"id":1,"method":"cancel","params":{}}`, `{"id":1,"error":{"code":"usage","message":"name the request by \"id\""}}`},
		{`{"id":1,"method":"echo","more":2}`, `{"id":1,"error":{"code":"usage","message":"unknown field \"more\"; the fields are id, method, params"}}`},
		{`{"method":"echo","more":2,"id":"later"}`, `{"id":"later","error":{"code":"usage","message":"unknown field \"more\"; the fields are id, method, params"}}`},
		{`{"id":1,"id":2,"method":"echo"}`, `{"id":null,"error":{"code":"usage","message":"field \"id\" is there twice"}}`},
		{`{"id":1,"method":"echo","params":[]}`, `{"id":1,"error":{"code":"usage","message":"field params must be an object, not an array"}}`},
		{`{"id":1.5,"method":"echo"}`, `{"id":null,"error":{"code":"usage","message":"field id must be an integer, or a text of up to 80 bytes, not another number or text"}}`},
		{`{"id":null,"method":"echo"}`, `{"id":null,"error":{"code":"usage","message":"field id must be a string or a number, not null"}}`},
		{`{"method":"echo"}`, `{"id":null,"error":{"code":"usage","message":"the request has no \"id\": an integer, or a text of up to 80 bytes"}}`},
		{`{"id":1}`, `{"id":1,"error":{"code":"usage","message":"the request has no \"method\""}}`},
		{`{"id":1,"method":"echo","params":{"a":NaN}}`, `{"id":null,"error":{"code":"usage","message":"bad JSON: 'N' where a value should be"}}`},
		{"{\"id\":1,\"method\":\"\xff\"}", `{"id":null,"error":{"code":"usage","message":"bad JSON: invalid UTF-8; store the line as UTF-8"}}`},
		{`{"id":1,"method":"echo","params":{"a":` + strings.Repeat("[", 10000), `{"id":null,"error":{"code":"usage","message":"bad JSON: the values are nested too deep"}}`},
		{``, `{"id":null,"error":{"code":"usage","message":"bad JSON: the line ends where a value should be"}}`},
	} {
		got := answers(t, c.line+"\n")
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("%.80s\ngot  %s\nwant %s", c.line, got, c.want)
		}
	}
}

// A line without an end counts at the end of the input, and one that is too long does
// not keep the next ones away.
func TestLines(t *testing.T) {
	l := &lines{in: bufio.NewReaderSize(strings.NewReader("ab\n\n"+strings.Repeat("x", 100)+"\n12345678901234567890\ncd"), 16), most: 20}
	var got []string
	for {
		line, err := l.next()
		if err == io.EOF {
			break
		}
		got = append(got, string(line))
		if err != nil {
			got[len(got)-1] = "too long"
		}
	}
	if s := strings.Join(got, "|"); s != "ab||too long|12345678901234567890|cd" {
		t.Error(s)
	}
}

// dial returns both ends of a connection to a server, and what the server returns.
func dial(ctx context.Context, s *Server) (net.Conn, *bufio.Scanner, chan error) {
	ours, theirs := net.Pipe()
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, theirs, theirs, s.Hello()) }()
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
	expect(`{"id":null,"error":{"code":"usage","message":"the id 7 is that of a request that is not answered yet"}}`)
	io.WriteString(conn, `{"id":"7","method":"cancel","params":{"id":"7"}}`+"\n")
	expect(`{"id":"7","result":{"cancelled":false}}`) // a text is no integer
	io.WriteString(conn, `{"id":8,"method":"cancel","params":{"id":7}}`+"\n")
	expect(`{"id":8,"result":{"cancelled":true}}`, `{"id":7,"error":{"code":"cancelled","message":"the request was cancelled"}}`)
	io.WriteString(conn, `{"id":7,"method":"echo"}`+"\n")
	expect(`{"id":7,"result":{}}`)
}

// At the end of the context requests are answered, though the input goes on.
func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	conn, lines, done := dial(ctx, echo())
	defer conn.Close()
	io.WriteString(conn, `{"id":7,"method":"wait"}`+"\n")
	io.WriteString(conn, `{"id":8,"method":"echo"}`+"\n")
	lines.Scan() // so that both are there
	stop()
	if lines.Scan(); lines.Text() != `{"id":7,"error":{"code":"cancelled","message":"the request was cancelled"}}` {
		t.Error(lines.Text())
	}
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
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
		go func() { done <- s.Serve(ctx, in, &out, s.Hello()) }()
		synctest.Wait()
		stop()
		<-done
		in.Close()
		if n := strings.Count(out.String(), `"code":"cancelled"`); n != MaxPending {
			t.Errorf("%d requests were taken, and not %d", n, MaxPending)
		}
	})
}

// FuzzLines holds a server to its promise: every line gets one answer, and the server
// goes on.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"method":"echo","params":{"a":1}}`, "\n\n", `{"id":"a","method":"fail"}` + "\n" + `{"id":"a","method":"cancel","params":{"id":1}}`,
		`{"id":1,"id":1}`, "{\"id\":\"\xff\"}", `{"id":"\ud800"}`, `{"id":1e9}`, `[[[[`, `{"id":99999999999999999999}`, `{"id":"x","method":"echo","params":{"a":"\u2028"}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		if strings.Contains(input, "wait") {
			return // which nobody cancels
		}
		lines := strings.Split(input, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		got := answers(t, strings.Join(append(lines, `{"id":"the last","method":"echo","params":{}}`), "\n"))
		if len(got) != len(lines)+1 {
			t.Fatalf("%d answers to %d lines: %q", len(got), len(lines)+1, got)
		}
		last := false
		for _, line := range got {
			var a struct {
				ID     *json.RawMessage
				Result *json.RawMessage
				Error  *struct{ Code, Message string }
			}
			d := json.NewDecoder(strings.NewReader(line))
			d.DisallowUnknownFields()
			if err := d.Decode(&a); err != nil || (a.Result == nil) == (a.Error == nil) {
				t.Fatalf("%q: %v", line, err)
			}
			last = last || line == `{"id":"the last","result":{}}`
		}
		if !last {
			t.Fatalf("the last line has no answer: %q", got)
		}
	})
}

func TestSocket(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	path := filepath.Join(t.TempDir(), "s")
	l, err := ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info, err)
	}
	if _, err := ListenUnix(path); err == nil {
		t.Error("a socket took another's place")
	}
	s, begun, gone := echo(), make(chan struct{}), make(chan struct{})
	s.Handle("gone", func(ctx context.Context, _ []byte) ([]byte, error) {
		close(begun)
		<-ctx.Done()
		close(gone)
		return nil, ctx.Err()
	})
	done := make(chan error, 1)
	go func() { done <- s.ServeConns(ctx, l) }()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(conn, `{"id":1,"method":"gone"}`+"\n")
	<-begun // a request whose client is gone before it begins is dropped
	conn.Close()
	<-gone // what a client asked for ends with it
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error("the socket is there still:", err)
	}
}

func TestHTTP(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		done <- echo().ServeHTTP(ctx, l, Web{Token: "sesame", Hosts: func(name string) bool { return name == "127.0.0.1" }, Models: doubles{}})
	}()
	for _, c := range []struct {
		verb, path, body string
		header           []string
		status           int
		want             string
	}{
		{"POST", "/v1/echo", `{"a":1}`, nil, 200, `{"a":1}`},
		{"POST", "/v1/echo", "", nil, 200, `{}`},
		{"POST", "/v1/fail", `{}`, nil, 500, `{"error":{"code":"failed","message":"it cannot be done"}}`},
		{"GET", "/v1/echo", "", nil, 404, `"code":"usage"`},
		{"POST", "/v1/echo", `{}`, []string{"Authorization", "Bearer sesam"}, 401, `"code":"usage"`},
		{"POST", "/v1/echo", `{}`, []string{"Origin", "http://127.0.0.1"}, 403, `"code":"usage"`},
		{"POST", "/v1/echo", `{}`, []string{"Host", "example.com"}, 421, `"code":"usage"`},
		{"GET", "/healthz", "", []string{"Authorization", ""}, 200, `{"status":"ok"}`},
		{"GET", "/openapi.json", "", nil, 200, `"openapi": "3.1.0"`},
		{"GET", "/v2/health/ready", "", nil, 200, `{"ready":true}`},
		{"GET", "/v2/models/double", "", nil, 200, `"name":"nrefs"`},
		{"GET", "/v2/models/triple", "", nil, 400, `{"error":"there is no triple"}`},
		{"POST", "/v2/models/double/infer", `{"id":"x","inputs":[{"name":"hypothesis","datatype":"BYTES","shape":[2],"data":["a","bcd"]},{"name":"reference","datatype":"BYTES","shape":[3],"data":["r","s","t"]},{"name":"nrefs","datatype":"INT32","shape":[2],"data":[1,2]}],"outputs":[{"name":"score"},{"name":"facts"}]}`, nil, 200,
			`{"id":"x","model_name":"double","model_version":"1","outputs":[{"name":"score","datatype":"FP32","shape":[2],"data":[3,8]},{"name":"facts","datatype":"BYTES","shape":[1],"data":["{}"]}]}`},
		{"POST", "/v2/models/double/infer", `{"inputs":[{"name":"hypothesis","datatype":"BYTES","shape":[2],"data":["a","bcd"]},{"name":"reference","datatype":"BYTES","shape":[1],"data":["r"]}]}`, nil, 400, `{"error":"hypothesis 1 has 1 references, and 0 are left"}`},
		{"POST", "/v2/models/double/infer", `{"inputs":[{"name":"hypothesis","datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":9}}]}`, nil, 400, `binary tensors are not taken`},
		{"POST", "/v2/models/double/infer", `nonsense`, nil, 400, `{"error":"the request is no JSON`},
	} {
		r, _ := http.NewRequest(c.verb, "http://"+l.Addr().String()+c.path, strings.NewReader(c.body))
		r.Header.Set("Authorization", "Bearer sesame")
		if c.header != nil {
			r.Header.Set(c.header[0], c.header[1])
			if c.header[0] == "Host" {
				r.Host = c.header[1]
			}
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != c.status || !strings.Contains(string(body), c.want) {
			t.Errorf("%s %s %v: %d %s, and not %d %s", c.verb, c.path, c.header, resp.StatusCode, body, c.status, c.want)
		}
	}
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// doubles has a model that scores by twice the length, and the number of references.
type doubles struct{}

func (doubles) Model(_ context.Context, name string) (*Model, error) {
	if name != "double" {
		return nil, &Usage{errors.New("there is no " + name)}
	}
	return &Model{Reference: true, Native: true, Facts: []byte("{}")}, nil
}

func (doubles) Score(_ context.Context, _ string, rows []Row) (out []float64, err error) {
	for _, r := range rows {
		out = append(out, float64(2*len(r.Hypothesis)+len(r.References)))
	}
	return out, nil
}

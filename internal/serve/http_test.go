package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/refract-eval/refract/internal/oip"
)

// overHTTP starts a server, whose token is "sesame" and whose Host a loopback address.
func overHTTP(ctx context.Context, s *Server, l net.Listener) chan error {
	done := make(chan error, 1)
	go func() {
		done <- s.ServeHTTP(ctx, l, Web{Token: "sesame", Hosts: func(name string) bool { return name == "127.0.0.1" }, Models: doubles{}})
	}()
	return done
}

func TestHTTP(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := overHTTP(ctx, echo(), l)
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
		{"POST", "/v1/echo", `{}`, []string{"Authorization", "sesame"}, 401, `"code":"usage"`},
		{"POST", "/v1/echo", `{}`, []string{"Authorization", "bearer  sesame"}, 200, `{}`},
		{"POST", "/v1/echo", `{}`, []string{"Content-Encoding", "gzip"}, 415, `"code":"usage"`},
		{"POST", "/v1/echo", `{}`, []string{"Content-Encoding", "identity"}, 200, `{}`},
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
		{"POST", "/v2/models/double/versions/1/infer", `{"inputs":[{"name":"hypothesis","datatype":"BYTES","shape":[1],"data":["a"]},{"name":"reference","datatype":"BYTES","shape":[1],"data":["r"]}]}`, nil, 200, `{"id":"","model_name":"double","model_version":"1","outputs":[{"name":"score","datatype":"FP32","shape":[1],"data":[3]}]}`},
		{"POST", "/v2/models/double/versions/2/infer", `{"inputs":[{"name":"hypothesis","datatype":"BYTES","shape":[1],"data":["a"]},{"name":"reference","datatype":"BYTES","shape":[1],"data":["r"]}]}`, nil, 400, `the version \"2\" of the model is not there`},
		{"POST", "/v2/models/double/infer", `{"inputs":[{"name":"hypothesis","datatype":"BYTES","shape":[1],"data":["a"]},{"name":"reference","datatype":"BYTES","shape":[1],"data":["r"]}],"outputs":[{"name":"spans"}]}`, nil, 400, `the model has no output \"spans\"`},
		{"POST", "/v2/models/double/infer", `{"inputs":[{"name":"hypothesis","datatype":"BYTES","shape":[1],"data":["a"]},{"name":"reference","datatype":"BYTES","shape":[1],"data":["r"]},{"name":"source","datatype":"BYTES","shape":[1],"data":["a"]}]}`, nil, 400, `the model has no input \"source\"`},
		{"POST", "/v2/models/double/infer", `{"inputs":[{"name":"hypothesis","datatype":"BYTES","shape":[1],"data":["a"]},{"name":"reference","datatype":"BYTES","shape":[1],"data":["r"]},{"name":"hypothesis","datatype":"BYTES","shape":[1],"data":["a"]},{"name":"reference","datatype":"BYTES","shape":[1],"data":["r"]}]}`, nil, 400, `the input hypothesis is there twice`},
		{"POST", "/v2/models/double/infer", `{"inputs":[{"name":"hypothesis","datatype":"BYTES","shape":[1],"data":[null]}]}`, nil, 400, `value 0 of the input hypothesis is null`},
		{"POST", "/v2/models/double/infer", `{"inputs":[{"name":"hypothesis","datatype":"BYTES","shape":[2],"data":["a"]}]}`, nil, 400, `has 1 values and the shape [2]`},
		{"POST", "/v2/models/double/infer", "{\"inputs\":[{\"name\":\"hypothesis\",\"datatype\":\"BYTES\",\"shape\":[1],\"data\":[\"\xff\"]}]}", nil, 400, `it is not valid UTF-8`},
		{"POST", "/v2/models/double/infer", `{"inputs":[{"name":"hypothesis","datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":9}}]}`, nil, 400, `the input hypothesis has 9 bytes, and 0 are left`},
		{"POST", "/v2/models/double/infer", `{"inputs":[{"name":"hypothesis","datatype":"BYTES","shape":[1],"data":"a"}]}`, nil, 400, `the input hypothesis has no list of values`},
		{"POST", "/v2/models/double/infer", `{"inputs":[{"name":"hypothesis","datatype":"BYTES","shape":[2],"data":["a",1]}]}`, nil, 400, `the input hypothesis has no list of values`},
		{"POST", "/v2/models/double/infer", `{"inputs":[{"name":"nrefs","datatype":"INT32","shape":[1000001],"data":[1]}]}`, nil, 400, `at most 1000000 values are taken`},
		{"POST", "/v2/models/double/infer", `{"inputs":[{"name":"nrefs","datatype":"INT32","shape":[2],"data":[1,2,3,4]}]}`, nil, 400, `the input nrefs has more values than its shape [2]`},
		{"POST", "/v2/models/double/infer", `{"inputs":[]}`, []string{oip.JSONLength, "99"}, 400, `for a body of 13 bytes`},
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

// Tensors are bytes where they come so, and where they are wanted so.
func TestBinary(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := overHTTP(ctx, echo(), l)
	texts := oip.AppendTexts(oip.AppendTexts(nil, []string{"a", "bcd"}), []string{"r", "s", "t"})
	raw := append(texts, 1, 0, 0, 0, 2, 0, 0, 0)
	const inputs = `"inputs":[{"name":"hypothesis","datatype":"BYTES","shape":[2],"parameters":{"binary_data_size":12}},` +
		`{"name":"reference","datatype":"BYTES","shape":[3],"parameters":{"binary_data_size":15}},{"name":"nrefs","datatype":"INT32","shape":[2],"parameters":{"binary_data_size":8}}]`
	const head = `{"id":"","model_name":"double","model_version":"1","outputs":[`
	const scores = "\x00\x00\x40\x40\x00\x00\x00\x41" // 3 and 8
	for _, c := range []struct {
		json string
		raw  []byte
		want string
		size int // of the JSON in the answer, 0 where it is all
	}{
		{`{` + inputs + `}`, raw, head + `{"name":"score","datatype":"FP32","shape":[2],"data":[3,8]}]}`, 0},
		{`{` + inputs + `,"parameters":{"binary_data_output":true}}`, raw, head + `{"name":"score","datatype":"FP32","shape":[2],"parameters":{"binary_data_size":8}}]}` + scores, -len(scores)},
		{`{` + inputs + `,"outputs":[{"name":"facts","parameters":{"binary_data":true}},{"name":"score","parameters":{"binary_data":true}}]}`, raw,
			head + `{"name":"facts","datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":6}},{"name":"score","datatype":"FP32","shape":[2],"parameters":{"binary_data_size":8}}]}` + "\x02\x00\x00\x00{}" + scores, -6 - len(scores)},
		{`{` + inputs + `,"outputs":[{"name":"score","parameters":{"binary_data":false}}],"parameters":{"binary_data_output":true}}`, raw, head + `{"name":"score","datatype":"FP32","shape":[2],"data":[3,8]}]}`, 0},
		{`{` + inputs + `}`, raw[:len(raw)-1], `{"error":"the input nrefs has 8 bytes, and 7 are left"}`, 0},
		{`{` + inputs + `}`, append(raw[:len(raw):len(raw)], 1), `{"error":"1 bytes belong to no input"}`, 0},
		{`{` + strings.Replace(inputs, ":12}", ":11}", 1) + `}`, raw, `{"error":"the input hypothesis: the bytes of a text are cut"}`, 0},
		{`{` + strings.Replace(inputs, ":8}", ":7}", 1) + `}`, raw, `{"error":"the input nrefs: 3 bytes are too many"}`, 0},
	} {
		r, _ := http.NewRequest("POST", "http://"+l.Addr().String()+"/v2/models/double/infer", strings.NewReader(c.json+string(c.raw)))
		r.Header.Set("Authorization", "Bearer sesame")
		r.Header.Set(oip.JSONLength, fmt.Sprint(len(c.json)))
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		size := ""
		if c.size < 0 {
			size = fmt.Sprint(len(c.want) + c.size)
		}
		if got := resp.Header.Get(oip.JSONLength); string(body) != c.want || got != size {
			t.Errorf("%s: %q with %q\nwant %q with %q", c.json, body, got, c.want, size)
		}
	}
	stop()
	<-done
}

// pipes is a listener in memory.
type pipes chan net.Conn

// Accept implements net.Listener.
func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

// Close implements net.Listener.
func (p pipes) Close() error {
	close(p)
	return nil
}

// Addr implements net.Listener.
func (pipes) Addr() net.Addr { return &net.UnixAddr{} }

// Connections are bounded, of which those that ask for nothing end soon.
func TestManyConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		l, s := make(pipes), echo()
		var said []string
		done := make(chan error, 1)
		go func() {
			done <- s.ServeHTTP(ctx, l, Web{Hosts: func(string) bool { return true }, Models: doubles{}, Warn: func(m string) { said = append(said, m) }})
		}()
		var idle []net.Conn
		for range maxWebConns {
			ours, theirs := net.Pipe()
			l <- theirs
			idle = append(idle, ours)
		}
		const healthy = "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"
		for _, c := range idle[:3] { // and ask for no more
			io.WriteString(c, healthy)
			if resp, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || resp.StatusCode != 200 {
				t.Error(resp, err)
			}
		}
		begun := time.Now()
		late, theirs := net.Pipe()
		l <- theirs
		io.WriteString(late, healthy)
		if resp, err := http.ReadResponse(bufio.NewReader(late), nil); err != nil || resp.StatusCode != 200 || time.Since(begun) != headerTime {
			t.Error(resp, err, time.Since(begun))
		}
		for _, c := range idle {
			if _, err := io.ReadAll(c); err != nil || time.Since(begun) > idleTime {
				t.Fatal(err, time.Since(begun))
			}
		}
		late.Close()
		stop()
		<-done
		if len(said) != 1 || !strings.HasPrefix(said[0], "1024 connections") {
			t.Errorf("%q", said)
		}
	})
}

// A client that stalls is left, and keeps nothing from others. One that has waited for
// room has its time all the same.
func TestStalling(t *testing.T) {
	const head = "POST /v1/%s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer sesame\r\nContent-Length: 20000\r\n\r\n"
	read := func(conn net.Conn) (status int, body string) {
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return 0, err.Error()
		}
		b, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(b)
	}
	for name, client := range map[string]func(t *testing.T, s *Server, conn net.Conn){
		"a head without an end": func(t *testing.T, _ *Server, conn net.Conn) {
			io.WriteString(conn, "POST /v1/echo HTTP/1.1\r\nHost:")
			begun := time.Now()
			if status, body := read(conn); time.Since(begun) != headerTime {
				t.Error(status, body, time.Since(begun))
			}
		},
		"a body without an end": func(t *testing.T, _ *Server, conn net.Conn) {
			fmt.Fprintf(conn, head, "echo")
			begun := time.Now()
			if status, body := read(conn); status != 408 || time.Since(begun) != bodyTime {
				t.Error(status, body, time.Since(begun))
			}
		},
		"a body that is too long": func(t *testing.T, _ *Server, conn net.Conn) {
			io.WriteString(conn, strings.Replace(fmt.Sprintf(head, "echo"), "20000", fmt.Sprint(MaxLine+1), 1))
			begun := time.Now()
			if status, body := read(conn); status != 413 || time.Since(begun) > 0 {
				t.Error(status, body, time.Since(begun))
			}
		},
		"an answer that is not read": func(t *testing.T, s *Server, conn net.Conn) {
			fmt.Fprintf(conn, head+"%020000d", "echo", 0)
			synctest.Wait()
			if s.bytes.TryAcquire(maxBytes) {
				t.Error("the answer takes no room")
			}
			time.Sleep(bodyTime + time.Second)
			if status, body := read(conn); len(body) >= 20000 {
				t.Error(status, len(body))
			}
		},
		"a wait for room": func(t *testing.T, s *Server, conn net.Conn) {
			s.bytes.Acquire(t.Context(), maxBytes)
			go fmt.Fprintf(conn, head+"%020000d", "echo", 0)
			time.Sleep(10 * bodyTime)
			s.bytes.Release(maxBytes)
			if status, body := read(conn); status != 200 || len(body) != 20000 {
				t.Error(status, body)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				l, s := make(pipes), echo()
				done := overHTTP(ctx, s, l)
				ours, theirs := net.Pipe()
				l <- theirs
				client(t, s, ours)
				ours.Close()
				synctest.Wait()
				if !s.bytes.TryAcquire(maxBytes) {
					t.Error("the request takes room still")
				}
				stop()
				<-done
			})
		})
	}
}

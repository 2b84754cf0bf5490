package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/cmd/refract/command"
	"github.com/refract-eval/refract/internal/llmtest"
)

// TestMain lets the test binary be the program too. Its tests that are held to schemas are here, as
// a library for schemas takes as long to start as the program: the command's scripts start without.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"refract": func() { os.Exit(command.Main()) }})
}

// webServer is a running refract serve --listen.
type webServer struct {
	url, token string
	cmd        *exec.Cmd
	stderr     bytes.Buffer
	schemas    *jsonschema.Compiler
}

// listen starts a server, with more variables and flags.
func listen(t *testing.T, env []string, flags ...string) *webServer {
	t.Helper()
	s := &webServer{cmd: exec.Command("refract", append([]string{"serve", "--listen", "127.0.0.1:0"}, flags...)...)}
	s.cmd.Env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0", "OPENAI_BASE_URL=http://127.0.0.1:9/v1"), env...)
	s.cmd.Dir, s.cmd.Stderr = t.TempDir(), &s.stderr
	out, err := s.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, s.cmd.Start())
	t.Cleanup(func() { s.cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatal(err, s.cmd.Wait(), s.stderr.String())
	}
	var hello struct{ URL, Token string }
	require.NoError(t, json.Unmarshal(line, &hello))
	s.url, s.token = hello.URL, hello.Token
	return s
}

// ask sends a request, with headers as "Name: value", and holds what goes each way to
// the description of the interface.
func (s *webServer) ask(t *testing.T, verb, path, body string, headers ...string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequest(verb, s.url+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+s.token)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	if s.schemas == nil || path == "/openapi.json" {
		return resp.StatusCode, string(b)
	}
	place := "components/responses/Error"
	if resp.StatusCode == http.StatusOK {
		operation := "paths/" + strings.ReplaceAll(path, "/", "~1") + "/" + strings.ToLower(verb)
		if place = operation + "/responses/200"; verb == http.MethodPost {
			s.fits(t, body, operation+"/requestBody")
		}
	}
	s.fits(t, string(b), place)
	return resp.StatusCode, string(b)
}

// fits holds a body to the schema at a place of the description.
func (s *webServer) fits(t *testing.T, body, place string) {
	t.Helper()
	schema, err := s.schemas.Compile("openapi.json#/" + place + "/content/application~1json/schema")
	require.NoError(t, err)
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
	if err == nil {
		err = schema.Validate(v)
	}
	assert.NoError(t, err, "%s: %.300s", place, body)
}

// end sends a signal, and wants the exit code.
func (s *webServer) end(t *testing.T, signal os.Signal, code int) {
	t.Helper()
	s.cmd.Process.Signal(signal)
	if s.cmd.Wait(); s.cmd.ProcessState.ExitCode() != code {
		t.Errorf("exit code %d, and not %d: %s", s.cmd.ProcessState.ExitCode(), code, s.stderr.String())
	}
}

const (
	servedSegment = `{"source":"Die Katze saß.","references":["the cat sat down",null],"hypotheses":{"a":"the cat sat","b":null}}`
	judgedSegment = `{"id":"%d","references":["the cat sat down"],"hypotheses":{"a":"the cat sat","b":"cat %d"},"human":{"mqm":{"a":%d,"b":%d}}}`
)

func TestServeHTTP(t *testing.T) {
	t.Parallel()
	refuses := llmtest.NewServer(t, &llmtest.Handler{Key: "another"}) // which ends a judge at once
	s := listen(t, []string{"SACREBLEU=/home/hunter2", "OPENAI_BASE_URL=" + refuses.BaseURL})
	if status, text := s.ask(t, "GET", "/openapi.json", ""); status != 200 {
		t.Fatal(status, text)
	} else if doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text)); err != nil {
		t.Fatal(err)
	} else {
		s.schemas = jsonschema.NewCompiler()
		s.schemas.AddResource("openapi.json", doc)
	}
	var judged []string
	for i := range 4 {
		judged = append(judged, fmt.Sprintf(judgedSegment, i, i, -i, -i-1))
	}
	score := func(more string) string { return `{"segments":[` + servedSegment + `]` + more + `}` }
	for _, c := range []struct {
		verb, path, body string
		headers          []string
		status           int
		want             string
	}{
		{"GET", "/healthz", "", []string{"Authorization: "}, 200, `{"status":"ok"}`},
		{"GET", "/v1/metrics", "", nil, 200, `"name":"chrf"`},
		{"POST", "/v1/score", score(``), nil, 200, `"metric":"bleu"`},
		{"POST", "/v1/score", score(`,"metrics":["chrf","ter"],"aggregate":["max"],"per":["cell"],"missing":null`), nil, 200, `"status":{"a":[["","missing-reference"]],"b":[["missing-hypothesis","missing-hypothesis"]]}`},
		{"POST", "/v1/score", `{"segments":[{"hypotheses":{"a":"x"},"references":[]}],"missing":"exclude","metrics":["chrf"]}`, nil, 200, `"score":null`},
		{"POST", "/v1/score", score(`,"metrics":["gemba-da:sl=a,tl=b,model=m","chrf"]`), nil, 200, `"ended":{`},
		{"POST", "/v1/score", `{"segments":[{"hypotheses":{"a":"x"},"references":["a"]}],"metrics":["gemba-da:sl=a,tl=b,model=m"]}`, nil, 400, `no segment has a source`},
		{"POST", "/v1/compare", `{"segments":[` + strings.Join(judged, ",") + `],"metrics":["chrf"],"human":"mqm","statistic":["pearson"],"table":"settings"}`, nil, 200, `"metric":"chrf"`},
		{"POST", "/v1/compare", score(``), nil, 400, `no human scores`},
		{"POST", "/v1/compare", score(`,"one_sided":true`), nil, 400, `one-sided p-values need a test`},
		{"POST", "/v1/score", score(`,"metric":["chrf"]`), nil, 400, `did you mean \"metrics\"`},
		{"POST", "/v1/score", score(`,"metrics":["chrf"],"metrics":["ter"]`), nil, 400, `is there twice`},
		{"POST", "/v1/score", `{"segments":[{"hypotheses":{"a":"x"},"references":["a"],"human":{"mqm":{"a":1e999}}}]}`, nil, 400, `must be a number or null`},
		{"POST", "/v1/score", `{"segments":` + strings.Repeat("[", 20_000), nil, 400, `"code":"usage"`},
		{"POST", "/v1/score", `{"segments":[{"hypotheses":{"a":"` + "\x00" + `"},"references":["a"]}]}`, nil, 400, `"code":"usage"`},
		{"POST", "/v1/score", `{"segments":[{"hypotheses":{"a":"` + "\xff" + `"},"references":["a"]}]}`, nil, 400, `invalid UTF-8`},
		{"GET", "/v1/score", "", nil, 404, `/openapi.json says`},
		{"POST", "/v1/other", "{}", nil, 404, `/openapi.json says`},
		{"POST", "/v1/score", score(``), []string{"Authorization: "}, 401, `needs the token`},
		{"POST", "/v1/score", score(``), []string{"Authorization: Bearer " + s.token + "x"}, 401, `needs the token`},
		{"POST", "/v1/score", score(``), []string{"Authorization: Basic " + s.token}, 401, `needs the token`},
		{"GET", "/openapi.json", "", []string{"Authorization: "}, 401, `needs the token`},
		{"POST", "/v1/score", score(``), []string{"Origin: null"}, 403, `Origin`},
		{"POST", "/v1/score", score(``), []string{"Content-Encoding: gzip"}, 415, `"code":"usage"`},
		{"POST", "/v1/score", score(`,"metrics":["chrf"]`), []string{"Content-Encoding: identity"}, 200, `"chrf"`},
		{"GET", "/healthz", "", []string{"Host: example.com"}, 421, `Host`},
		{"GET", "/healthz", "", []string{"Host: 127.0.0.1.example.com:80"}, 421, `Host`},
		{"GET", "/healthz", "", []string{"Host: 192.0.2.1"}, 421, `Host`},
		{"GET", "/healthz", "", []string{"Host: localhost"}, 200, `ok`},
		{"GET", "/healthz", "", []string{"Host: [::1]:9"}, 200, `ok`},
		{"POST", "/v1/score", score(`,"metrics":["exec:lengths"]`), nil, 400, `not over HTTP`},
		{"POST", "/v1/score", score(`,"metrics":["judge-file:secret.yaml"]`), nil, 400, `not over HTTP`},
		{"POST", "/v1/score", score(`,"metrics":["oip:http://user:hunter2@127.0.0.1/m"]`), nil, 400, `not over HTTP`},
		{"POST", "/v1/score", score(`,"metrics":["gemba-da:base-url=http://user:hunter2@127.0.0.1,model=m"]`), nil, 400, `not over HTTP`},
		{"POST", "/v1/score", score(`,"metrics":["bleu:tokenize=flores200"]`), nil, 400, `its model is not at flores200sacrebleuspm, where`},
		{"POST", "/v1/compare", score(`,"resamples":1e99`), nil, 400, `want 0 to 1000000`},
		{"POST", "/v1/compare", score(`,"resamples":1000001`), nil, 400, `want 0 to 1000000`},
		{"POST", "/v1/compare", score(`,"resamples":{}`), nil, 400, `"code":"usage"`},
	} {
		status, got := s.ask(t, c.verb, c.path, c.body, c.headers...)
		if status != c.status || !strings.Contains(got, c.want) || strings.Contains(got, "hunter2") || strings.Contains(got, s.token) {
			t.Errorf("%s %s %.200s %q: %d %.500s, and not %d %s", c.verb, c.path, c.body, c.headers, status, got, c.status, c.want)
		}
	}
	s.end(t, syscall.SIGTERM, 130)
	assert.NotContains(t, s.stderr.String(), s.token, "the token is on standard error")
}

// What asks for too much is refused before anything is scored.
func TestServeBounds(t *testing.T) {
	t.Parallel()
	s := listen(t, nil)
	const segment = `{"hypotheses":{"a":"x"},"references":["y"]}`
	list := func(n int, of func(i int) string) string {
		var all []string
		for i := range n {
			all = append(all, of(i))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	segments := func(n int, segment string) string {
		return `{"segments":` + list(n, func(int) string { return segment })
	}
	sharp := func(n int) string { // so many settings
		return `,"aggregate":` + list(n/4, func(i int) string { return fmt.Sprintf(`"softmax:t=%d"`, i+1) }) + `,"metrics":["bleu","chrf","ter","rougeL"]`
	}
	own := list(3000, func(i int) string { return fmt.Sprintf(`{"hypotheses":{"%d":"x"},"references":["y"]}`, i) })
	long := strings.Repeat("a", 400_000)
	const much = `MiB for scores and its answer, and at most 256 are allowed: split it`
	for _, c := range []struct{ path, body, want string }{
		{"/v1/score", segments(1, segment) + sharp(256) + `}`, ""},
		{"/v1/score", segments(40_000, segment) + sharp(256) + `}`, `the request takes about 317 ` + much},
		{"/v1/score", segments(1, segment) + sharp(256+4) + `}`, `at most 64 texts`},
		{"/v1/score", `{"segments":` + own + `,"metrics":["chrf"]}`, much},
		{"/v1/score", `{"segments":` + own + `,"metrics":["chrf"],"per":["cell"]}`, much},
		{"/v1/score", `{"segments":` + own + `,"metrics":["chrf"],"per":["system"]}`, ``},
		{"/v1/score", segments(1, strings.Replace(segment, `"a"`, `"`+long+`"`, 1)) + sharp(256) + `}`, much},
		{"/v1/score", segments(10_001, `{}`) + `}`, `at most 10,000 segments are taken`},
		{"/v1/compare", segments(1, segment) + sharp(256) + `,"resamples":1000000}`, much},
	} {
		status, got := s.ask(t, "POST", c.path, c.body)
		if want := map[bool]int{true: 200, false: 400}[c.want == ""]; status != want || !strings.Contains(got, c.want) {
			t.Errorf("%s %.100s: %d %.300s\nwant %d %s", c.path, c.body, status, got, want, c.want)
		}
	}
	s.end(t, syscall.SIGTERM, 130)
}

// A token that the user set is not printed, and an address of all machines has any Host.
func TestServeToken(t *testing.T) {
	t.Parallel()
	const token = "a token of one's own"
	s := listen(t, []string{"REFRACT_SERVE_TOKEN=" + token + "\n"}, "--listen", "0.0.0.0:0")
	assert.Empty(t, s.token, "the token is told")
	status, text := s.ask(t, "GET", "/v1/metrics", "")
	assert.Equal(t, 401, status, "%v %v", status, text)
	if status, text := s.ask(t, "GET", "/v1/metrics", "", "Authorization: Bearer "+token, "Host: example.com"); status != 200 {
		t.Error(status, text)
	}
	s.end(t, os.Interrupt, 130)
}

// What is under way at the end is answered: it is cancelled.
func TestServeEnd(t *testing.T) {
	t.Parallel()
	told := make(chan struct{})
	h := &llmtest.Handler{Answer: func(*llmtest.Request) string {
		<-told
		time.Sleep(2 * time.Second) // time to heed the signal
		return "40"
	}}
	s := listen(t, []string{"OPENAI_BASE_URL=" + llmtest.NewServer(t, h).BaseURL})
	go func() {
		for h.Calls() == 0 {
			time.Sleep(time.Millisecond)
		}
		s.cmd.Process.Signal(syscall.SIGTERM)
		close(told)
	}()
	status, text := s.ask(t, "POST", "/v1/score", `{"segments":[`+servedSegment+`],"metrics":["gemba-da:sl=German,tl=English,model=m"]}`)
	if status != 503 || text != `{"error":{"code":"cancelled","message":"the request was cancelled"}}` {
		t.Error(status, text)
	}
	s.end(t, syscall.Signal(0), 130)
}

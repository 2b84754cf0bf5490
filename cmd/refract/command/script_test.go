package command

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/refract-eval/refract/internal/llmtest"
)

// scriptCommands are what scripts can do in addition to testscript's own commands.
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	all := map[string]func(*testscript.TestScript, bool, []string){
		// As interrupt by SIGHUP; "! hangup" ignores that signal from the start, as nohup does, and
		// wants the run to succeed.
		"hangup": cmdHangup,
	}
	for _, c := range []struct {
		use string
		run func(ts *testscript.TestScript, args []string)
	}{
		// It must fail with this exit code, one complaint on standard error and nothing on standard output.
		{"fails CODE ARG…", cmdFails},
		// Interrupts refract once the server got N calls, and wants the exit code 130.
		{"interrupt N ARG…", cmdInterrupt},
		// The same by SIGKILL, which leaves no time for a message.
		{"killed N ARG…", cmdKilled},
		// Interrupts refract, whose input does not end, and wants the exit code 130.
		{"stall ARG…", cmdStall},
		// Runs the lines of the last output that begin with two spaces and refract.
		{"follow", cmdFollow},
		// Rounds the last output's numbers to 6 decimals: the last digits depend on the machine.
		{"round", cmdRound},
		// Takes the times of answers out of files, which differ from cache to cache.
		{"undated FILE…", cmdUndated},
		// Wants these keys, in this order, in every line of JSON.
		{"keys FILE KEY…", cmdKeys},
		// Starts a model server at $OPENAI_BASE_URL; see startServer.
		{"server", cmdServer},
		// Compares what serve answers with what score writes.
		{"served FILE METRICS AGGREGATORS", cmdServed},
		// Starts a server of a neural metric at $OIP; see cmdOIP.
		{"oip", cmdOIP},
		// Wants that the server got N calls so far.
		{"calls N", cmdCalls},
		// Wants that all calls went there, with this text in them.
		{"sent PATH TEXT", cmdSent},
		// Saves what refract demo -o does.
		{"sample", cmdSample},
		// Executes statements.
		{"sqlite FILE SQL…", cmdSQLite},
	} {
		name, _, _ := strings.Cut(c.use, " ")
		all[name] = scriptCommand(c.use, c.run)
	}
	return all
}

// scriptCommand refuses fewer arguments than the usage has.
func scriptCommand(use string, run func(ts *testscript.TestScript, args []string)) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < strings.Count(use, " ") {
			ts.Fatalf("usage: %s", use)
		}
		run(ts, args)
	}
}

func number(ts *testscript.TestScript, s string) int {
	n, err := strconv.Atoi(s)
	ts.Check(err)
	return n
}

func cmdFails(ts *testscript.TestScript, args []string) {
	err := ts.Exec("refract", args[1:]...)
	checkExit(ts, err, number(ts, args[0]))
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("standard output is not empty")
	}
	checkComplaint(ts, ts.ReadFile("stderr"))
}

func checkExit(ts *testscript.TestScript, err error, code int) {
	got := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != code {
		ts.Fatalf("exit code %d, want %d", got, code)
	}
}

// checkComplaint wants one error, and no trace of the program's insides.
func checkComplaint(ts *testscript.TestScript, stderr string) {
	n := 0
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(line, "refract: ") {
			n++
		}
	}
	if n != 1 {
		ts.Fatalf("%d complaints, want 1", n)
	}
	for _, bad := range []string{"goroutine ", "panic", "%!", "Usage:"} {
		if strings.Contains(stderr, bad) {
			ts.Fatalf("standard error has %q", bad)
		}
	}
}

func cmdFollow(ts *testscript.TestScript, args []string) {
	n := 0
	for line := range strings.Lines(ts.ReadFile("stderr") + ts.ReadFile("stdout")) {
		if step, ok := strings.CutPrefix(line, "  refract "); ok {
			n++
			ts.Check(ts.Exec("refract", strings.Fields(step)...))
		}
	}
	if n == 0 {
		ts.Fatalf("no step to follow")
	}
}

var decimal = regexp.MustCompile(`[0-9]+\.[0-9]{7,}(e-?[0-9]+)?`)

func cmdUndated(ts *testscript.TestScript, args []string) {
	for _, name := range args {
		path := ts.MkAbs(name)
		data, err := os.ReadFile(path)
		ts.Check(err)
		ts.Check(os.WriteFile(path, created.ReplaceAll(data, nil), 0o644))
	}
}

var created = regexp.MustCompile(`,"created":"[^"]*"`)

func cmdRound(ts *testscript.TestScript, args []string) {
	out := decimal.ReplaceAllStringFunc(ts.ReadFile("stdout"), func(s string) string {
		v, err := strconv.ParseFloat(s, 64)
		ts.Check(err)
		return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(v, 'f', 6, 64), "0"), ".")
	})
	stderr := ts.ReadFile("stderr") // writing to one of them clears the other
	_, err := io.WriteString(ts.Stdout(), out)
	ts.Check(err)
	_, err = io.WriteString(ts.Stderr(), stderr)
	ts.Check(err)
}

func cmdKeys(ts *testscript.TestScript, args []string) {
	n := 0
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		n++
		var object map[string]any
		ts.Check(json.Unmarshal([]byte(line), &object))
		at := -1
		for _, key := range args[1:] {
			next := strings.Index(line, strconv.Quote(key)+":")
			if _, ok := object[key]; !ok || next < at {
				ts.Fatalf("line %d: key %q is missing or not in its place", n, key)
			}
			at = next
		}
	}
	if n == 0 {
		ts.Fatalf("%s has no line", args[0])
	}
}

// server is the model server of a script, if it has started one.
type server struct {
	*llmtest.Handler
	most atomic.Int64 // if not 0, calls after that many wait until refract gets a signal
}

type serverKey struct{}

func cmdServer(ts *testscript.TestScript, args []string) {
	options := map[string]string{}
	for _, a := range args {
		key, value, _ := strings.Cut(a, "=")
		options[key] = value
	}
	var answer func(*llmtest.Request) string
	if file := options["answers"]; file != "" {
		answer = recorded(ts, ts.ReadFile(file))
	}
	if options["builder"] != "" {
		answer = teaching(map[string]float64{"faulty": 0.6}[options["builder"]])
	}
	s := ts.Value(serverKey{}).(*server)
	h, url, stop, err := startServer(options, answer, &s.most)
	ts.Check(err)
	ts.Defer(stop)
	s.Handler = h
	ts.Setenv("OPENAI_BASE_URL", url)
}

// teaching is a model that makes training data, a share of it badly; any other
// prompt gets any answer.
func teaching(bad float64) func(*llmtest.Request) string {
	return func(r *llmtest.Request) string {
		if text, _, asked := llmtest.BuilderAnswer(r, bad); asked {
			return text
		}
		return llmtest.Answer(r.Model, r.Prompt, r.Sample)
	}
}

// recorded answers by the first row of a file of JSON Lines whose text a prompt
// contains; an unknown prompt fails nothing, and has an answer of no use.
func recorded(ts *testscript.TestScript, content string) func(*llmtest.Request) string {
	type row struct {
		Contains, Answer string
		Verdict          string // of a judge of meaning, on texts that contain it, such as "negation: not"; others are the same
		Sample           *int   // the only one that has this answer; nil for all
	}
	var rows []row
	judges := false
	for line := range strings.Lines(content) {
		var r row
		ts.Check(json.Unmarshal([]byte(line), &r))
		rows = append(rows, r)
		judges = judges || r.Verdict != ""
	}
	verdict := func(_, text string) (changed, words string) {
		for _, r := range rows {
			if r.Verdict != "" && strings.Contains(text, r.Contains) {
				changed, words, _ = strings.Cut(r.Verdict, ": ")
				return changed, words
			}
		}
		return "same", ""
	}
	return func(q *llmtest.Request) string {
		if said, asked := llmtest.Verdicts(q.Prompt, verdict); asked && judges {
			return said
		}
		for _, r := range rows {
			if r.Verdict == "" && strings.Contains(q.Text(), r.Contains) && (r.Sample == nil || *r.Sample == q.Sample) {
				return r.Answer
			}
		}
		return "I cannot say."
	}
}

// startServer starts a model server, which holds calls after most until they end, if that is
// not 0. It answers as answer does, or as any
// model if it is nil. Options: answers=FILE has the answers of a model; json=yes
// gives them as JSON where that is asked for; key=K is the key it wants; delay=D
// is the time it takes to answer; builder=yes answers the prompts of refract build,
// and builder=faulty some of them badly; samples=yes numbers the answers to a prompt,
// for those of FILE that name a sample; copies=P is the share of answers that are
// the text itself; models=M is the
// one model that it serves, instead of all; fault=F is what it answers in place
// of texts:
//
//	down     nobody listens
//	garbage  bytes that are no JSON
//	html     a web page
//	cut      JSON that ends too early
//	busy     429 to the first call of each prompt, which may come again at once
//	storm    429 to all calls, asking for an hour
//	quota    429, the account being empty
//	schema   400 where a schema is asked for
//	blocked  an answer that a filter withholds
//	reasons  only reasoning, cut, where there is room for 64 tokens or fewer
//
// batch=no has no Batch API, refuses=NAME refuses requests with a parameter, and long=TEXT prompts with a text; it fails at texts with poison=TEXT, and has its fault only there.
//
//	hostile  an error with a terminal's control codes in it
func startServer(options map[string]string, answer func(*llmtest.Request) string, most *atomic.Int64) (*llmtest.Handler, string, func(), error) {
	delay, err := time.ParseDuration(options["delay"])
	if options["delay"] != "" && err != nil {
		return nil, "", nil, err
	}
	fault, err := faultNamed(options["fault"])
	if err != nil {
		return nil, "", nil, err
	}
	h := &llmtest.Handler{Key: options["key"], Answer: answer, JSON: options["json"] == "yes", CountSamples: options["samples"] == "yes"}
	if share := options["copies"]; share != "" {
		h.CountSamples = true
		if h.Answer, err = copying(share); err != nil {
			return nil, "", nil, err
		}
	}
	if name := options["models"]; name != "" {
		h.Models = []string{name}
	}
	h.Decide = func(r *llmtest.Request) llmtest.Fault {
		for n := most.Load(); n > 0 && int64(h.Calls()) > n && r.Context().Err() == nil; n = most.Load() {
			time.Sleep(time.Millisecond)
		}
		if name := options["refuses"]; name != "" && strings.Contains(string(r.Raw), `"`+name+`":`) {
			return llmtest.Status(http.StatusBadRequest, "Unsupported parameter: '"+name+"' is not supported with this model.")
		}
		if poison := options["poison"]; poison != "" && strings.Contains(r.Prompt+strings.Join(r.Texts, "\n"), poison) {
			if fault != nil {
				return fault
			}
			return llmtest.Status(http.StatusInternalServerError, "input is too large to process")
		}
		if long := options["long"]; long != "" && strings.Contains(r.Prompt, long) {
			return llmtest.Status(http.StatusRequestEntityTooLarge, "the prompt is too long")
		}
		select {
		case <-time.After(delay):
		case <-r.Context().Done():
		}
		switch {
		case options["poison"] != "", options["fault"] == "busy" && h.CallsFor(r.Prompt) > 1,
			options["fault"] == "schema" && len(r.ResponseFormat) == 0, options["fault"] == "reasons" && r.MaxTokens > 64:
			return nil
		}
		return fault
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if options["batch"] == "no" && r.URL.Path == "/v1/files" {
			http.NotFound(w, r)
			return
		}
		h.ServeHTTP(w, r)
	}))
	stop := func() {
		s.CloseClientConnections()
		s.Close()
	}
	if options["fault"] == "down" {
		stop()
	}
	return h, s.URL + "/v1", stop, nil
}

// copying answers a share of all requests with the text that they are about.
func copying(share string) (func(*llmtest.Request) string, error) {
	p, err := strconv.ParseFloat(share, 64)
	return func(q *llmtest.Request) string {
		h := fnv.New32a()
		fmt.Fprint(h, q.Prompt, q.Sample)
		if rand.New(rand.NewPCG(uint64(h.Sum32()), 0)).Float64() < p {
			_, text, _ := strings.Cut(q.Prompt, ": ")
			return text
		}
		return llmtest.Answer(q.Model, q.Prompt, q.Sample)
	}, err
}

func faultNamed(name string) (llmtest.Fault, error) {
	switch name {
	case "", "down":
		return nil, nil
	case "garbage":
		return llmtest.Garbage(), nil
	case "html":
		return llmtest.HTML(http.StatusOK), nil
	case "cut":
		return llmtest.Malformed(), nil
	case "busy":
		return llmtest.With("Retry-After", "0", llmtest.Status(http.StatusTooManyRequests, "slow down")), nil
	case "storm":
		return llmtest.With("Retry-After", "3600", llmtest.Status(http.StatusTooManyRequests, "slow down")), nil
	case "quota":
		return llmtest.Quota(), nil
	case "schema":
		return llmtest.Status(http.StatusBadRequest, "Unrecognized request argument supplied: response_format"), nil
	case "blocked":
		return llmtest.Finish("content_filter", ""), nil
	case "reasons":
		return llmtest.Apart(nil, "length", map[string]any{"reasoning_content": "Let me think."}), nil
	case "hostile":
		return llmtest.Status(http.StatusBadRequest, "\x1b[2Jno\r\nrefract: all is well"), nil
	}
	return nil, fmt.Errorf("unknown fault %q", name)
}

func cmdCalls(ts *testscript.TestScript, args []string) {
	if got := ts.Value(serverKey{}).(*server).Calls(); got != number(ts, args[0]) {
		ts.Fatalf("the server got %d calls, want %s", got, args[0])
	}
}

// cmdSent wants that all calls so far went to this path with this text in
// their body.
func cmdSent(ts *testscript.TestScript, args []string) {
	for _, r := range ts.Value(serverKey{}).(*server).Requests() {
		if r.URL.Path != args[0] || !strings.Contains(string(r.Raw), args[1]) {
			ts.Fatalf("sent to %s: %s", r.URL.Path, r.Raw)
		}
	}
}

func cmdInterrupt(ts *testscript.TestScript, args []string) {
	startAndAwait(ts, args).end(ts, os.Interrupt, exitInterrupted)
}

func cmdHangup(ts *testscript.TestScript, neg bool, args []string) {
	program, words, code := "refract", args[1:], exitInterrupted
	if neg {
		program, words, code = "sh", append([]string{"-c", `trap "" HUP; exec refract "$@"`, "sh"}, words...), exitDone
	}
	// Under nohup a process ignores it, and so do its children, unless it catches it.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	r := start(ts, nil, program, words)
	r.await(ts, number(ts, args[0]))
	r.end(ts, syscall.SIGHUP, code)
}

func cmdKilled(ts *testscript.TestScript, args []string) {
	startAndAwait(ts, args).end(ts, os.Kill, -1)
}

// startAndAwait starts refract and waits until it has made so many calls. Those after them are
// not answered before it has got a signal, so that it cannot end before.
func startAndAwait(ts *testscript.TestScript, args []string) *running {
	calls := number(ts, args[0])
	ts.Value(serverKey{}).(*server).most.Store(int64(calls))
	r := start(ts, nil, "refract", args[1:])
	r.await(ts, calls)
	return r
}

// await waits until the server got so many calls.
func (r *running) await(ts *testscript.TestScript, calls int) {
	s := ts.Value(serverKey{}).(*server)
	for s.Calls() < calls {
		select {
		case err := <-r.ended:
			ts.Fatalf("refract ended after %d calls: %v\n%s", s.Calls(), err, r.stderr)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// cmdStall interrupts refract while it waits for input. Once it has taken more
// than a pipe holds, it is known to read.
func cmdStall(ts *testscript.TestScript, args []string) {
	out, in, err := os.Pipe()
	ts.Check(err)
	defer in.Close()
	r := start(ts, out, "refract", args)
	ts.Check(out.Close())
	_, err = in.Write(bytes.Repeat([]byte(" "), 1<<20))
	ts.Check(err)
	r.end(ts, os.Interrupt, exitInterrupted)
}

// running is a refract in the background of the script.
type running struct {
	cmd    *exec.Cmd
	stderr *strings.Builder // complete once it has ended
	ended  chan error
}

func start(ts *testscript.TestScript, stdin io.Reader, program string, args []string) *running {
	r := &running{exec.Command(program, args...), &strings.Builder{}, make(chan error, 1)}
	r.cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "GORACE", "GOGC", "GOMEMLIMIT", "OPENAI_BASE_URL", "OPENAI_API_KEY", "REFRACT_FORM"} {
		r.cmd.Env = append(r.cmd.Env, name+"="+ts.Getenv(name))
	}
	r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = stdin, ts.Stdout(), io.MultiWriter(ts.Stderr(), r.stderr)
	ts.Check(r.cmd.Start())
	go func() { r.ended <- r.cmd.Wait() }()
	return r
}

// end sends a signal, and wants an exit code.
func (r *running) end(ts *testscript.TestScript, by os.Signal, code int) {
	ts.Check(r.cmd.Process.Signal(by))
	ts.Value(serverKey{}).(*server).most.Store(0)
	checkExit(ts, <-r.ended, code)
	if code > exitDone {
		checkComplaint(ts, r.stderr.String())
	}
}

func cmdSample(ts *testscript.TestScript, args []string) {
	ts.Check(saveSample(ts.MkAbs(".")))
}

func cmdSQLite(ts *testscript.TestScript, args []string) {
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	for _, statement := range args[1:] {
		_, err := db.Exec(statement)
		ts.Check(err)
	}
	ts.Check(db.Close())
}

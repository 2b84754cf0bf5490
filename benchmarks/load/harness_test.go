// Package load's tests run the program against a slow or faulty server in a separate
// process, kill it, and let two instances share a cache; its benchmarks measure throughput,
// CPU time and memory. benchmarks/servers/load.sh runs everything at full size.
package load_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// program returns the folder of the program, which TestMain removes. REFRACT_LOAD_PROGRAM is
// the folder of another one, to compare with.
var program = sync.OnceValues(func() (string, error) {
	if dir := os.Getenv("REFRACT_LOAD_PROGRAM"); dir != "" {
		return dir, nil
	}
	dir, err := os.MkdirTemp("", "refract-load")
	if err != nil {
		return "", err
	}
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "refract"), "../../cmd/refract").CombinedOutput(); err != nil {
		_ = os.RemoveAll(dir)
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return dir, nil
})

var built atomic.Bool

// asServer is the environment variable that turns the test binary into a server.
const asServer = "REFRACT_LOAD_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		if err := serverMain(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if os.Getenv("REFRACT_LOAD") == "" {
		fmt.Println("skipped: REFRACT_LOAD is not set to short or full; benchmarks/servers/load.sh sets it")
		return
	}
	code := m.Run()
	if built.Load() && os.Getenv("REFRACT_LOAD_PROGRAM") == "" {
		if dir, err := program(); err == nil {
			_ = os.RemoveAll(dir)
		}
	}
	os.Exit(code)
}

// refractCommand returns a command of the program.
func refractCommand(tb testing.TB, args ...string) *exec.Cmd {
	tb.Helper()
	built.Store(true)
	dir, err := program()
	require.NoError(tb, err)
	return pinned(tb, 0, filepath.Join(dir, "refract"), args...)
}

// pinned returns a command, on its own core if it is measured.
func pinned(tb testing.TB, core int, path string, args ...string) *exec.Cmd {
	if _, measured := tb.(*testing.B); measured && runtime.NumCPU() > 1 {
		if pin, err := exec.LookPath("taskset"); err == nil {
			path, args = pin, append([]string{"-c", fmt.Sprint(core), path}, args...)
		}
	}
	return exec.Command(path, args...)
}

// server is a running model server.
type server struct{ url string }

func startServer(tb testing.TB, args ...string) *server {
	tb.Helper()
	self, err := os.Executable()
	require.NoError(tb, err)
	cmd := pinned(tb, 1, self, args...)
	cmd.Env = append(os.Environ(), asServer+"=1")
	_, _, url := piped(tb, cmd)
	return &server{string(bytes.TrimSpace(url))}
}

// piped starts a program that runs as long as the test, and returns its first line.
func piped(tb testing.TB, cmd *exec.Cmd) (in io.Writer, out *bufio.Reader, first []byte) {
	tb.Helper()
	stdin, err := cmd.StdinPipe()
	require.NoError(tb, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(tb, err)
	if cmd.Stderr == nil {
		cmd.Stderr = os.Stderr
	}
	require.NoError(tb, cmd.Start())
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	out = bufio.NewReaderSize(stdout, 1<<16)
	first, err = out.ReadBytes('\n')
	require.NoError(tb, err, "%s did not start", cmd)
	return stdin, out, first
}

// get asks the server about itself.
func (s *server) get(tb testing.TB, path string, v any) {
	tb.Helper()
	resp, err := http.Get(strings.TrimSuffix(s.url, "/v1") + path)
	require.NoError(tb, err)
	defer resp.Body.Close()
	require.NoError(tb, json.NewDecoder(resp.Body).Decode(v), "%s", path)
}

// stats are the server's counts.
type stats struct {
	Calls, Answered, Most int
	Injected              map[string]int
}

func (s stats) failures() (n int) {
	for _, k := range s.Injected {
		n += k
	}
	return n
}

func (s *server) stats(tb testing.TB) (out stats) {
	tb.Helper()
	s.get(tb, "/stats", &out)
	return out
}

// calls returns the prompts in the order of the calls.
func (s *server) calls(tb testing.TB) (out []string) {
	tb.Helper()
	s.get(tb, "/calls", &out)
	return out
}

var nouns = strings.Fields(`river teacher market engine garden letter city winter house council budget report minister
	train station morning evening bridge price weather company school student street forest village mountain doctor
	window kitchen history journey`)

var links = strings.Fields("follows describes needs remembers opens crosses near behind before under beyond without")

// writeSegments writes JSON Lines with n distinct segments of one reference each.
func writeSegments(tb testing.TB, path string, n int) {
	tb.Helper()
	f, err := os.Create(path)
	require.NoError(tb, err)
	w := bufio.NewWriter(f)
	rng := rand.New(rand.NewPCG(1, 1))
	pick := func(words []string) string { return words[rng.IntN(len(words))] }
	for i := range n {
		fmt.Fprintf(w, `{"id":"s%d","references":["The %s`, i, pick(nouns))
		for range 2 + rng.IntN(5) {
			fmt.Fprintf(w, " %s the %s", pick(links), pick(nouns))
		}
		fmt.Fprintf(w, " of number %d.\"]}\n", i)
	}
	require.NoError(tb, w.Flush())
	require.NoError(tb, f.Close())
}

// job is an expansion in a folder.
type job struct {
	dir      string
	input    string
	segments int
	flags    []string
}

func newJob(tb testing.TB, segments int, flags ...string) *job {
	tb.Helper()
	j := &job{dir: tb.TempDir(), segments: segments, flags: flags}
	j.input = filepath.Join(j.dir, "in.jsonl")
	writeSegments(tb, j.input, segments)
	return j
}

// run is a running command of refract expand; it ends by itself or is killed.
type run struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer
	begun  time.Time
	ended  chan error
	wall   time.Duration
}

// start begins the expansion with its own cache and output.
func (j *job) start(tb testing.TB, url, cache, output string, more ...string) *run {
	tb.Helper()
	args := append([]string{"expand", "jsonl:" + j.input, "--model", "m", "--form", "text", "--base-url", url,
		"--cache", filepath.Join(j.dir, cache), "-o", filepath.Join(j.dir, output)}, j.flags...)
	return startRun(tb, append(args, more...)...)
}

// startRun begins a command of the program.
func startRun(tb testing.TB, args ...string) *run {
	tb.Helper()
	return startIn(tb, "", args...)
}

// startIn begins a command in a folder.
func startIn(tb testing.TB, dir string, args ...string) *run {
	tb.Helper()
	r := &run{cmd: refractCommand(tb, args...), ended: make(chan error, 1), begun: time.Now()}
	r.cmd.Dir = dir
	if _, measured := tb.(*testing.B); measured {
		r.cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	}
	r.cmd.Stderr = &r.stderr
	require.NoError(tb, r.cmd.Start())
	go func() {
		err := r.cmd.Wait()
		r.wall = time.Since(r.begun)
		r.ended <- err
	}()
	return r
}

// kill ends the run like kill -9, and returns false if it had already succeeded.
func (r *run) kill(tb testing.TB) bool {
	tb.Helper()
	if err := r.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		tb.Fatal(err)
	}
	return <-r.ended != nil
}

// wait waits for the run and fails unless it succeeds.
func (r *run) wait(tb testing.TB) *run {
	tb.Helper()
	if err := <-r.ended; err != nil {
		tb.Fatalf("expand: %v\n%s", err, tail(r.stderr.String()))
	}
	return r
}

func tail(s string) string { return s[max(0, len(s)-4000):] }

func (j *job) run(tb testing.TB, url, cache, output string, more ...string) *run {
	tb.Helper()
	return j.start(tb, url, cache, output, more...).wait(tb)
}

var created = regexp.MustCompile(`,?"created":"[^"]*"`)

// output reads an output without its times, and checks that it has every segment once and
// in order.
func (j *job) output(tb testing.TB, name string) []byte {
	tb.Helper()
	f, err := os.Open(filepath.Join(j.dir, name))
	require.NoError(tb, err)
	defer f.Close()
	var out bytes.Buffer
	lines := bufio.NewReader(f)
	n := 0
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		require.NoError(tb, err)
		if want := fmt.Appendf(nil, `{"id":"s%d",`, n); !bytes.HasPrefix(line, want) {
			tb.Fatalf("%s: line %d does not begin with %s: %.60s", name, n+1, want, line)
		}
		n++
		out.Write(created.ReplaceAll(line, nil))
	}
	require.Equal(tb, j.segments, n, "%s", name)
	return out.Bytes()
}

// same checks that two outputs are equal except for times.
func (j *job) same(tb testing.TB, name, want string) {
	tb.Helper()
	a, b := j.output(tb, name), j.output(tb, want)
	if bytes.Equal(a, b) {
		return
	}
	as, bs := bytes.SplitAfter(a, []byte("\n")), bytes.SplitAfter(b, []byte("\n"))
	for i := range as {
		if !bytes.Equal(as[i], bs[i]) {
			tb.Fatalf("line %d of %s differs from %s:\n%s\n%s", i+1, name, want, as[i], bs[i])
		}
	}
}

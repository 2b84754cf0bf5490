//go:build unix

package program

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kballard/go-shellquote"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/internal/metricstest"
	"github.com/refract-eval/refract/internal/redact"
	"github.com/refract-eval/refract/metrics"
)

// configOf returns the config of the test binary as a program.
func configOf(t testing.TB, fault string, args ...string) config {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	return config{Command: append([]string{exe, fault}, args...), Environ: append(os.Environ(), "AS_PROGRAM=1"), Processes: 1, Timeout: time.Minute}
}

func opened(t testing.TB, cfg config) *metric {
	t.Helper()
	m, err := newMetric(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { m.Close() })
	return m
}

var block = metrics.Block{Source: "s", Hypotheses: []string{"a", "bb"}, References: []string{"r", "rrr"}}

func TestPromises(t *testing.T) {
	m := opened(t, configOf(t, ""))
	metricstest.Promises(t, m, block)
	want := metrics.Info{Name: "exec:counter", NeedsSource: true, NeedsReferences: true, Direction: metrics.HigherIsBetter, Lower: 0, Upper: 1e6, Pace: metrics.Pace{Batch: 3, Calls: 1}, Storable: true}
	if m.Info() != want || !m.HasNative() {
		t.Errorf("%+v", m.Info())
	}
	assert.True(t, strings.HasPrefix(m.Signature(metrics.Sentence).String(), "program:counter|a:1|b:2|hello:"))
}

// Blocks are split into batches, and many calls share the processes.
func TestBatches(t *testing.T) {
	cfg := configOf(t, "", "pid", filepath.Join(t.TempDir(), "pids"))
	cfg.Processes = 2
	m := opened(t, cfg)
	blocks := slices.Repeat([]metrics.Block{block}, 8)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			out, err := m.Score(t.Context(), blocks)
			if err != nil || len(out) != 8 || !slices.Equal(out[7].Values, []float64{101, 103, 201, 203}) {
				t.Errorf("%v, %v", out, err)
			}
			native, err := m.ScoreNative(t.Context(), blocks[:1])
			assert.True(t, err == nil && slices.Equal(native[0].Values, []float64{104, 204}), "%v, %v", native, err)
		})
	}
	all.Wait()
	assert.LessOrEqual(t, len(pids(t, cfg.Command[len(cfg.Command)-1])), 2)
}

// Each mistake of a program gives an error that describes it.
func TestFaults(t *testing.T) {
	for _, tc := range []struct {
		fault string
		args  []string
		want  string
	}{
		{"garbage", nil, `a line that is no answer: bad JSON: invalid character 'L' at start of value: "Loading model\x1b[2J…"`},
		{"wrong-id", nil, `"id" is not the 1 of the request: "{\"id\":2,`},
		{"short", nil, `segment 1 of the request: 3 scores and 0 statuses for 2 hypotheses × 2: "{`},
		{"few", nil, `it has scores of 0 segments for 1`},
		{"unknown", nil, `unknown field "notes"; the fields are id, scores, status, error`},
		{"nan", nil, `segment 1 of the request: 1 score and 0 statuses for 2 hypotheses × 2: "{`},
		{"above", nil, `score 1: it is 2e+06, and the hello line bounds it by 0 and 1e+06`},
		{"bad-status", nil, `score 1: it is null, with the status "scored"; want failed, unparseable, blocked or cut`},
		{"error", nil, `the program says: "out of \x1bmemory"`},
		{"dies", nil, `the program ended before it answered (exit status 7); it last said: killed by a bug`},
		{"hangs", nil, `the program gave no answer in time: 300ms, which timeout=DURATION before the program raises; failed 3 times on the same batch`},
		{"changes", []string{"FILE"}, `the program's processes announced different metrics: "{`},
		{"no-hello", nil, `no hello line: the program gave no answer in time: 300ms`},
		{"dies-first", nil, `no hello line: the program ended before it answered (exit status 3); it last said: no \x1b[31mmodel`},
		{"bad-hello", []string{"Hello"}, `a line that is no hello: bad JSON: invalid character 'H' at start of value: "Hello"`},
		{"bad-hello", []string{`{"refract":2,"name":"m"}`}, `"refract" is 2, and 1 is the version`},
		{"bad-hello", []string{`{"refract":1,"name":"a b"}`}, `"name" is "a b"`},
		{"bad-hello", []string{`{"refract":1,"name":"m","needs":["refs"]}`}, `"needs" has "refs"`},
		{"bad-hello", []string{`{"refract":1,"name":"m","native":true}`}, `"native" goes with`},
		{"bad-hello", []string{`{"refract":1,"name":"m","direction":"up"}`}, `unknown direction "up"`},
		{"bad-hello", []string{`{"refract":1,"name":"m","lower":1,"upper":1}`}, `the bounds 1 and 1`},
		{"bad-hello", []string{`{"refract":1,"name":"m","batch":-1}`}, `"batch" is -1`},
		{"bad-hello", []string{`{"refract":1,"name":"m","signature":{"version":"1"}}`}, `"signature" has "version"`},
		{"bad-hello", []string{`{"refract":1,"name":"m","name":"n"}`}, `field "name" is there twice`},
		{"bad-hello", []string{`{"refract":1,"name":"m","lower":"0"}`}, `field lower must be a number or null, not a string`},
		{"bad-hello", []string{`{"refract":1,"name":"m","colour":"red"}`}, `unknown field "colour"`},
	} {
		t.Run(strings.Join(append([]string{tc.fault}, tc.args...), " "), func(t *testing.T) {
			t.Parallel()
			if slices.Equal(tc.args, []string{"FILE"}) {
				tc.args = []string{filepath.Join(t.TempDir(), "file")}
			}
			cfg := configOf(t, tc.fault, tc.args...)
			if tc.fault == "no-hello" {
				cfg.Start = 300 * time.Millisecond
			}
			m, err := newMetric(t.Context(), cfg)
			if err == nil {
				defer m.Close()
				if tc.fault == "hangs" { // only answers are late: a hello takes long on a busy machine
					m.cfg.Start, m.cfg.Timeout = time.Minute, 300*time.Millisecond
				}
				_, err = m.Score(t.Context(), []metrics.Block{block})
			}
			assert.ErrorContains(t, err, tc.want)
		})
	}
}

// A process that dies with a batch is replaced, and a line says so.
func TestDeadProcessIsReplaced(t *testing.T) {
	cfg := configOf(t, "dies-once", filepath.Join(t.TempDir(), "file"))
	var mu sync.Mutex
	var told []string
	cfg.Log = func(line string) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, line)
	}
	m := opened(t, cfg)
	out, err := m.Score(t.Context(), []metrics.Block{block})
	assert.True(t, err == nil && slices.Equal(out[0].Values, []float64{101, 103, 201, 203}), "%v, %v", out, err)
	mu.Lock()
	defer mu.Unlock()
	if want := []string{"exec:counter: the program ended before it answered (exit status 7), with request 1, which has 1 segment; it is started again"}; !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
}

// A cell that the program fails at costs its own score if the program scores others.
func TestOneCell(t *testing.T) {
	blocks := []metrics.Block{block, block, block, block}
	for i := range blocks {
		blocks[i].Hypotheses = []string{"a", fmt.Sprint("hypothesis ", i)}
		blocks[i].References = []string{"r", "poison"}
	}
	for _, fault := range []string{"says-at", "dies-at", "garbage-at", "nan-at", "dies", "error"} {
		cfg := configOf(t, fault, "hypothesis 2", "poison")
		failed := 0
		cfg.Failed = func(error) bool { failed++; return true }
		m := opened(t, cfg)
		out, err := m.Score(t.Context(), blocks)
		if fault == "dies" || fault == "error" { // at everything
			assert.True(t, err != nil && failed == 0, "%s: %v, %d failed", fault, err, failed)
			continue
		}
		if counted := fault != "nan-at"; err != nil || (failed == 1) != counted {
			t.Errorf("%s: %v, %d failed", fault, err, failed)
			continue
		}
		for i, s := range out {
			for c, v := range s.Values {
				want := float64(100*len(blocks[i].Hypotheses[c/2]) + len(blocks[i].References[c%2]))
				if bad := i == 2 && c == 3; bad != (s.Status[c] == metrics.Failed) || !bad && v != want {
					t.Errorf("%s: segment %d has %+v", fault, i, s)
				}
			}
		}
	}
}

// A null score has a status, with a reason if there is one.
func TestNoScore(t *testing.T) {
	for fault, want := range map[string]metrics.Status{"none": metrics.Failed, "blocked": metrics.Blocked} {
		m := opened(t, configOf(t, fault))
		out, err := m.Score(t.Context(), []metrics.Block{block})
		if err != nil || out[0].Status[0] != want || out[0].Status[1] != metrics.Scored {
			t.Errorf("%s: %+v, %v", fault, out, err)
		}
	}
}

// Standard error is shown up to a bound, without terminal control characters, and never
// blocks the program.
func TestStandardError(t *testing.T) {
	var mu sync.Mutex
	var lines []string
	cfg := configOf(t, "floods")
	cfg.Log = func(line string) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, line)
	}
	m := opened(t, cfg)
	_, err := m.Score(t.Context(), []metrics.Block{block})
	require.NoError(t, err)
	m.Close()
	if len(lines) != mostShown+1 || len(lines[0]) > mostSaid+1000 || !strings.HasSuffix(lines[mostShown], "more of its standard error is left out") {
		t.Errorf("%d lines: %q", len(lines), lines[len(lines)-1])
	}
}

// pids returns the processes that a program has written to a file.
func pids(t testing.TB, path string) (all []int) {
	t.Helper()
	for _, file := range []string{path, path + ".child"} {
		data, _ := os.ReadFile(file)
		for field := range strings.FieldsSeq(string(data)) {
			pid, err := strconv.Atoi(field)
			require.NoError(t, err)
			all = append(all, pid)
		}
	}
	return all
}

// gone waits until the processes have exited.
func gone(t testing.TB, all []int) {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		left := slices.DeleteFunc(slices.Clone(all), func(pid int) bool { return !running(pid) })
		switch {
		case len(left) == 0:
			return
		case time.Now().After(until):
			t.Fatalf("processes %v are left", left)
		}
	}
}

// running reports whether a process exists. A zombie whose parent is another process does
// not count, as that parent may take its time.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return runtime.GOOS != "linux" && syscall.Kill(pid, 0) == nil
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	var letter rune
	var parent int
	fmt.Sscanf(state, "%c %d", &letter, &parent)
	return letter != 'Z' || parent == os.Getpid()
}

// Closing a metric leaves no process, whatever the program does.
func TestCloseEndsAll(t *testing.T) {
	for _, fault := range []string{"", "ignores", "child", "dies", "garbage"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pids")
			m := opened(t, configOf(t, fault, "pid", file))
			m.Score(t.Context(), []metrics.Block{{Hypotheses: []string{"a"}, References: []string{"b"}}})
			m.Close()
			all := pids(t, file)
			if len(all) == 0 || fault == "child" && len(all) != 2 {
				t.Fatalf("%d processes", len(all))
			}
			gone(t, all)
			_, err := m.Score(t.Context(), []metrics.Block{block})
			assert.Error(t, err, "a closed metric scores")
		})
	}
}

// When a context ends, a hanging process and its batch end.
func TestCancelled(t *testing.T) {
	for _, fault := range []string{"hangs", "ignores"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pids")
			m := opened(t, configOf(t, fault, "pid", file))
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			_, err := m.Score(ctx, []metrics.Block{block})
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			gone(t, pids(t, file))
		})
	}
}

// asRefract scores with a hanging program until it is killed.
func asRefract() {
	os.Unsetenv("AS_REFRACT")
	exe, _ := os.Executable()
	m, err := newMetric(context.Background(), config{Command: append([]string{exe}, os.Args[1:]...), Environ: append(os.Environ(), "AS_PROGRAM=1"), Processes: 1, Timeout: time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	m.Score(context.Background(), []metrics.Block{{Hypotheses: []string{"a"}, References: []string{"b"}}})
	fmt.Println("ready")
	m.Score(context.Background(), []metrics.Block{block})
	time.Sleep(time.Hour)
}

// Killing Refract leaves no process.
func TestKilled(t *testing.T) {
	for _, fault := range []string{"", "hangs", "ignores"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			if fault == "ignores" && runtime.GOOS != "linux" {
				t.Skip("a program that ignores the end of its input outlives a killed refract here")
			}
			file := filepath.Join(t.TempDir(), "pids")
			cfg := configOf(t, fault, "pid", file)
			refract := exec.Command(cfg.Command[0], cfg.Command[1:]...)
			refract.Env = append(os.Environ(), "AS_REFRACT=1")
			out, err := refract.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, refract.Start())
			_, err = fmt.Fscanln(out, new(string))
			require.NoError(t, err)
			all := pids(t, file)
			require.True(t, len(all) == 1 && running(all[0]), "processes %v", all)
			refract.Process.Kill()
			refract.Wait()
			gone(t, all)
		})
	}
}

func TestWithhold(t *testing.T) {
	got, secrets := withhold([]string{"PATH=/bin", "PWD=/here", "GITHUB_PAT=p", "PGPASS=p", "DB_PWD=p", "AWS_CREDENTIALS=longer", "DB=postgres://me:pw@host/db", "SITE=https://host/x", "OPENAI_API_KEY=k", "hf_token=t", "HF_TOKEN=t", "PGPASSWORD=p", "REFRACT_BASE_URL=u", "HOME=/", "GIT_AUTHOR_NAME=n", "HTTP_AUTH=a", "OAUTH=a", "SSH_AUTH_SOCK=s"}, "HF_TOKEN")
	assert.True(t, slices.Equal(got, []string{"PATH=/bin", "PWD=/here", "SITE=https://host/x", "HF_TOKEN=t", "HOME=/", "GIT_AUTHOR_NAME=n"}), "%q", got)
	assert.Equal(t, "a SECRET SECRET", redact.Values(secrets)("a longer postgres://me:pw@host/db"))
}

func TestSpec(t *testing.T) {
	for _, tc := range []struct{ tail, want string }{
		{"", "no program is named"},
		{"processes=0 x", `option processes="0": want a whole number from 1 to 256`},
		{"timeout=5 x", `option timeout="5": want a duration`},
		{"proceses=2 x", `unknown option "proceses"; did you mean "processes"?`},
		{"processes=2", "no program is named"},
		{"'x", "as a shell reads it: Unterminated single-quoted string"},
		{`x \`, "Unterminated backslash-escape"},
		{"no-such-program-anywhere", "executable file not found"},
	} {
		_, err := metrics.Registry{Factory(nil, nil, nil)}.Parse(t.Context(), "exec:"+tc.tail)
		if spec := (*metrics.SpecError)(nil); !errors.As(err, &spec) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: %v, want %s", tc.tail, err, tc.want)
		}
	}
	var cfg config
	var pass []string
	_, err := metrics.Registry{{Name: "exec", Tail: "…", New: func(_ context.Context, v *metrics.Values) (_ metrics.Metric, err error) {
		cfg, pass, err = parse(v)
		return nil, err
	}}}.Parse(t.Context(), `exec:processes=3 timeout=90s pass=A,B py A=b 'c d' "e\"\f" g\ h ''`)
	if err != nil || cfg.Processes != 3 || cfg.Timeout != 90*time.Second || !slices.Equal(pass, []string{"A", "B"}) ||
		!slices.Equal(cfg.Command, []string{"py", "A=b", "c d", `e"\f`, "g h", ""}) {
		t.Errorf("%+v, %q, %v", cfg, pass, err)
	}
}

// Words quoted for a shell are read back unchanged.
func TestWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.StringOfN(rapid.RuneFrom([]rune(`ab '"\	é$`+"\n")), 0, 6, -1)).Draw(t, "words")
		got, err := shellquote.Split(redact.CommandLine(want))
		if err != nil || !slices.Equal(got, want) && len(got)+len(want) > 0 {
			t.Fatalf("%q, %v, want %q", got, err, want)
		}
	})
}

// A score that exceeds a bound in its last bits becomes the bound; one further beyond is an
// error; 0 has no sign.
func TestBounds(t *testing.T) {
	m := &metric{info: metrics.Info{Lower: 0, Upper: 1}}
	for _, tc := range []struct {
		score, want float64
		ok          bool
	}{
		{1, 1, true}, {1 + 1e-12, 1, true}, {1.000001, 0, false}, {-1e-12, 0, true}, {-1e-8, 0, false}, {math.Copysign(0, -1), 0, true},
	} {
		out := metrics.Scores{Values: make([]float64, 1), Status: make([]metrics.Status, 1)}
		err := m.cell(&out, 0, &tc.score, "")
		v := out.Values[0]
		assert.True(t, (err == nil) == tc.ok && v == tc.want && !math.Signbit(v), "%v is %v, %v", tc.score, v, err)
	}
}

// What the hello line says about scores is part of the key of stored scores.
func TestHelloIsInSignature(t *testing.T) {
	seen := map[string]bool{}
	for _, more := range []string{``, `,"upper":1`, `,"upper":100`, `,"direction":"lower"`, `,"needs":["source"]`} {
		h, err := readHello([]byte(`{"refract":1,"name":"m","signature":{"a":"1"}` + more + `}`))
		require.NoError(t, err)
		s := (&metric{hello: h, info: h.info}).Signature(metrics.Sentence).String()
		assert.False(t, seen[s], "%s is the signature of another hello line", s)
		seen[s] = true
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"id":1,"scores":[[1,null,2.5,0]],"status":[["","cut","",""]]}`))
	f.Add([]byte(`{"id":1,"error":"x"}`))
	m := &metric{info: metrics.Info{Lower: 0, Upper: math.Inf(1)}, said: stderr{hide: redact.Values(nil)}}
	f.Fuzz(func(t *testing.T, line []byte) {
		out := []scored{{Block: block}}
		if m.readAnswer(line, &request{ID: 1}, out) != nil {
			return
		}
		for c, v := range out[0].Values {
			if out[0].Status[c] == metrics.Scored && (!(v >= 0 && v < math.Inf(1)) || math.Signbit(v)) {
				t.Errorf("%q gives %v", line, v)
			}
		}
	})
}

// A program that never says hello is recognised by what it said first.
func TestFirstWords(t *testing.T) {
	s := stderr{hide: func(s string) string { return s }}
	s.listen(strings.NewReader("one\ntwo\nthree\nfour\nfive\n"))
	if first, last := s.words(true), s.words(false); first != "one; two; three" || last != "three; four; five" {
		t.Errorf("%q, %q", first, last)
	}
}

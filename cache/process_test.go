package cache_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/cache/cachetest"
)

// Some tests need other processes: the test binary starts itself, and this
// variable tells the child what to do.
const childVariable = "REFRACT_CACHE_TEST_CHILD"

func TestMain(m *testing.M) {
	task := strings.Fields(os.Getenv(childVariable))
	if len(task) == 0 {
		os.Exit(m.Run())
	}
	if err := child(task); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child stores the entries from a number to another in the file given as the
// argument, from several goroutines, and prints each number once Put has
// returned. The answers hold the name of the child.
func child(task []string) error {
	name, file := task[0], os.Args[len(os.Args)-1]
	from, err := strconv.Atoi(task[1])
	if err != nil {
		return err
	}
	to, err := strconv.Atoi(task[2])
	if err != nil {
		return err
	}
	ctx := context.Background()
	s, err := cache.OpenSQLite(ctx, file)
	if err != nil {
		return err
	}
	var next atomic.Int64
	next.Store(int64(from) - 1)
	failures := make(chan error, 8)
	var wg sync.WaitGroup
	for range cap(failures) {
		wg.Go(func() {
			for n := int(next.Add(1)); n < to; n = int(next.Add(1)) {
				if err := s.Put(ctx, childEntry(name, n)); err != nil {
					failures <- err
					return
				}
				fmt.Println(n)
			}
		})
	}
	wg.Wait()
	close(failures)
	for err := range failures {
		return err
	}
	return s.Close()
}

func childEntry(name string, n int) cache.Entry {
	e := cachetest.Entry(n)
	e.Text = fmt.Sprintf("answer %d of %s %s", n, name, strings.Repeat("long ", n%700))
	return e
}

// start runs a child. The returned lines are its output, which ends with it.
func start(t *testing.T, file, name string, from, to int) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, file)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %d", childVariable, name, from, to))
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	t.Cleanup(func() {
		if complaint.Len() > 0 {
			t.Errorf("process %s failed: %s", name, &complaint)
		}
	})
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewReader(out)
}

// finished reads a number that a child has printed whole.
func finished(t *testing.T, out *bufio.Reader) (int, bool) {
	t.Helper()
	line, err := out.ReadString('\n')
	if err != nil { // the end, perhaps in the middle of a line
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSuffix(line, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return n, true
}

func TestKilledProcessLosesNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answers.db")
	random := rand.New(rand.NewPCG(1, 2))
	stored := make(map[int]bool)
	const rounds = 6
	for round := range rounds {
		const far = 1_000_000 // more than a child can do before it is killed
		cmd, out := start(t, file, "child", round*far, (round+1)*far)
		// The last rounds kill while others are being stored, the first one
		// perhaps while the file is being created.
		for range round * random.IntN(400) {
			if n, ok := finished(t, out); ok {
				stored[n] = true
			}
		}
		time.Sleep(time.Duration(random.IntN(30_000)) * time.Microsecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for {
			n, ok := finished(t, out)
			if !ok {
				break
			}
			stored[n] = true
		}
		if _, err := io.Copy(io.Discard, out); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the child ended before it was killed")
		}
		if round == 0 {
			continue // there may be no file yet
		}
		// First with the log as the child left it, then after a recovery.
		for _, opts := range [][]cache.Option{{cache.ReadOnly()}, nil} {
			checkStored(t, file, stored, opts...)
		}
	}
	if len(stored) < 100 {
		t.Errorf("the children stored only %d entries: the test shows little", len(stored))
	}
	t.Logf("%d entries before %d kills", len(stored), rounds)
}

func checkStored(t *testing.T, file string, stored map[int]bool, opts ...cache.Option) {
	t.Helper()
	s, err := cache.OpenSQLite(t.Context(), file, opts...)
	if err != nil {
		t.Fatal(err)
	}
	for n := range stored {
		want := childEntry("child", n)
		if e, ok, err := s.Get(t.Context(), want.Request.Key()); err != nil || !ok || e != want {
			t.Errorf("entry %d, whose Put had returned: %v, %v", n, ok, err)
		}
	}
	r, err := s.Verify(t.Context())
	if err != nil || len(r.Problems) > 0 || r.Entries < int64(len(stored)) {
		t.Errorf("Verify = %+v, %v, want %d entries at least", r, err, len(stored))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestProcessesShareAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answers.db") // which they also create
	type process struct {
		name     string
		from, to int
	}
	processes := []process{{"a", 0, 300}, {"b", 200, 500}, {"c", 100, 400}}
	var wg sync.WaitGroup
	for _, p := range processes {
		cmd, out := start(t, file, p.name, p.from, p.to)
		wg.Go(func() {
			n := 0
			for scan := bufio.NewScanner(out); scan.Scan(); {
				n++
			}
			if err := cmd.Wait(); err != nil || n != p.to-p.from {
				t.Errorf("process %s stored %d entries: %v", p.name, n, err)
			}
		})
	}
	wg.Wait()
	s := open(t, file)
	for n := range 500 {
		e, ok, err := s.Get(t.Context(), cachetest.Entry(n).Request.Key())
		if err != nil || !ok {
			t.Fatalf("entry %d: %v, %v", n, ok, err)
		}
		whole := false
		for _, p := range processes {
			whole = whole || n >= p.from && n < p.to && e == childEntry(p.name, n)
		}
		if !whole {
			t.Errorf("entry %d is of no process: %+v", n, e)
		}
	}
	if r, err := s.Verify(t.Context()); err != nil || r.Entries != 500 || len(r.Problems) > 0 {
		t.Errorf("Verify = %+v, %v", r, err)
	}
}

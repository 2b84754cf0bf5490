package cache_test

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/cache"
)

// For tests that need other processes, the test binary starts itself; this variable tells
// the child what to do.
const childVariable = "REFRACT_CACHE_TEST_CHILD"

const (
	claiming = "claims"
	paying   = "pays"
)

// shortLease is the lease of children, so that tests need not wait long for its end.
const shortLease = 2 * time.Second

func TestMain(m *testing.M) {
	task := strings.Fields(os.Getenv(childVariable))
	if len(task) == 0 {
		if err := flag.Set("rapid.checks", "40"); err != nil { // a random case writes a file
			panic(err)
		}
		os.Exit(m.Run())
	}
	if err := child(task); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child stores a range of entries in the given file or database from several goroutines,
// and prints each number once Put has returned. The answers contain the child's name. The
// child named "claims" only claims the entries, and waits to be killed.
func child(task []string) error {
	name, where := task[0], os.Args[len(os.Args)-1]
	from, err := strconv.Atoi(task[1])
	if err != nil {
		return err
	}
	to, err := strconv.Atoi(task[2])
	if err != nil {
		return err
	}
	ctx := context.Background()
	s, err := cache.Open(ctx, where, cache.Lease(shortLease))
	if err != nil {
		return err
	}
	if name == paying {
		return pay(ctx, s, from, to, func(n int) { fmt.Println(n) })
	}
	if name == claiming {
		for n := from; n < to; n++ {
			granted, err := s.Claim(ctx, []cache.Key{childEntry(name, n).Request.Key()})
			if err != nil || !granted[0] {
				return fmt.Errorf("claim of %d: %v, %w", n, granted, err)
			}
			fmt.Println(n)
		}
		select {} // until it is killed
	}
	var next atomic.Int64
	next.Store(int64(from) - 1)
	failures := make(chan error, 8)
	var wg sync.WaitGroup
	for range cap(failures) {
		wg.Go(func() {
			for n := int(next.Add(1)); n < to; n = int(next.Add(1)) {
				if err := putEntry(ctx, s, childEntry(name, n)); err != nil {
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

// pay makes answers as an Asker does: it claims some at once, and one after the other pays for
// those whose claim it still has.
func pay(ctx context.Context, s *cache.Database, from, to int, paid func(n int)) error {
	const ahead = 25
	for first := from; first < to; {
		var keys []cache.Key
		for n := first; n < min(first+ahead, to); n++ {
			keys = append(keys, newEntry(n).Request.Key())
		}
		granted, err := s.Claim(ctx, keys)
		if err != nil {
			return err
		}
		_, found, err := cache.NewAnswers(s).Get(ctx, keys)
		if err != nil {
			return err
		}
		done := true
		for i, key := range keys {
			switch {
			case found[i]:
				continue
			case !granted[i] || !s.Holds(key):
				done = false // another process makes it, or it has to be claimed again
				continue
			}
			paid(first + i)
			time.Sleep(3 * time.Millisecond) // as a server answers
			if err := putEntry(ctx, s, newEntry(first+i)); err != nil {
				return err
			}
		}
		if done {
			first += len(keys)
		} else {
			time.Sleep(20 * time.Millisecond)
		}
	}
	return s.Close()
}

func childEntry(name string, n int) cache.Entry {
	e := newEntry(n)
	e.Text = fmt.Sprintf("answer %d of %s %s", n, name, strings.Repeat("long ", n%700))
	return e
}

// start runs a child and returns it with a reader of its output.
func start(t *testing.T, file, name string, from, to int) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, file)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %d", childVariable, name, from, to))
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	t.Cleanup(func() {
		assert.Empty(t, complaint.String(), "process %s failed", name)
	})
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return cmd, bufio.NewReader(out)
}

// finished reads the next number that a child printed, false if there is none or it was cut.
func finished(t *testing.T, out *bufio.Reader) (int, bool) {
	t.Helper()
	line, err := out.ReadString('\n')
	if err != nil { // the end, perhaps in the middle of a line
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSuffix(line, "\n"))
	require.NoError(t, err)
	return n, true
}

func TestKilledProcessLosesNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answers.db")
	random := rand.New(rand.NewPCG(1, 2))
	stored := make(map[int]bool)
	const rounds = 4
	for round := range rounds {
		const far = 1_000_000 // more than a child can store before it is killed
		cmd, out := start(t, file, "child", round*far, (round+1)*far)
		// The first round may kill while the file is being created, later ones while
		// entries are being stored.
		for range round * random.IntN(400) {
			if n, ok := finished(t, out); ok {
				stored[n] = true
			}
		}
		time.Sleep(time.Duration(random.IntN(30_000)) * time.Microsecond)
		require.NoError(t, cmd.Process.Kill())
		for n, ok := finished(t, out); ok; n, ok = finished(t, out) {
			stored[n] = true
		}
		_, err := io.Copy(io.Discard, out)
		require.NoError(t, err)
		require.Error(t, cmd.Wait(), "the child ended before it was killed")
		if round == 0 {
			continue // there may be no file yet
		}
		// First with the log that the child left, then after a recovery.
		for _, opts := range [][]cache.Option{{cache.ReadOnly()}, nil} {
			checkStored(t, file, stored, opts...)
		}
	}
	assert.GreaterOrEqual(t, len(stored), 50, "the children stored only %d entries: the test shows little", len(stored))
	t.Logf("%d entries before %d kills", len(stored), rounds)
}

func checkStored(t *testing.T, file string, stored map[int]bool, opts ...cache.Option) {
	t.Helper()
	s, err := cache.Open(t.Context(), file, opts...)
	require.NoError(t, err)
	for n := range stored {
		want := childEntry("child", n)
		assert.Equal(t, want.Answer, mustGet(t, s, want.Request), "entry %d, whose Put had returned", n)
	}
	n, problems, err := s.Verify(t.Context())
	if err != nil || len(problems) > 0 || n < int64(len(stored)) {
		t.Errorf("Verify = %d, %v, %v, want %d entries at least", n, problems, err, len(stored))
	}
	require.NoError(t, s.Close())
}

func TestProcessesShareAFile(t *testing.T) {
	shareBetweenProcesses(t, filepath.Join(t.TempDir(), "answers.db")) // which they also create
}

func shareBetweenProcesses(t *testing.T, where string) {
	type process struct {
		name     string
		from, to int
	}
	processes := []process{{"a", 0, 150}, {"b", 50, 200}}
	var wg sync.WaitGroup
	for _, p := range processes {
		cmd, out := start(t, where, p.name, p.from, p.to)
		wg.Go(func() {
			n := 0
			for scan := bufio.NewScanner(out); scan.Scan(); {
				n++
			}
			err := cmd.Wait()
			assert.True(t, err == nil && n == p.to-p.from, "process %s stored %d entries: %v", p.name, n, err)
		})
	}
	wg.Wait()
	s := open(t, where)
	for n := range 200 {
		e := mustGet(t, s, newEntry(n).Request)
		whole := false
		for _, p := range processes {
			whole = whole || n >= p.from && n < p.to && e == childEntry(p.name, n).Answer
		}
		assert.True(t, whole, "entry %d is of no process: %+v", n, e)
	}
	verified(t, s, 200)
}

// The claims of a killed process are free when its lease has ended, and on its own machine before.
func TestClaimsOfAKilledProcess(t *testing.T) {
	claimsOfAKilledProcess(t, filepath.Join(t.TempDir(), "answers.db"))
}

func claimsOfAKilledProcess(t *testing.T, where string) {
	const n = 20
	before := open(t, where, cache.Lease(shortLease))
	keys := make([]cache.Key, n)
	for i := range keys {
		keys[i] = newEntry(i).Request.Key()
	}
	cmd, out := start(t, where, claiming, 0, n)
	for range n {
		_, ok := finished(t, out)
		require.True(t, ok, "the child ended early")
	}
	granted, err := before.Claim(t.Context(), keys)
	require.True(t, err == nil && !slices.Contains(granted, true), "Claim during the child = %v, %v", granted, err)
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait(), "the child ended before it was killed")
	// Both a store that was open before and a new one are granted them.
	for i, s := range []*cache.Database{before, open(t, where, cache.Lease(shortLease))} {
		awaitClaim(t, s, keys[i*n/4:(i+1)*n/4])
	}
	if runtime.GOOS == "linux" {
		patient := open(t, where, cache.Lease(time.Hour))
		granted, err := patient.Claim(t.Context(), keys[n/2:])
		assert.True(t, err == nil && !slices.Contains(granted, false), "Claim at once = %v, %v", granted, err)
	}
}

// A process is gone only if this machine certainly runs it no more.
func TestEnded(t *testing.T) {
	own := cache.Process(os.Getpid())
	if own == "" {
		t.Skip("the system tells nothing of processes")
	}
	part := strings.Fields(own) // start of the machine, namespaces, PID, start
	for name, want := range map[string]bool{
		own: false, "": false, "a b c": false, cache.Process(1): false,
		strings.Join([]string{part[0], part[1], part[2], "1"}, " "):          true,
		strings.Join([]string{part[0], part[1], "2147483647", part[3]}, " "): true,
		strings.Join([]string{"another", part[1], "2147483647", "1"}, " "):   false,
		strings.Join([]string{part[0], "pid:[1]", "2147483647", "1"}, " "):   false,
	} {
		assert.Equal(t, want, cache.Ended(name), name)
	}
}

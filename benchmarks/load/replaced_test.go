package load_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Whatever happens to the name of an output during a run, either the complete output
// appears there or there is an error. It is never mixed with what was there.
func TestOutputReplacedDuringARun(t *testing.T) {
	j := newJob(t, 100, "--concurrency", "16")
	j.run(t, startServer(t).url, "whole.sqlite", "whole.jsonl")
	out := filepath.Join(j.dir, "out.jsonl")
	write := func(path, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	for name, test := range map[string]struct {
		before, during func()
		fails          string // "" if the run succeeds
	}{
		"the file is written": {func() { write(out, "old\n") }, func() { write(out, "new\n") }, ""},
		"a folder takes its name": {nil, func() {
			require.NoError(t, os.MkdirAll(filepath.Join(out, "inside"), 0o755))
		}, "out.jsonl cannot be written"},
		"its temporary files are removed": {nil, func() {
			names, err := filepath.Glob(filepath.Join(j.dir, ".out.jsonl.*"))
			if err != nil || len(names) == 0 {
				t.Errorf("no temporary file: %v", err)
			}
			for _, name := range names {
				os.Remove(name)
			}
		}, "out.jsonl cannot be written"},
		"the cache is replaced": {nil, func() {
			require.NoError(t, os.Rename(filepath.Join(j.dir, "c.sqlite"), filepath.Join(j.dir, "away.sqlite")))
		}, "removed or replaced while in use"},
	} {
		for _, file := range []string{"out.jsonl", "c.sqlite", "c.sqlite-wal", "c.sqlite-shm"} {
			os.RemoveAll(filepath.Join(j.dir, file))
		}
		if test.before != nil {
			test.before()
		}
		srv := startServer(t, "-latency", "50ms")
		r := j.start(t, srv.url, "c.sqlite", "out.jsonl")
		for srv.stats(t).Calls < 100 {
			time.Sleep(5 * time.Millisecond)
		}
		test.during()
		err := <-r.ended
		if test.fails == "" {
			if err != nil {
				t.Errorf("%s: %v\n%s", name, err, tail(r.stderr.String()))
				continue
			}
			j.same(t, "out.jsonl", "whole.jsonl")
			continue
		}
		if said := r.stderr.String(); err == nil || !strings.Contains(said, test.fails) {
			t.Errorf("%s: %v\n%s", name, err, tail(said))
		}
		if st, err := os.Stat(out); err == nil && !st.IsDir() {
			t.Errorf("%s: there is an output after the error", name)
		}
	}
}

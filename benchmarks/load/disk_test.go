//go:build linux

package load_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/internal/llmtest"
)

// A full disk, whether full at once or during writing, is an error of every command that
// writes there, and leaves nothing under the final name. With room again, the same command
// succeeds.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	disk := filepath.Join(dir, "disk")
	require.NoError(t, os.Mkdir(disk, 0o755))
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk).CombinedOutput(); err != nil {
		t.Skipf("file systems cannot be mounted here: %s", out)
	}
	t.Cleanup(func() {
		out, err := exec.Command("umount", disk).CombinedOutput()
		assert.NoError(t, err, "umount: %s", out)
	})
	srv := llmtest.NewServer(t, nil)
	temporary := t.TempDir()
	run := func(args ...string) (string, error) {
		cmd := refractCommand(t, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "OPENAI_BASE_URL="+srv.BaseURL, "TMPDIR="+temporary)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	must := func(args ...string) {
		t.Helper()
		out, err := run(args...)
		require.NoError(t, err, "%s\n%s", strings.Join(args, " "), out)
	}
	must("demo", "-o", "sample")
	set := "jsonl:sample/sample.jsonl"
	must("cache", "import", "sample/cache.sqlite", "sample/answers.jsonl")
	plan := "datasets:\n  - {name: sample, source: \"" + set + "\"}\nmetrics: [chrf]\naggregators: [max]\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "plan.yaml"), []byte(plan), 0o644))
	must("expand", "--checks", "none", "--form", "text", set, "--model", "m", "--cache", "whole.sqlite", "-o", "whole.jsonl")
	once := srv.Calls()
	waited := regexp.MustCompile(`answers? could not be stored, and wait in \S*refract-unstored`)
	paid := 0 // runs that were out of room after they had paid
	for _, test := range []struct {
		name, final string // file that the command writes on the disk
		args        []string
	}{
		{"answers", "", []string{"expand", "--checks", "none", "--form", "text", set, "--model", "m", "--cache", "disk/c.sqlite", "-o", "out.jsonl"}},
		{"answers, and their output", "o.jsonl", []string{"expand", "--checks", "none", "--form", "text", set, "--model", "m", "--cache", "disk/c.sqlite", "-o", "disk/o.jsonl"}},
		{"scores", "", []string{"score", set, "-m", "embedding:model=m", "-a", "max", "--cache", "disk/s.sqlite"}},
		{"import", "", []string{"cache", "import", "disk/i.sqlite", "sample/answers.jsonl"}},
		{"export", "out.jsonl", []string{"cache", "export", "sample/cache.sqlite", "-o", "disk/out.jsonl"}},
		{"expansion", "x.jsonl", []string{"expand", "--checks", "none", "--form", "text", set, "--model", "m", "--cache", "x.sqlite", "-o", "disk/x.jsonl"}},
		{"matrix", "m.jsonl", []string{"score", set, "-m", "chrf", "--per", "cell", "-f", "jsonl", "-o", "disk/m.jsonl"}},
		{"page", "page.html", []string{"report", set, "-m", "chrf", "--resamples", "20", "-o", "disk/page.html"}},
		{"published", "set", []string{"publish", set, "--to", "jsonl", "-o", "disk/set"}},
		{"samples", "demo/sample.jsonl", []string{"demo", "-o", "disk/demo"}},
	} {
		answers := strings.HasPrefix(test.name, "answers")
		for _, left := range []int{0, 16 << 10, 64 << 10, 160 << 10} {
			if left > 16<<10 && !answers {
				continue
			}
			fill(t, disk, left)
			before := srv.Calls()
			out, err := run(test.args...)
			if answers && srv.Calls() > before && err != nil {
				if paid++; !waited.MatchString(out) {
					t.Errorf("%s with %d bytes left: no answer waits in a file\n%s", test.name, left, out)
				}
			}
			_, missing := os.Stat(filepath.Join(disk, test.final))
			switch {
			case err == nil && (left == 0 || test.final != "" && missing != nil):
				t.Errorf("%s with %d bytes left: it succeeds:\n%s", test.name, left, out)
			case err != nil && (!regexp.MustCompile("no space left on device|disk full").MatchString(out) || strings.Contains(out, ".tmp")):
				t.Errorf("%s with %d bytes left: %v\n%s", test.name, left, err, out)
			case err != nil && test.final != "" && missing == nil:
				t.Errorf("%s with %d bytes left: there is a part of %s", test.name, left, test.final)
			}
			require.NoError(t, os.Remove(filepath.Join(disk, "filler")))
			if err == nil {
				continue // small files fit
			}
			if out, err := run(test.args...); err != nil {
				t.Errorf("%s with room again: %v\n%s", test.name, err, out)
			} else if made := srv.Calls() - before; answers && made != once {
				t.Errorf("%d calls for %d answers: some were lost\n%s", made, once, out)
			}
			clearFolder(t, disk)
		}
	}
	assert.GreaterOrEqual(t, paid, 2, "%d runs were out of room after they had paid: the test shows little", paid)
}

// fill leaves this many bytes free on a disk.
func fill(t *testing.T, disk string, left int) {
	t.Helper()
	f, err := os.Create(filepath.Join(disk, "filler"))
	require.NoError(t, err)
	size := 0
	for page := bytes.Repeat([]byte("x"), 4096); ; size += len(page) {
		if _, err := f.Write(page); err != nil {
			break
		}
	}
	require.NoError(t, f.Truncate(int64(max(0, size-left))))
	require.NoError(t, f.Close())
}

func clearFolder(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
}

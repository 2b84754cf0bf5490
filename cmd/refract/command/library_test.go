package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The programs of docs/how-to/library.md build in a separate module, work, and are as
// short as the page says.
func TestLibraryPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds programs")
	}
	text, err := os.ReadFile(filepath.Join(repository, "docs", "how-to", "library.md"))
	require.NoError(t, err)
	programs := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	require.Len(t, programs, 3, "%d programs", len(programs))
	dir := t.TempDir()
	segments := []string{"the bridge is closed", "nobody knows why at all", "we went home", "a long way to go"}
	files := map[string]string{
		"sources/zh-en.txt":                strings.Repeat("source\n", 4),
		"references/zh-en.refA.txt":        strings.Join(segments, "\n") + "\n",
		"references/zh-en.refB.txt":        "they have shut the bridge\nno one can tell why\nwe left for home\nit is a long way\n",
		"documents/zh-en.docs":             strings.Repeat("news\tone\n", 4),
		"system-outputs/zh-en/good.txt":    "the bridge is shut\nnobody can tell why\nwe went home\na long way\n",
		"system-outputs/zh-en/bad.txt":     "bridge\nwhy nobody\nhome\nlong\n",
		"system-outputs/zh-en/refA.txt":    strings.Join(segments, "\n") + "\n",
		"human-scores/zh-en.mqm.seg.score": strings.Repeat("good\t-1\n", 4) + strings.Repeat("bad\t-7\n", 4) + strings.Repeat("refA\t0\n", 4),
		"human-scores/zh-en.mqm.sys.score": "good\t-1\nbad\t-7\nrefA\t0\n",
	}
	for name, content := range files {
		path := filepath.Join(dir, "data", "wmt22", name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	for i, want := range []struct {
		lines int
		args  []string
		out   string
	}{
		{22, nil, `^69\.4\d* .*agg:max`},
		{40, nil, `(?s)^bleu +tau-b \+\d\.\d+ \[\+\d\.\d+, \+\d\.\d+\], n = 8\nratio tau-b \+\d`},
		{15, []string{"score", "mtme:data/wmt22/zh-en", "-m", "bytes", "-f", "csv"}, `good,bytes,[^\n]*14.75`},
	} {
		code := programs[i][1]
		n := strings.Count(strings.TrimSpace(code), "\n") + 1
		assert.True(t, n <= want.lines, "program %d has %d lines, more than %d", i+1, n, want.lines)
		out := runProgram(t, dir, code, want.args)
		assert.True(t, regexp.MustCompile(want.out).MatchString(out), "program %d prints\n%s", i+1, out)
	}
}

// runProgram builds a program in a separate module, and runs it in a folder.
func runProgram(t *testing.T, dir, code string, args []string) string {
	t.Helper()
	here, err := filepath.Abs(repository)
	require.NoError(t, err)
	module, err := os.ReadFile(filepath.Join(here, "go.mod"))
	require.NoError(t, err)
	sums, err := os.ReadFile(filepath.Join(here, "go.sum"))
	require.NoError(t, err)
	const path = "github.com/refract-eval/refract"
	_, requires, _ := strings.Cut(string(module), "\n")
	of := t.TempDir()
	for name, content := range map[string]string{
		"main.go": code, "go.sum": string(sums),
		"go.mod": fmt.Sprintf("module example.com/own\n%s\nrequire %s v0.0.0\nreplace %s => %s\n", requires, path, path, here),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(of, name), []byte(content), 0o644))
	}
	program := filepath.Join(of, "program")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, ".")
	build.Dir, build.Env = of, append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", "GOPROXY=off", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.Command(program, args...)
	run.Dir = dir
	out, err := run.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

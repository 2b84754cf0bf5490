package command

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the expected outputs in testdata/script anew")

// TestMain lets the test binary be the program: a script's refract is a process of its
// own, without language models, and lengths is a metric that is a program.
//
// Some 1,500 short processes need no garbage collection, and a long one not often. Tests wait
// for processes, so twice as many as processors run at a time.
func TestMain(m *testing.M) {
	for name, value := range collection {
		os.Setenv(name, value)
	}
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){
		"refract": func() { os.Exit(run(false, nil)) },
		"lengths": lengths,
	})
}

var collection = map[string]string{"GOGC": "off", "GOMEMLIMIT": "512MiB"}

// lengths scores by the share of the longer text that the shorter one has, natively
// against the nearest reference. Its argument says after how many requests it dies,
// and the next one its signature. By the variable VV, if it has one, which no
// signature tells of, it divides.
func lengths() {
	fmt.Fprintln(os.Stderr, "lengths \x1b[2J begins; key:", os.Getenv("OPENAI_API_KEY"))
	signature, divisor := `{"lengths":"1"}`, 1.0
	if len(os.Args) > 2 {
		signature = fmt.Sprintf(`{"lengths":%q}`, os.Args[2])
	}
	if v, err := strconv.ParseFloat(os.Getenv("VV"), 64); err == nil {
		signature, divisor = `{}`, v
	}
	fmt.Println(`{"refract":1,"name":"lengths","signature":` + signature + `,"needs":["reference"],"lower":0,"upper":1,"native":true,"batch":2}`)
	lines, left := json.NewDecoder(os.Stdin), -1
	if len(os.Args) > 1 {
		left, _ = strconv.Atoi(os.Args[1])
	}
	for {
		var r struct {
			ID       int
			Native   bool
			Segments []struct{ Hypotheses, References []string }
		}
		if lines.Decode(&r) != nil {
			return
		}
		if left == 0 {
			fmt.Fprintln(os.Stderr, "no memory left")
			os.Exit(9)
		}
		left--
		scores := [][]float64{}
		for _, s := range r.Segments {
			var row []float64
			for _, h := range s.Hypotheses {
				best := 0.0
				for _, ref := range s.References {
					v := float64(min(len(h), len(ref))) / float64(max(len(h), len(ref))) / divisor
					if best = max(best, v); !r.Native {
						row = append(row, v)
					}
				}
				if r.Native {
					row = append(row, best)
				}
			}
			scores = append(scores, row)
		}
		out, _ := json.Marshal(map[string]any{"id": r.ID, "scores": scores})
		fmt.Println(string(out))
	}
}

// atOnce are scripts whose programs do several things at a time, which is what short tests
// are for: they run with the race detector.
var atOnce = regexp.MustCompile(`/(build_refine|cache|compare|ended|expand(_(batch|budget|busy|hangup|interrupt|judge|offline|progress))?|experiment|report|score_(embedding|judge|oip|program)|shard_score|systems)\.txtar$`)

// atLength is for what only computes, or runs what scripts run too: short tests leave it out.
func atLength(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short")
	}
}

func TestScripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/script/*.txtar")
	require.NoError(t, err)
	files = slices.DeleteFunc(files, func(f string) bool { return testing.Short() && !atOnce.MatchString(f) })
	testscript.Run(t, testscript.Params{
		Files:               files,
		Setup:               setupScript,
		Cmds:                scriptCommands(),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// setupScript makes sure that no script reaches a real server by accident.
func setupScript(e *testscript.Env) error {
	e.Setenv("OPENAI_BASE_URL", nowhere)
	e.Setenv("REFRACT_FORM", "text") // expand_form.txtar has the others
	e.Setenv("GORACE", raceOptions)
	for name, value := range collection {
		e.Setenv(name, value)
	}
	deploy, err := filepath.Abs(repository + "/deploy")
	if err != nil {
		return err
	}
	e.Setenv("DEPLOY", deploy)
	texts, err := os.ReadDir(textFolder)
	if err != nil {
		return err
	}
	for _, f := range texts {
		if err := copyFile(textFolder+"/"+f.Name(), e.WorkDir+"/"+f.Name()); err != nil {
			return err
		}
	}
	e.Values[serverKey{}] = &server{}
	return nil
}

const (
	// raceOptions: with -race, a process would sleep for a second at its end.
	raceOptions = "atexit_sleep_ms=0"

	nowhere    = "http://127.0.0.1:9/v1"                          // the port of "discard": nobody answers
	textFolder = repository + "/cmd/refract/command/sample/texts" // line-aligned files that every script starts with
)

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o644)
}

// A definition by somebody else moves no cursor of a terminal, and stays as it is
// where it is no terminal.
func TestDefinitionsOnATerminal(t *testing.T) {
	show := func(terminal bool, name string) string {
		t.Helper()
		var out, errs bytes.Buffer
		e := &env{stdout: &out, stderr: &errs, stdoutTerminal: terminal, getenv: func(string) string { return "" }}
		code := e.run(t.Context(), []string{"metrics", name})
		require.Equal(t, exitDone, code, "exit code %d: %s", code, errs.String())
		return out.String()
	}
	file := filepath.Join(t.TempDir(), "judge.yaml")
	hostile := strings.Replace(show(false, "gemba-da"), "name: gemba-da", "name: mine # \u202e", 1)
	require.NoError(t, os.WriteFile(file, []byte(hostile), 0o600))
	assert.Equal(t, hostile, show(false, "judge-file:"+file), "a definition is changed")
	if got := show(true, "judge-file:"+file); strings.Contains(got, "\u202e") || !strings.Contains(got, `name: mine # \u202e`) {
		t.Errorf("a terminal gets %q", got)
	}
}

package command

import (
	"flag"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write the expected outputs in testdata/script anew")

// TestMain lets the test binary be the program: a script's refract is a
// process of its own.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"refract": func() { os.Exit(Main()) }})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		Setup:               setupScript,
		Cmds:                scriptCommands(),
		Condition:           scriptCondition,
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

	nowhere    = "http://127.0.0.1:9/v1"               // the port of "discard": nobody answers
	textFolder = repository + "/benchmarks/demo/texts" // line-aligned files that every script starts with
)

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o644)
}

package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The steps of examples/github/score.yml run on files of the sample, as a runner's shell runs
// them: good outputs pass, bad ones fail in the last step. pip and gh are stubs.
func TestWorkflowExample(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a stub is a shell script")
	}
	for _, tool := range []string{"bash", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s", tool)
		}
	}
	text, err := os.ReadFile(repository + "/examples/github/score.yml")
	require.NoError(t, err)
	var workflow struct {
		Jobs struct {
			Score struct{ Steps []struct{ Name, Run string } }
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &workflow))
	stubs := t.TempDir()
	for _, name := range []string{"pip", "gh"} {
		require.NoError(t, os.WriteFile(filepath.Join(stubs, name), []byte("#!/bin/sh\necho "+name+` "$@" >>called`+"\n"), 0o755))
	}
	for outputs, failing := range map[string]string{"a.txt": "", "b.txt": "threshold"} {
		dir := t.TempDir()
		require.NoError(t, saveSample(dir))
		require.NoError(t, copyFile(filepath.Join(dir, outputs), filepath.Join(dir, "outputs.txt")))
		failed := ""
		for _, step := range workflow.Jobs.Score.Steps {
			cmd := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step.Run)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PATH="+stubs+string(os.PathListSeparator)+os.Getenv("PATH"),
				"GITHUB_STEP_SUMMARY=summary.md", "PULL_REQUEST=https://example.com/pull/1")
			if out, err := cmd.CombinedOutput(); err != nil {
				failed = step.Name
				assert.Equal(t, failing, failed, "%s: %s: %v\n%s", outputs, step.Name, err, out)
				break
			}
		}
		assert.Equal(t, failing, failed, "%s: the step", outputs)
		for file, want := range map[string]string{
			"called":     "pip install refract-eval\ngh pr comment https://example.com/pull/1 --body-file score.md --edit-last --create-if-none\n",
			"score.md":   "| outputs |",
			"summary.md": "| outputs |",
		} {
			if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !strings.Contains(string(got), want) {
				t.Errorf("%s: %s has %q (%v), want %q", outputs, file, got, err, want)
			}
		}
	}
}

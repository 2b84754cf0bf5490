package servers_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = "../.."

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, path))
	require.NoError(t, err)
	return string(b)
}

// scripts returns the paths of the scripts that a text of the repository runs, by their names.
func scripts(text string) map[string]string {
	all := map[string]string{}
	for _, path := range regexp.MustCompile(`[\w/]+/\w+\.sh`).FindAllString(text, -1) {
		all[filepath.Base(path)] = path
	}
	return all
}

// Each check that stands in the repository is run by something, and what .ci/checks lists exists.
func TestEveryCheckHasATurn(t *testing.T) {
	run := scripts(content(t, ".ci/run"))
	turns, most := map[string][]string{}, 0
	for line := range strings.Lines(content(t, ".ci/checks")) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		n, err := strconv.Atoi(fields[0])
		if _, bad := strconv.Atoi(fields[1]); bad != nil || err != nil && fields[0] != "-" {
			t.Errorf(".ci/checks: %q is not TURN MINUTES COMMAND", line)
		}
		most = max(most, n)
		turns[fields[0]] = append(turns[fields[0]], line)
		if info, err := os.Stat(filepath.Join(root, fields[2])); err != nil || info.Mode()&0o100 == 0 {
			t.Errorf(".ci/checks: %s is no program (%v)", fields[2], err)
		}
		maps.Copy(run, scripts(line))
	}
	if most > 8 || len(turns["-"]) > 2 {
		t.Errorf("%d turns and %d checks outside them: each check is to come up within eight", most, len(turns["-"]))
	}
	for n := range most {
		assert.GreaterOrEqual(t, len(turns[strconv.Itoa(n+1)]), 2, "turn %d of .ci/checks has fewer than two checks", n+1)
	}
	for _, dir := range []string{"benchmarks", "deploy", "python", "docs"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".sh" {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			if name := d.Name(); info.Mode()&0o100 != 0 && run[name] == "" && name != "forest.sh" && name != "space.sh" { // draws README's figure; the Python tests run the other
				t.Errorf("%s is run by neither .ci/run nor .ci/checks", path)
			}
			return nil
		})
		require.NoError(t, err)
	}
}

// Whatever docs/reference/limits.md says something ran on is repeated by a script that has its turn.
func TestWhatRanIsRunAgain(t *testing.T) {
	_, table, found := strings.Cut(content(t, "docs/reference/limits.md"), "| part | ran on | did not run on |")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(table, "\n")
	require.True(t, found && len(rows) >= 10, "limits.md has no table of what ran")
	run := scripts(content(t, ".ci/run") + content(t, ".ci/checks"))
	code := regexp.MustCompile("`([^`]+)`")
	for _, row := range rows[2:] {
		named, cells := 0, strings.Split(row, "|")
		for _, m := range code.FindAllStringSubmatch(cells[2], -1) {
			switch name := m[1]; {
			case name == "go test", run[name] != "":
				named++
			case strings.HasSuffix(name, ".sh"):
				t.Errorf("%s: %s has no turn: %v have", cells[1], name, slices.Sorted(maps.Keys(run)))
			}
		}
		assert.NotZero(t, named, "limits.md does not name the script that ran %s", cells[1])
	}
}

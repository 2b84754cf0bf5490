package conformance

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the tables of docs/reference/conformance.md")

// finding is run.py's result for one package.
type finding struct {
	Package, Version, API string
	Groups                map[string]counts
	Wrong, Refused        []struct{ Case string }
}

type counts struct{ Right, Wrong, Refused, Cannot int }

func (c counts) String() string {
	switch {
	case c.Right+c.Wrong+c.Refused == 0:
		return "–"
	case c.Wrong+c.Refused == 0:
		return "right"
	case c.Refused == 0:
		return fmt.Sprintf("%d wrong", c.Wrong)
	case c.Wrong == 0:
		return fmt.Sprintf("%d refused", c.Refused)
	}
	return fmt.Sprintf("%d wrong, %d refused", c.Wrong, c.Refused)
}

// TestDocument compares the tables of docs/reference/conformance.md with results.json, and
// checks that the results cover exactly the cases.
func TestDocument(t *testing.T) {
	data, err := os.ReadFile("results.json")
	require.NoError(t, err)
	var found []finding
	require.NoError(t, json.Unmarshal(data, &found))
	groups, sizes := []string{}, map[string]int{}
	names := map[string]bool{}
	for _, c := range readCases(t) {
		group, _, _ := strings.Cut(c.Name, "/")
		if sizes[group]++; sizes[group] == 1 {
			groups = append(groups, group)
		}
		names[c.Name] = true
	}
	for _, f := range found {
		for group, c := range f.Groups {
			if n := c.Right + c.Wrong + c.Refused + c.Cannot; n != sizes[group] {
				t.Errorf("%s has %d cases of %q, of %d: run run.py again", f.Package, n, group, sizes[group])
			}
		}
		for _, c := range slices.Concat(f.Wrong, f.Refused) {
			assert.True(t, names[c.Case], "%s: there is no case %q: run run.py again", f.Package, c.Case)
		}
	}
	const path, begin, end = "../../docs/reference/conformance.md", "<!-- tables -->\n", "<!-- end of tables -->"
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(page), begin)
	old, after, ok2 := strings.Cut(rest, end)
	require.True(t, ok && ok2, "%s has no place for tables", path)
	tables := render(found, groups)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(before+begin+tables+end+after), 0o644))
		return
	}
	assert.Equal(t, tables, old, "the tables of %s are not of results.json: go test ./benchmarks/conformance -update", path)
}

func render(found []finding, groups []string) string {
	var b strings.Builder
	b.WriteString("\n| package | version | right | wrong | refused | cannot express | what was called |\n|---|---|---|---|---|---|---|\n")
	for _, f := range found {
		var all counts
		for _, c := range f.Groups {
			all.Right, all.Wrong, all.Refused, all.Cannot = all.Right+c.Right, all.Wrong+c.Wrong, all.Refused+c.Refused, all.Cannot+c.Cannot
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d | %s |\n", f.Package, f.Version, all.Right, all.Wrong, all.Refused, all.Cannot, f.API)
	}
	found = slices.DeleteFunc(found, func(f finding) bool {
		for _, c := range f.Groups {
			if c.Right+c.Wrong+c.Refused > 0 {
				return false
			}
		}
		return true
	})
	b.WriteString("\n| cases |")
	for _, f := range found {
		fmt.Fprintf(&b, " %s |", f.Package)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(found)) + "\n")
	for _, group := range groups {
		fmt.Fprintf(&b, "| %s |", group)
		for _, f := range found {
			fmt.Fprintf(&b, " %s |", f.Groups[group])
		}
		b.WriteString("\n")
	}
	return b.String() + "\n"
}

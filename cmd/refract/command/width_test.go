package command

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/cmd/refract/internal/report"
)

// A table for a terminal fits it, also with many columns and long names.
func TestTablesFit(t *testing.T) {
	atLength(t)
	dir := t.TempDir()
	t.Chdir(dir)
	ask := func(args ...string) string {
		t.Helper()
		code, stdout, stderr := askHere(t, args...)
		require.Equal(t, 0, code, "refract %s: exit %d\n%s", strings.Join(args, " "), code, stderr)
		return stdout
	}
	require.NoError(t, saveSample(dir))
	quarter(t, "sample.jsonl")
	ask("cache", "import", "c.sqlite", "answers.jsonl")
	ask("expand", "jsonl:"+"sample.jsonl", "--model", sampleModel, "--cache", "c.sqlite", "--offline", "-o", "expanded.jsonl")
	experiment := `datasets:
  - {name: a-benchmark-with-a-rather-long-name, dataset: "jsonl:expanded.jsonl"}
  - {name: another, dataset: "jsonl:expanded.jsonl"}
references: [original, all, {name: the-first-variants-of-each-reference, first: 4}]
metrics: [bleu, chrf]
statistics: [kendall, accuracy, {statistic: pearson, level: system}]
bootstrap: {resamples: 20}
significance: {resamples: 20}
curves: [{by: order, counts: [0, 1], aggregators: [max]}]
`
	answers := `{"id":"a","system":"a-system-with-a-long-name-such-as-people-give","output":"Your Translation contains no error."}` + "\n"
	for name, text := range map[string]string{"e.yaml": experiment, "answers.jsonl": answers} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	published := "a-folder-with-a-name-that-is-rather-long-for-a-table-to-show"
	data := "jsonl:" + "expanded.jsonl"
	lines := [][]string{
		{"publish", data, "--to", "jsonl", "-o", published},
		{"check", published},
		{"metrics"}, {"prompts"}, {"demo"},
		{"compare", data, "--curve", "order,random", "-k", "0,1", "--resamples", "20"},
		{"compare", data, "--test", "perm-both", "--resamples", "20", "--table", "pairs"},
		{"score", data, "-m", "bleu", "-m", "chrf", "-m", "ter", "-a", "single,max,mean,native"},
	}
	for _, table := range []string{systemsTable, pairsTable} {
		lines = append(lines, []string{"systems", data, "-m", "bleu", "-m", "ter", "--table", table})
	}
	for _, table := range []string{"rows", "differences", "prompts", "curve", "ranking"} {
		lines = append(lines, []string{"experiment", "e.yaml", "--table", table, "-f", "table"})
	}
	for _, args := range lines {
		narrow(t, args, ask(args...))
	}
	_, _, stderr := askHere(t, "parse", "instructscore", "answers.jsonl")
	narrow(t, []string{"parse"}, stderr)
}

// narrow wants that the lines of an output fit, but notes with a signature,
// which stay whole to be copied.
func narrow(t *testing.T, args []string, out string) {
	t.Helper()
	assert.Contains(t, out, "───", "refract %s shows no table", strings.Join(args, " "))
	for line := range strings.Lines(out) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > report.TableWidth && !strings.Contains(line, "|version:") {
			t.Errorf("refract %s: %d characters: %s", strings.Join(args, " "), n, line)
		}
	}
}

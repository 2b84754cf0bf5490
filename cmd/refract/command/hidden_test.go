package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
)

// No command writes a control character or a bidirectional control of its input to a terminal or
// into a file, in any format: they may be in texts, ids, names of systems and of scores, and
// answers of models. Only what cannot escape them has them: Parquet, and sets published as CSV,
// whose readers get the texts as they are.
func TestNothingHiddenIsWritten(t *testing.T) {
	const evil = "a\u009b31mb\u202ec\x1b[2Jd\u2066e\x07"
	dir := t.TempDir()
	t.Chdir(dir)
	var data, answers strings.Builder
	add := func(to *strings.Builder, v any) {
		b, err := json.Marshal(v)
		require.NoError(t, err)
		to.Write(append(b, '\n'))
	}
	object := func(pairs ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return m
	}
	for i, id := range []string{"1", "2", "3", "4"} {
		add(&data, object("id", id+evil, "source", "source "+evil, "references", []string{"one text " + evil, "another text"},
			"hypotheses", object("s"+evil, "one "+id+evil, "plain", "a text"), "document", evil, "domain", evil,
			"variants", []any{object("reference", 0, "prompt", "order", "sample", 0, "model", "m"+evil, "text", "text one "+evil, "finish", "stop", "verdict", "accepted"),
				object("reference", 0, "prompt", "p"+evil, "sample", 0, "model", "m"+evil, "text", evil, "finish", "stop", "verdict", "language", "detail", evil)},
			"human", object("h"+evil, object("s"+evil, i, "plain", 2))))
		add(&answers, object("id", id+evil, "system", "s"+evil, "output", "Your Translation contains 1 error "+evil, "hypothesis", "one "+evil))
	}
	db, err := cache.Open(t.Context(), "c.sqlite")
	require.NoError(t, err)
	if _, err := cache.NewAnswers(db).Put(t.Context(), cache.Entry{Request: cache.Request{Kind: "chat", Model: "m" + evil, Prompt: evil}, Answer: cache.Answer{Text: evil, HasText: true}}); err != nil {
		t.Fatal(err)
	}
	require.NoError(t, db.Close())
	plan := "datasets:\n  - {name: d, dataset: \"jsonl:d.jsonl\"}\nmetrics: [chrf]\naggregators: [max, mean]\nbootstrap: {resamples: 20}\nsignificance: {resamples: 20}\n"
	request := strings.TrimSuffix(data.String()[:strings.Index(data.String(), "\n")], "}")
	for name, content := range map[string]string{"d.jsonl": data.String(), "a.jsonl": answers.String(), "e.yaml": plan} {
		require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	}
	const set = "jsonl:d.jsonl"
	lines := [][]string{
		{"score", set, "-m", "chrf", "--per", "cell", "-f", "jsonl", "-o", "cells.jsonl"},
		{"score", set, "-m", "chrf", "--per", "statistics", "-f", "jsonl", "-o", "statistics.jsonl"},
		{"score", set, "-m", "chrf", "--progress", "json"},
		{"parse", "instructscore", "a.jsonl"},
		{"parse", "instructscore", "a.jsonl", "-o", "parsed.jsonl"},
		{"check", set, "-o", "checked.jsonl"},
		{"select", set, "-k", "1", "-o", "selected.jsonl"},
		{"publish", set, "--to", "jsonl", "-o", "published"},
		{"report", set, "-m", "chrf", "--resamples", "20", "-o", "page.html"},
		{"review", set, "-o", "review.html"},
		{"experiment", "e.yaml"}, {"experiment", "e.yaml", "-f", "json"},
		{"experiment", "e.yaml", "--table", "rows", "-f", "csv"},
		{"cache", "export", "c.sqlite"}, {"cache", "verify", "c.sqlite"},
		{"score", "jsonl:" + evil}, {"score", set, "-m", evil}, {evil},
	}
	for _, f := range report.Formats() {
		format := string(f)
		lines = append(lines,
			[]string{"score", set, "-m", "chrf", "-f", format}, []string{"score", set, "-m", "chrf", "--per", "segment", "-f", format},
			[]string{"compare", set, "-m", "chrf", "--resamples", "20", "-f", format}, []string{"systems", set, "-m", "chrf", "--resamples", "20", "-f", format},
			[]string{"score", "--matrix", "cells.jsonl", "-a", "max", "-f", format}, []string{"cache", "stats", "c.sqlite", "-f", format})
	}
	seen := func(where, text string) {
		if i := strings.IndexFunc(text, func(r rune) bool {
			return unicode.Is(unicode.Bidi_Control, r) || unicode.IsControl(r) && !strings.ContainsRune("\t\n\r", r)
		}); i >= 0 {
			t.Errorf("%s has %.40q", where, text[i:])
		}
	}
	done := 0
	for _, args := range lines {
		code, stdout, stderr := askHere(t, args...)
		if code == 0 {
			done++
		} else if args[len(args)-1] != evil {
			t.Logf("%q fails: %q", args, stderr)
		}
		seen(strings.Join(args, " "), stdout)
		seen(strings.Join(args, " ")+": standard error", stderr)
		assert.False(t, code == 2 && args[len(args)-1] != evil, "%q: %s", args, stderr)
	}
	left := len(lines) - done
	assert.True(t, left <= 3, "%d of %d commands failed: the test shows little", left, len(lines))
	_, served := inPipe(t, `{"id":"i\u202e`+"\u202e"+`","method":"score","params":{"metrics":["chrf"],"segments":[`+request+"}]}}\n", "serve")
	seen("serve", served)
	if err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if name := filepath.Base(path); err != nil || d.IsDir() || name == "d.jsonl" || name == "a.jsonl" || filepath.Ext(name) == ".sqlite" {
			return err
		}
		b, err := os.ReadFile(path)
		seen(path, string(b))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d commands, %d bytes served", len(lines), len(served))
}

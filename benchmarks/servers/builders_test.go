package servers_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// builder is a recipe of refract build.
type builder struct {
	name string
	args []string
}

// builders are all of them, on a few segments.
func builders(t *testing.T, dir string) []builder {
	t.Helper()
	invented(t, dir)
	mix := "mix:\n  - {dataset: 'jsonl:in.jsonl', task: translation, options: {sl: German, tl: English}, metric: chrf, real: 2, synthetic: 1}\n"
	recipe, err := os.ReadFile("../../internal/build/recipes/metricinstruct/recipe.yaml")
	if err != nil {
		t.Fatal(err)
	}
	brief := strings.ReplaceAll(string(recipe), "max_tokens: 1024", "max_tokens: 192") // a small model goes on and on
	if err := os.Mkdir(filepath.Join(dir, "recipe"), 0o700); err != nil || brief == string(recipe) {
		t.Fatal("the recipe is not made brief", err)
	}
	for name, text := range map[string]string{"mix.yaml": mix, "recipe/recipe.yaml": brief} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return []builder{
		{"instructscore", []string{"build", "instructscore", "jsonl:in.jsonl", "--task", "mt_zh-en", "-o", "instructscore"}},
		{"metricinstruct", []string{"build", "metricinstruct", "mix.yaml", "--recipe", "recipe", "-o", "metricinstruct"}},
		{"refine", []string{"build", "refine", "jsonl:in.jsonl", "--samples", "2", "-m", "instructscore:task=mt_zh-en,model=", "-o", "refine"}},
	}
}

// built runs a builder against a server, and counts what became of its items.
func (b builder) built(t *testing.T, dir, program, model, url string) (counts map[string]int, said string, code int) {
	t.Helper()
	args := append([]string{}, b.args...)
	for i, a := range args {
		if strings.HasSuffix(a, "model=") {
			args[i] += model
		}
	}
	out, said, code := run(t, dir, program, append(args, "--model", model, "--base-url", url, "--cache", b.name+".sqlite", "--concurrency", "4")...)
	text, err := os.ReadFile(filepath.Join(dir, b.name, "items.jsonl"))
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, said)
	}
	counts = map[string]int{}
	for line := range strings.Lines(string(text)) {
		var row struct{ Rule, Detail string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		counts[row.Rule]++
		t.Logf("%s: %s", row.Rule, row.Detail)
	}
	for rule, n := range counts {
		if shown := fmt.Sprintf("left out: %s", rule); rule != "" && !strings.Contains(out, shown) {
			t.Errorf("%d items are left out by %s, and it is not shown:\n%s", n, rule, out)
		}
	}
	return counts, said, code
}

// Random weights give garbage: every item is left out by a rule, and the run says
// so and fails.
func TestLlamaCPPBuilders(t *testing.T) {
	url, dir, program := llamaCPP(t), t.TempDir(), program(t)
	for _, b := range builders(t, dir) {
		t.Run(b.name, func(t *testing.T) {
			counts, said, code := b.built(t, dir, program, model, url)
			if code != 1 || counts[""] > 0 || !strings.Contains(said, "none of ") {
				t.Errorf("exit code %d, %v\n%s", code, counts, said)
			}
			t.Logf("%v", counts)
		})
	}
}

// A small model mostly fails too. What it yields is told by rule.
func TestSmolLM2Builders(t *testing.T) {
	url, dir, program := smolLM2URL(t), t.TempDir(), program(t)
	for _, b := range builders(t, dir) {
		t.Run(b.name, func(t *testing.T) {
			counts, said, code := b.built(t, dir, program, smolLM2, url)
			if (code == 1) != (counts[""] == 0) || code > 1 || code == 1 && !strings.Contains(said, "none of ") {
				t.Errorf("exit code %d, %v\n%s", code, counts, said)
			}
			t.Logf("%d kept; %v", counts[""], counts)
		})
	}
}

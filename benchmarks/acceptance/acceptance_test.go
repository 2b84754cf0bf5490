package acceptance_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refract-eval/refract/benchmarks/acceptance"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/diversify/language"
	"github.com/refract-eval/refract/diversify/language/lingua"
)

var (
	update  = flag.Bool("update", false, "write the measured figures into testdata and docs/checks.md")
	failing = flag.String("failing", "", "print the items that go wrong whose names begin so, as in tuning/preface; or all")
	answers = flag.String("answers", "", "measure the answers of a `FILE` that is written as those in testdata")
)

// models tell languages apart that share a script.
var models = lingua.New()

// checkers makes the Checkers that expand has by default, one a language.
type checkers struct {
	made   map[string]*check.Checker
	models language.Models // nil, as in a lean program
}

func newCheckers(m language.Models) *checkers {
	return &checkers{map[string]*check.Checker{}, m}
}

// withAndWithout runs a test with language models and without. name is that of the
// golden files: NAME.md with them, NAME-scripts.md without.
func withAndWithout(t *testing.T, name string, test func(c *checkers) string) {
	t.Run("models", func(t *testing.T) { golden(t, name+".md", test(newCheckers(models))) })
	t.Run("scripts", func(t *testing.T) { golden(t, name+"-scripts.md", test(newCheckers(nil))) })
}

func (c *checkers) of(t testing.TB, lang string) *check.Checker {
	t.Helper()
	if made := c.made[lang]; made != nil {
		return made
	}
	var cfg check.Config
	for _, p := range diversify.Prompts() {
		cfg.Prompts = append(cfg.Prompts, p.Text)
	}
	var err error
	if cfg.Detector, err = language.New(language.Config{Language: lang, Models: c.models}); err != nil {
		t.Fatal(err)
	}
	made, err := check.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c.made[lang] = made
	return made
}

// measure measures the items and prints what goes wrong, where asked for.
func (c *checkers) measure(t testing.TB, items []acceptance.Item) acceptance.Table {
	t.Helper()
	table, failures := acceptance.Measure(items, func(i acceptance.Item) check.Result {
		r := c.of(t, i.Language).Segment("", []string{i.Reference}).Judge(check.Answer{Raw: i.Raw, HasText: true, Finish: i.Finish})
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		return r
	})
	for _, f := range failures {
		if *failing == "" || *failing != "all" && !strings.HasPrefix(f.Item.Name, *failing) {
			continue
		}
		want := "unusable"
		if f.Item.Usable {
			want = fmt.Sprintf("%q", f.Item.Want)
		}
		fmt.Printf("%s\n  reference %q\n  raw       %q\n  want      %s\n  got       %s %s %q\n", f.Item.Name, f.Item.Reference, f.Item.Raw, want, f.Result.Verdict, f.Result.Detail, f.Result.Text)
	}
	return table
}

// figures writes the tables of both parts.
func figures(t testing.TB, c *checkers, bases map[string][]acceptance.Base, each int) string {
	t.Helper()
	var b strings.Builder
	tables := map[string]acceptance.Table{}
	for _, part := range []string{acceptance.Tuning, acceptance.Second} {
		set, err := acceptance.Read(part)
		if err != nil {
			t.Fatal(err)
		}
		items, err := set.Items(bases[part], each)
		if err != nil {
			t.Fatal(err)
		}
		tables[part] = c.measure(t, items)
	}
	b.WriteString("| | tuning | kept | lost | wrong | rejected | second | kept | lost | wrong | rejected |\n" + strings.Repeat("|---", 11) + "|\n")
	row := func(name string, counts ...acceptance.Count) {
		fmt.Fprintf(&b, "| %s |", name)
		for _, n := range counts {
			fmt.Fprintf(&b, " %d | %d | %d | %d | %d |", n.Items, n.Kept, n.Lost, n.Wrong, n.Rejected)
		}
		b.WriteString("\n")
	}
	for _, f := range tables[acceptance.Tuning] {
		row(f.Name, f.Count, tables[acceptance.Second].Of(f.Name))
	}
	row("**all**", tables[acceptance.Tuning].Total(), tables[acceptance.Second].Total())
	share := func(name string, of func(acceptance.Count) float64) {
		fmt.Fprintf(&b, "\n%s: %.1f %% in tuning, %.1f %% in the second part.", name, 100*of(tables[acceptance.Tuning].Total()), 100*of(tables[acceptance.Second].Total()))
	}
	share("Wrong of accepted", acceptance.Count.WrongShare)
	share("Lost of usable", acceptance.Count.LostShare)
	b.WriteString("\n")
	return b.String()
}

// golden compares with a file of testdata, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("what is measured differs from %s (-want +got); where it is better, run go test ./benchmarks/acceptance -update\n%s", path, cmp.Diff(string(want), got))
	}
}

// What the checks make of the built-in bases is as it was.
func TestBuiltIn(t *testing.T) {
	withAndWithout(t, "builtin", func(c *checkers) string { return figures(t, c, nil, 6) })
}

// Every family has a dozen wordings or more in each part, and none has the
// letters of one in the other part.
func TestWordings(t *testing.T) {
	seen := map[string]string{}
	var families []string
	for _, part := range []string{acceptance.Tuning, acceptance.Second} {
		set, err := acceptance.Read(part)
		if err != nil {
			t.Fatal(err)
		}
		if families == nil {
			families = set.Families()
		} else if strings.Join(families, " ") != strings.Join(set.Families(), " ") {
			t.Errorf("the parts have other families: %q, %q", families, set.Families())
		}
		if len(families) != 19 {
			t.Errorf("%d families", len(families))
		}
		for name, wordings := range set.Wordings() {
			if len(wordings) < 12 {
				t.Errorf("%s: family %s has %d wordings, fewer than 12", part, name, len(wordings))
			}
			for _, w := range wordings {
				like := acceptance.Letters(w)
				if len(like) < len("{answer}x{second}") {
					like = w // marks alone
				}
				if at := seen[like]; at != "" && !strings.HasPrefix(at, part) && name != "clean" {
					t.Errorf("%s, %s: %q is also in %s", part, name, w, at)
				}
				seen[like] = part + ", " + name
			}
		}
	}
}

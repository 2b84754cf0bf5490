package acceptance_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refract-eval/refract/benchmarks/acceptance"
)

// Testdata has answers that others wrote, who had seen neither the checks nor any wording
// here: outside.jsonl to outside8.jsonl, heldout.jsonl to heldout5.jsonl but heldout4.jsonl, fitted11.jsonl and
// fitted12.jsonl, whose first figures are in docs/checks.md, and by which the rules are tuned since; the other
// fitted files, which were written for the fit; and those of HeldOut, which tell what the checks do with
// wording that they have not seen.
func TestOutside(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) { measureFile(t, name) })
	}
}

// readAnswers reads a file of answers, or skips the test where it needs released texts
// and these are missing.
func readAnswers(t *testing.T, path string) []acceptance.Item {
	t.Helper()
	items, err := acceptance.ReadAnswers(t.Context(), path, dataDir())
	known(t, err)
	return items
}

func measureFile(t *testing.T, name string) {
	t.Helper()
	items := readAnswers(t, filepath.Join("testdata", name+".jsonl"))
	withAndWithout(t, name, func(c *checkers) string { return outsideTable(c.measure(t, items)) })
}

func outsideTable(table acceptance.Table) string {
	var b strings.Builder
	b.WriteString("| | answers | kept | lost | wrong | rejected |\n" + strings.Repeat("|---", 6) + "|\n")
	for _, f := range append(table, acceptance.Family{Name: "**all**", Count: table.Total()}) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d |\n", f.Name, f.Items, f.Kept, f.Lost, f.Wrong, f.Rejected)
	}
	all := table.Total()
	fmt.Fprintf(&b, "\nWrong of accepted: %.1f %%. Lost of usable: %.1f %%.\n", 100*all.WrongShare(), 100*all.LostShare())
	return b.String()
}

// Answers of a file that is not in the project are measured with -answers.
func TestAnswers(t *testing.T) {
	if *answers == "" {
		t.Skip("no -answers FILE")
	}
	fmt.Println(outsideTable(newCheckers(models).measure(t, readAnswers(t, *answers))))
}

package acceptance_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refract-eval/refract/benchmarks/acceptance"
)

// outside.jsonl to outside8.jsonl hold answers that eight people wrote who had seen
// neither the checks nor any wording here. Their first figures are in
// docs/checks.md. Rules 8 are tuned by all of them. heldout.jsonl is a ninth one's, and
// nothing is tuned by it: it tells what the rules do with wording that they have not
// seen. heldout2.jsonl is a tenth one's, likewise, in the wording that models mostly use.
func TestOutside(t *testing.T) { measureFile(t, "outside") }

func TestOutside2(t *testing.T) { measureFile(t, "outside2") }

func TestOutside3(t *testing.T) { measureFile(t, "outside3") }

func TestOutside4(t *testing.T) { measureFile(t, "outside4") }

func TestOutside5(t *testing.T) { measureFile(t, "outside5") }

func TestOutside6(t *testing.T) { measureFile(t, "outside6") }

func TestOutside7(t *testing.T) { measureFile(t, "outside7") }

func TestOutside8(t *testing.T) { measureFile(t, "outside8") }

func TestHeldOut(t *testing.T) { measureFile(t, "heldout") }

func TestHeldOut2(t *testing.T) { measureFile(t, "heldout2") }

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

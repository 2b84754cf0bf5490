package acceptance_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/refract-eval/refract/benchmarks/acceptance"
)

// outside.jsonl, outside2.jsonl and outside3.jsonl hold answers that three people
// wrote who had seen neither the checks nor any wording here. Their first figures
// are in docs/checks.md. Rules 6 are tuned by all three. heldout.jsonl is a
// fourth one's, and nothing is tuned by it: it tells what the rules do with wording
// that they have not seen.
func TestOutside(t *testing.T) { measureFile(t, "outside") }

func TestOutside2(t *testing.T) { measureFile(t, "outside2") }

func TestOutside3(t *testing.T) { measureFile(t, "outside3") }

func TestHeldOut(t *testing.T) { measureFile(t, "heldout") }

func measureFile(t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var items []acceptance.Item
	for line := range strings.Lines(string(text)) {
		var row struct {
			Family, Language, Reference, Answer string
			Want                                *string // null where it is unusable
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("line %d: %v", len(items)+1, err)
		}
		item := acceptance.Item{Name: fmt.Sprintf("%s/%s/%d", name, row.Family, len(items)+1), Family: row.Family, Language: row.Language,
			Reference: row.Reference, Raw: row.Answer, Usable: row.Want != nil}
		if row.Want != nil {
			item.Want = *row.Want
		}
		items = append(items, item)
	}
	c := newCheckers(t)
	table := c.measure(t, name, items)
	var b strings.Builder
	b.WriteString("| | answers | kept | lost | wrong | rejected |\n" + strings.Repeat("|---", 6) + "|\n")
	for _, f := range append(table, acceptance.Family{Name: "**all**", Count: table.Total()}) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d |\n", f.Name, f.Items, f.Kept, f.Lost, f.Wrong, f.Rejected)
	}
	all := table.Total()
	fmt.Fprintf(&b, "\nWrong of accepted: %.1f %%. Lost of usable: %.1f %%.\n", 100*all.WrongShare(), 100*all.LostShare())
	golden(t, name+c.suffix()+".md", b.String())
}

package acceptance_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/acceptance"
)

// outside.jsonl to outside5.jsonl hold answers that five people wrote who had seen
// neither the checks nor any wording here. Their first figures are in
// docs/checks.md. Rules 7 are tuned by all five. heldout.jsonl is a sixth one's, and
// nothing is tuned by it: it tells what the rules do with wording that they have not
// seen.
func TestOutside(t *testing.T) { measureFile(t, "outside") }

func TestOutside2(t *testing.T) { measureFile(t, "outside2") }

func TestOutside3(t *testing.T) { measureFile(t, "outside3") }

func TestOutside4(t *testing.T) { measureFile(t, "outside4") }

func TestOutside5(t *testing.T) { measureFile(t, "outside5") }

func TestHeldOut(t *testing.T) { measureFile(t, "heldout") }

// released are the texts of a segment that join counts.
func released(s *refract.Segment) []string {
	out := []string{s.Source.Value}
	for _, r := range s.References {
		out = append(out, r.Value)
	}
	for _, v := range s.Variants {
		out = append(out, v.Text.Value)
	}
	return out
}

// join puts a text together that may hold parts of released ones, which are not in the
// project: it is a JSON string, or a list of strings and of [pair, segment, text,
// begin, end], bytes of a text of released. texts gives those of the pairs.
func join(raw json.RawMessage, texts func() map[string][][]string) (string, error) {
	if raw[0] != '[' {
		var whole string
		err := json.Unmarshal(raw, &whole)
		return whole, err
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range list {
		if p[0] != '[' {
			s, err := join(p, texts)
			if err != nil {
				return "", err
			}
			b.WriteString(s)
			continue
		}
		var pair string
		var n, k, begin, end int
		if err := json.Unmarshal(p, &[]any{&pair, &n, &k, &begin, &end}); err != nil {
			return "", err
		}
		b.WriteString(texts()[pair][n][k][begin:end])
	}
	return b.String(), nil
}

// readAnswers reads a file of answers. Want is null where an answer is unusable,
// and {"any": [...]} where several texts would be right.
func readAnswers(t *testing.T, path string) []acceptance.Item {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var known map[string][][]string
	texts := func() map[string][][]string {
		if known == nil {
			known = map[string][][]string{}
			eachReleased(t, func(pair string, _ int, s *refract.Segment) { known[pair] = append(known[pair], released(s)) })
		}
		return known
	}
	name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	var items []acceptance.Item
	for line := range strings.Lines(string(text)) {
		whole := func(raw json.RawMessage) string {
			s, err := join(raw, texts)
			if err != nil {
				t.Fatalf("%s:%d: %v", path, len(items)+1, err)
			}
			return s
		}
		var row struct {
			Family, Language        string
			Reference, Answer, Want json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%s:%d: %v", path, len(items)+1, err)
		}
		item := acceptance.Item{Name: fmt.Sprintf("%s/%s/%d", name, row.Family, len(items)+1), Family: row.Family, Language: row.Language,
			Reference: whole(row.Reference), Raw: whole(row.Answer), Usable: string(row.Want) != "null"}
		switch {
		case row.Want[0] == '{':
			var several struct{ Any []json.RawMessage }
			if err := json.Unmarshal(row.Want, &several); err != nil {
				t.Fatalf("%s:%d: %v", path, len(items)+1, err)
			}
			for _, w := range several.Any {
				item.Also = append(item.Also, whole(w))
			}
			item.Want = item.Also[0]
		case item.Usable:
			item.Want = whole(row.Want)
		}
		items = append(items, item)
	}
	return items
}

func measureFile(t *testing.T, name string) {
	t.Helper()
	c := newCheckers(t)
	got := outsideTable(c.measure(t, readAnswers(t, filepath.Join("testdata", name+".jsonl"))))
	golden(t, name+c.suffix()+".md", got)
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
	fmt.Println(outsideTable(newCheckers(t).measure(t, readAnswers(t, *answers))))
}

package alarm_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/diversify/alarm"
)

func ExampleFind() {
	const ref = "Visitors must not take pictures in the museum of Lindenau."
	for _, variant := range []string{
		"In the museum of Lindenau visitors must not take pictures.",
		"Visitors must take pictures in the museum of Lindenau.",
		"Visitors must not take pictures in the museum of Altdorf.",
		"Visitors must not take pictures.",
	} {
		fmt.Println(alarm.Find("en", ref, variant))
	}
	// Output:
	// []
	// [negation: not]
	// [name: Lindenau → Altdorf]
	// [name: Lindenau lost dropped: museum lindenau]
}

// row is a line of testdata/heldout.jsonl and heldout2.jsonl.
type row struct{ Set, Language, Kind, Reference, Variant string }

func heldOut(t *testing.T, file string) (rows []row) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(t, err)
	for line := range bytes.Lines(data) {
		var r row
		require.NoError(t, json.Unmarshal(line, &r))
		rows = append(rows, r)
	}
	return rows
}

// No rule but the one for answered questions was written with the cases of the two held-out sets
// in view. The bars: at least half
// of the minimal edits raise an alarm, four in five of the statements that answer a question,
// and at most 6 % of good rewritings. The first set was written before any rule, in seven
// languages. The second was written after the rules, by someone who had not read them. At first
// 53 of its 60 edits and 2 of its 100 good rewritings raised an alarm; then the kinds of words
// that it showed to be missing (fractions, milligrams) were added.
func TestHeldOut(t *testing.T) {
	for _, file := range []string{"heldout.jsonl", "heldout2.jsonl"} {
		all, alarmed := map[string]int{}, map[string]int{}
		for _, r := range heldOut(t, file) {
			found := alarm.Find(r.Language, r.Reference, r.Variant)
			if os.Getenv("REFRACT_HELDOUT") == r.Set {
				t.Log(r.Language, r.Kind, found)
			}
			for _, n := range []string{r.Set, strings.TrimSpace(r.Set + " " + r.Kind)} {
				all[n]++
				if len(found) > 0 {
					alarmed[n]++
				}
				if r.Kind == "" {
					break
				}
			}
		}
		for name, n := range all {
			share := float64(alarmed[name]) / float64(n)
			t.Logf("%s: %s: %d of %d raise an alarm, %.1f %%", file, name, alarmed[name], n, 100*share)
			bar, known := map[string][2]float64{"edit": {0.5, 1}, "good": {0, 0.06}, "short": {0, 0.06}, "answer": {0.8, 1}}[name]
			if known && (share < bar[0] || share > bar[1]) {
				t.Errorf("%s: %s: %.3f raise an alarm, want %v", file, name, share, bar)
			}
		}
	}
}

func TestFind(t *testing.T) {
	for _, c := range []struct{ ref, variant, want string }{
		// The same in other words raises no alarm.
		{"The rent was not paid.", "The rent remained unpaid.", ""},
		{"You must sign here.", "You have to sign here.", ""},
		{"He left in May 2019 for the UN.", "In May 2019 he left for the United Nations.", ""},
		// Nor does a change of tense or voice.
		{"The dog can open the gate.", "The gate could be opened by the dog.", ""},
		{"She has to leave Berlin tomorrow.", "She had to leave Berlin the next day.", ""},
		// Faults that users reported.
		{"The firm did not raise prices in spring.", "The firm raised its prices in spring.", "negation"},
		{"Do not take this medicine with alcohol.", "Take this medicine with alcohol.", "negation"},
		{"Applicants must submit the form.", "Applicants may submit the form.", "modality"},
		{"The trail is 12 miles long.", "The trail is 12 kilometres long.", "unit"},
		{"She moved to Lyon in spring.", "She moved to Paris in spring.", "name"},
		{"What is the capital of Australia?", "The capital of Australia is Canberra.", "name question"},
		{"What is the capital of Australia?", "I'd like to know the capital of Australia.", ""},
		{"The dog runs quickly across the wet road.", "Wet road, The dog runs quickly across the.", "dropped"},
		{"The coach accused the referee of lying.", "The referee accused the coach of lying.", "role"},
		{"The cook and the waiter left.", "The waiter and the cook left.", ""},
		{"Close the door, and call me.", "The door is closed, and I was called.", "question"},
		{"Give her 20 milligrams of it at night.", "Give her 20 grams of it at night.", "unit"},
		{"Half of the voters were against the new law.", "A quarter of the voters were against the new law.", "quantity"},
		{"Une dizaine de maisons ont brûlé cette nuit.", "Une centaine de maisons ont brûlé cette nuit.", "quantity"},
		{"Hundreds of people came to the meeting.", "Many people came to the meeting.", ""},
		// A script without capitals, and a name in another one.
		{"他去年加入了Nokia。", "他去年加入了Siemens。", "name"},
		// Without a word list, names, questions and dropped words are still found.
		{"Wczoraj Marek kupił dom w Gdyni.", "Wczoraj Tomek kupił dom w Gdyni.", "name"},
		{"Gdzie jest dworzec kolejowy?", "Dworzec kolejowy jest obok parku.", "question"},
	} {
		var kinds []string
		for _, a := range alarm.Find("", c.ref, c.variant) {
			kinds = append(kinds, alarm.Kind(a))
		}
		if got := strings.Join(slices.Compact(kinds), " "); got != c.want {
			t.Errorf("%q → %q: %v, want %q", c.ref, c.variant, alarm.Find("", c.ref, c.variant), c.want)
		}
	}
}

// The rules were developed on the labelled answers: hand-made errors in copies of 60 English
// references, and hand-written paraphrases of them.
func TestLabelled(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "labelled.jsonl"))
	require.NoError(t, err)
	all, alarmed := map[bool]int{}, map[bool]int{}
	for line := range bytes.Lines(data) {
		var r struct {
			Model, Kind, Reference, Answer string
			Lost                           bool
		}
		require.NoError(t, json.Unmarshal(line, &r))
		if r.Model != "hand" || r.Kind == "other" {
			continue
		}
		all[r.Lost]++
		if len(alarm.Find("en", r.Reference, r.Answer)) > 0 {
			alarmed[r.Lost]++
		}
	}
	t.Logf("changed: %d of %d; kept: %d of %d", alarmed[true], all[true], alarmed[false], all[false])
	if 5*alarmed[true] < 2*all[true] || 20*alarmed[false] > all[false] {
		t.Error("fewer than 40 % of the changed ones raise an alarm, or more than 5 % of the others")
	}
}

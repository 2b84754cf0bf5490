package measure_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/refract-eval/refract/internal/measure"
)

func ExampleDoubt() {
	const ref = "The museum opens at ten and is closed on Tuesdays."
	for _, answer := range []string{
		"The museum's doors open at ten; on Tuesdays it is closed.",
		"The museum opens at ten.",
		"The museum opens at ten and is closed on Tuesdays, because the museum has no visitors on Tuesdays.",
	} {
		d := measure.Doubt(ref, answer)
		fmt.Printf("%.2f %v\n", d, d >= measure.DoubtLimit)
	}
	// Output:
	// 0.13 false
	// 0.98 true
	// 1.00 true
}

// The table of docs/checks.md: the share of each kind of labelled answers that is in doubt:
// answers of SmolLM2-135M-Instruct to the ten prompts, and paraphrases and errors by hand.
// The weights were fitted on answers of models to the first 16 references, left out here.
func TestLabelled(t *testing.T) {
	labelled, err := os.ReadFile(filepath.Join("testdata", "labelled.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all, doubted := map[string]int{}, map[string]int{}
	for line := range bytes.Lines(labelled) {
		var s struct {
			ID                int
			Model, Kind       string
			Reference, Answer string
			Lost              bool
		}
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		hand, other := s.Model == "hand", s.Kind == "other"
		if s.ID <= 16 && (!hand || other) {
			continue
		}
		kind := fmt.Sprintf("hand %v, lost %v", hand, s.Lost)
		if other {
			kind = "other"
		}
		all[kind]++
		if measure.Doubt(s.Reference, s.Answer) >= measure.DoubtLimit {
			doubted[kind]++
		}
	}
	for kind, want := range map[string]int{"hand false, lost true": 54, "hand false, lost false": 0, "hand true, lost true": 24, "hand true, lost false": 14, "other": 93} {
		if got := (100*doubted[kind] + all[kind]/2) / all[kind]; got != want {
			t.Errorf("%s: %d %% of %d are in doubt, want %d", kind, got, all[kind], want)
		}
	}
}

// In any script: a rewriting is in less doubt than half of it, than one that
// says more, and than another text.
func TestDoubtInScripts(t *testing.T) {
	for _, x := range []struct{ ref, kept, half, more, other string }{
		{
			"The screen is bright and sharp, but the battery hardly lasts a day.",
			"The battery barely gets through a day, though the screen is sharp and bright.",
			"The screen is bright and sharp.",
			"The screen is bright and sharp, but the battery hardly lasts a day, so the shop sells another battery, which lasts for two weeks.",
			"Police are looking for a white van that was seen near the school.",
		},
		{
			"Экран яркий и чёткий, но батареи едва хватает на день.",
			"Батареи едва хватает на день, хотя экран чёткий и яркий.",
			"Экран яркий и чёткий.",
			"Экран яркий и чёткий, но батареи едва хватает на день, поэтому магазин продаёт вторую батарею, которой хватает на две недели.",
			"Полиция разыскивает белый фургон, замеченный возле школы.",
		},
		{
			"屏幕又亮又清晰，但是电池几乎撑不到一天。",
			"电池几乎撑不到一天，不过屏幕又清晰又亮。",
			"屏幕又亮又清晰。",
			"屏幕又亮又清晰，但是电池几乎撑不到一天，所以商店还出售另一种可以使用两个星期的大容量电池。",
			"警方正在寻找一辆在学校附近出现过的白色面包车。",
		},
	} {
		kept := measure.Doubt(x.ref, x.kept)
		for _, worse := range []string{x.half, x.more, x.other} {
			if d := measure.Doubt(x.ref, worse); kept >= measure.DoubtLimit || d <= kept {
				t.Errorf("%.3f for %q, and %.3f for %q", kept, x.kept, d, worse)
			}
		}
	}
}

func TestDoubtBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ref, got := rapid.String().Draw(t, "reference"), rapid.String().Draw(t, "answer")
		d := measure.Doubt(ref, got)
		if !(d >= 0 && d <= 1) || d != measure.Doubt(ref, got) {
			t.Fatal(d)
		}
		if same := measure.Doubt(ref, ref); same >= measure.DoubtLimit {
			t.Fatalf("a copy has the doubt %v", same)
		}
	})
}

func BenchmarkDoubt(b *testing.B) {
	const ref = "The museum opens at ten and is closed on Tuesdays, except during the school holidays, when it opens every day."
	for b.Loop() {
		measure.Doubt(ref, "Closed on Tuesdays except in the school holidays, when it opens daily, the museum opens its doors at ten o'clock.")
	}
}

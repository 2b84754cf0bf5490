package doubt_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/refract-eval/refract/internal/doubt"
)

func Example() {
	const ref = "The museum opens at ten and is closed on Tuesdays."
	for _, answer := range []string{
		"The museum's doors open at ten; on Tuesdays it is closed.",
		"The museum opens at ten.",
		"The museum opens at ten and is closed on Tuesdays, because the museum has no visitors on Tuesdays.",
	} {
		d := doubt.Of(ref, answer)
		fmt.Printf("%.2f %v\n", d, d >= doubt.Limit)
	}
	// Output:
	// 0.13 false
	// 0.98 true
	// 1.00 true
}

// In any script: a rewriting is in less doubt than half of it, than one that
// says more, and than another text.
func TestScripts(t *testing.T) {
	for _, x := range []struct{ ref, kept, half, more, other string }{
		{
			"The screen is bright and sharp, but the battery hardly lasts a day.",
			"The battery barely gets through a day, though the screen is sharp and bright.",
			"The screen is bright and sharp.",
			"The screen is bright and sharp, but the battery hardly lasts a day, so the shop sells another battery, which lasts for two weeks.",
			"Police are looking for a white van that was seen near the school.",
		},
		{
			"Der Bildschirm ist hell und scharf, aber der Akku hält kaum einen Tag.",
			"Der Akku hält kaum einen Tag, obwohl der Bildschirm scharf und hell ist.",
			"Der Bildschirm ist hell und scharf.",
			"Der Bildschirm ist hell und scharf, aber der Akku hält kaum einen Tag, weshalb der Laden einen zweiten Akku verkauft, der zwei Wochen lang hält.",
			"Die Polizei sucht nach einem weißen Lieferwagen, der bei der Schule gesehen wurde.",
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
		kept := doubt.Of(x.ref, x.kept)
		for _, worse := range []string{x.half, x.more, x.other} {
			if d := doubt.Of(x.ref, worse); kept >= doubt.Limit || d <= kept {
				t.Errorf("%.3f for %q, and %.3f for %q", kept, x.kept, d, worse)
			}
		}
	}
}

func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ref, got := rapid.String().Draw(t, "reference"), rapid.String().Draw(t, "answer")
		d := doubt.Of(ref, got)
		if !(d >= 0 && d <= 1) || d != doubt.Of(ref, got) {
			t.Fatal(d)
		}
		if same := doubt.Of(ref, ref); same >= doubt.Limit {
			t.Fatalf("a copy has the doubt %v", same)
		}
	})
}

func BenchmarkOf(b *testing.B) {
	const ref = "The museum opens at ten and is closed on Tuesdays, except during the school holidays, when it opens every day."
	for b.Loop() {
		doubt.Of(ref, "Closed on Tuesdays except in the school holidays, when it opens daily, the museum opens its doors at ten o'clock.")
	}
}

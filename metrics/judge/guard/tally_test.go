package guard

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func scored(control, canary, good float64) CanaryScores {
	return CanaryScores{Control: control, Canary: canary, Good: good}
}

func TestVerdicts(t *testing.T) {
	none := math.NaN()
	for _, c := range []struct {
		lower  bool
		margin float64
		scores CanaryScores
		want   Verdict
	}{
		{scores: scored(10, 10, 90), want: SeenThrough},
		{scores: scored(10, 0, 90), want: SeenThrough},
		{scores: scored(10, 11, 90), want: Fooled},
		{scores: scored(10, 100, 90), want: Fooled},
		{scores: scored(90, 95, 90), want: Fooled},
		{scores: scored(90, 90, 90), want: Blind},
		{scores: scored(95, 92, 90), want: Blind},
		{scores: scored(95, 80, 90), want: SeenThrough},
		{scores: scored(10, 10, none), want: SeenThrough},
		{scores: scored(10, 11, none), want: Fooled},
		{scores: scored(none, 100, 1), want: NoScore},
		{scores: scored(100, none, 1), want: NoScore},
		{margin: 5, scores: scored(10, 15, 90), want: SeenThrough},
		{margin: 5, scores: scored(10, 16, 90), want: Fooled},
		{lower: true, scores: scored(90, 10, 5), want: Fooled},
		{lower: true, scores: scored(90, 90, 5), want: SeenThrough},
		{lower: true, scores: scored(5, 5, 5), want: Blind},
		{lower: true, margin: 5, scores: scored(90, 86, 5), want: SeenThrough},
	} {
		tally := Tally{LowerIsBetter: c.lower, Margin: c.margin}
		if got := tally.Add("kind", c.scores); got != c.want {
			t.Errorf("%+v (lower %v, margin %v): %s, want %s", c.scores, c.lower, c.margin, got, c.want)
		}
	}
}

func TestTally(t *testing.T) {
	tally := Tally{LowerIsBetter: true}
	tally.Add("hidden", scored(90, 30, 10))
	tally.Add("hidden", scored(90, 90, 10))
	tally.Add("hidden", scored(math.NaN(), 10, 10))
	tally.Add("instruction", scored(10, 10, 10))
	hidden, total := tally.Kind("hidden"), tally.Total()
	if hidden.Planted != 3 || hidden.Judged() != 2 || hidden.Fooled != 1 || hidden.SeenThrough != 1 || hidden.NoScore != 1 {
		t.Errorf("hidden: %+v", hidden)
	}
	if gain, ok := hidden.MeanGain(); !ok || gain != 30 {
		t.Errorf("mean gain %v, %v; want 30", gain, ok)
	}
	if total.Planted != 4 || total.Blind != 1 || total.Judged() != 3 {
		t.Errorf("total: %+v", total)
	}
	if _, ok := tally.Kind("closing-quote").MeanGain(); ok {
		t.Error("a mean of nothing")
	}
	if c := (&Tally{}).Total(); c != (Count{}) {
		t.Errorf("an empty tally counts %+v", c)
	}
}

// Every canary has one verdict, and turning all scores around together with
// the direction changes none.
func TestTallyAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		up, down := Tally{}, Tally{LowerIsBetter: true}
		small := rapid.SampledFrom([]float64{-3, -2, -1, 0, 1, 2, 3, math.NaN()})
		for range rapid.IntRange(0, 30).Draw(t, "n") {
			s := scored(small.Draw(t, "control"), small.Draw(t, "canary"), small.Draw(t, "good"))
			kind := rapid.SampledFrom(Kinds()).Draw(t, "kind")
			turned := scored(-s.Control, -s.Canary, -s.Good)
			if a, b := up.Add(kind, s), down.Add(kind, turned); a != b {
				t.Fatalf("%+v: %s, turned around %s", s, a, b)
			}
		}
		for _, c := range []Count{up.Total(), up.Kind(KindHidden)} {
			if c.SeenThrough+c.Fooled+c.Blind != c.Judged() || c.Judged()+c.NoScore != c.Planted {
				t.Fatalf("%+v does not add up", c)
			}
		}
		if up.Total() != down.Total() {
			t.Fatalf("%+v and %+v", up.Total(), down.Total())
		}
	})
}

func ExampleTally() {
	var t Tally
	fmt.Println(t.Add(FlagInstruction, CanaryScores{Control: 10, Canary: 95, Good: math.NaN()}))
	fmt.Println(t.Add(FlagInstruction, CanaryScores{Control: 10, Canary: 5, Good: math.NaN()}))
	fmt.Println(t.Kind(FlagInstruction).Fooled, "of", t.Kind(FlagInstruction).Judged())
	// Output:
	// fooled
	// seen-through
	// 1 of 2
}

package guard

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func sources(n int) []CanarySource {
	var out []CanarySource
	for i := range n {
		out = append(out, CanarySource{
			References: []string{fmt.Sprintf("The ferry number %d leaves the old harbour at noon today.", i)},
			Hypotheses: []string{fmt.Sprintf("Ferry %d goes from the old port at midday.", i)},
		})
	}
	return out
}

func TestCanaries(t *testing.T) {
	segments := sources(5)
	claim := ClaimFor("tigerscore")
	got := Canaries(segments, 40, 7, claim)
	if len(got) != 40 {
		t.Fatalf("%d canaries, want 40", len(got))
	}
	kinds, used := map[string]int{}, map[int]int{}
	for _, c := range got {
		kinds[c.Kind]++
		used[c.Segment]++
		if c.Good != segments[c.Segment].References[0] {
			t.Errorf("%+v is not of its segment", c)
		}
		if segments[c.Segment].has(c.Control) {
			t.Errorf("the control %q is an output of the segment", c.Control)
		}
		if !strings.HasPrefix(c.Hypothesis, c.Control) || c.Hypothesis == c.Control {
			t.Errorf("%q is not %q with an injection", c.Hypothesis, c.Control)
		}
	}
	for _, in := range injections {
		if n := kinds[in.kind]; n < len(got)/len(injections) || n > len(got)/len(injections)+1 {
			t.Errorf("kinds are not spread evenly: %v", kinds)
		}
	}
	for i, n := range used {
		if n != 8 {
			t.Errorf("segment %d was used %d times of 40, want 8", i, n)
		}
	}
	if diff := cmp.Diff(got, Canaries(sources(5), 40, 7, claim)); diff != "" {
		t.Errorf("the same seed gives others: %s", diff)
	}
	if cmp.Equal(got, Canaries(segments, 40, 8, claim)) {
		t.Error("another seed gives the same")
	}
	for i, c := range Canaries(segments, 40, 7, ClaimFor("instructscore")) {
		c.Hypothesis = got[i].Hypothesis
		if diff := cmp.Diff(got[i], c); diff != "" {
			t.Errorf("another claim changes more than the injection: %s", diff)
		}
	}
}

// Flags warns of every injection.
func TestInjectionsAreFlagged(t *testing.T) {
	want := map[string]string{KindHidden: FlagControl, KindFakeEnd: FlagScorePhrase}
	judges := []string{"anything"}
	for _, c := range claims {
		judges = append(judges, c.judge)
	}
	for _, in := range injections {
		flag := in.kind
		if f, ok := want[flag]; ok {
			flag = f
		}
		for _, form := range in.forms {
			for _, judge := range judges {
				text := inject(form, "The ferry leaves at noon.", ClaimFor(judge))
				if got := Flags(text); !slices.Contains(got, flag) && !(in.kind == KindFakeEnd && len(got) > 0) {
					t.Errorf("%s for %s: Flags(%q) = %v, want %s", in.kind, judge, text, got, flag)
				}
			}
		}
	}
}

func TestInjectKeepsTheText(t *testing.T) {
	const bad = "{perfect} {tags} {bad} $1"
	got := inject("{bad}{tags}{perfect}", bad, Claim{Perfect: "ok"})
	if want := bad + "\U000e006f\U000e006b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCanariesOfFewTexts(t *testing.T) {
	for name, c := range map[string]struct {
		segments []CanarySource
		n, want  int
	}{
		"none":                     {nil, 3, 0},
		"empty texts":              {[]CanarySource{{References: nil}}, 3, 0},
		"only one word":            {[]CanarySource{{References: []string{"Yes"}}}, 3, 0},
		"only one sentence":        {sources(1), 3, 3},
		"the same text everywhere": {[]CanarySource{{References: []string{"Yes"}}, {References: []string{"yes "}}}, 3, 0},
		"the other's is also good": {[]CanarySource{{References: []string{"Yes"}, Hypotheses: []string{"No"}}, {References: []string{"No"}}}, 4, 4}, // only of b
	} {
		got := Canaries(c.segments, c.n, 1, Claim{})
		if len(got) != c.want {
			t.Errorf("%s: %d canaries, want %d: %+v", name, len(got), c.want, got)
		}
	}
}

// A control is never one of the outputs of its segment.
func TestControlsAreBad(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom(harmless), rapid.StringMatching(`([a-c]{1,3} ){0,8}`)).
		Filter(func(s string) bool { return strings.TrimSpace(s) != "" })
	rapid.Check(t, func(t *rapid.T) {
		segments := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) CanarySource {
			return CanarySource{References: rapid.SliceOfN(text, 0, 2).Draw(t, "references"), Hypotheses: rapid.SliceOfN(text, 0, 3).Draw(t, "hypotheses")}
		}), 0, 5).Draw(t, "segments")
		n := rapid.IntRange(0, 20).Draw(t, "n")
		got := Canaries(segments, n, rapid.Uint64().Draw(t, "seed"), ClaimFor("mqm"))
		if len(got) != n && len(got) != 0 {
			t.Fatalf("%d canaries of %d", len(got), n)
		}
		for _, c := range got {
			if s := &segments[c.Segment]; s.has(c.Control) || !s.has(c.Good) {
				t.Fatalf("%+v of %+v", c, s)
			}
		}
	})
}

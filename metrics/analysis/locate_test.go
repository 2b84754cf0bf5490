package analysis_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract/metrics/analysis"
)

const garden = `The gardener planted three  old roses behind the gate, and the roses were watered by “Old Tom” himself.`

func locate(t analysis.Texts, location string) (analysis.Place, string) {
	r := analysis.Report{Outcome: analysis.Scored, Errors: []analysis.Error{{Location: location}}}
	r.Locate(t)
	e := r.Errors[0]
	return e.Place, string([]rune(t.Hypothesis)[e.Span.Start:e.Span.End])
}

func TestLocate(t *testing.T) {
	const (
		exact   = analysis.InHypothesis
		approx  = analysis.Approximate
		source  = analysis.InSource
		absent  = analysis.Absent
		notSaid = analysis.NotStated
	)
	for _, c := range []struct {
		location string
		place    analysis.Place
		text     string // at the span
	}{
		// Whole locations.
		{`behind the gate`, exact, `behind the gate`},
		{`"behind the gate"`, exact, `behind the gate`},
		{`"Old Tom"`, exact, `Old Tom`},
		{`«Old Tom»`, exact, `Old Tom`},
		{`the`, exact, `the`},     // the word, not part of "gathered"
		{`plant`, exact, `plant`}, // there is no such word
		// With small differences.
		{`Behind The Gate`, approx, `behind the gate`},
		{`three old roses`, approx, `three  old roses`},
		{`watered by "old tom" himself`, approx, `watered by “Old Tom” himself`},
		{`ｇａｒｄｅｎｅｒ`, approx, `gardener`},
		{`Plant`, absent, ``}, // similar matches must be whole words
		// Elisions.
		{`The gardener ... behind the gate`, approx, `The gardener planted three  old roses behind the gate`},
		{`roses [...] roses were`, approx, `roses behind the gate, and the roses were`},
		{`the gate ... The gardener`, absent, ``},
		{`...`, notSaid, ``},
		// Several phrases.
		{`"old roses" instead of "young roses"`, exact, `old roses`},
		{`"Gate" should be "fence"`, approx, `gate`},
		{`Missing "red" before "roses"`, exact, `roses`},
		{`"the" is missing before "gardener"`, exact, `gardener`},
		{`"gardener" is missing "young"`, exact, `gardener`},
		{`Missing comma after "three"`, exact, `three`},
		{`The word 'roses' is repeated`, exact, `roses`},
		{`old roses" instead of "young roses`, exact, `old roses`}, // the outer marks were removed as if they were a pair
		{`behind the gate (should be "in front of")`, exact, `behind the gate`},
		{`behind the gate instead of in front of it`, exact, `behind the gate`},
		{`three -> four`, exact, `three`},
		{`Missing "water can" at the end`, notSaid, ``},
		{`Missing "behind the gate"`, exact, `behind the gate`}, // it is in fact there
		{`Missing "the"`, notSaid, ``},                          // would match any "the"
		{`"the pond" is missing in the translation`, notSaid, ``},
		// Only in the source, or nowhere.
		{`Gärtner`, source, ``},
		{`"drei alte rosen"`, source, ``},
		{`Missing "hinter dem Tor"`, source, ``},
		{`"tulips"`, absent, ``},
		{`whole garden loves roses`, absent, ``},
		// No phrase.
		{``, notSaid, ``},
		{`N/A`, notSaid, ``},
		{`The entire sentence`, notSaid, ``},
		{`The full stop at the end of the sentence`, notSaid, ``},
		{`Output does not answer the question`, notSaid, ``},
	} {
		texts := analysis.Texts{Hypothesis: garden, Source: "Der Gärtner pflanzte drei alte Rosen hinter dem Tor."}
		place, text := locate(texts, c.location)
		if place != c.place || text != c.text {
			t.Errorf("%s: %s %q, want %s %q", c.location, place, text, c.place, c.text)
		}
	}
}

func TestLocateScripts(t *testing.T) {
	for _, c := range []struct{ hypothesis, location, text string }{
		{"我买了三本书。", "三本", "三本"},
		{"我买了三本书。", "「三本书」", "三本书"},
		{"Ge\u0301rard est la\u0300.", "Gérard", "Ge\u0301rard"},
		{"Она сказала: «нет».", `"Нет"`, "нет"},
		{"a b\u00a0c", "b c", "b\u00a0c"},
		{"x 5–6 y", "5-6", "5–6"},
		{"İstanbul ve Ankara", "Ankara", "Ankara"},
		{"👩‍👧 walk", "walk", "walk"},
	} {
		place, text := locate(analysis.Texts{Hypothesis: c.hypothesis}, c.location)
		if text != c.text || place != analysis.InHypothesis && place != analysis.Approximate {
			t.Errorf("%s in %s: %s %q, want %q", c.location, c.hypothesis, place, text, c.text)
		}
	}
}

// In absent texts nothing is found.
func TestLocateMissingTexts(t *testing.T) {
	place, _ := locate(analysis.Texts{}, "Haus")
	assert.Equal(t, analysis.Absent, place)
}

// An excessively long report ends, and errors not searched for are not called absent.
func TestLocateBounded(t *testing.T) {
	hypothesis := strings.Repeat("ab", 1<<19) + "!"
	r := analysis.Report{Outcome: analysis.Scored}
	for i := range 20_000 {
		r.Errors = append(r.Errors, analysis.Error{
			Location:    strings.Repeat("ab", 40+i%7) + `" "` + strings.Repeat("'", i%50) + `... ` + strings.Repeat("x", i%1000),
			Explanation: strings.Repeat(`The use of "ab" instead of "ba" `, 3),
		})
	}
	texts := analysis.Texts{Hypothesis: hypothesis, Source: hypothesis}
	r.Locate(texts)
	r.Check(texts, analysis.Rules{})
	assert.Equal(t, analysis.Unlocated, r.Errors[len(r.Errors)-1].Place, "the last")
	assert.NotEqual(t, analysis.Unlocated, r.Errors[0].Place, "nobody looked at the first error")
}

func TestUnquote(t *testing.T) {
	for in, want := range map[string]string{
		`"a"`: `a`, ` “a” `: `a`, `"a”`: `a`, `'a b'`: `a b`, `«a»`: `a`, `「a」`: `a`,
		`"a" instead of "b"`: `"a" instead of "b"`, `"the "big" one"`: `the "big" one`,
		`"a" and "b"`: `"a" and "b"`, `'it's'`: `it's`, `"`: `"`, ``: ``, `a`: `a`, `"a`: `"a`, `""`: ``, `'a"`: `'a"`, `«a» «b»`: `«a» «b»`,
	} {
		assert.Equal(t, want, analysis.Unquote(in), in)
	}
}

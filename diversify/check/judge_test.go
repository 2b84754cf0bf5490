package check_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/diversify/check"
)

type verdict struct {
	name, ref, raw, finish string
	want, detail           string // detail: a part of it
}

// verdicts lists answers to a reference and their expected verdicts.
var verdicts = []verdict{
	{"fine", "The cat sat on the mat.", "A cat was sitting on the mat.", "stop", check.Accepted, ""},
	{"token limit", "The cat sat.", "A cat was sitting.", "length", "cut", "token limit"},
	{"filter", "The cat sat.", "A cat", "content_filter", "blocked", "filter"},
	{"empty", "The cat sat.", "", "stop", "empty", "empty"},
	{"no letter", "The cat sat.", "1.", "stop", "empty", "no letter"},
	{"numbers only", "2022", "2022!", "stop", "copy", ""},

	{"no stop", "The cat sat on the mat.", "On the mat there was", "", "cut", `"was" without a full stop`},
	{"only the stop is missing", "The cat sat on the mat.", "A cat was sitting on the mat", "", check.Accepted, ""},
	{"colon", "The cat sat on the mat.", "What the cat did on the mat was:", "", "cut", "':'"},
	{"stop before a quote", "He said: “It sat.”", "“The cat was sitting,” he said. “It did.”", "", check.Accepted, ""},
	{"ellipsis", "The cat sat...", "A cat was sitting…", "", check.Accepted, ""},
	{"Chinese stop", "猫坐在垫子上。", "垫子上坐着一只猫。", "", check.Accepted, ""},
	{"Chinese cut", "猫坐在垫子上，狗在跑。", "垫子上坐着一只猫，有一只狗正", "", "cut", "without a full stop"},
	{"cut within a word", "Er setzte sich hin.", "Der Mann nahm auf dem Stuhl Pla", "", "cut", "without a full stop"},
	{"title", "A Cat on a Mat", "Mat With a Cat on It", "", check.Accepted, ""},

	{"Chinese within English", "The cat sat on the mat.", "A cat 已经 was sitting on a 垫子 there.", "", "garbled", "mixes scripts"},
	{"loop", "The cat sat.", "A cat sat sat sat sat sat there.", "", "garbled", "repeats"},
	{"Chinese that the reference has", "He said 你好 to the cat.", "To the cat he said 你好.", "", check.Accepted, ""},
	{"the same month", "The fair began on 12 March 1990.", "The fair started on 12. März 1990.", "", check.Accepted, ""},
	{"no month", "The fair may begin on 12 cars.", "It may be that the fair begins on 12 cars.", "", check.Accepted, ""},
	{"another day", "The shop is closed on Monday.", "On Tuesday the shop is closed.", "", "numbers", "tuesday"},
	{"the other clock", "Sales begin at 3 pm here.", "Here sales begin at 15:00.", "", check.Accepted, ""},
	{"cut before a token", "The shop opens each day except Sunday and sells bread.", "Each day except Sunday the shop sells bread and</s>", "", "cut", `"and"`},
	{"a picture of HTML", "For five weeks the cat sat there.", "<img src=x onerror=alert(1)> For five weeks a cat was sitting there.", "", check.Accepted, ""},
	{"a word that is doubled", "I think the cat that sat there is old.", "I think that that cat which sat there is old.", "", check.Accepted, ""},
	{"mojibake that is repaired", "Die Katze saß.", "Die Katze saÃŸ dort.", "", check.Accepted, ""},
	{"thought without an answer", "The cat sat.", "<ponder>The cat sat, so maybe it rested.", "", "cut", "before any answer"},

	{"apology", "The cat sat.", "I'm sorry, but I cannot rephrase this sentence.", "", "refusal", "the task"},
	{"apology of the reference", "I'm sorry, I cannot rephrase it.", "Sorry, I am not able to rephrase it.", "", check.Accepted, ""},
	{"regret as content", "The order is late.", "Unfortunately the order is running late.", "", check.Accepted, ""},
	{"self", "The cat sat.", "As an AI language model, I have no cat.", "", "refusal", "the task"},
	{"Chinese refusal", "猫坐着。", "对不起，我无法改写这个句子。", "", "refusal", "the task"},
	{"talk", "The cat sat.", "The sentence has been changed to the passive voice.", "", "unclear", "the task"},
	{"links of a megabyte", "The cat sat.", strings.Repeat("[a](", 250000), "", "garbled", "["},
	{"reference about sentences", "The sentence is in the passive voice.", "That sentence stands in the passive.", "", check.Accepted, ""},
	{"an offer is no sentence", "Мы предлагаем скидки.", "Наше предложение включает скидки.", "", check.Accepted, ""},

	{"copy", "The cat sat.", "The cat sat.", "", "copy", "the same as reference 1"},
	{"copy after cleaning", "The cat sat.", "1. The cat sat.", "", "copy", "the same as reference 1"},
	{"decimal is no copy", "It is 1.5 m.", "It is 15 m.", "", "numbers", "15"},

	{"long", "Stop.", "The cars have to stop at once, and all of them have to stand still until the road is free.", "", "length", "times"},
	{"short", strings.Repeat("This is a sentence that goes on. ", 5), "It goes on.", "", "length", "times"},
	{"short texts vary", "Stop.", "The cars have to stop at once.", "", check.Accepted, ""},
	{"refusal in its words", "The police arrested two suspects.", "I'm not comfortable with writing about suspects whom the police arrested.", "", "unclear", "probably a reply"},
	{"few of its words", "The old lady sold her house by the lake to a young doctor.", "You know that one never gets what one deserves, my friend.", "", "unlike", "no word of"},
	{"a polite question", "What time does the shop close?", "Could you please let me know what time the shop closes?", "", check.Accepted, ""},
	{"a polite command", "Tell me more.", "Please provide further details.", "", check.Accepted, ""},
	{"sorry as the reference is", "Sorry, I can't come.", "Unfortunately, I won't be able to attend.", "", check.Accepted, ""},
	{"a reply to a question", "How much is it?", "How can I help you with your text today?", "", "unclear", ""},
	{"a full stop after the quotation", "The shop closes at ten.", "You can say \"At ten the shop shuts\".", "", check.Accepted, ""},
	{"explained", "The shop closes at ten.", "You could say: \"At ten the shop closes.\" It keeps the meaning.", "", check.Accepted, ""},
	{"another person's words", "My friends asked me if I was okay.", "My friends wanted to know whether I was fine.", "", check.Accepted, ""},
}

func TestVerdicts(t *testing.T) {
	c := newChecker(t, check.Config{})
	for _, x := range verdicts {
		t.Run(x.name, func(t *testing.T) {
			r := c.Segment("", []string{x.ref}).Judge(check.Answer{Raw: x.raw, HasText: true, Finish: x.finish})
			if r.Verdict != x.want || !strings.Contains(r.Detail, x.detail) {
				t.Errorf("%s (%s), want %s (… %s …)", r.Verdict, r.Detail, x.want, x.detail)
			}
		})
	}
}

func TestWithheld(t *testing.T) {
	s := newChecker(t, check.Config{}).Segment("", []string{"The cat sat."})
	r := s.Judge(check.Answer{Finish: "stop"})
	assert.True(t, r.Verdict == check.ReasonBlocked && !r.HasText, "%+v", r)
	if r := s.Judge(check.Answer{Finish: "length"}); r.Verdict != check.ReasonCut || r.HasText {
		t.Errorf("%+v", r)
	}
}

// Answers are compared with all originals, with the source, and with accepted answers, but
// not with rejected ones.
func TestDuplicates(t *testing.T) {
	c := newChecker(t, check.Config{})
	s := c.Segment("Eine Katze.", []string{"The cat sat.", "", "A cat was sitting."})
	for _, x := range []struct{ raw, finish, want, detail string }{
		{"There sat a cat.", "length", "cut", ""},
		{"There sat a cat.", "", check.Accepted, ""},
		{"There sat a cat.", "", "duplicate", "the same as accepted answer 1"},
		{"there sat... a cat!", "", "duplicate", "but for case, punctuation and white space the same as accepted answer 1"},
		{"A cat was – sitting!", "", "copy", "as reference 3"},
		{"Eine Katze!", "", "copy", "as the source"},
		{"The cat was sitting there.", "", check.Accepted, ""},
	} {
		r := s.Judge(check.Answer{Raw: x.raw, HasText: true, Finish: x.finish})
		if r.Verdict != x.want || !strings.Contains(r.Detail, x.detail) {
			t.Errorf("%q: %s (%s), want %s (%s)", x.raw, r.Verdict, r.Detail, x.want, x.detail)
		}
	}
	s.Accept("One more cat.")
	r := s.Judge(check.Answer{Raw: "One more cat!", HasText: true})
	assert.True(t, r.Verdict == "duplicate" && strings.Contains(r.Detail, "answer 3"), "%s (%s)", r.Verdict, r.Detail)
}

func TestMissingReference(t *testing.T) {
	s := newChecker(t, check.Config{}).Segment("", []string{""})
	r := s.Judge(check.Answer{Raw: "1. \"A text of 12 words.\"", HasText: true})
	assert.True(t, r.Verdict == check.Accepted, "%s (%s)", r.Verdict, r.Detail)
}

// A check that is switched off gives no verdict.
func TestSwitches(t *testing.T) {
	for _, name := range check.Checks() {
		if name == check.ReasonLanguage || name == check.ReasonDuplicate {
			continue
		}
		without := newChecker(t, check.Config{Checks: slices.DeleteFunc(check.Checks(), func(s string) bool { return s == name || s == check.ReasonLanguage })})
		x := verdicts[slices.IndexFunc(verdicts, func(x verdict) bool { return x.want == name })]
		r := without.Segment("", []string{x.ref}).Judge(check.Answer{Raw: x.raw, HasText: true, Finish: x.finish})
		assert.True(t, r.Verdict != name && !without.Makes(name), "%s: %s although it is off", x.name, name)
	}
}

func TestNewRefuses(t *testing.T) {
	for want, cfg := range map[string]check.Config{
		`did you mean "numbers"`: {Checks: []string{"number"}},
		"needs a Detector":       {Checks: []string{"language"}},
	} {
		_, err := check.New(cfg)
		assert.ErrorContains(t, err, want)
	}
}

// Everything that changes results is in the signature.
func TestSignature(t *testing.T) {
	seen := map[string]bool{}
	all := []check.Config{
		{}, {Checks: []string{"cut"}}, {Checks: []string{}},
		{Prompts: []string{"a"}}, {Prompts: []string{"a", "b"}}, {Detector: fixed("de")}, {Detector: fixed("en")},
	}
	for _, cfg := range all {
		seen[newChecker(t, cfg).Signature()] = true
	}
	assert.Len(t, seen, len(all), slices.Collect(maps.Keys(seen)))
}

// fixed is a Detector that finds no other language.
type fixed string

func (f fixed) Beside(string) func(string, string) string {
	return func(string, string) string { return "" }
}
func (f fixed) Signature() string { return "fixed(" + string(f) + ")" }

// byFirst takes the first word of a text for its language.
type byFirst struct {
	references *int
	rests      *[]string
}

func (d byFirst) Beside(reference string) func(rest, answer string) string {
	*d.references++
	return func(rest, answer string) string {
		*d.rests = append(*d.rests, rest)
		own, _, _ := strings.Cut(reference, " ")
		if other, _, _ := strings.Cut(answer, " "); other != own {
			return "it is " + other
		}
		return ""
	}
}
func (byFirst) Signature() string { return "first" }

func TestLanguage(t *testing.T) {
	references, rests := 0, []string(nil)
	c := newChecker(t, check.Config{Checks: []string{"language"}, Detector: byFirst{&references, &rests}})
	for _, x := range []struct{ ref, raw, want, rest string }{
		{"de alqs klor hirr", "en thox oz othar", "language", "en thox oz othar"},
		{"de alqs klor hirr", "de dox azt gutt zo", check.Accepted, "dox azt gutt zo"},
		{"de alqs klor hirr", "en alqs klor hirr", check.Accepted, ""}, // most words are the reference's
	} {
		rests = nil
		r := c.Segment("", []string{x.ref}).Judge(check.Answer{Raw: x.raw, HasText: true})
		if rest := strings.Join(rests, ""); r.Verdict != x.want || rest != x.rest {
			t.Errorf("%q for %q: %s, asked about %q; want %s, %q", x.raw, x.ref, r.Verdict, rest, x.want, x.rest)
		}
	}
	// The reference is read once.
	references = 0
	s := c.Segment("", []string{"de alqs klor hirr"})
	for range 3 {
		s.Judge(check.Answer{Raw: "en thox oz othar", HasText: true})
	}
	assert.Equal(t, 1, references)
}

// All results are deterministic, accepted answers differ, and each verdict has a detail.
func TestJudgeProperties(t *testing.T) {
	c := newChecker(t, check.Config{Prompts: prompts})
	rapid.Check(t, func(t *rapid.T) {
		refs := rapid.SliceOfN(anyAnswer(), 1, 3).Draw(t, "refs")
		raws := rapid.SliceOfN(anyAnswer(), 0, 8).Draw(t, "raws")
		run := func() (out []check.Result) {
			s := c.Segment("", refs)
			for i, raw := range raws {
				out = append(out, s.Judge(check.Answer{Reference: i % len(refs), Raw: raw, HasText: true}))
			}
			return out
		}
		first := run()
		a, _ := json.Marshal(first)
		b, _ := json.Marshal(run())
		require.Equal(t, string(b), string(a), "%s and then %s", a, b)
		seen := map[string]bool{}
		for i, r := range first {
			accepted := r.Verdict == check.Accepted
			if accepted != (r.Detail == "") || !accepted && !slices.Contains(check.Reasons(), r.Verdict) {
				t.Fatalf("%+v", r)
			}
			if text, _ := c.Clean(raws[i], refs[i%len(refs)]); text != r.Text {
				t.Fatalf("%q became %q, and by Clean %q", raws[i], r.Text, text)
			}
			norm := check.Normalize(r.Text)
			if accepted && norm != "" {
				require.False(t, seen[norm], "%q was accepted twice", norm)
				seen[norm] = true
			}
		}
	})
}

func TestNormalize(t *testing.T) {
	for in, want := range map[string]string{
		"":                            "",
		"  The  CAT—sat!  ":           "the cat sat",
		"Don't / Don’t":               "dont dont",
		"Straße STRASSE":              "strasse strasse",
		"1.5 and 1,000 and 3/4":       "1.5 and 1,000 and 3/4",
		"ﬁne １２ ①":                    "fine 12 1",
		"a\u00a0b\u200bc":             "a b c",
		"50 % + $5":                   "50 + $5",
		"你好，世界！":                      "你好 世界",
		"ΟΔΥΣΣΕΥΣ οδυσσευς":           "οδυσσευσ οδυσσευσ",
		"tab\t1\t2":                   "tab 1 2",
		"\u0065\u0301 \u00e9":         "é é",
		"end .":                       "end",
		"`a` ^ ~":                     "a",
		"Quote “x” ‘y’ «z» \"w\" 'v'": "quote x y z w v",
	} {
		assert.Equal(t, want, check.Normalize(in), "Normalize(%q)", in)
	}
}

// Of talk inside a JSON string only what stands apart and names the task is taken off.
func TestTalkInAField(t *testing.T) {
	c := newChecker(t, check.Config{})
	for _, row := range []struct{ ref, raw, want string }{
		{"The cat left.", "Sure! Here is a paraphrase:\n\"Away went the cat.\"", "Away went the cat."},
		{"The cat left.", "Away went the cat.\n\nI hope this paraphrase helps!", "Away went the cat."},
		{"The cat left.", "\"Away went the cat.\"", "Away went the cat."},
		{"I'll say it again, I placed an order.", "I'm telling you once again: what I placed was an order.", "I'm telling you once again: what I placed was an order."},
		{"“I can't,” she replied – and hung up.", "“I'm not able to,” came her answer – and she put down the phone.", "“I'm not able to,” came her answer – and she put down the phone."},
		{"He drew a map.\nIt was wrong.", "He sketched a map.\nIt was not correct.", "He sketched a map.\nIt was not correct."},
	} {
		r := c.Segment("", []string{row.ref}).Judge(check.Answer{Raw: row.raw, HasText: true, Field: true})
		if r.Verdict != check.Accepted || r.Text != row.want {
			t.Errorf("%q: %s %q, want %q", row.raw, r.Verdict, r.Text, row.want)
		}
	}
}

// A small model may continue inside the JSON string with code, which is rejected. Brackets
// that a rewriting may have, or that the reference has, are not taken for code.
func TestCodeInAField(t *testing.T) {
	c, err := check.New(check.Config{Checks: []string{check.ReasonGarbled}})
	require.NoError(t, err)
	for _, row := range []struct{ ref, raw, want string }{
		{"The cat left.", "Away went the cat.'}'</pre>` && `", check.ReasonGarbled},
		{"The cat left.", "Away went the cat [again] at #1.", check.Accepted},
		{"Use <b> for {x}.", "For {x}, take <b>.", check.Accepted},
	} {
		r := c.Segment("", []string{row.ref}).Judge(check.Answer{Raw: row.raw, HasText: true, Field: true})
		assert.Equal(t, row.want, r.Verdict, row.raw)
	}
}

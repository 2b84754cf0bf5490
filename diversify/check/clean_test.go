package check_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/diversify/check"
)

func newChecker(tb testing.TB, cfg check.Config) *check.Checker {
	tb.Helper()
	c, err := check.New(cfg)
	require.NoError(tb, err)
	return c
}

var prompts = []string{"Change the order of the sentences:", "Ändere die Reihenfolge der Sätze:"}

// cleanings lists raw answers, their references, and the expected cleaned texts.
var cleanings = []struct {
	name, ref, raw, want string
}{
	{"clean", "The cat sat.", "A cat was sitting.", "A cat was sitting."},
	{"space", "The cat sat.", "  A cat was sitting.\n", "A cat was sitting."},

	{"number", "The cat sat.", "1. A cat was sitting.", "A cat was sitting."},
	{"number in brackets", "The cat sat.", "(3) A cat was sitting.", "A cat was sitting."},
	{"Chinese number", "猫坐着。", "1、猫在坐着。", "猫在坐着。"},
	{"number in brackets that the reference has", "The 3 cats sat.", "(3) Three cats were sitting.", "Three cats were sitting."},
	{"ligature", "The first cat sat.", "A cat was ﬁrst to sit.", "A cat was first to sit."},
	{"translation in brackets", "Die Katze saß auf der Matte.", "Auf der Matte saß eine Katze. (The cat was on the mat.)", "Auf der Matte saß eine Katze."},
	{"two on a line", "Totally unacceptable.", "Completely unacceptable. OR Utterly unacceptable.", "Completely unacceptable."},
	{"bullet", "The cat sat.", "- A cat was sitting.", "A cat was sitting."},
	{"number of the reference", "1. The cat sat.", "1. A cat was sitting.", "1. A cat was sitting."},
	{"other label of the reference", "③ The cat sat.", "1. A cat was sitting.", "1. A cat was sitting."},
	{"German date", "Er kam am 3. Oktober.", "3. Oktober war der Tag, an dem er kam.", "3. Oktober war der Tag, an dem er kam."},
	{"decimal", "It is one and a half.", "1.5 is what it is.", "1.5 is what it is."},
	{"year", "It was good.", "1999. What a year.", "1999. What a year."},
	{"nothing else", "The cat sat.", "1.", "1."},

	{"quotes", "The cat sat.", `"A cat was sitting."`, "A cat was sitting."},
	{"Chinese quotes", "猫坐着。", "「猫在坐着。」", "猫在坐着。"},
	{"reference is quoted", "“The cat sat.”", `"A cat was sitting."`, `"A cat was sitting."`},
	{"one quotation or another", "The shop closes at ten.", `"The store shuts at ten." or "Business ends at ten."`, "The store shuts at ten."},
	{"what one could say", "The shop closes at ten.", `You could say: "The store shuts at ten."`, "The store shuts at ten."},
	{"one way to put it", "The shop closes at ten.", "One way to put it is: Business ends at ten.", "Business ends at ten."},
	{"bullets after an introduction", "The shop closes at ten.", "Here are some options:\n\n- The store shuts at ten.\n- The shop is closed from ten.", "The store shuts at ten."},
	{"two quotations", "Call it do or die.", `"Do" is one, the other "die"`, `"Do" is one, the other "die"`},
	{"emoji after talk", "Mr. Lu sat.", "Got it 👌 Mr. Lu was sitting.", "Mr. Lu was sitting."},
	{"emoji before talk", "Mr. Lu sat.", "Mr. Lu was sitting. 👌 Hope this helps!", "Mr. Lu was sitting."},
	{"emoji in the text", "Mr. Lu sat with Ann.", "Mr. Lu 👌 and Ann were sitting.", "Mr. Lu and Ann were sitting."},
	{"quote at both ends inside", "Press Go, not Stop.", `"Go" is to be pressed, not "Stop"`, `"Go" is to be pressed, not "Stop"`},
	{"apostrophe", "The dog's bone.", "'The bone of the dog's.'", "The bone of the dog's."},

	{"lead-in", "The cat sat.", "Sure, here is a paraphrase: A cat was sitting.", "A cat was sitting."},
	{"lead-in on a line", "The cat sat.", "Sure! Here's the rephrased sentence:\n\nA cat was sitting.", "A cat was sitting."},
	{"a word to the user", "The mayor of the town opened the bridge on Monday.", "Gladly. On Monday the bridge was opened by the town's mayor.", "On Monday the bridge was opened by the town's mayor."},
	{"a short sentence where the reference has one", "Good news! The bridge is open.", "Splendid! The bridge has been opened.", "Splendid! The bridge has been opened."},
	{"Chinese lead-in", "猫坐着。", "以下是改写后的句子：猫在坐着。", "猫在坐着。"},
	{"a phone number", "The number is 5.", "Sure, here is the phone number: 5.", "Sure, here is the phone number: 5."},
	{"reference has the head", "Past tense: he sat.", "Past tense: he was sitting.", "Past tense: he was sitting."},
	{"reference speaks of tenses", "The tense is past.", "Past tense: that is it.", "Past tense: that is it."},
	{"nothing but a lead-in", "The cat sat.", "Past tense:", "Past tense:"},

	{"prompt", "The cat sat.", "change the order of the sentences: A cat was sitting.", "A cat was sitting."},
	{"reference and arrow", "The cat sat.", "The cat sat. -> A cat was sitting.", "A cat was sitting."},

	{"fence", "The cat sat.", "```\nA cat was sitting.\n```", "A cat was sitting."},
	{"bold", "The cat sat.", "**A cat was sitting.**", "A cat was sitting."},
	{"bold in the reference", "**The cat sat.**", "**A cat was sitting.**", "**A cat was sitting.**"},
	{"bold words", "The cat sat.", "**A cat** was **sitting.**", "A cat was sitting."},

	{"note", "The cat sat.", "A cat was sitting. (past tense)", "A cat was sitting."},
	{"note line", "The cat sat.", "A cat was sitting.\n\nNote: I changed the tense.", "A cat was sitting."},
	{"closing line", "The cat sat.", "A cat was sitting.\nLet me know if you need more!", "A cat was sitting."},
	{"brackets of the reference", "The cat sat (past tense).", "A cat was sitting (past tense).", "A cat was sitting (past tense)."},
	{"remark of the reference", "The cat sat (just for fun).", "A cat was sitting (Note: it was fun).", "A cat was sitting (Note: it was fun)."},

	{"alternatives", "The cat sat.", "1. A cat was sitting.\n2. There sat a cat.\n3. The cat", "A cat was sitting."},
	{"parts", "The cat sat. The dog ran. The bird flew.", "1. A cat was sitting.\n2. A dog ran.\n3. A bird flew.",
		"A cat was sitting. A dog ran. A bird flew."},
	{"lines of the reference", "The cat sat.\nThe dog ran.", "A cat was sitting.\nA dog was running.", "A cat was sitting.\nA dog was running."},

	{"all at once", "The cat sat.", "Sure, here is a paraphrase:\n\n1. **\"A cat was sitting.\"**\n\nNote: this is informal.",
		"A cat was sitting."},
	{"blank", "The cat sat.", " \n", ""},

	{"Japanese talk", "昨日、猫が庭に座っていた。", "承知しました。言い換えた文がこちらです。\n\n庭には昨日、猫が腰を下ろしていた。", "庭には昨日、猫が腰を下ろしていた。"},
	{"Korean talk", "어제 고양이가 마당에 앉아 있었다.", "물론이죠! 이렇게 바꿔 봤습니다.\n\n고양이는 어제 마당에 자리를 잡았다.", "고양이는 어제 마당에 자리를 잡았다."},
	{"speaker after a quotation", "Der Koch rief, dass die Suppe fertig ist.", `"Die Suppe ist jetzt fertig!" – so der Koch.`, `"Die Suppe ist jetzt fertig!" – so der Koch.`},
	{"draft and final", "De kat slaapt op de bank.", "Eerste poging: Op de bank slaapt de kat.\n\nDefinitieve versie: De kat ligt te slapen op de bank.", "De kat ligt te slapen op de bank."},
	{"role in Japanese", "猫が庭に座っていた。", "<アシスタント> 庭に猫が腰を下ろしていた。", "庭に猫が腰を下ろしていた。"},
	{"Chinese dash after talk", "猫昨天坐在院子里。", "改写后的版本——昨天猫在院子里坐着。", "昨天猫在院子里坐着。"},
	{"Chinese dash", "猫昨天坐在院子里，它很高兴。", "昨天猫在院子里坐着——它很高兴。", "昨天猫在院子里坐着——它很高兴。"},
	{"half-width kana", "猫はソファーで寝た。", "ｿﾌｧｰで猫が寝ていた。", "ソファーで猫が寝ていた。"},
}

func TestClean(t *testing.T) {
	c := newChecker(t, check.Config{Prompts: prompts})
	for _, x := range cleanings {
		t.Run(x.name, func(t *testing.T) {
			got, steps := c.Clean(x.raw, x.ref)
			if got != x.want || (steps == nil) != (x.raw == x.want) {
				t.Errorf("Clean(%q) = %q %v, want %q", x.raw, got, steps, x.want)
			}
		})
	}
}

// checkClean tests properties that hold for any answer: cleaning is idempotent, names steps if
// and only if it changes something, and never empties an answer that has words.
func checkClean(t rapid.TB, c *check.Checker, raw, ref string) {
	t.Helper()
	text, steps := c.Clean(raw, ref)
	again, more := c.Clean(text, ref)
	if again != text || len(more) > 0 {
		t.Errorf("Clean(%q, %q) = %q, and of that %q %v", raw, ref, text, again, more)
	}
	assert.Equal(t, len(steps) > 0, text != raw, "Clean(%q, %q) = %q with the steps %v", raw, ref, text, steps)
	for i, s := range steps {
		assert.True(t, !slices.Contains(steps[:i], s) && slices.Contains(check.Steps(), s), "steps %v", steps)
	}
	assert.False(t, text == "" && strings.TrimSpace(raw) != "", "Clean(%q, %q) leaves nothing", raw, ref)
	if utf8.ValidString(raw) && !utf8.ValidString(text) {
		t.Errorf("Clean(%q, %q) = %q is not valid UTF-8", raw, ref, text)
	}
	if r := c.Segment("", []string{ref}).Judge(check.Answer{Raw: raw, HasText: true}); r.Verdict == check.Accepted {
		if again, _ := c.Clean(r.Text, ref); again != r.Text || !utf8.ValidString(r.Text) {
			t.Errorf("%q for %q: %q is accepted, and cleaned again %q", raw, ref, r.Text, again)
		}
	}
	assert.True(t, len(text) <= len(raw), "Clean(%q, %q) = %q is longer", raw, ref, text)
}

// pieces are the parts of random answers.
var pieces = []string{
	"1. ", "2) ", "- ", "* ", "(3) ", "\"", "“", "”", "„", "«", "»", "'", "(", ")", "[", "]", "\n", "\n\n", " ", "```", "```text\n", "**", "*", "_", "`",
	"# ", "<p>", "</p>", "Note: ", "Past tense: ", "Sure, here is a paraphrase: ", "(present tense)", "以下是改写：", "注：", "->", "The cat sat.", "A cat",
	" was sitting", ".", "。", ":", ",", "…", "12", " 3,5 ", "\x00", "\xff", "é", "猫", "Кот ", "Change the order of the sentences: ", "Let me know",
}

func anyAnswer() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces"), "")
	})
}

func TestCleanProperties(t *testing.T) {
	c := newChecker(t, check.Config{Prompts: prompts})
	rapid.Check(t, func(t *rapid.T) {
		checkClean(t, c, anyAnswer().Draw(t, "raw"), anyAnswer().Draw(t, "ref"))
	})
}

// A long text that repeats one piece is also cleaned to a fixed point.
func TestCleanLong(t *testing.T) {
	c := newChecker(t, check.Config{Prompts: prompts})
	for _, piece := range append(pieces, "<a>", "{\"a\": ", "[[", "“a” ", "a: ", "| ", "😊", "So. ") {
		checkClean(t, c, strings.Repeat(piece, 1<<11/len(piece)), "The cat sat.")
	}
}

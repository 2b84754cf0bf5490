package ter

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/internal/text"
)

// collect returns the words of a text as strings.
func collect(t *tokenizer, s string, twice bool) []string {
	words := []string{}
	t.words(s, twice, func(w []byte) { words = append(words, string(w)) })
	return words
}

func TestWords(t *testing.T) {
	western := Options{Normalized: true}
	asian := Options{Normalized: true, Asian: true}
	for _, test := range []struct {
		options Options
		text    string
		want    string
	}{
		{Options{}, "", ""},
		{Options{}, " One,\u00a0TWO\x1cthree\u200bfour ", "one,|two|three\u200bfour"},
		{Options{CaseSensitive: true}, "One ΣΑΣ", "One|ΣΑΣ"},
		{Options{}, "ΣΑΣ ΑΣ' ΑΣ'Α Σ İI", "σας|ας'|ασ'α|σ|i̇i"},
		{Options{NoPunct: true}, "a.b (c) . \"d\" e-f，", "ab|c|d|e-f，"},
		{Options{NoPunct: true, Asian: true}, "甲、乙 。丙，", "甲乙|丙"},
		{Options{Asian: true}, "甲、乙", "甲、乙"},

		{western, "he said: (no)", "he|said|:|(|no|)"},
		{western, "the dog's, John's", "the|dog's|,|john|'s"},
		{western, "John's\u00a0", "john|'s"},
		{western, "'s's", "'s|'s"},
		{western, "x's)", "x|'s|)"},
		{western, "3.14 1,000. a.5 5.a", "3.14|1,000|.|a|.|5|5|.|a"},
		{western, "1..2", "1|.|.|2"},
		{western, "1.,.2", "1|.|,|.2"},
		{western, "10-20 a-b -5", "10|-|20|a-b|-5"},
		{western, "hy\n-phen li\nne", "hyphen|li|ne"},
		{western, "&quot;a&amp;b&lt;&gt;", "\"|a|&|b|<|>"},
		{western, "&amp;lt; &amp;gt; &amp;quot;", "<|>|&|quot|;"},
		{western, "甲乙。", "甲乙。"},

		{asian, "甲乙a。", "甲|乙|a|。"},
		{asian, "ひらがな カタカナ・カナ", "ひらがな|カタカナ|・|カナ"},
		{asian, "ａ，ｂ", "ａ|，|ｂ"},
		{asian, "㈱䷀龙㌀豈︰⺀㇀", "㈱|䷀|龙|㌀|豈|︰|⺀|㇀"},
		{Options{Normalized: true, NoPunct: true, Asian: true}, "甲，b.c", "甲|b|c"},
		{Options{}, "a\xffb", "a\ufffdb"},
	} {
		tokens := tokenizer{Options: test.options}
		assert.Equal(t, test.want, strings.Join(collect(&tokens, test.text, false), "|"), "%+v: words of %q", test.options, test.text)
	}
}

// The rules as regular expressions, one pass each. The rules for kana are missing: they can
// match only at the start of a text without a space there.
var slowRules = struct {
	asianPunct, western, asian [][2]string
}{
	western: [][2]string{
		{"\n-", ""},
		{"\n", " "},
		{"&quot;", `"`},
		{"&amp;", "&"},
		{"&lt;", "<"},
		{"&gt;", ">"},
		{`\A|\z`, " "},
		{"[{-~[-` -&(-+:-@/]", " $0 "},
		{"'s ", " 's "},
		{`'s\z`, " 's"},
		{`([^0-9])([.,])`, "$1 $2 "},
		{`([.,])([^0-9])`, " $1 $2"},
		{`([0-9])(-)`, "$1 $2 "},
	},
	asian: [][2]string{
		{`[\x{4e00}-\x{9fff}\x{3400}-\x{4dbf}]`, " $0 "},
		{`[\x{31c0}-\x{31ef}\x{2e80}-\x{2eff}]`, " $0 "},
		{`[\x{3300}-\x{33ff}\x{f900}-\x{faff}\x{fe30}-\x{fe4f}]`, " $0 "},
		{`[\x{3200}-\x{3f22}]`, " $0 "},
	},
	asianPunct: [][2]string{
		{`[\x{3001}\x{3002}\x{3008}-\x{3011}\x{3014}-\x{301f}\x{ff61}-\x{ff65}\x{30fb}]`, " $0 "},
		{`[\x{ff0e}\x{ff0c}\x{ff1f}\x{ff1a}\x{ff1b}\x{ff01}\x{ff02}\x{ff08}\x{ff09}]`, " $0 "},
	},
}

func slowWords(o Options, s string) []string {
	apply := func(rules [][2]string) {
		for _, r := range rules {
			s = regexp.MustCompile(r[0]).ReplaceAllString(s, r[1])
		}
	}
	s = strings.TrimRightFunc(s, text.IsSpace)
	if !o.CaseSensitive {
		s = text.Lower(s)
	}
	if o.Normalized && s != "" {
		apply(slowRules.western)
		if o.Asian {
			apply(slowRules.asian)
			apply(slowRules.asianPunct)
		}
	}
	if o.NoPunct {
		apply([][2]string{{`[.,?:;!"()]`, ""}})
		if o.Asian {
			for _, r := range slowRules.asianPunct {
				apply([][2]string{{r[0], ""}})
			}
		}
	}
	return strings.FieldsFunc(s, text.IsSpace)
}

func checkWords(t interface{ Errorf(string, ...any) }, tokens *tokenizer, s string) {
	got := collect(tokens, s, false)
	want := slowWords(tokens.Options, s)
	assert.True(t, slices.Equal(got, want), "%+v: words of %+q = %+q, the oracle has %+q", tokens.Options, s, got, want)
	for _, w := range got {
		if w == "" || strings.ContainsFunc(w, text.IsSpace) {
			t.Errorf("%+v: words of %+q contain %+q", tokens.Options, s, w)
		}
	}
	twice := collect(tokens, s, true)
	if want := slowWords(tokens.Options, strings.Join(got, " ")); !slices.Equal(twice, want) {
		t.Errorf("%+v: words of %+q twice = %+q, the oracle has %+q", tokens.Options, s, twice, want)
	}
	if !tokens.readsTwice() && !slices.Equal(got, twice) {
		t.Errorf("%+v: words of %+q change when tokenized twice: %+q", tokens.Options, s, twice)
	}
}

// allTokenizers has one tokenizer per combination of options.
func allTokenizers() []tokenizer {
	var all []tokenizer
	for i := range 16 {
		all = append(all, tokenizer{Options: Options{i&1 > 0, i&2 > 0, i&4 > 0, i&8 > 0}})
	}
	return all
}

func TestWordsAgainstOracle(t *testing.T) {
	piece := rapid.OneOf(
		rapid.SampledFrom(strings.Fields(`'s s ' . , - 1 a B &amp; &quot; &lt; amp; lt; gt; ! ( [ { ~ / Σ İ 中 。 ， か ー ㍿ ｡ `)),
		rapid.SampledFrom([]string{" ", "\n", "\n-", "\x1c", "\u0085", "\u00a0", "\u3000"}),
		rapid.Map(rapid.Rune(), func(r rune) string { return string(r) }),
		rapid.Map(rapid.Int32Range(0x2e70, 0x3410), func(r int32) string { return string(r) }),
		rapid.Map(rapid.Int32Range(0xff00, 0xff70), func(r int32) string { return string(r) }),
	)
	all := allTokenizers()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 20).Draw(t, "pieces"), "")
		checkWords(t, &all[rapid.IntRange(0, 15).Draw(t, "options")], text)
	})
}

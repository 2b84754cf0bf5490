package token

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/internal/metricstest"
	"github.com/refract-eval/refract/internal/text"
)

func split(name, s string) []string {
	return splitWith(New(name, false), s)
}

func splitWith(t *Tokenizer, s string) []string {
	var out []string
	t.Split(s, func(b []byte) { out = append(out, string(b)) })
	return out
}

func TestSplit(t *testing.T) {
	// The expected words, between spaces. sacreBLEU 2.6.0 gives the same.
	for _, c := range []struct{ tokenizer, in, want string }{
		{"none", "Hello, world.", "Hello, world."},
		{"13a", "Hello, world.", "Hello , world ."},
		{"intl", "Hello, world.", "Hello , world ."},
		{"zh", "Hello, world.", "Hello , world ."},
		{"char", "Hello, w.", "H e l l o , w ."},

		// A mark between digits stays; others become tokens.
		{"13a", "3.14, 1,000", "3.14 , 1,000"},
		{"intl", "3.14, 1,000", "3.14 , 1,000"},
		{"13a", ".5", ". 5"},
		{"intl", ".5", ".5"}, // there is no character before it
		{"zh", ".5", ".5"},   // also: only 13a pads the text
		{"13a", "5.", "5 ."},
		{"intl", "5.", "5."},
		{"zh", "5.", "5."},
		{"13a", "1.a a.1", "1 . a a . 1"},
		{"13a", "U.S.A.", "U . S . A ."},
		{"intl", "U.S.A.", "U . S . A ."},
		{"13a", "...", ". . ."},
		{"13a", "a,,b", "a , , b"},

		// Dashes after digits, apostrophes inside words.
		{"13a", "5-4 x-y -3 12-", "5 - 4 x-y -3 12 -"},
		{"intl", "5-4 x-y -3", "5-4 x - y - 3"},
		{"13a", "don't", "don't"},
		{"intl", "don't", "don ' t"},
		{"13a", "$5.00 (50%) x/y_z R&D", "$ 5.00 ( 50 % ) x / y _ z R & D"},

		// Only 13a decodes entities, joins lines and skips parts.
		{"13a", "&quot;x&quot;", `" x "`},
		{"intl", "&quot;x", "& quot ; x"},
		{"none", "&quot;x&quot;", "&quot;x&quot;"},
		{"13a", "&amp;lt;", "<"},
		{"13a", "&apos;", "& apos ;"},
		{"13a", "a well-\nknown fact", "a wellknown fact"},
		{"zh", "a well-\nknown fact", "a well- known fact"},
		{"intl", "a well-\nknown fact", "a well - known fact"},
		{"13a", "line\nbreak", "line break"},
		{"13a", "a <skipped> b", "a b"},
		{"none", "a <skipped> b", "a <skipped> b"},
		{"13a", "x-\n", "x-"}, // white space at the end is removed first

		{"zh", "它叫GPT-4，很好。", "它 叫 GPT-4 ， 很 好 。"},
		{"13a", "它叫GPT-4，很好。", "它叫GPT-4，很好。"},
		{"intl", "它叫GPT-4，很好。", "它叫GPT - 4 ， 很好 。"},
		{"zh", "日本語です", "日 本 語 です"},
		{"zh", "１２，３", "１ ２ ， ３"},
		{"zh", "—x✈", "— x ✈"}, // within ranges that were meant for others
		{"zh", "𠀀x", "𠀀x"},     // not within the range that was meant for this one
		{"char", "𠀀x 日", "𠀀 x 日"},

		{"intl", "«Oui», dit-il : 3,5 €", "« Oui » , dit - il : 3,5 €"},
		{"13a", "«Oui», dit-il : 3,5 €", "«Oui» , dit-il : 3,5 €"},
		{"intl", "“x”…", "“ x ” …"},
		{"intl", "ⅷ.x", "ⅷ . x"},
		{"intl", "café 😀!", "café 😀 !"},

		{"none", "a\u00a0b \u3000c\x1cd", "a b c d"},
		{"char", "a\u00a0b\x1c", "a b"},
	} {
		assert.Equal(t, c.want, strings.Join(split(c.tokenizer, c.in), " "), "%s of %q", c.tokenizer, c.in)
	}
	for _, name := range Names() {
		for _, empty := range []string{"", "   ", "\n", "\u3000"} {
			assert.Len(t, split(name, empty), 0, "%s of %q", name, empty)
		}
	}
}

func TestNew(t *testing.T) {
	for _, name := range Names() {
		assert.NotNil(t, New(name, false), "New(%q) = nil", name)
	}
	for _, name := range []string{"", "13A", "flores200"} {
		assert.Nil(t, New(name, false), "New(%q) gave a tokenizer", name)
	}
}

// rule is one regular expression of a tokenizer and its replacement.
type rule struct {
	re *regexp.Regexp
	to string
}

func rules(pairs ...string) []rule {
	var rs []rule
	for i := 0; i < len(pairs); i += 2 {
		rs = append(rs, rule{regexp.MustCompile(pairs[i]), pairs[i+1]})
	}
	return rs
}

// The tokenizers as the regular expressions that define them.
var (
	westernRules = rules(
		`([{-~[-`+"`"+` -&(-+:-@/])`, ` $1 `,
		`([^0-9])([.,])`, `$1 $2 `,
		`([.,])([^0-9])`, ` $1 $2`,
		`([0-9])(-)`, `$1 $2 `)
	internationalRules = rules(
		`(\P{N})(\p{P})`, `$1 $2 `,
		`(\p{P})(\P{N})`, ` $1 $2`,
		`(\p{S})`, ` $1 `)
	chineseRule = rules(`([\x{3400}-\x{4db5}\x{4e00}-\x{9fa5}\x{9fa6}-\x{9fbb}\x{f900}-\x{fa2d}\x{fa30}-\x{fa6a}\x{fa70}-\x{fad9}\x{2001}-\x{2a6d}\x{2f81}-\x{2fa1}`+
		`\x{ff00}-\x{ffef}\x{2e80}-\x{2eff}\x{3000}-\x{303f}\x{31c0}-\x{31ef}\x{2f00}-\x{2fdf}\x{2ff0}-\x{2fff}`+
		`\x{3100}-\x{312f}\x{31a0}-\x{31bf}\x{fe10}-\x{fe1f}\x{fe30}-\x{fe4f}\x{2600}-\x{26ff}\x{2700}-\x{27bf}`+
		`\x{3200}-\x{32ff}\x{3300}-\x{33ff}])`, ` $1 `)
	ofEntities = [][2]string{{"&quot;", `"`}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}}
)

func apply(s string, rs []rule) string {
	for _, r := range rs {
		s = r.re.ReplaceAllString(s, r.to)
	}
	return s
}

func byRules(name, s string) []string {
	s = strings.TrimRightFunc(s, text.IsSpace)
	switch name {
	case "13a":
		for _, cut := range [][2]string{{"<skipped>", ""}, {"-\n", ""}, {"\n", " "}} {
			s = strings.ReplaceAll(s, cut[0], cut[1])
		}
		for _, e := range ofEntities {
			s = strings.ReplaceAll(s, e[0], e[1])
		}
		s = apply(" "+s+" ", westernRules)
	case "zh":
		s = apply(apply(strings.TrimLeftFunc(s, text.IsSpace), chineseRule), westernRules)
	case "intl":
		s = apply(s, internationalRules)
	case "char":
		s = strings.Join(strings.Split(s, ""), " ")
	}
	return strings.FieldsFunc(s, text.IsSpace)
}

func TestSplitEqualsRegularExpressions(t *testing.T) {
	used := map[string]*Tokenizer{}
	for _, name := range Names() {
		used[name] = New(name, false)
	}
	// Marks and digits in every order, with texts of all kinds.
	marks := rapid.StringOf(rapid.SampledFrom([]rune(".,-'&;/ 12ab«»€中\u3000\n")))
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(metricstest.Text(), marks).Draw(t, "text")
		for _, name := range Names() {
			got, want := splitWith(used[name], s), byRules(name, s)
			require.True(t, slices.Equal(got, want), "%s of %q = %q, want %q", name, s, got, want)
		}
	})
}

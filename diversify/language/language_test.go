package language_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/diversify/language"
)

var _ check.Detector = (*language.Detector)(nil)

// otherLanguage reports whether the language check rejects an answer.
func otherLanguage(tb testing.TB, d *language.Detector, reference, answer string) bool {
	tb.Helper()
	c, err := check.New(check.Config{Detector: d, Checks: []string{check.ReasonLanguage}})
	require.NoError(tb, err)
	r := c.Segment("", []string{reference}).Judge(check.Answer{Raw: answer, HasText: true})
	return r.Verdict == check.ReasonLanguage
}

// Scripts can be told apart without models.
func TestScripts(t *testing.T) {
	const english, chinese, russian = "The harbour was closed for two days.", "港口关闭了两天，没有船只离开。", "Порт был закрыт целых два дня."
	for _, x := range []struct{ language, reference, answer, want string }{
		{"", english, "No ship could leave the port.", ""},
		{"", english, chinese, "it is written in Han, not Latin"},
		{"", english, russian, "it is written in Cyrillic, not Latin"},
		{"", russian, english, "it is written in Latin, not Cyrillic"},
		{"", english, "港は二日間閉鎖されていました。", "it is written in Japanese, not Latin"},
		{"", "港は二日間閉鎖されていました。", "两天里港口都没有开放", "it is written in Han, not Japanese"},
		{"", chinese, "导演『龙の城』两天没有离开港口，也没有船只进入港口，暴风雨非常大，大家都在等待天气好转。", ""},
		{"", english, "ወደቡ ለሁለት ቀናት ተዘግቶ ነበር።", "it is written in Ethiopic, not Latin"},
		{"", english, "", ""},
		{"", english, "12345 67890 !?", ""},
		{"", english, "港口关", ""}, // nine letters
		{"", "Ab", russian, ""},  // the reference is too short to tell
		{"", "Порт Anna Keller Paul Moreau", "Anna Keller Paul Moreau in Lisbon", ""},
		{"ru", "r/Military on Reddit", "Здравствуйте, военные", ""}, // Russian is wanted
		{"", "r/Military on Reddit", "Здравствуйте, военные", "it is written in Cyrillic, not Latin"},
		{"zu", english, chinese, "it is written in Han, not Latin"},
		{"ha", english, "An rufe tashar jiragen ruwa na kwana biyu.", ""}, // no model knows Hausa
	} {
		d := language.New(language.Config{Language: x.language})
		assert.Equal(t, x.want, d.Beside(x.reference)(x.answer, x.answer), "%q for %q", x.answer, x.reference)
	}
	// If the other references are Russian, one that consists of names may be, too.
	d := language.New(language.Config{})
	d.Learn([]string{russian, russian})
	got := d.Beside("r/Military on Reddit")("Здравствуйте, военные", "Здравствуйте, военные")
	assert.Equal(t, "", got)
	// A whole sentence decides, whatever the other references are.
	got = d.Beside(english+" "+english)(russian, russian)
	assert.Equal(t, "it is written in Cyrillic, not Latin", got, "a Russian answer to an English sentence among Russian ones")
}

func TestSignature(t *testing.T) {
	seen := map[string]bool{}
	for _, cfg := range []language.Config{{}, {Language: "de"}, {Source: "de"}, {Models: true}} {
		seen[language.New(cfg).Signature()] = true
	}
	d := language.New(language.Config{})
	d.Learn([]string{"a"})
	d.Learn([]string{"b"}) // only the first counts
	seen[d.Signature()] = true
	same := language.New(language.Config{})
	same.Learn([]string{"a"})
	if len(seen) != 5 || same.Signature() != d.Signature() {
		t.Errorf("%q", slices.Collect(maps.Keys(seen)))
	}
	if s := language.New(language.Config{Models: true}).Signature(); !strings.HasPrefix(s, "script+"+language.ModelsName+"(") || strings.ContainsAny(s, "|\n") {
		t.Error(s)
	}
	s := d.Signature()
	assert.True(t, strings.HasPrefix(s, "script("), s)
	codes := language.Codes()
	assert.True(t, slices.IsSorted(codes) && len(codes) >= 60, "%d codes", len(codes))
}

// translations returns the texts of testdata by language, in the same order. "en" has the
// references, "en paraphrased" paraphrases of them.
func translations(t *testing.T) map[string][]string {
	t.Helper()
	b, err := os.ReadFile("testdata/translations.tsv")
	require.NoError(t, err)
	texts := map[string][]string{}
	for block := range strings.SplitSeq(strings.TrimSpace(string(b)), "\n\n") {
		english := "en"
		for line := range strings.Lines(block) {
			code, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
			if code == "en" {
				code, english = english, "en paraphrased"
			}
			texts[code] = append(texts[code], text)
		}
	}
	for code, list := range texts {
		require.Len(t, list, len(texts["en"]), "%d texts of %s", len(list), code)
	}
	return texts
}

// Nearly every translation of an English reference is rejected, whether or not the
// language of the references is given, and no paraphrase.
func TestTranslations(t *testing.T) {
	texts := translations(t)
	missed := map[string]int{"en paraphrased": 12, "ca": 2, "nl": 1}
	for _, given := range []string{"en", ""} {
		if given == "" {
			missed["ca"]++
		}
		d := language.New(language.Config{Language: given, Models: true})
		d.Learn(texts["en"])
		got, all := map[string]int{}, 0
		for code, list := range texts {
			for i, answer := range list {
				if code == "en" {
					break
				}
				all++
				if !otherLanguage(t, d, texts["en"][i], answer) {
					got[code]++
				}
			}
		}
		if diff := cmp.Diff(missed, got); diff != "" || all != 336 {
			t.Errorf("of %d answers, --language %q, missed by language (-want +got):\n%s", all, given, diff)
		}
	}
}

// How many of twelve answers in a language close to the reference's are rejected, and how
// many of 24 in its own. docs/reference/checks.md explains the result.
func TestRelatedLanguages(t *testing.T) {
	texts := translations(t)
	of := func(reference, answer string, by int) int {
		d, n := language.New(language.Config{Language: reference, Models: true}), 0
		for i, ref := range texts[reference] {
			if otherLanguage(t, d, ref, texts[answer][(i+by)%len(texts[answer])]) {
				n++
			}
		}
		return n
	}
	want := map[string]int{"de nl": 12, "nl af": 4, "nb da": 1, "es pt": 9, "fr it": 12, "cs sk": 6, "id ms": 0, "ru uk": 10}
	got := map[string]int{}
	for pair := range want {
		reference, answer, _ := strings.Cut(pair, " ")
		got[pair] = of(reference, answer, 0)
	}
	assert.Empty(t, cmp.Diff(want, got), "caught (-want +got)")
	alarms := map[string]int{}
	for _, code := range []string{"de", "es", "fi", "ru", "sl", "vi"} {
		if n := of(code, code, 1) + of(code, code, 5); n > 0 {
			alarms[code] = n
		}
	}
	assert.Empty(t, cmp.Diff(map[string]int{"sl": 4}, alarms), "false alarms (-want +got)")
}

// Without models, answers in the reference's language pass, also where it has no frequent words,
// and relatives are left undecided.
func TestWithoutModels(t *testing.T) {
	texts, others := translations(t), 0
	for reference, list := range texts {
		d := language.New(language.Config{Language: strings.TrimSuffix(reference, " paraphrased")})
		for i, ref := range list {
			for answer, of := range texts {
				caught := otherLanguage(t, d, ref, of[(i+1)%len(of)])
				if caught && (answer == reference || reference+answer == "cssk" || reference+answer == "nbda") {
					t.Errorf("%s answer to a reference in %s: %q", answer, reference, of[(i+1)%len(of)])
				} else if caught {
					others++
				}
			}
		}
	}
	assert.GreaterOrEqual(t, others, 5000)
}

// A reference that is not in the dataset's main language is detected, and answers in its
// language pass.
func TestMixedLanguages(t *testing.T) {
	texts := translations(t)
	for name, sample := range map[string][]string{"nothing": nil, "English": texts["en"], "half German": slices.Concat(texts["en"], texts["de"])} {
		d := language.New(language.Config{Models: true})
		d.Learn(sample)
		if ref := texts["de"][2]; otherLanguage(t, d, ref, texts["de"][5]) || !otherLanguage(t, d, ref, texts["fr"][2]) || name != "English" && !otherLanguage(t, d, ref, texts["en"][2]) {
			t.Errorf("where %s is known, German for a German reference is caught, or French or English is not", name)
		}
	}
}

// A Detector gives the same results when used concurrently.
func TestConcurrent(t *testing.T) {
	d := language.New(language.Config{Models: true})
	reference := "The harbour was closed for two whole days."
	answers := map[string]bool{"Порт был закрыт целых два дня.": true, "No ship could leave for forty-eight hours.": false,
		"Der Hafen war zwei Tage lang gesperrt.": true}
	var wg sync.WaitGroup
	for range 8 {
		for answer, want := range answers {
			wg.Go(func() {
				for range 5 {
					got := d.Beside(reference)(answer, answer)
					assert.Equal(t, want, (got != ""), "%q: %s", answer, got)
				}
			})
		}
	}
	wg.Wait()
}

// Texts contradict the language that is stated for them only if they surely are in another one.
func TestContradicts(t *testing.T) {
	texts := translations(t)
	delete(texts, "en paraphrased")
	for _, models := range []bool{true, false} {
		d := language.New(language.Config{Models: models})
		for code, of := range texts {
			found, _ := d.Contradicts(code, "reference", of)
			assert.Equal(t, "", found, "models %v", models)
		}
		for _, x := range []struct {
			stated, in string
			sure       bool // with the models
		}{{"de", "en", true}, {"en", "de", true}, {"pt_BR", "en", true}, {"zh", "de", true}, {"en", "ru", true}, {"sr", "en", false}} {
			if found, sure := d.Contradicts(x.stated, "reference", texts[x.in]); found == "" || models && sure != x.sure {
				t.Errorf("models %v: %s for %s: %q, %v", models, x.stated, x.in, found, sure)
			}
		}
		few := texts["en"][:3]
		found, sure := d.Contradicts("de", "reference", few)
		assert.True(t, found == "" && !sure, "three texts: %q, %v", found, sure)
	}
}

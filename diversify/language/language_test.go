package language_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/diversify/language"
)

var _ check.Detector = (*language.Detector)(nil)

func newDetector(tb testing.TB, codes ...string) *language.Detector {
	tb.Helper()
	d, err := language.New(language.Config{Languages: codes})
	if errors.Is(err, language.ErrNoModels) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

func TestDetect(t *testing.T) {
	for _, x := range []struct{ codes, text, want string }{
		{"zh en", "The harbour was closed for two days.", "en"},
		{"zh en", "港口关闭了两天，没有船只离开。", "zh"},
		{"zh en", "港口 The harbour was closed for two days 关闭了两天，没有船只离开。", ""},
		{"ru en", "Порт был закрыт целых два дня.", "ru"},
		{"ru en", "The harbour was closed.", ""}, // 19 letters
		{"ru en", "The harbours were closed.", "en"},
		{"ru en de", "Порт был закрыт целых два дня.", "ru"},
		{"ja en", "港は二日間閉鎖されていました。", "ja"},
		{"ja zh en", "港口关闭了两天没有船只离开", "zh"},
		{"en de", "", ""},
		{"en de", "12345 67890 !?", ""},
		{"en de", "Der Hafen war zwei Tage lang gesperrt.", "de"},
		{"en de", "The harbour was closed for two whole days.", "en"},
		{"en de fr", "Le port est resté fermé pendant deux jours.", "fr"},
		{"en de", "Порт был закрыт целых два дня.", ""}, // a script of none of them
	} {
		t.Run(x.codes+" "+x.text, func(t *testing.T) {
			code, sure := newDetector(t, strings.Fields(x.codes)...).Detect(x.text)
			if code != x.want || sure != (x.want != "") {
				t.Errorf("%q %v, want %q", code, sure, x.want)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	for want, cfg := range map[string]language.Config{
		"1 language":             {Languages: []string{"de", "DE"}},
		`unknown language "xx"`:  {Languages: []string{"de", "xx"}},
		"Share is 0.2":           {Languages: []string{"zh", "en"}, Share: 0.2},
		"Margin is 2":            {Languages: []string{"zh", "en"}, Margin: 2},
		"MinLetters is -1":       {Languages: []string{"zh", "en"}, MinLetters: -1},
		"there must be two":      {},
		"ISO 639-1 codes af, ar": {Languages: []string{"english", "de"}},
	} {
		if _, err := language.New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v; want one with %q", err, want)
		}
	}
}

func TestSignature(t *testing.T) {
	a, b := newDetector(t, "en", "zh", "en"), newDetector(t, "zh", "en")
	if a.Signature() != b.Signature() || !strings.HasPrefix(a.Signature(), "script(en,zh;") {
		t.Errorf("%s and %s", a.Signature(), b.Signature())
	}
	if s := newDetector(t, "en", "de").Signature(); !strings.HasPrefix(s, "lingua-go-") || strings.ContainsAny(s, "|\n") {
		t.Error(s)
	}
	if codes := language.Codes(); !slices.IsSorted(codes) || len(codes) < 60 {
		t.Errorf("%d codes", len(codes))
	}
}

// One Detector serves many at once, and says the same each time.
func TestConcurrent(t *testing.T) {
	d := newDetector(t, "en", "de")
	texts := map[string]string{"Der Hafen war zwei Tage lang gesperrt.": "de", "The harbour was closed for two whole days.": "en"}
	var wg sync.WaitGroup
	for range 8 {
		for text, want := range texts {
			wg.Go(func() {
				for range 20 {
					if code, _ := d.Detect(text); code != want {
						t.Errorf("%q is %q", text, code)
					}
				}
			})
		}
	}
	wg.Wait()
}

// Whatever the text, an answer is one of the languages.
func TestDetectProperties(t *testing.T) {
	d := newDetector(t, "ru", "en", "zh")
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		code, sure := d.Detect(text)
		if sure != slices.Contains([]string{"ru", "en", "zh"}, code) || !sure && code != "" {
			t.Fatalf("%q: %q %v", text, code, sure)
		}
	})
}

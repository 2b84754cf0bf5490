package check_test

import (
	"testing"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/diversify/language"
	"github.com/refract-eval/refract/diversify/language/lingua"
)

// How many answers of the released sets, and of people's references, are in
// another language, whether the references' is given or learned.
func TestReleasedLanguages(t *testing.T) {
	models := lingua.New()
	people := func(t *testing.T) refract.Dataset {
		spec := "mtme:" + realData(t, "mt-metrics-eval-v2", "wmt22") + "/zh-en"
		ds, err := dataset.Open(spec, dataset.Options{References: []string{"refA", "refB"}})
		if err != nil {
			t.Fatal(err)
		}
		return ds
	}
	for _, x := range []struct {
		name, language, source string
		of                     func(t *testing.T) refract.Dataset
		given, learned         int
	}{
		{"zh-en", "en", "zh", func(t *testing.T) refract.Dataset { return released(t, "zh-en", true) }, 1, 1},
		{"en-de", "de", "en", func(t *testing.T) refract.Dataset { return released(t, "en-de", true) }, 16, 16},
		{"en-ru", "ru", "en", func(t *testing.T) refract.Dataset { return released(t, "en-ru", true) }, 120, 120},
		{"zh-en refB", "en", "zh", people, 1, 1},
	} {
		t.Run(x.name, func(t *testing.T) {
			ds := x.of(t)
			var sample []string
			for s, err := range ds.Segments(t.Context()) {
				if err != nil || len(sample) == 50 {
					break
				}
				sample = append(sample, s.References[0].Value)
			}
			for cfg, want := range map[language.Config]int{{Language: x.language, Source: x.source, Models: models}: x.given, {Models: models}: x.learned} {
				d, err := language.New(cfg)
				if err != nil {
					t.Fatal(err)
				}
				d.Learn(sample)
				c, caught := newChecker(t, check.Config{Detector: d, Checks: []string{check.ReasonLanguage}}), 0
				for s, err := range ds.Segments(t.Context()) {
					if err != nil {
						t.Fatal(err)
					}
					answers := s.References[1:]
					for _, v := range s.Variants {
						answers = append(answers, v.Text)
					}
					seg := c.Segment("", []string{s.References[0].Value})
					for _, a := range answers {
						if r := seg.Judge(check.Answer{Raw: a.Value, HasText: true}); r.Verdict == check.ReasonLanguage {
							caught++
						}
					}
				}
				if caught != want {
					t.Errorf("%d caught with %+v, want %d", caught, cfg, want)
				}
			}
		})
	}
}

package language_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/refract-eval/refract/diversify/language"
	"github.com/refract-eval/refract/diversify/language/lingua"
)

// BenchmarkBeside asks about an answer by script and by models.
func BenchmarkBeside(b *testing.B) {
	const english = "The research team announced on Tuesday that the new method was in use."
	for _, x := range []struct{ name, language, answer string }{
		{"script", "", "研究小组星期二宣布，新方法已经投入使用。"},
		{"language given", "en", "On Tuesday scientists said that they now work in another way."},
		{"no language", "", "On Tuesday scientists said that they now work in another way."},
		{"short", "en", "They said so on Tuesday."},
		{"other language", "en", "Die Forschungsgruppe gab am Dienstag bekannt, dass die neue Methode genutzt wird."},
	} {
		b.Run(x.name, func(b *testing.B) {
			d := newDetector(b, language.Config{Language: x.language, Models: models})
			d.Beside(english)(x.answer, x.answer)
			for b.Loop() {
				d.Beside(english)(x.answer, x.answer)
			}
		})
	}
}

// BenchmarkModels shows the heap that the models of all languages with Latin
// letters take, and how long they load.
func BenchmarkModels(b *testing.B) {
	heap := func() float64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / 1e6
	}
	before := heap()
	d := newDetector(b, language.Config{Models: lingua.New()})
	ask := d.Beside("Good morning, ladies and gentlemen.")
	begin := time.Now()
	ask("Guten Tag, meine Damen und Herren dort.", "Guten Tag, meine Damen und Herren dort.")
	load := time.Since(begin)
	after := heap()
	for b.Loop() {
		ask("Guten Tag, meine Damen und Herren dort.", "Guten Tag, meine Damen und Herren dort.")
	}
	b.ReportMetric(after-before, "MB")
	b.ReportMetric(load.Seconds()*1e3, "ms/load")
}

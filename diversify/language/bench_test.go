package language_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/refract-eval/refract/diversify/language"
	"github.com/refract-eval/refract/diversify/language/lingua"
)

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

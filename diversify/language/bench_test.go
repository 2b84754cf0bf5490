package language_test

import (
	"runtime"
	"testing"
	"time"
)

// BenchmarkDetect tells the language of a sentence by script and by models.
func BenchmarkDetect(b *testing.B) {
	german := "Das Forschungsteam gab am 12. März bekannt, dass die neue Methode bereits in drei Krankenhäusern im Norden des Landes erprobt wurde."
	for _, x := range []struct {
		name  string
		codes []string
		text  string
	}{
		{"script", []string{"zh", "de"}, german},
		{"models", []string{"en", "de"}, german},
		{"models short", []string{"en", "de"}, german[:60]},
	} {
		b.Run(x.name, func(b *testing.B) {
			d := newDetector(b, x.codes...)
			d.Detect(x.text)
			for b.Loop() {
				d.Detect(x.text)
			}
		})
	}
}

// BenchmarkModels shows the heap that the models of English, German and French
// take, and how long they load. Only a text of fewer than 120 letters needs all
// of them.
func BenchmarkModels(b *testing.B) {
	heap := func() float64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / 1e6
	}
	before := heap()
	d := newDetector(b, "en", "de", "fr")
	begin := time.Now()
	d.Detect("Guten Tag, meine Damen und Herren dort.")
	load := time.Since(begin)
	after := heap()
	for b.Loop() {
		d.Detect("Guten Tag, meine Damen und Herren dort.")
	}
	b.ReportMetric(after-before, "MB")
	b.ReportMetric(load.Seconds()*1e3, "ms/load")
}

package ter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refract-eval/refract/metrics"
)

// dataFile returns the lines of a file of the shared data, or skips.
func dataFile(tb testing.TB, name string) []string {
	tb.Helper()
	root := os.Getenv("REFRACT_DATA")
	if root == "" {
		dir, err := os.Getwd()
		if err != nil {
			tb.Fatal(err)
		}
		for {
			if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
				break
			}
			if dir == filepath.Dir(dir) {
				tb.Skip("no go.mod above the package, so shared/data cannot be found; set REFRACT_DATA")
			}
			dir = filepath.Dir(dir)
		}
		root = filepath.Join(dir, "..", "shared", "data")
	}
	b, err := os.ReadFile(filepath.Join(root, "mt-metrics-eval-v2", filepath.FromSlash(name)))
	if os.IsNotExist(err) {
		tb.Skipf("no real data: %v; set REFRACT_DATA to the folder that holds mt-metrics-eval-v2", err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

// BenchmarkWMT22 scores 14 systems of WMT22 zh-en against refA and refB; an
// operation is a segment.
func BenchmarkWMT22(b *testing.B) {
	refs := [][]string{
		dataFile(b, "wmt22/references/zh-en.refA.txt"),
		dataFile(b, "wmt22/references/zh-en.refB.txt"),
	}
	var systems [][]string
	for _, name := range strings.Fields("AISP-SJTU DLUT HuaweiTSC JDExploreAcademy Lan-Bridge LanguageX M2M100_1.2B-B4 " +
		"NiuTrans Online-A Online-B Online-G Online-W Online-Y QUARTZ_TuneReranking") {
		systems = append(systems, dataFile(b, "wmt22/system-outputs/zh-en/"+name+".txt"))
	}
	blocks := make([]metrics.Block, len(refs[0]))
	for i := range blocks {
		for _, s := range systems {
			blocks[i].Hypotheses = append(blocks[i].Hypotheses, s[i])
		}
		for _, r := range refs {
			blocks[i].References = append(blocks[i].References, r[i])
		}
	}
	for _, o := range []Options{{}, {Normalized: true, Asian: true}} {
		b.Run(New(o).Info().Name, func(b *testing.B) {
			w := newWorkspace(o)
			var cells []float64
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				w.Load(blocks[i%len(blocks)])
				cells = w.Cells(cells[:0])
				i++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(cells)), "ns/pair")
		})
	}
}

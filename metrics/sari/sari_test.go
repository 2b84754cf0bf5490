package sari

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/internal/metricstest"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/internal/token"
)

// specs are all rules, with and without what else changes numbers.
var specs = []string{"sari", "sari:deletion=p", "sari:rules=paper", "sari:rules=paper,deletion=p,tokenize=intl", "sari:rules=hf", "sari:rules=original", "sari:rules=hf,tokenize=char,lowercase=no"}

func made(t testing.TB, spec string) metrics.Preparer {
	m, err := metrics.Registry{Factory()}.Parse(t.Context(), spec)
	require.NoError(t, err)
	return m.(metrics.Preparer)
}

func native(m metrics.Preparer, source, output string, references ...string) float64 {
	w := m.NewWorkspace().(*workspace)
	w.Load(metrics.Block{Source: source, Hypotheses: []string{output}, References: references})
	return w.Native(nil)[0]
}

// The values were computed with SARI.py (cocoxu/simplification 3557046), EASSE (feralvam/easse
// 6a4352e) and Hugging Face's evaluate (a7dd338), in the order of these specs.
var checked = []string{"sari:rules=original", "sari", "sari:deletion=p", "sari:rules=paper", "sari:rules=hf"}

func TestPublishedPrograms(t *testing.T) {
	for _, c := range []struct {
		source, output string
		references     []string
		want           []float64
	}{
		{"About 95 species are currently accepted .", "About 95 you now get in .",
			[]string{"About 95 species are currently known .", "About 95 species are now accepted .", "95 species are now accepted ."},
			[]float64{26.827824116980743, 31.350246975246975, 26.95360195360195, 31.882081425971506, 26.953601953601954}},
		{"The cat sat on the mat because the cat was tired .", "The cat sat because it was tired .",
			[]string{"The cat sat on the mat because it was tired .", "The cat was tired , so it sat ."},
			[]float64{44.952762145882616, 53.3449977991574, 50.339216095795045, 53.614320753099115, 45.919573238652184}},
		{"a b c d e", "a b c d e", []string{"a b c d e"}, []float64{100. / 3, 100. / 3, 100. / 3, 100. / 3, 100}},
		{"global", "scenarioPattern", []string{"scenarioPattern"}, []float64{100. / 6, 100. / 6, 100. / 6, 100. / 6, 100}},
	} {
		for i, spec := range checked {
			if got := native(made(t, spec), c.source, c.output, c.references...); math.Abs(got-c.want[i]) > 1e-12 {
				t.Errorf("%s of %q: %v, want %v", spec, c.output, got, c.want[i])
			}
		}
	}
}

// TestCorpus has the example of EASSE's README.
func TestCorpus(t *testing.T) {
	m := made(t, "sari")
	w := m.NewWorkspace().(*workspace)
	sum := make([]float64, size)
	for _, b := range []metrics.Block{
		{Source: "About 95 species are currently accepted.", Hypotheses: []string{"About 95 you now get in."},
			References: []string{"About 95 species are currently known.", "About 95 species are now accepted.", "95 species are now accepted."}},
		{Source: "The cat perched on the mat.", Hypotheses: []string{"Cat on mat."},
			References: []string{"The cat sat on the mat.", "The cat is on the mat.", "The cat sat."}},
	} {
		w.Load(b)
		for i, v := range w.NativeStatistics(nil, 0) {
			sum[i] += v
		}
	}
	if got, want := m.(metrics.CorpusMetric).CorpusScore(sum), 33.17472563619544; math.Abs(got-want) > 1e-12 {
		t.Errorf("EASSE's example: %v, want %v", got, want)
	}
	assert.Equal(t, "add = 6.2 keep = 24.7 delete = 68.6", m.(metrics.CorpusDetail).CorpusDetail(sum), "operations")
	for _, spec := range []string{"sari:rules=hf", "sari:rules=original"} {
		_, ok := made(t, spec).(metrics.CorpusMetric)
		assert.False(t, ok, "%s pools counts, but is a mean of sentences", spec)
	}
}

func TestEqualsPlainComputation(t *testing.T) {
	all := map[string]*workspace{} // reused for every block
	for _, spec := range specs {
		all[spec] = made(t, spec).NewWorkspace().(*workspace)
	}
	few := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(strings.Fields("a b C c d , .")), 0, 12).Draw(t, "words"), " ")
	})
	rapid.Check(t, func(t *rapid.T) {
		spec := rapid.SampledFrom(specs).Draw(t, "spec")
		b := metrics.Block{Source: few.Draw(t, "source"), Hypotheses: rapid.SliceOfN(few, 1, 4).Draw(t, "outputs"), References: rapid.SliceOfN(few, 1, 10).Draw(t, "references")}
		if rapid.Bool().Draw(t, "scripts") {
			b = metricstest.Block().Draw(t, "block")
			b.Source = rapid.SampledFrom(append(b.References, "", "The cat, 中文")).Draw(t, "source")
		}
		w := all[spec]
		w.Load(b)
		cells, together := w.Cells(nil), w.Native(nil)
		for h, output := range b.Hypotheses {
			equal(t, spec, together[h], plain(w.m, b.Source, output, b.References))
			equal(t, spec, w.m.score(w.NativeStatistics(nil, h)), together[h])
			for r, reference := range b.References {
				equal(t, spec, cells[h*len(b.References)+r], plain(w.m, b.Source, output, []string{reference}))
				equal(t, spec, w.m.score(w.CellStatistics(nil, h, r)), cells[h*len(b.References)+r])
			}
		}
	})
}

func equal(t rapid.TB, spec string, got, want float64) {
	if math.Abs(got-want) > 1e-9 {
		t.Fatalf("%s: %v, plainly %v", spec, got, want)
	}
}

// plain is SARI by maps of n-grams, as its definition reads.
func plain(m *metric, source, output string, references []string) float64 {
	sum, parts := 0.0, [3][3]float64{} // of add, keep and delete: F1 or precision, precision, recall
	for n := 1; n <= 4; n++ {
		in, out, refs := plainGrams(m, n, source), plainGrams(m, n, output), plainGrams(m, n, references...)
		keys := map[string]bool{}
		for _, c := range []map[string]float64{in, out, refs} {
			for g := range c {
				keys[g] = true
			}
		}
		var f [3][4]float64
		for g := range keys {
			r := float64(len(references))
			i, o, a := r*in[g], r*out[g], refs[g]
			all := [3][2]float64{{0, 0}, {min(i, o), min(i, a)}, {max(i-o, 0), max(i-a, 0)}}
			good := [3]float64{0, min(i, o, a), min(all[2][0], all[2][1])}
			if i == 0 {
				all[0] = [2]float64{min(o, 1), min(a, 1)}
				good[0] = min(o, a, 1)
			}
			if m.byTypes() {
				good[2] = max(i-o-a, 0)
			}
			for op := range f {
				for side := range 2 {
					of := all[op][side]
					if of > 0 && (m.byTypes() && op > 0 && side == 0 || m.rules == original && op == 1) {
						f[op][2*side] += good[op] / of
						f[op][2*side+1]++
					} else {
						f[op][2*side] += good[op]
						f[op][2*side+1] += of
					}
				}
			}
		}
		for op := range f {
			ratio := [2]float64{}
			for side := range ratio {
				if ratio[side] = f[op][2*side] / f[op][2*side+1]; f[op][2*side+1] == 0 {
					ratio[side] = map[bool]float64{true: 1}[m.rules == hf]
				}
			}
			parts[op][0] += plainPart(m, op, ratio[0], ratio[1]) / 4
			parts[op][1] += ratio[0] / 4
			parts[op][2] += ratio[1] / 4
		}
	}
	for op, p := range parts {
		if m.rules == paper {
			sum += plainPart(m, op, p[1], p[2])
		} else {
			sum += p[0]
		}
	}
	return 100 * sum / 3
}

func plainPart(m *metric, op int, precision, recall float64) float64 {
	if op == 2 && m.deletion == "p" {
		return precision
	}
	return 2 * precision * recall / max(precision+recall, 1e-300)
}

func plainGrams(m *metric, n int, texts ...string) map[string]float64 {
	out := map[string]float64{}
	for _, s := range texts {
		if !m.mixed {
			s = text.Lower(s)
		}
		var words []string
		token.New(m.split, false).Split(s, func(word []byte) { words = append(words, string(word)) })
		if len(words) == 0 && m.byTypes() {
			words = []string{""}
		}
		for i := 0; i+n <= len(words); i++ {
			out[strings.Join(words[i:i+n], " ")]++
		}
	}
	return out
}

func TestLanguages(t *testing.T) {
	chinese := metrics.InLanguage(made(t, "sari"), "zh")
	if _, ok := chinese.(metrics.CorpusMetric); !ok || !strings.Contains(chinese.Signature(metrics.Corpus).String(), "tok:zh") {
		t.Errorf("in Chinese: %s", chinese.Signature(metrics.Corpus))
	}
	got := metrics.Remarks([]metrics.Metric{made(t, "sari")}, []string{"今天的天气非常好。"})
	assert.True(t, len(got) == 1 && strings.Contains(got[0], "-l zh"), "remarks on Chinese: %q", got)
}

// TestPeer compares with what benchmarks/peers/sari_vectors.py wrote.
func TestPeer(t *testing.T) {
	path := os.Getenv("REFRACT_SARI_VECTORS")
	if path == "" {
		t.Skip("REFRACT_SARI_VECTORS is not set: make the file with benchmarks/peers/sari_vectors.py")
	}
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	compared := map[string]int{}
	in := json.NewDecoder(file)
	for in.More() {
		var row struct {
			Spec     string
			Segments []struct {
				Source, Output string
				References     []string
				Score          float64
			}
			Corpus float64
		}
		require.NoError(t, in.Decode(&row))
		m := made(t, row.Spec)
		w, sum, mean := m.NewWorkspace().(*workspace), make([]float64, size), 0.0
		for _, s := range row.Segments {
			w.Load(metrics.Block{Source: s.Source, Hypotheses: []string{s.Output}, References: s.References})
			score := w.Native(nil)[0]
			if mean += score / float64(len(row.Segments)); math.Abs(score-s.Score) > 1e-9 {
				t.Fatalf("%s: %v, the peer has %v: %q %q %q", row.Spec, score, s.Score, s.Source, s.Output, s.References)
			}
			for i, v := range w.NativeStatistics(nil, 0) {
				sum[i] += v
			}
			compared[row.Spec]++
		}
		if c, ok := m.(metrics.CorpusMetric); ok {
			mean = c.CorpusScore(sum)
		}
		if math.Abs(mean-row.Corpus) > 1e-9 {
			t.Errorf("%s: corpus %v, the peer has %v", row.Spec, mean, row.Corpus)
		}
	}
	require.NotEqual(t, 0, len(compared), "%s has no row", path)
	t.Logf("compared segments: %v", compared)
}

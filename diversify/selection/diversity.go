package selection

import (
	"math"
	"strings"

	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/bleu"
)

// Mean is the mean of a measure over segments.
type Mean struct {
	Measure  string
	Segments int   // segments that have a value
	Sum      int64 // in billionths
}

// Value returns the mean, NaN if no segment has a value.
func (m *Mean) Value() float64 { return float64(m.Sum) / 1e9 / float64(m.Segments) }

// Diversity measures the variants of segments. It skips segments with fewer than two texts,
// which have no diversity.
type Diversity struct {
	// Means are the means of distinct-1, distinct-2 and self-bleu. Distinct-n, from 0 to 1, is
	// the share of distinct word n-grams (Li et al., 2016); higher is more diverse.
	// Self-bleu is the mean BLEU, from 0 to 100, of a text against all the others (Zhu
	// et al., 2018); lower is more diverse. Words are lowercased and without
	// punctuation, and single characters in scripts without spaces; BLEU uses its own
	// tokenizer, and in those scripts single characters, too.
	Means [3]Mean

	bleu, characters metrics.NativeWorkspace
	words            [][]string
	seen             map[string]bool
}

// NewDiversity returns a Diversity of no segment.
func NewDiversity() *Diversity {
	t := &Diversity{seen: map[string]bool{}}
	for i, name := range []string{"distinct-1", "distinct-2", "self-bleu"} {
		t.Means[i].Measure = name
	}
	t.bleu, t.characters = newBLEU("13a"), newBLEU("char")
	return t
}

func newBLEU(tokenizer string) metrics.NativeWorkspace {
	m, err := bleu.New(bleu.Options{Tokenize: tokenizer})
	if err != nil {
		panic(err) // the options are constants
	}
	return m.NewWorkspace().(metrics.NativeWorkspace)
}

// Add measures the texts of a segment. Blank ones are left out.
func (d *Diversity) Add(texts []string) {
	var there []string
	d.words = d.words[:0]
	for _, s := range texts {
		if strings.TrimSpace(s) != "" {
			there = append(there, s)
			d.words = append(d.words, text.AppendWords(nil, s))
		}
	}
	if len(there) < 2 {
		return
	}
	for n := 1; n <= 2; n++ {
		clear(d.seen)
		total := 0
		for _, in := range d.words {
			for k := 0; k+n <= len(in); k++ {
				// Words contain no line feed, so different n-grams have different keys.
				d.seen[strings.Join(in[k:k+n], "\n")] = true
				total++
			}
		}
		if total > 0 {
			d.Means[n-1].add(float64(len(d.seen)) / float64(total))
		}
	}
	self := d.bleu
	if language, _ := text.Unspaced(strings.Join(there, " ")); language != "" {
		self = d.characters
	}
	sum := 0.0
	var score [1]float64
	for i, s := range there {
		self.Load(metrics.Block{Hypotheses: []string{s}, References: append(append([]string{}, there[:i]...), there[i+1:]...)})
		sum += self.Native(score[:0])[0]
	}
	d.Means[2].add(sum / float64(len(there)))
}

func (m *Mean) add(v float64) {
	m.Segments++
	m.Sum += int64(math.Round(v * 1e9))
}

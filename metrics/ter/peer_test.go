package ter

import (
	"bufio"
	"encoding/json"
	"io"
	"iter"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/refract-eval/refract/metrics"
)

// peerFile names the environment variable with the file that
// testdata/vectors.py wrote.
const peerFile = "REFRACT_SACREBLEU_VECTORS_TER"

// peerRow is a line of that file.
type peerRow struct {
	Kind    string
	Options struct {
		Normalized    bool
		NoPunct       bool `json:"no_punct"`
		Asian         bool `json:"asian_support"`
		CaseSensitive bool `json:"case_sensitive"`
	}
	Native float64

	// Of a segment.
	Hypothesis string
	References []string
	Words      []string
	Scores     []float64

	// Of a corpus: all segments with its options.
	Segments  int
	Signature string
}

func TestPeer(t *testing.T) {
	name := os.Getenv(peerFile)
	if name == "" {
		t.Skipf("%s is not set; testdata/vectors.py says how to make the file that it names", peerFile)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()

	const tolerance = 1e-9
	type system struct {
		*workspace
		sum      [2]float64
		segments int
	}
	systems := make(map[Options]*system)
	pairs, corpora, largest := 0, 0, 0.0
	compare := func(row int, what string, got, want float64) {
		d := math.Abs(got - want)
		largest = max(largest, d)
		if !(d <= tolerance) {
			t.Errorf("row %d: %s = %v, sacreBLEU has %v", row, what, got, want)
		}
	}

	dec := json.NewDecoder(bufio.NewReaderSize(f, 1<<20))
	for row := 1; ; row++ {
		var v peerRow
		if err := dec.Decode(&v); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%s: row %d: %v", name, row, err)
		}
		o := Options(v.Options)
		if systems[o] == nil {
			systems[o] = &system{workspace: newWorkspace(o)}
		}
		s := systems[o]

		if v.Kind == "corpus" {
			corpora++
			if s.segments != v.Segments {
				t.Errorf("row %d: corpus of %d segments, %d were read", row, v.Segments, s.segments)
			}
			compare(row, "corpus score", New(o).CorpusScore(s.sum[:]), v.Native)
			if !strings.Contains(v.Signature, "|"+New(o).Signature(metrics.Corpus).String()+"|version:2.6.0") {
				t.Errorf("row %d: signature %s, sacreBLEU has %s", row, New(o).Signature(metrics.Corpus), v.Signature)
			}
			continue
		}

		if got, want := strings.Join(collect(s.tokens.words(v.Hypothesis, false)), " "), strings.Join(v.Words, " "); got != want {
			t.Errorf("row %d: %+v: words of %+q = %+q, sacreBLEU has %+q", row, o, v.Hypothesis, got, want)
			continue
		}
		s.Load(metrics.Block{Hypotheses: []string{v.Hypothesis}, References: v.References})
		for r, got := range s.Cells(nil) {
			compare(row, "score", got, v.Scores[r])
			pairs++
		}
		compare(row, "native score", s.Native(nil)[0], v.Native)
		for i, x := range s.NativeStatistics(nil, 0) {
			s.sum[i] += x
		}
		s.segments++
	}
	if pairs == 0 || corpora == 0 {
		t.Fatalf("%s has %d pairs and %d corpora; write it again", name, pairs, corpora)
	}
	t.Logf("%d pairs, %d corpora, largest difference %g", pairs, corpora, largest)
}

// collect returns the words of a text as strings.
func collect(seq iter.Seq[[]byte]) []string {
	words := []string{}
	for w := range seq {
		words = append(words, string(w))
	}
	return words
}

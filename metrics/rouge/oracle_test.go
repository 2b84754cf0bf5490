package rouge

import (
	"regexp"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/internal/token"
)

// The plain way to compute ROUGE: words as strings, maps of counts, and the table of
// longest common subsequences.

var others = regexp.MustCompile(`[^a-z0-9]+`)

func plainWords(o options, s string) []string {
	s = text.Lower(s)
	var out []string
	if o.Split == "" || o.Split == token.Rouge {
		out = strings.Fields(others.ReplaceAllString(s, " "))
	} else {
		token.New(o.Split, false).Split(s, func(b []byte) { out = append(out, string(b)) })
	}
	for i, w := range out {
		if o.Stemmer && len(w) > 3 && !others.MatchString(w) {
			out[i] = string(stem([]byte(w)))
		}
	}
	return out
}

// plainScore returns precision, recall and F1.
func plainScore(o options, hyp, ref string) [3]float64 {
	var hits, inHyp, inRef int
	switch o.Kind {
	case rouge1, rouge2:
		n := map[kind]int{rouge1: 1, rouge2: 2}[o.Kind]
		h, r := grams(plainWords(o, hyp), n), grams(plainWords(o, ref), n)
		for g, c := range h {
			hits += min(c, r[g])
			inHyp += c
		}
		for _, c := range r {
			inRef += c
		}
	case rougeL:
		h, r := plainWords(o, hyp), plainWords(o, ref)
		hits, inHyp, inRef = len(plainSequence(r, h)), len(h), len(r)
	case rougeLsum:
		left := map[string]int{}
		var lines [][]string
		for line := range strings.SplitSeq(hyp, "\n") {
			lines = append(lines, plainWords(o, line))
			for _, w := range lines[len(lines)-1] {
				left[w]++
				inHyp++
			}
		}
		for line := range strings.SplitSeq(ref, "\n") {
			words := plainWords(o, line)
			inRef += len(words)
			found := map[int]bool{}
			for _, other := range lines {
				for _, i := range plainSequence(words, other) {
					found[i] = true
				}
			}
			for i := range found {
				if left[words[i]] > 0 {
					left[words[i]]--
					hits++
				}
			}
		}
	}
	if hits == 0 {
		return [3]float64{}
	}
	p, r := float64(hits)/float64(inHyp), float64(hits)/float64(inRef)
	return [3]float64{p, r, 2 * p * r / (p + r)}
}

func grams(words []string, n int) map[string]int {
	m := map[string]int{}
	for i := 0; i+n <= len(words); i++ {
		m[strings.Join(words[i:i+n], " ")]++
	}
	return m
}

// plainSequence returns the positions in ref of a longest common subsequence.
func plainSequence(ref, hyp []string) (at []int) {
	t := make([][]int, len(ref)+1)
	for i := range t {
		t[i] = make([]int, len(hyp)+1)
	}
	for i, a := range ref {
		for j, b := range hyp {
			if t[i+1][j+1] = max(t[i][j+1], t[i+1][j]); a == b {
				t[i+1][j+1] = t[i][j] + 1
			}
		}
	}
	for i, j := len(ref), len(hyp); i > 0 && j > 0; {
		switch {
		case ref[i-1] == hyp[j-1]:
			i, j = i-1, j-1
			at = append(at, i)
		case t[i][j-1] > t[i-1][j]:
			j--
		default:
			i--
		}
	}
	return at
}

// plainBlock returns the cells and the native scores of a block.
func plainBlock(o options, b metrics.Block) (cells, native []float64) {
	part := map[part]int{precision: 0, recall: 1, fMeasure: 2, "": 2}[o.Part]
	for _, h := range b.Hypotheses {
		var best [3]float64
		for i, r := range b.References {
			s := plainScore(o, h, r)
			cells = append(cells, s[part])
			if i == 0 || s[2] > best[2] {
				best = s
			}
		}
		native = append(native, best[part])
	}
	return cells, native
}

func drawOptions() *rapid.Generator[options] {
	return rapid.Custom(func(t *rapid.T) options {
		return options{
			Kind:    rapid.SampledFrom([]kind{rouge1, rouge2, rougeL, rougeLsum}).Draw(t, "kind"),
			Stemmer: rapid.Bool().Draw(t, "stemmer"),
			Part:    rapid.SampledFrom([]part{fMeasure, precision, recall}).Draw(t, "part"),
			Split:   rapid.SampledFrom(append([]string{token.Rouge, token.Rouge, token.Rouge}, token.Names()...)).Draw(t, "tokenize"),
		}
	})
}

// loaded returns a new workspace with the block.
func loaded(m *metric, b metrics.Block) *workspace {
	w := m.NewWorkspace().(*workspace)
	w.Load(b)
	return w
}

// check compares a workspace with the plain way and returns what differs.
func check(o options, w *workspace, b metrics.Block) string {
	w.Load(b)
	cells, native := plainBlock(o, b)
	if got := w.Cells(nil); !slices.Equal(got, cells) {
		return strings.Join([]string{"cells", join(got), "want", join(cells)}, " ")
	}
	if got := w.Native(nil); !slices.Equal(got, native) {
		return strings.Join([]string{"native", join(got), "want", join(native)}, " ")
	}
	return ""
}

package check_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/refract-eval/refract/diversify/check"
)

// booster fits a forest to what is known of samples: trees one after another, each to what
// those before it miss, by the loss of logistic regression.
type booster struct {
	trees, leaves int
	rate          float64
	least         int     // samples of a leaf
	squares       float64 // how much the squares of answers cost
	columns, rows float64 // the share of features, and of samples, that a tree sees
}

// leaf is one of a tree that grows: its samples, its best question, and where it came
// from.
type leaf struct {
	rows    []int32
	g, h    float64
	gain    float64
	feature int
	bin     uint8
	yes, no *leaf
}

// fit returns the table of a forest.
func (b booster) fit(samples []labelled) string {
	n := len(samples[0].x)
	cuts := make([][]float64, n)
	bins := make([][]uint8, n)
	for k := range n {
		cuts[k] = cutsOf(samples, k)
		bins[k] = make([]uint8, len(samples))
		for i, s := range samples {
			at, _ := slices.BinarySearch(cuts[k], s.x[k])
			if at < len(cuts[k]) && cuts[k][at] == s.x[k] {
				at++
			}
			bins[k][i] = uint8(at)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	sums := make([]float64, len(samples))
	g, h := make([]float64, len(samples)), make([]float64, len(samples))
	var out strings.Builder
	for range b.trees {
		var rows []int32
		for i, s := range samples {
			p := 1 / (1 + math.Exp(-sums[i]))
			g[i], h[i] = -p, p*(1-p)
			if s.yes {
				g[i]++
			}
			if random.Float64() < b.rows {
				rows = append(rows, int32(i))
			}
		}
		columns := random.Perm(n)[:int(b.columns*float64(n))]
		root := &leaf{rows: rows}
		open := []*leaf{root}
		look := func(l *leaf) { b.ask(l, columns, cuts, bins, g, h) }
		look(root)
		for len(open) < b.leaves {
			l := slices.MaxFunc(open, func(a, b *leaf) int { return cmp.Compare(a.gain, b.gain) })
			if l.gain <= 0 {
				break
			}
			l.yes, l.no = &leaf{}, &leaf{}
			for _, i := range l.rows {
				to := l.no
				if bins[l.feature][i] <= l.bin {
					to = l.yes
				}
				to.rows = append(to.rows, i)
			}
			look(l.yes)
			look(l.no)
			open = append(slices.DeleteFunc(open, func(o *leaf) bool { return o == l }), l.yes, l.no)
		}
		b.write(&out, root, cuts)
		out.WriteByte('\n')
		for i := range samples {
			l := root
			for l.yes != nil {
				if bins[l.feature][i] <= l.bin {
					l = l.yes
				} else {
					l = l.no
				}
			}
			sums[i] += b.answer(l)
		}
	}
	return out.String()
}

// cutsOf returns up to 63 values between the ones that a feature has, in four digits.
func cutsOf(samples []labelled, k int) []float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = s.x[k]
	}
	slices.Sort(values)
	var cuts []float64
	const most = 63
	for i := 1; i <= most; i++ {
		at := i * len(values) / (most + 1)
		v := values[at]
		next, _ := slices.BinarySearchFunc(values, v, func(x, v float64) int {
			if x <= v {
				return -1
			}
			return 1
		})
		if next == len(values) {
			continue
		}
		cut, err := strconv.ParseFloat(strconv.FormatFloat((v+values[next])/2, 'g', 4, 64), 64)
		if err == nil && (len(cuts) == 0 || cut > cuts[len(cuts)-1]) {
			cuts = append(cuts, cut)
		}
	}
	return cuts
}

// ask finds the question that tells most about the samples of a leaf.
func (b booster) ask(l *leaf, columns []int, cuts [][]float64, bins [][]uint8, g, h []float64) {
	for _, i := range l.rows {
		l.g += g[i]
		l.h += h[i]
	}
	worth := func(g, h float64) float64 { return g * g / (h + b.squares) }
	for _, k := range columns {
		var sumG, sumH [64]float64
		var count [64]int
		column := bins[k]
		for _, i := range l.rows {
			at := column[i] & 63
			sumG[at] += g[i]
			sumH[at] += h[i]
			count[at]++
		}
		var left, leftH float64
		below := 0
		for at := range cuts[k] {
			left, leftH, below = left+sumG[at], leftH+sumH[at], below+count[at]
			if below < b.least || len(l.rows)-below < b.least {
				continue
			}
			if gain := worth(left, leftH) + worth(l.g-left, l.h-leftH) - worth(l.g, l.h); gain > l.gain {
				l.gain, l.feature, l.bin = gain, k, uint8(at)
			}
		}
	}
}

// answer is that of a leaf, in three decimals.
func (b booster) answer(l *leaf) float64 {
	return math.Round(1000*b.rate*l.g/(l.h+b.squares)) / 1000
}

func (b booster) write(out *strings.Builder, l *leaf, cuts [][]float64) {
	if l.yes == nil {
		fmt.Fprintf(out, "%g", b.answer(l))
		return
	}
	fmt.Fprintf(out, "%d<%g ", l.feature, cuts[l.feature][l.bin])
	b.write(out, l.yes, cuts)
	out.WriteByte(' ')
	b.write(out, l.no, cuts)
}

// A forest finds what no sum of features tells: whether exactly one of two is there.
func TestBooster(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var samples []labelled
	for range 4000 {
		a, b, noise := random.Float64(), random.Float64(), random.Float64()
		samples = append(samples, labelled{x: []float64{a, b, noise}, yes: (a < 0.5) != (b < 0.3)})
	}
	table := booster{trees: 60, leaves: 8, rate: 0.2, least: 20, squares: 1, columns: 1, rows: 0.8}.fit(samples)
	f := check.ForestOf(table)
	wrong := 0
	for _, s := range samples {
		if f(s.x) > 0 != s.yes {
			wrong++
		}
	}
	if wrong > 80 {
		t.Errorf("%d of 4000 samples are told wrong", wrong)
	}
}

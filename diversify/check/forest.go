package check

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
)

//go:embed forest.txt
var forestTable string

// forest is a sum of decision trees.
type forest [][]node

// node is a question to a feature, or, where that is below 0, an answer.
type node struct {
	feature int
	value   float64 // below which the next node follows, or the answer
	other   int     // the node that follows otherwise
}

// of is the sum of the answers of all trees.
func (f forest) of(x []float64) (sum float64) {
	for _, tree := range f {
		i := 0
		for tree[i].feature >= 0 {
			if x[tree[i].feature] < tree[i].value {
				i++
			} else {
				i = tree[i].other
			}
		}
		sum += tree[i].value
	}
	return sum
}

// probability is that of which the log odds are s.
func probability(s float64) float64 { return 1 / (1 + math.Exp(-s)) }

// trusted is the forest in use.
var trusted = sync.OnceValue(func() forest { return parseForest(forestTable) })

// parseForest reads a table with a tree a line: a question to a feature as "12<0.5", what follows
// where it is true, and what follows where it is not; an answer is a number.
func parseForest(table string) (f forest) {
	for line := range strings.Lines(table) {
		var tree []node
		words := strings.Fields(line)
		var grow func()
		grow = func() {
			name, value, asks := strings.Cut(words[0], "<")
			if !asks {
				name, value = "-1", name
			}
			feature, err := strconv.Atoi(name)
			v, err2 := strconv.ParseFloat(value, 64)
			if err != nil || err2 != nil {
				panic(fmt.Sprintf("forest.txt: no node: %q", words[0]))
			}
			words = words[1:]
			at := len(tree)
			tree = append(tree, node{feature: feature, value: v})
			if asks {
				grow()
				tree[at].other = len(tree)
				grow()
			}
		}
		grow()
		f = append(f, tree)
	}
	return f
}

package metrics

import (
	"context"
	"fmt"

	"github.com/refract-eval/refract/metrics/analysis"
)

// Block is what a metric sees of one segment: the texts that are present.
// A metric never sees a missing text, and never a dataset.
type Block struct {
	Source     string   // "" unless the metric needs it
	Hypotheses []string // never empty
	References []string // empty only for a metric that needs no references
}

// Columns is the number of columns of the block's score matrix: a metric
// without references has one.
func (b Block) Columns() int { return max(1, len(b.References)) }

// Scores is the matrix of one block, hypotheses × columns, row-major. A nil
// Status means that every cell is Scored. Values of Scored cells are finite;
// those of other cells are meaningless.
type Scores struct {
	Values []float64
	Status []Status
	// Reports say how the values come about, a report a cell; nil where the
	// metric gives none, of the whole matrix or of a cell.
	Reports []*analysis.Report
}

// Direction says which way is better.
type Direction int8

// The directions.
const (
	HigherIsBetter Direction = 1
	LowerIsBetter  Direction = -1
)

// String is "higher" or "lower", the word for which scores are better.
func (d Direction) String() string {
	if d == LowerIsBetter {
		return "lower"
	}
	return "higher"
}

// Info is what a metric declares of itself.
type Info struct {
	Name            string // canonical spec, such as "bleu:tokenize=intl"
	NeedsSource     bool
	NeedsReferences bool // else the metric has one score per hypothesis
	Direction       Direction
	// Lower and Upper bound the scores, inclusively; they are infinite where
	// the metric has no such bound.
	Lower, Upper float64
}

// Level says what a number describes, where a metric's rules depend on it.
type Level uint8

// The levels.
const (
	Sentence Level = iota // one hypothesis
	Corpus                // all hypotheses of a system, by pooled statistics
)

// Metric scores hypotheses. Implementations are safe for concurrent use.
type Metric interface {
	Info() Info
	// Signature lists all that changes the metric's numbers at a level, but
	// for the references, the aggregator and the program's version, which
	// the engine adds.
	Signature(Level) Signature
	// Score returns one matrix per block. An error concerns the whole call;
	// a single cell that could not be scored has a Status instead.
	Score(ctx context.Context, blocks []Block) ([]Scores, error)
}

// Preparer is a Metric that reads each text of a segment once, and then
// answers for every pair of them. The engine prefers it to Score.
type Preparer interface {
	Metric
	// NewWorkspace returns memory for one goroutine.
	NewWorkspace() Workspace
}

// Workspace holds the prepared texts of one block. It is not safe for
// concurrent use.
type Workspace interface {
	// Load prepares the texts of b, in place of what was loaded before.
	Load(b Block)
	// Cells appends the matrix of the loaded block to dst, row-major.
	Cells(dst []float64) []float64
}

// NativeWorkspace is a Workspace whose metric has a rule of its own for
// several references.
type NativeWorkspace interface {
	Workspace
	// Native appends one score per hypothesis of the loaded block to dst.
	Native(dst []float64) []float64
}

// StatisticsWorkspace is a Workspace that gives the sufficient statistics
// which a CorpusMetric pools.
type StatisticsWorkspace interface {
	Workspace
	// CellStatistics appends those of hypothesis h against reference r.
	CellStatistics(dst []float64, h, r int) []float64
	// NativeStatistics appends those of hypothesis h against all references.
	NativeStatistics(dst []float64, h int) []float64
}

// CorpusMetric is a Preparer whose workspaces are StatisticsWorkspaces and
// whose score of a system is not the mean of its sentence scores.
type CorpusMetric interface {
	Preparer
	// CorpusScore turns the sum of statistics over segments into a score.
	CorpusScore(sum []float64) float64
}

// Selective is a Metric that can leave cells out, because each of them costs
// a call.
type Selective interface {
	Metric
	// ScoreNeeded scores as Score does, but for the cells that are not needed;
	// these have the status Unneeded.
	ScoreNeeded(ctx context.Context, blocks []Block, need Need) ([]Scores, error)
}

// Need says which cells of a matrix are needed. The zero Need asks for all.
type Need struct {
	// FirstOnly asks for the first column alone.
	FirstOnly bool
	// Stop is a score that ends a row: once a cell has it, the columns after
	// it in the order are not needed. It is nil where all are.
	Stop *float64
	// Orders says for each block in which order its columns are asked for; nil
	// is their own order, of one block or of all.
	Orders [][]int
}

// Order is the order of the columns of a block.
func (n Need) Order(block, columns int) []int {
	if block < len(n.Orders) && n.Orders[block] != nil {
		return n.Orders[block]
	}
	order := make([]int, columns)
	for c := range order {
		order[c] = c
	}
	return order
}

// CellError says at which cell of a call's blocks scoring failed.
type CellError struct {
	Block, Hypothesis, Column int
	Err                       error
}

// Error counts from 1.
func (e *CellError) Error() string {
	return fmt.Sprintf("block %d, hypothesis %d, reference %d: %v", e.Block+1, e.Hypothesis+1, e.Column+1, e.Err)
}

// Unwrap returns the cause.
func (e *CellError) Unwrap() error { return e.Err }

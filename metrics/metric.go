package metrics

import "context"

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

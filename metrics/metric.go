package metrics

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strings"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics/analysis"
)

// Block is what a metric sees of one segment: the texts that are present. A metric never
// sees a missing text or a dataset.
type Block struct {
	Source     string   // "" unless the metric needs it
	Hypotheses []string // never empty
	References []string // empty only for a metric that needs no references
}

// Columns is the number of columns of the block's score matrix: a metric
// without references has one.
func (b Block) Columns() int { return max(1, len(b.References)) }

// Scores is the matrix of one block, hypotheses × columns, row-major. A nil Status means
// that every cell is Scored. Values of Scored cells are finite; those of other cells are
// meaningless.
type Scores struct {
	Values []float64
	Status []Status
	// Reports explain the values, one report a cell; nil if the metric gives none, for the
	// whole matrix or for a cell.
	Reports []*analysis.Report
}

// Direction says which way is better.
type Direction int8

// The directions.
const (
	HigherIsBetter Direction = 1
	LowerIsBetter  Direction = -1
)

// String is "higher" or "lower", whichever scores are better.
func (d Direction) String() string {
	if d == LowerIsBetter {
		return "lower"
	}
	return "higher"
}

// ParseDirection reads what String writes.
func ParseDirection(word string) (Direction, error) {
	for _, d := range []Direction{HigherIsBetter, LowerIsBetter} {
		if word == d.String() {
			return d, nil
		}
	}
	return 0, english.Unknown("direction", text.Brief(word), []string{HigherIsBetter.String(), LowerIsBetter.String()})
}

// Info is what a metric declares about itself.
type Info struct {
	Name            string // canonical spec, such as "bleu:tokenize=intl"
	NeedsSource     bool
	NeedsReferences bool // else the metric has one score per hypothesis
	Direction       Direction
	// Lower and Upper bound the scores, inclusively; an infinite value means no bound.
	Lower, Upper float64
	// Rule says in a few words how native scores come about; "" if there are none, or if it is
	// not known.
	Rule string

	Pace     Pace // how the engine calls the metric
	Explains bool // whether scores come with reports
	// Storable says that a store may keep the scores, as they are dear and depend only on the
	// metric's name, its signature and the texts. It does not concern a [Preparer].
	Storable bool
}

// Pace says how to call a metric, such as one that mostly waits for a server. A field that
// is not positive leaves the choice to the engine.
type Pace struct {
	Batch int // segments in one call
	Calls int // calls at a time
}

// Declared makes the Info of a metric whose direction, "higher" (or "") or "lower", and
// bounds, nil for none, arrive in a message.
func Declared(direction string, lower, upper *float64) (Info, error) {
	info := Info{Lower: math.Inf(-1), Upper: math.Inf(1)}
	if lower != nil {
		info.Lower = *lower
	}
	if upper != nil {
		info.Upper = *upper
	}
	if info.Lower >= info.Upper {
		return info, fmt.Errorf("the bounds %v and %v", info.Lower, info.Upper)
	}
	var err error
	info.Direction, err = ParseDirection(cmp.Or(direction, HigherIsBetter.String()))
	return info, err
}

// Level says whether a score describes a sentence or a corpus, for metrics whose rules
// differ.
type Level uint8

// The levels.
const (
	Sentence Level = iota // one hypothesis
	Corpus                // all hypotheses of a system, by pooled statistics
)

// Needs names the texts that the metric reads besides the hypothesis, such as "source
// references".
func (i Info) Needs() string {
	var words []string
	if i.NeedsSource {
		words = append(words, "source")
	}
	if i.NeedsReferences {
		words = append(words, "references")
	}
	return strings.Join(words, " ")
}

// Metric scores hypotheses. Implementations are safe for concurrent use.
type Metric interface {
	Info() Info
	// Signature lists all that changes the metric's numbers at a level. The references, the
	// aggregator and the program's version are missing from it: the engine adds them.
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
	// Load prepares the texts of b and forgets the block loaded before.
	Load(b Block)
	// Cells appends the matrix of the loaded block to dst, row-major.
	Cells(dst []float64) []float64
}

// NativeWorkspace is a Workspace whose metric has its own rule for several references.
type NativeWorkspace interface {
	Workspace
	// Native appends one score per hypothesis of the loaded block to dst.
	Native(dst []float64) []float64
}

// NativeScorer is a Metric that is not a Preparer and may have its own rule for several
// references, such as a program's.
type NativeScorer interface {
	Metric
	// HasNative reports whether the metric has such a rule, which needs references.
	HasNative() bool
	// ScoreNative returns for each block one score per hypothesis, against all of its
	// references together. Each block has at least one.
	ScoreNative(ctx context.Context, blocks []Block) ([]Scores, error)
}

// StatisticsWorkspace is a Workspace that gives the sufficient statistics that a
// CorpusMetric pools.
type StatisticsWorkspace interface {
	Workspace
	// CellStatistics appends the statistics of hypothesis h against reference r.
	CellStatistics(dst []float64, h, r int) []float64
	// NativeStatistics appends the statistics of hypothesis h against all references.
	NativeStatistics(dst []float64, h int) []float64
}

// CorpusMetric is a Preparer whose workspaces are StatisticsWorkspaces and
// whose score of a system is not the mean of its sentence scores.
type CorpusMetric interface {
	Preparer
	// CorpusScore turns statistics summed over segments into a score.
	CorpusScore(sum []float64) float64
}

// CorpusDetail is a CorpusMetric that says what a corpus score is made of, such as
// BLEU's precisions.
type CorpusDetail interface {
	CorpusMetric
	CorpusDetail(sum []float64) string
}

// Fitter is a Metric whose scores depend on all references of a dataset, such as on how
// many segments contain an n-gram. It scores only once it is fitted.
type Fitter interface {
	Metric
	// Fitted reports whether the metric is fitted.
	Fitted() bool
	// Fit returns the metric fitted to the references of segments, one list a segment. The
	// Info stays the same; the signature gets a hash of what the metric was fitted to.
	Fit(ctx context.Context, references iter.Seq2[[]string, error]) (Metric, error)
}

// Foreseeing is a Metric that can tell what scoring will ask of servers.
type Foreseeing interface {
	Metric
	// Foresee returns a metric that scores nothing. It finds out what scoring all cells of the
	// blocks given to it would ask for.
	Foresee() Forecast
}

// Forecast is a metric that predicts the requests of another one. All its cells are
// Unneeded.
type Forecast interface {
	Metric
	// Outlook returns what was found so far.
	Outlook() Outlook
}

// Outlook is what scoring would ask of a server, given the answers that are already stored.
type Outlook struct {
	Model  string // name of the model, as used for prices
	Cells  int    // cells to score
	Stored int    // answers already stored
	Calls  int    // calls needed
	Equal  int    // cells that share the answer of another one
	// The estimated tokens of all prompts, and the largest number of tokens the answers can
	// have.
	PromptTokens, MostCompletionTokens int
}

// Close closes the metrics that are io.Closers.
func Close(ms ...Metric) error {
	var errs []error
	for _, m := range ms {
		if c, ok := m.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// BlocksError says that some blocks of a call were not scored because one of several
// requests failed. The blocks without Values among the Scores are the ones not scored.
type BlocksError struct {
	Scores []Scores
	Err    error
}

// Error returns the cause's message.
func (e *BlocksError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *BlocksError) Unwrap() error { return e.Err }

// CellError says at which cell of a call's blocks scoring failed.
type CellError struct {
	Block, Hypothesis int
	Column            int
	Err               error
}

// Error counts rows and columns from 1.
func (e *CellError) Error() string {
	return fmt.Sprintf("block %d, hypothesis %d, reference %d: %v", e.Block+1, e.Hypothesis+1, e.Column+1, e.Err)
}

// Unwrap returns the cause.
func (e *CellError) Unwrap() error { return e.Err }

// ScoreBlocks is Metric.Score for a Preparer. It looks at the context
// between blocks.
func ScoreBlocks(ctx context.Context, p Preparer, blocks []Block) ([]Scores, error) {
	w := p.NewWorkspace()
	out := make([]Scores, len(blocks))
	for i, b := range blocks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w.Load(b)
		out[i].Values = w.Cells(make([]float64, 0, len(b.Hypotheses)*b.Columns()))
	}
	return out, nil
}

// HasNative reports whether the metric has its own rule for several
// references.
func HasNative(m Metric) bool {
	switch m := m.(type) {
	case NativeScorer:
		return m.HasNative()
	case Preparer:
		_, ok := m.NewWorkspace().(NativeWorkspace)
		return ok
	}
	return false
}

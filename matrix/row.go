package matrix

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/suggest"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
)

// Native is the Aggregate of rows that hold a metric's own score against all
// references together.
const Native = "native"

// NoReference is the Reference of rows that have none.
const NoReference = -1

// Row is one row of a stored matrix. The package comment tells its columns.
type Row struct {
	ID, System, Metric string
	Aggregate          string // "" for a cell, or Native; "" is stored as null
	Reference          int    // column, or NoReference, which is stored as null
	References         int
	Score              float64 // meaningless, and stored as null, unless Status is Scored
	Status             metrics.Status
	Direction          metrics.Direction
	Signature          string
}

// The columns, as indices of the list that Columns returns.
const (
	colID = iota
	colSystem
	colMetric
	colAggregate
	colReference
	colReferences
	colScore
	colStatus
	colDirection
	colSignature
	numColumns
)

var columns = [numColumns]string{
	"id", "system", "metric", "aggregate", "reference", "references", "score", "status", "direction", "signature",
}

// Columns lists the names of a matrix's columns in their order.
func Columns() []string { return slices.Clone(columns[:]) }

// missingColumns is the error of a file or row that has seen columns only.
func missingColumns(seen []string) error {
	lacking := slices.DeleteFunc(Columns(), func(c string) bool { return slices.Contains(seen, c) })
	return fmt.Errorf("not a score matrix: no column %s; give a file that score wrote as a matrix", strings.Join(lacking, ", "))
}

func unknownColumn(name string) error {
	return errors.New(suggest.Unknown("column", text.Brief(name), columns[:]))
}

// maxReferences bounds numbers of references, so that they fit any int.
const maxReferences = math.MaxInt32

// checkText reports texts that no file can hold.
func (r *Row) checkText() error {
	for i, value := range [...]string{r.ID, r.System, r.Metric, r.Signature} {
		if !utf8.ValidString(value) {
			return fmt.Errorf("column %s: invalid UTF-8 in %s", [...]string{"id", "system", "metric", "signature"}[i], text.Quote(value))
		}
	}
	return r.check()
}

// check reports what is wrong with a row by itself, of which the texts are
// UTF-8.
func (r *Row) check() error {
	switch "" {
	case r.ID:
		return errors.New("column id is empty; every row needs one")
	case r.System:
		return errors.New("column system is empty; every row needs one")
	case r.Metric:
		return errors.New("column metric is empty; every row needs one")
	}
	if r.References < 0 || r.References > maxReferences || r.Reference < NoReference || r.Reference >= maxReferences {
		return fmt.Errorf("reference %d of %d is out of range", r.Reference, r.References)
	}
	switch {
	case r.Aggregate == Native:
		if r.Reference != NoReference {
			return fmt.Errorf("column reference is %d in a native row, where it must be null", r.Reference)
		}
	case r.Aggregate != "":
		return fmt.Errorf("column aggregate is %s: these are aggregated scores and not a matrix, in which it is null or %q", text.Quote(r.Aggregate), Native)
	case r.Reference == NoReference && r.References != 0:
		return fmt.Errorf("column references is %d in a cell without a reference, where it must be 0", r.References)
	case r.Reference != NoReference && r.References != 1:
		return fmt.Errorf("column references is %d in a cell, where it must be 1", r.References)
	}
	if r.Direction != metrics.HigherIsBetter && r.Direction != metrics.LowerIsBetter {
		return fmt.Errorf("direction %d is neither higher nor lower", r.Direction)
	}
	if !r.Status.Valid() {
		return fmt.Errorf("unknown status %d", r.Status)
	}
	if r.Status == metrics.Scored && (math.IsNaN(r.Score) || math.IsInf(r.Score, 0)) {
		return fmt.Errorf("the score is %v; a cell that could not be scored has the status %q and no score", r.Score, metrics.Failed)
	}
	return nil
}

// checkScore checks a row that was read, where the score may be null.
func checkScore(status metrics.Status, isNull bool) error {
	switch {
	case isNull && status == metrics.Scored:
		return errors.New("column score is null, but status is scored")
	case !isNull && status != metrics.Scored:
		return fmt.Errorf("column score has a number, but status is %s; it must be null then", status)
	}
	return nil
}

func parseDirection(s string) (metrics.Direction, error) {
	switch s {
	case "higher":
		return metrics.HigherIsBetter, nil
	case "lower":
		return metrics.LowerIsBetter, nil
	}
	return 0, errors.New(suggest.Unknown("direction", text.Brief(s), []string{"higher", "lower"}))
}

package matrix

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
)

// Native is the aggregate of rows that hold a metric's own score against all
// references together.
const Native = "native"

// noReference is the reference of rows that have none.
const noReference = -1

// row is one row of a matrix. The package comment tells its columns.
type row struct {
	id, system, metric string
	aggregate          string // "" for a cell, or Native; "" is stored as null
	reference          int    // column, or noReference, which is stored as null
	references         int
	score              float64 // meaningless, and stored as null, unless the status is Scored
	status             metrics.Status
	direction          metrics.Direction
	signature          string
	output, against    string // hashes of texts; "", which is stored as null, where there is none
}

// The columns, as indices of the list.
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
	colOutput
	colAgainst
	numColumns
)

var columns = [numColumns]string{
	"id", "system", "metric", "aggregate", "reference", "references", "score", "status", "direction", "signature",
	"output_hash", "reference_hash",
}

// missingColumns is the error of a file or row that has some of the columns.
func missingColumns(has func(column int) bool) error {
	var lacking []string
	for i, name := range columns {
		if !has(i) {
			lacking = append(lacking, name)
		}
	}
	err := fmt.Errorf("no column %s", strings.Join(lacking, ", "))
	if len(lacking) < numColumns && lacking[0] == columns[colOutput] {
		return fmt.Errorf("a score matrix of an earlier version: %w", err)
	}
	return &foreignError{err}
}

// hashOf is the hash of a text, and "" of a missing one.
func hashOf(t refract.Text) string {
	if !t.Valid {
		return ""
	}
	sum := sha256.Sum256([]byte(t.Value))
	return hex.EncodeToString(sum[:8])
}

// check reports what is wrong with a row by itself.
func (r *row) check() error {
	for i, value := range [...]string{r.id, r.system, r.metric, r.signature} {
		name := columns[[...]int{colID, colSystem, colMetric, colSignature}[i]]
		if value == "" && name != columns[colSignature] {
			return fmt.Errorf("column %s is empty; every row needs one", name)
		}
		if !utf8.ValidString(value) {
			return fmt.Errorf("column %s: invalid UTF-8 in %s", name, text.Quote(value))
		}
	}
	switch {
	case r.aggregate != "" && r.aggregate != Native:
		return &foreignError{fmt.Errorf("column aggregate is %s: these are aggregated scores, and in a matrix it is null or %q", text.Quote(r.aggregate), Native)}
	case r.direction != metrics.HigherIsBetter && r.direction != metrics.LowerIsBetter:
		return fmt.Errorf("direction %d is neither higher nor lower", r.direction)
	case !r.status.Valid():
		return fmt.Errorf("unknown status %d", r.status)
	case r.status == metrics.Scored && (math.IsNaN(r.score) || math.IsInf(r.score, 0)):
		return fmt.Errorf("the score is %v; a cell that could not be scored has the status %q and no score", r.score, metrics.Failed)
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

// appendLine appends the row as a line of JSON Lines.
func (r *row) appendLine(b []byte) []byte {
	orNull := func(key, value string) {
		if b = append(b, key...); value == "" {
			b = append(b, "null"...)
		} else {
			b = jsonline.AppendString(b, value)
		}
	}
	b = jsonline.AppendString(append(b, `{"id":`...), r.id)
	b = jsonline.AppendString(append(b, `,"system":`...), r.system)
	b = jsonline.AppendString(append(b, `,"metric":`...), r.metric)
	orNull(`,"aggregate":`, r.aggregate)
	if r.reference == noReference {
		b = append(b, `,"reference":null`...)
	} else {
		b = strconv.AppendInt(append(b, `,"reference":`...), int64(r.reference), 10)
	}
	b = strconv.AppendInt(append(b, `,"references":`...), int64(r.references), 10)
	if r.status == metrics.Scored {
		b = jsonline.AppendFloat(append(b, `,"score":`...), r.score)
	} else {
		b = append(b, `,"score":null`...)
	}
	b = append(append(b, `,"status":"`...), r.status.String()...)
	b = append(append(b, `","direction":"`...), r.direction.String()...)
	b = jsonline.AppendString(append(b, `","signature":`...), r.signature)
	orNull(`,"output_hash":`, r.output)
	orNull(`,"reference_hash":`, r.against)
	return append(b, '}', '\n')
}

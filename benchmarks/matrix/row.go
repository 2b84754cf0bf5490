package matrix

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
)

// Native is the aggregate of rows with a metric's own score against all references
// together.
const Native = "native"

// noReference is the reference of rows without one.
const noReference = -1

// row is one row of a matrix, as it is in files. The package comment explains the columns.
// Pointers and optional columns may be null.
type row struct {
	ID         string   `json:"id" parquet:"id,dict"`
	System     string   `json:"system" parquet:"system,dict"`
	Metric     string   `json:"metric" parquet:"metric,dict"`
	Aggregate  string   `json:"aggregate" parquet:"aggregate,dict,optional"` // "" for a cell, or Native
	Reference  *int32   `json:"reference" parquet:"reference"`               // column
	References int32    `json:"references" parquet:"references"`
	Score      *float64 `json:"score" parquet:"score"`
	Status     string   `json:"status" parquet:"status,dict"`
	Direction  string   `json:"direction" parquet:"direction,dict"`
	Signature  string   `json:"signature" parquet:"signature,dict"`
	Output     string   `json:"output_hash" parquet:"output_hash,dict,optional"`
	Against    string   `json:"reference_hash" parquet:"reference_hash,dict,optional"`

	// Of rows that were read.
	status    metrics.Status
	direction metrics.Direction
}

// schema returns the Parquet schema, whose name is the same in all files.
func schema() *parquet.Schema { return parquet.NewSchema("parquetRow", parquet.SchemaOf(row{})) }

// column returns the column of the reference, or noReference.
func (r *row) column() int {
	if r.Reference == nil {
		return noReference
	}
	return int(*r.Reference)
}

// score returns the score, 0 if there is none, and the status.
func (r *row) score() (float64, metrics.Status) {
	if r.Score == nil {
		return 0, r.status
	}
	return *r.Score, r.status
}

// hashOf returns the hash of a text, "" for a missing one.
func hashOf(t refract.Text) string {
	if !t.Valid {
		return ""
	}
	sum := sha256.Sum256([]byte(t.Value))
	return hex.EncodeToString(sum[:8])
}

// parse checks a row that was read, and reads its status and direction.
func (r *row) parse() (err error) {
	if r.status, err = metrics.ParseStatus(text.Brief(r.Status)); err != nil {
		return fmt.Errorf("column status: %w", err)
	}
	if r.direction, err = metrics.ParseDirection(r.Direction); err != nil {
		return fmt.Errorf("column direction: %w", err)
	}
	switch scored := r.status == metrics.Scored; {
	case r.Reference != nil && *r.Reference < 0 || r.References < 0:
		return fmt.Errorf("column reference is %d, and references %d; they count from 0", r.column(), r.References)
	case r.Score == nil && scored:
		return errors.New("column score is null, but status is scored")
	case r.Score != nil && !scored:
		return fmt.Errorf("column score has a number, but status is %s; it must be null then", r.status)
	}
	return r.check()
}

// check returns an error if a row is invalid by itself.
func (r *row) check() error {
	for _, c := range [][2]string{{"id", r.ID}, {"system", r.System}, {"metric", r.Metric}, {"signature", r.Signature}} {
		if c[1] == "" && c[0] != "signature" {
			return fmt.Errorf("column %s is empty; every row needs one", c[0])
		}
		if !utf8.ValidString(c[1]) {
			return fmt.Errorf("column %s: invalid UTF-8 in %s", c[0], text.Quote(c[1]))
		}
	}
	switch {
	case r.Aggregate != "" && r.Aggregate != Native:
		return &foreignError{fmt.Errorf("column aggregate is %s: these are aggregated scores, and in a matrix it is null or %q", text.Quote(r.Aggregate), Native)}
	case r.Score != nil && (math.IsNaN(*r.Score) || math.IsInf(*r.Score, 0)):
		return fmt.Errorf("the score is %v; a cell that could not be scored has the status %q and no score", *r.Score, metrics.Failed)
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
	b = jsonline.AppendString(append(b, `{"id":`...), r.ID)
	b = jsonline.AppendString(append(b, `,"system":`...), r.System)
	b = jsonline.AppendString(append(b, `,"metric":`...), r.Metric)
	orNull(`,"aggregate":`, r.Aggregate)
	if r.Reference == nil {
		b = append(b, `,"reference":null`...)
	} else {
		b = strconv.AppendInt(append(b, `,"reference":`...), int64(*r.Reference), 10)
	}
	b = strconv.AppendInt(append(b, `,"references":`...), int64(r.References), 10)
	if r.Score == nil {
		b = append(b, `,"score":null`...)
	} else {
		b = jsonline.AppendFloat(append(b, `,"score":`...), *r.Score)
	}
	b = append(append(b, `,"status":"`...), r.Status...)
	b = append(append(b, `","direction":"`...), r.Direction...)
	b = jsonline.AppendString(append(b, `","signature":`...), r.Signature)
	orNull(`,"output_hash":`, r.Output)
	orNull(`,"reference_hash":`, r.Against)
	return append(b, '}', '\n')
}

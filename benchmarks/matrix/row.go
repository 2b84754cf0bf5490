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

// row is one row of a matrix. The package comment explains the columns.
type row struct {
	id, system, metric string
	aggregate          string // "" for a cell, or Native; "" is stored as null
	reference          int    // column, or noReference, which is stored as null
	references         int
	score              float64 // meaningless, and stored as null, unless the status is Scored
	status             metrics.Status
	direction          metrics.Direction
	signature          string
	output, against    string // hashes of texts; "", which is stored as null, if there is none
}

// stored is a row as it is in files. Columns that are pointers or optional may be null.
type stored struct {
	ID         string   `json:"id" parquet:"id,dict"`
	System     string   `json:"system" parquet:"system,dict"`
	Metric     string   `json:"metric" parquet:"metric,dict"`
	Aggregate  string   `json:"aggregate" parquet:"aggregate,dict,optional"`
	Reference  *int32   `json:"reference" parquet:"reference"`
	References int32    `json:"references" parquet:"references"`
	Score      *float64 `json:"score" parquet:"score"`
	Status     string   `json:"status" parquet:"status,dict"`
	Direction  string   `json:"direction" parquet:"direction,dict"`
	Signature  string   `json:"signature" parquet:"signature,dict"`
	Output     string   `json:"output_hash" parquet:"output_hash,dict,optional"`
	Against    string   `json:"reference_hash" parquet:"reference_hash,dict,optional"`
}

// schema returns the Parquet schema, whose name is the same in all files.
func schema() *parquet.Schema { return parquet.NewSchema("parquetRow", parquet.SchemaOf(stored{})) }

// row checks and converts a row that was read.
func (s *stored) row() (row, error) {
	r := row{id: s.ID, system: s.System, metric: s.Metric, aggregate: s.Aggregate, reference: noReference, references: int(s.References),
		signature: s.Signature, output: s.Output, against: s.Against}
	if s.Reference != nil {
		r.reference = int(*s.Reference)
	}
	var err error
	if r.status, err = metrics.ParseStatus(text.Brief(s.Status)); err != nil {
		return r, fmt.Errorf("column status: %w", err)
	}
	if r.direction, err = metrics.ParseDirection(s.Direction); err != nil {
		return r, fmt.Errorf("column direction: %w", err)
	}
	switch {
	case s.Reference != nil && *s.Reference < 0 || s.References < 0:
		return r, fmt.Errorf("column reference is %d, and references %d; they count from 0", r.reference, r.references)
	case s.Score == nil && r.status == metrics.Scored:
		return r, errors.New("column score is null, but status is scored")
	case s.Score != nil && r.status != metrics.Scored:
		return r, fmt.Errorf("column score has a number, but status is %s; it must be null then", r.status)
	case s.Score != nil:
		r.score = *s.Score
	}
	return r, r.check()
}

// hashOf returns the hash of a text, "" for a missing one.
func hashOf(t refract.Text) string {
	if !t.Valid {
		return ""
	}
	sum := sha256.Sum256([]byte(t.Value))
	return hex.EncodeToString(sum[:8])
}

// check returns an error if a row is invalid by itself.
func (r *row) check() error {
	for _, c := range [][2]string{{"id", r.id}, {"system", r.system}, {"metric", r.metric}, {"signature", r.signature}} {
		if c[1] == "" && c[0] != "signature" {
			return fmt.Errorf("column %s is empty; every row needs one", c[0])
		}
		if !utf8.ValidString(c[1]) {
			return fmt.Errorf("column %s: invalid UTF-8 in %s", c[0], text.Quote(c[1]))
		}
	}
	switch {
	case r.aggregate != "" && r.aggregate != Native:
		return &foreignError{fmt.Errorf("column aggregate is %s: these are aggregated scores, and in a matrix it is null or %q", text.Quote(r.aggregate), Native)}
	case r.status == metrics.Scored && (math.IsNaN(r.score) || math.IsInf(r.score, 0)):
		return fmt.Errorf("the score is %v; a cell that could not be scored has the status %q and no score", r.score, metrics.Failed)
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

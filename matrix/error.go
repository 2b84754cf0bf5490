package matrix

import (
	"errors"
	"fmt"
)

// ErrNoCells is returned by WriteSegment for a segment without hypotheses or
// metrics: it has no row, so that a reader would not know of it.
var ErrNoCells = errors.New("no cell to write")

// Error is a fault of a stored matrix, and where it is.
type Error struct {
	File   string
	Line   int64 // of JSON Lines, from 1; 0 where unknown
	Column int64 // byte of the line, from 1; 0 where unknown
	Row    int64 // of Parquet, from 1; 0 where unknown
	Err    error
}

// Error returns "file:line: cause" or "file:line:column: cause", or "file: row n: cause" for Parquet.
func (e *Error) Error() string {
	switch {
	case e.Column > 0:
		return fmt.Sprintf("%s:%d:%d: %v", e.File, e.Line, e.Column, e.Err)
	case e.Line > 0:
		return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
	case e.Row > 0:
		return fmt.Sprintf("%s: row %d: %v", e.File, e.Row, e.Err)
	default:
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

package matrix

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/refract-eval/refract/metrics"
)

// flushSize is how many bytes a writer of JSON Lines gathers.
const flushSize = 64 << 10

// NewJSONLWriter returns a Writer of JSON Lines: UTF-8, one object a line,
// all columns in order.
func NewJSONLWriter(w io.Writer) Writer {
	return &jsonlWriter{w: w, buf: make([]byte, 0, flushSize+flushSize/4)}
}

type jsonlWriter struct {
	w      io.Writer
	buf    []byte
	rows   int64
	err    error
	closed bool
}

func (w *jsonlWriter) Write(r *Row) error {
	if w.err != nil {
		return w.err
	}
	if w.closed {
		return errClosed
	}
	w.rows++
	if err := r.check(); err != nil {
		w.err = fmt.Errorf("row %d: %w", w.rows, err)
		return w.err
	}
	w.buf = appendRow(w.buf, r)
	if len(w.buf) >= flushSize {
		return w.flush()
	}
	return nil
}

func (w *jsonlWriter) flush() error {
	_, w.err = w.w.Write(w.buf)
	w.buf = w.buf[:0]
	return w.err
}

func (w *jsonlWriter) Close() error {
	if w.closed || w.err != nil {
		return w.err
	}
	w.closed = true
	return w.flush()
}

// appendRow appends the line of a row that was checked.
func appendRow(b []byte, r *Row) []byte {
	b = appendString(append(b, `{"id":`...), r.ID)
	b = appendString(append(b, `,"system":`...), r.System)
	b = appendString(append(b, `,"metric":`...), r.Metric)
	if r.Aggregate == "" {
		b = append(b, `,"aggregate":null`...)
	} else {
		b = appendString(append(b, `,"aggregate":`...), r.Aggregate)
	}
	if r.Reference == NoReference {
		b = append(b, `,"reference":null`...)
	} else {
		b = strconv.AppendInt(append(b, `,"reference":`...), int64(r.Reference), 10)
	}
	b = strconv.AppendInt(append(b, `,"references":`...), int64(r.References), 10)
	if r.Status == metrics.Scored {
		b = appendFloat(append(b, `,"score":`...), r.Score)
	} else {
		b = append(b, `,"score":null`...)
	}
	b = append(append(b, `,"status":"`...), r.Status.String()...)
	b = append(append(b, `","direction":"`...), r.Direction.String()...)
	b = appendString(append(b, `","signature":`...), r.Signature)
	return append(b, '}', '\n')
}

// appendFloat writes the shortest number that reads as f, the way
// encoding/json does.
func appendFloat(b []byte, f float64) []byte {
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		b = strconv.AppendFloat(b, f, 'e', -1, 64)
		if n := len(b); b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' { // e-09 is e-9
			b[n-2] = b[n-1]
			b = b[:n-1]
		}
		return b
	}
	return strconv.AppendFloat(b, f, 'f', -1, 64)
}

const hexDigits = "0123456789abcdef"

// appendString writes valid UTF-8 the way encoding/json does without its
// escapes for HTML.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		size := 1
		var escape []byte
		switch c {
		case '"', '\\':
			escape = []byte{'\\', c}
		case '\b':
			escape = []byte(`\b`)
		case '\f':
			escape = []byte(`\f`)
		case '\n':
			escape = []byte(`\n`)
		case '\r':
			escape = []byte(`\r`)
		case '\t':
			escape = []byte(`\t`)
		default:
			if c < ' ' {
				escape = []byte{'\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15]}
				break
			}
			var r rune
			r, size = utf8.DecodeRuneInString(s[i:])
			if r != '\u2028' && r != '\u2029' { // line ends to JavaScript
				i += size
				continue
			}
			escape = []byte{'\\', 'u', '2', '0', '2', hexDigits[r&15]}
		}
		b = append(append(b, s[from:i]...), escape...)
		i += size
		from = i
	}
	return append(append(b, s[from:]...), '"')
}

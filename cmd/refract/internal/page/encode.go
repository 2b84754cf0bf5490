package page

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/gzip"

	"github.com/refract-eval/refract"
)

// chunkBytes is the size of a block of segments as JSON, before compression: small enough
// to open a segment within milliseconds, large enough for gzip to find repeats.
const chunkBytes = 192 << 10

// block is an element of data.
type block struct {
	kind string
	data []byte
}

// packer returns a function, for several goroutines, that writes an element: as gzip in base64, in
// which no text can end it. Browsers neither run nor show scripts of an unknown type, and no policy
// applies to them.
func packer() func(block) ([]byte, error) {
	idle := sync.Pool{New: func() any { return gzip.NewWriter(nil) }} // each takes a megabyte
	return func(b block) ([]byte, error) {
		w := idle.Get().(*gzip.Writer)
		defer idle.Put(w)
		var packed bytes.Buffer
		w.Reset(&packed)
		if _, err := w.Write(b.data); err != nil {
			return nil, err
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		out := fmt.Appendf(nil, "<script type=\"text/plain\" data-block=\"%s\">", b.kind)
		return append(base64.StdEncoding.AppendEncode(out, packed.Bytes()), "</script>\n"...), nil
	}
}

// asData are the options with which segments are encoded.
var asData = json.JoinOptions(jsontext.EscapeForHTML(true), jsontext.EscapeForJS(true), jsontext.AllowInvalidUTF8(true),
	json.WithMarshalers(json.MarshalToFunc(func(e *jsontext.Encoder, t refract.Text) error {
		if !t.Valid {
			return e.WriteToken(jsontext.Null)
		}
		return e.WriteToken(jsontext.String(t.Value))
	})))

// Number is a float that the page's data keep with six digits; NaN becomes null.
type Number float64

// MarshalJSONTo writes the number.
func (n Number) MarshalJSONTo(e *jsontext.Encoder) error {
	return e.WriteValue(appendNumber(e.AvailableBuffer(), float64(n)))
}

// Numbers are several of them; nil becomes null.
type Numbers []float64

// MarshalJSONTo writes a list.
func (n Numbers) MarshalJSONTo(e *jsontext.Encoder) error {
	if n == nil {
		return e.WriteToken(jsontext.Null)
	}
	b := append(e.AvailableBuffer(), '[')
	for i, f := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendNumber(b, f)
	}
	return e.WriteValue(append(b, ']'))
}

func appendNumber(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "null"...)
	case math.IsInf(f, 1):
		return append(dst, "1e999"...) // which JavaScript reads as Infinity
	case math.IsInf(f, -1):
		return append(dst, "-1e999"...)
	}
	return strconv.AppendFloat(dst, f, 'g', 6, 64)
}

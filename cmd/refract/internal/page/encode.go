package page

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"math"
	"strconv"

	"github.com/klauspost/compress/gzip"
)

// chunkBytes is the size of a block of segments as JSON, before compression: small enough
// to open a segment within milliseconds, large enough for gzip to find repeats.
const chunkBytes = 192 << 10

// blocks writes data as gzip in base64, in which no text can end the element. Browsers
// neither run nor show scripts of an unknown type, and no policy applies to them.
type blocks struct {
	w      *bufio.Writer // fails at the end if it ever did
	packed bytes.Buffer
	gzip   *gzip.Writer
}

func newBlocks(w *bufio.Writer) *blocks { return &blocks{w: w, gzip: gzip.NewWriter(nil)} }

func (b *blocks) write(kind string, data []byte) error {
	b.packed.Reset()
	b.gzip.Reset(&b.packed)
	if _, err := b.gzip.Write(data); err != nil {
		return err
	}
	if err := b.gzip.Close(); err != nil {
		return err
	}
	fmt.Fprintf(b.w, "<script type=\"text/plain\" data-block=\"%s\">", kind)
	enc := base64.NewEncoder(base64.StdEncoding, b.w)
	enc.Write(b.packed.Bytes())
	enc.Close()
	_, err := b.w.WriteString("</script>\n")
	return err
}

// Number is a float that the page's data keep with six digits; NaN becomes null.
type Number float64

// MarshalJSON writes the number.
func (n Number) MarshalJSON() ([]byte, error) { return appendNumber(nil, float64(n)), nil }

// Numbers are several of them; nil becomes null.
type Numbers []float64

// MarshalJSON writes a list.
func (n Numbers) MarshalJSON() ([]byte, error) {
	if n == nil {
		return []byte("null"), nil
	}
	b := []byte{'['}
	for i, f := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendNumber(b, f)
	}
	return append(b, ']'), nil
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

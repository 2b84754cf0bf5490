package page

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// chunkBytes is how much JSON, before compression, one block of segments
// holds: small enough that a reader who opens a segment waits for a few
// milliseconds, large enough that gzip finds what repeats.
const chunkBytes = 192 << 10

// blocks writes data that no browser runs or shows: gzip in base64, in which no
// text can end the element. Scripts of an unknown type are not executed, and no
// policy concerns them.
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

// The JSON of a block of segments. Scores of outputs are not here but in the
// columns, as the list is sorted by them.
type (
	segmentJSON struct {
		ID         string          `json:"id"`
		Document   string          `json:"document,omitempty"`
		Source     *string         `json:"source"`
		References []referenceJSON `json:"references"`
		Outputs    []outputJSON    `json:"outputs"`
	}
	referenceJSON struct {
		Text   *string `json:"text"`
		Detail string  `json:"detail,omitempty"`
	}
	outputJSON struct {
		Text    *string        `json:"text"`
		Cells   []sixDigitList `json:"cells,omitempty"`
		Matches []matchJSON    `json:"matches,omitempty"`
		Reports []reportJSON   `json:"reports,omitempty"`
	}
	matchJSON struct {
		Reference   int   `json:"reference"`
		InOutput    []int `json:"output"` // start, end, order, start, …
		InReference []int `json:"in"`
	}
	reportJSON struct {
		Judge   string      `json:"judge"`
		Outcome string      `json:"outcome"`
		Score   sixDigits   `json:"score"`
		Errors  []errorJSON `json:"errors,omitempty"`
		Notes   []string    `json:"notes,omitempty"`
	}
	errorJSON struct {
		Span        [2]int    `json:"span"`
		Location    string    `json:"location,omitempty"`
		Type        string    `json:"type,omitempty"`
		Severity    string    `json:"severity,omitempty"`
		Explanation string    `json:"explanation,omitempty"`
		Penalty     sixDigits `json:"penalty"`
	}
)

// sixDigits is a float of which six digits are kept, null for a NaN.
type sixDigits float64

func (n sixDigits) MarshalJSON() ([]byte, error) { return appendNumber(nil, float64(n)), nil }

// sixDigitList are floats; nil is null.
type sixDigitList []float64

func (n sixDigitList) MarshalJSON() ([]byte, error) {
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

func (t Text) json() *string {
	if !t.Valid {
		return nil
	}
	return &t.Value
}

func flatten(grams []Gram) []int {
	out := make([]int, 0, 3*len(grams))
	for _, g := range grams {
		out = append(out, g.Start, g.End, g.N)
	}
	return out
}

// appendSegment appends the JSON of a segment.
func appendSegment(dst []byte, s *Segment) ([]byte, error) {
	out := segmentJSON{
		ID: s.ID, Document: s.Document, Source: s.Source.json(),
		References: make([]referenceJSON, len(s.References)), Outputs: make([]outputJSON, len(s.Outputs)),
	}
	for i, r := range s.References {
		out.References[i] = referenceJSON{Text: r.Text.json(), Detail: r.Detail}
	}
	for i := range s.Outputs {
		o := &s.Outputs[i]
		j := &out.Outputs[i]
		j.Text = o.Text.json()
		for _, row := range o.Cells {
			j.Cells = append(j.Cells, sixDigitList(row))
		}
		for _, m := range o.Matches {
			j.Matches = append(j.Matches, matchJSON{m.Reference, flatten(m.InOutput), flatten(m.InReference)})
		}
		for _, r := range o.Reports {
			rj := reportJSON{Judge: r.Judge, Outcome: r.Outcome, Score: sixDigits(r.Score), Notes: r.Notes}
			for _, e := range r.Errors {
				rj.Errors = append(rj.Errors, errorJSON{
					[2]int{e.Span.Start, e.Span.End}, e.Location, e.Type, e.Severity, e.Explanation, sixDigits(e.Penalty)})
			}
			j.Reports = append(j.Reports, rj)
		}
	}
	b, err := json.Marshal(out)
	return append(dst, b...), err
}

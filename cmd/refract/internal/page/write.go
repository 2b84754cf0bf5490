package page

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html"
	"html/template"
	"io"
	"iter"
	"regexp"

	"github.com/go-json-experiment/json"
)

//go:embed assets
var assets embed.FS

// scripts are the parts of the page's script, in order.
var scripts = []string{"dom.js", "data.js", "tables.js", "measures.js", "marks.js", "rows.js", "list.js", "detail.js", "main.js"}

// forPeople matches indents and comments, which the page does not need.
var forPeople = regexp.MustCompile(`(?m)^[ \t]*(?:(?://.*|/\*.*\*/)\n)?[ \t]*`)

// asset returns an embedded file as it stands in a page. It panics if there is none, which
// tests would notice.
func asset(name string) string {
	b, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err)
	}
	return forPeople.ReplaceAllString(string(b), "")
}

// policy returns the content security policy: this script, this style, embedded images and
// nothing else.
func policy(script, style string) string {
	return "default-src 'none'; script-src " + source(script) + "; style-src " + source(style) +
		"; img-src data:; base-uri 'none'; form-action 'none'"
}

// policyElement returns the element that states a policy.
func policyElement(rule string) template.HTML {
	return template.HTML(`<meta http-equiv="Content-Security-Policy" content="` + html.EscapeString(rule) + `">`)
}

// source returns the name by which a policy allows an element with this content.
func source(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Write writes the document as one HTML file. The same document gives the same
// bytes. Segments are taken one at a time; memory grows only by a few bytes per
// score. Errors name the segment, or come from Segments,
// w or ctx; the page is then incomplete.
func Write(ctx context.Context, w io.Writer, d *Document) error {
	out := bufio.NewWriterSize(w, 64<<10)
	v, err := newView(d)
	if err != nil {
		return err
	}
	if err := templates(d.Terms).ExecuteTemplate(out, "page", v); err != nil {
		return err
	}
	if d.Explorer != nil {
		if err := d.Explorer.write(ctx, out); err != nil {
			return err
		}
	}
	out.WriteString("<script>" + v.Script + "</script>\n</body>\n</html>\n")
	return out.Flush() // tells of any write that failed
}

// write writes the blocks of data: the segments as they come, and then the columns of the
// list.
func (e *Explorer) write(ctx context.Context, w *bufio.Writer) error {
	if e.packed != nil {
		_, err := w.Write(e.packed)
		return err
	}
	for packed, err := range InOrder(ctx, e.blocks(ctx), packer()) {
		if err != nil {
			return err
		}
		if _, err := w.Write(packed); err != nil {
			return err
		}
	}
	return nil
}

// blocks yields the segments as JSON, several at a time, and then what the list needs.
func (e *Explorer) blocks(ctx context.Context) iter.Seq2[block, error] {
	type encoded struct {
		*Segment
		json []byte
	}
	return func(yield func(block, error) bool) {
		cols, chunk := newColumns(e), []byte{'['}
		held, n := 0, 0
		flush := func() bool {
			cols.chunks = append(cols.chunks, held)
			chunk[len(chunk)-1] = ']' // instead of a comma
			going := yield(block{"segments", chunk}, nil)
			chunk, held = append(make([]byte, 0, len(chunk)), '['), 0
			return going
		}
		for s, err := range InOrder(ctx, e.Segments, func(s *Segment) (encoded, error) {
			b, err := json.Marshal(s, asData)
			return encoded{s, b}, err
		}) {
			if n++; err == nil && !cols.add(s.Segment) {
				err = fmt.Errorf("id %q: more than %d domains or references", s.ID, maxIndex)
			}
			if err != nil {
				yield(block{}, fmt.Errorf("segment %d: %w", n, err))
				return
			}
			held++
			chunk = append(append(chunk, s.json...), ',')
			if len(chunk) > chunkBytes && !flush() {
				return
			}
		}
		if held > 0 && !flush() {
			return
		}
		header, err := cols.header(e)
		if yield(block{"header", header}, err) {
			yield(block{"columns", cols.bytes()}, nil)
		}
	}
}

// Pack takes the segments and keeps what a page says of them, of which it returns the bytes. Errors
// are those of Write.
func (e *Explorer) Pack(ctx context.Context) (int, error) {
	var packed bytes.Buffer
	w := bufio.NewWriter(&packed)
	err := e.write(ctx, w)
	w.Flush() // to memory
	e.Segments, e.packed = nil, packed.Bytes()
	return len(e.packed), err
}

package dataset

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/text"
)

// webnlgEntry is an entry of the data set's own XML:
//
//	<entry category="…" eid="Id1"><modifiedtripleset><mtriple>…</mtriple>
//	</modifiedtripleset><lex lang="en">…</lex></entry>
type webnlgEntry struct {
	Category string   `xml:"category,attr"`
	ID       string   `xml:"eid,attr"`
	Triples  []string `xml:"modifiedtripleset>mtriple"`
	Lex      []struct {
		Lang string `xml:"lang,attr"`
		Text string `xml:",chardata"`
	} `xml:"lex"`
}

// readWebNLGXML reads the entries, whose ids must be Id1, Id2 and so on, in
// any order.
func readWebNLGXML(path, language string, warn func(Warning)) ([]*refract.Segment, error) {
	b, err := readFile(path)
	if err == nil {
		b, err = checkText(path, b, warn)
	}
	if err != nil {
		return nil, err
	}
	return parseWebNLGXML(path, b, language)
}

func parseWebNLGXML(path string, b []byte, language string) ([]*refract.Segment, error) {
	d := xml.NewDecoder(bytes.NewReader(b))
	at := func() refract.Position {
		line, _ := d.InputPos()
		return refract.Position{File: path, Line: line}
	}
	byNumber := map[int]*refract.Segment{}
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, xmlError(at(), err)
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "entry" {
			continue
		}
		pos := at()
		var e webnlgEntry
		if err := d.DecodeElement(&e, &start); err != nil {
			return nil, xmlError(at(), err)
		}
		digits, _ := strings.CutPrefix(e.ID, "Id")
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 || byNumber[n] != nil {
			return nil, failAt(pos, 0, "the entry has the eid %s; want Id1, Id2 and so on, each once", text.Quote(e.ID))
		}
		for i, t := range e.Triples {
			e.Triples[i] = text.Trim(t)
		}
		s := &refract.Segment{ID: strconv.Itoa(n), Domain: e.Category, Source: refract.NewText(strings.Join(e.Triples, "\n")), Pos: pos}
		for _, l := range e.Lex {
			if l.Lang == "" || l.Lang == language {
				s.References = append(s.References, refract.NewText(text.Trim(l.Text)))
			}
		}
		byNumber[n] = s
	}
	segments := make([]*refract.Segment, len(byNumber))
	for i := range segments {
		if segments[i] = byNumber[i+1]; segments[i] == nil {
			return nil, failFile(path, "has %d entries, but none with the eid Id%d", len(byNumber), i+1)
		}
	}
	return segments, nil
}

// xmlError places an error of the decoder, which tells the line too.
func xmlError(pos refract.Position, err error) error {
	var s *xml.SyntaxError
	if errors.As(err, &s) {
		return failAt(refract.Position{File: pos.File, Line: s.Line}, 0, "bad XML: %s", s.Msg)
	}
	return failAt(pos, 0, "bad XML: %w", err)
}

package dataset

import (
	"bytes"
	"strings"

	"github.com/refract-eval/refract"
)

// skim takes from a line of JSON what identifies the references of a segment, and its id, source
// and language. It passes over the rest, and verifies nothing, as another process reads the line;
// the JSON library takes three times as long. It returns nil if it cannot read the line.
func skim(line []byte, pos refract.Position) *refract.Segment {
	s := &refract.Segment{Pos: pos, References: make([]refract.Text, 0, 16)}
	var id, language refract.Text
	var field, inner []byte // keys of the segment, and of an object in one of its lists
	depth := 0
	for i := 0; i < len(line); {
		start := i
		switch c := line[i]; {
		case c == '"':
			if i += quotedEnd(line[i:]); i == start {
				return nil
			}
		case c == '{', c == '[':
			depth++
			i++
			continue
		case c == '}', c == ']':
			depth--
			i++
			continue
		case c == ' ', c == '\t', c == '\r', c == '\n', c == ',', c == ':':
			i++
			continue
		default:
			for i < len(line) && strings.IndexByte(" \t\r\n,:]}", line[i]) < 0 {
				i++
			}
		}
		token := line[start:i]
		after := i
		for after < len(line) && line[after] <= ' ' {
			after++
		}
		if after < len(line) && line[after] == ':' {
			switch escaped := bytes.IndexByte(token, '\\') >= 0; {
			case depth == 1 && escaped:
				return nil
			case depth == 1:
				field = token
			case depth == 3:
				inner = token
			}
			continue
		}
		var to *refract.Text
		switch string(field) {
		case `"id"`:
			to = &id
		case `"source"`:
			to = &s.Source
		case `"language"`:
			to = &language
		case `"references"`:
			if depth == 2 {
				s.References = append(s.References, refract.Text{})
				to = &s.References[len(s.References)-1]
			}
		case `"variants"`:
			if depth == 3 && string(inner) == `"text"` {
				s.Variants = append(s.Variants, refract.Variant{})
				to = &s.Variants[len(s.Variants)-1].Text
			}
		}
		switch {
		case to == nil:
		case token[0] == '"':
			*to = refract.NewText(unquoted(token))
		case to == &id:
			id = refract.NewText(string(token))
		case string(token) != "null":
			return nil
		}
	}
	if s.ID, s.Language = id.Value, language.Value; depth != 0 || s.ID == "" {
		return nil
	}
	return s
}

// quotedEnd returns how long the string is that begins here, with its quotes; 0 if it has no end.
func quotedEnd(b []byte) int {
	for end := 1; ; {
		n := bytes.IndexByte(b[end:], '"')
		if n < 0 {
			return 0
		}
		end += n + 1
		escapes := end - 2
		for b[escapes] == '\\' { // at the latest the first quote is none
			escapes--
		}
		if (end-escapes)%2 == 0 {
			return end
		}
	}
}

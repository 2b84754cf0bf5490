package acceptance

import (
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

var placeholder = regexp.MustCompile(`\{(answer|second|reference|other)((?:\|[a-z]+(?: \d+)?)*)\}`)

// changes are what may be done to a text.
var changes = map[string]func(text string, n int) string{
	// json writes the inside of a JSON string.
	"json": func(s string, _ int) string {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(s); err != nil {
			return s
		}
		return inner(strings.TrimSpace(b.String()))
	},
	// ascii writes what is not ASCII as JSON's escapes.
	"ascii":   func(s string, _ int) string { return inner(strconv.QuoteToASCII(s)) },
	"html":    func(s string, _ int) string { return html.EscapeString(s) },
	"numeric": func(s string, _ int) string { return each(s, numeric) },
	"decimal": func(s string, _ int) string {
		return each(s, func(r rune) string { return fmt.Sprintf("&#%d;", r) })
	},
	// single escapes for Python's single quotes.
	"single": func(s string, _ int) string { return strings.ReplaceAll(s, "'", `\'`) },
	// zwsp puts a zero-width space behind every space.
	"zwsp": func(s string, _ int) string { return between(s, "\u200b") },
	"zwj":  func(s string, _ int) string { return between(s, "\u200d") },
	"bom":  func(s string, _ int) string { return between(s, "\ufeff") },
	"join": func(s string, _ int) string { return between(s, "\u2060") },
	"nbsp": func(s string, _ int) string { return strings.ReplaceAll(s, " ", "\u00a0") },
	"thin": func(s string, _ int) string { return strings.ReplaceAll(s, " ", "\u2009") },
	"wide": func(s string, _ int) string { return strings.ReplaceAll(s, " ", "\u3000") },
	"shy":  func(s string, _ int) string { return within(s, "\u00ad") },
	// cut leaves n per cent of the characters.
	"cut": func(s string, n int) string {
		r := []rune(s)
		return strings.TrimSpace(string(r[:len(r)*n/100]))
	},
	// tail leaves the last n per cent.
	"tail": func(s string, n int) string {
		r := []rune(s)
		return strings.TrimSpace(string(r[len(r)-len(r)*n/100:]))
	},
	"words":  func(s string, n int) string { f := strings.Fields(s); return strings.Join(f[:min(n, len(f))], " ") },
	"repeat": func(s string, n int) string { return strings.TrimSpace(strings.Repeat(s+" ", n)) },
	// latin reads the bytes of UTF-8 as Latin-1.
	"latin":  func(s string, _ int) string { return bytewise(s) },
	"bold":   func(s string, n int) string { return around(s, n, "**", "**") },
	"italic": func(s string, n int) string { return around(s, n, "*", "*") },
	"tag":    func(s string, n int) string { return around(s, n, "<b>", "</b>") },
	// emoji puts one behind the n-th word.
	"emoji": func(s string, n int) string { return around(s, n, "🎉 ", "") },
	// split and what follows set every sentence on a line of its own.
	"split":      func(s string, _ int) string { return strings.ReplaceAll(s, ". ", ".\n") },
	"paragraphs": func(s string, _ int) string { return strings.ReplaceAll(s, ". ", ".\n\n") },
	"items":      func(s string, _ int) string { return "- " + strings.ReplaceAll(s, ". ", ".\n- ") },
	"numbered": func(s string, _ int) string {
		lines := strings.Split(strings.ReplaceAll(s, ". ", ".\n"), "\n")
		for i, l := range lines {
			lines[i] = fmt.Sprintf("%d. %s", i+1, l)
		}
		return strings.Join(lines, "\n")
	},
	"spaced":  func(s string, _ int) string { return strings.Join(strings.Split(s, ""), " ") },
	"reverse": func(s string, _ int) string { return reverse(s) },
	"glue":    func(s string, _ int) string { return strings.ReplaceAll(s, " ", "") },
	"swap":    func(s string, _ int) string { return swap(s) },
}

// fill makes an Item of a base.
func (w wording) fill(b, other Base) (item Item, err error) {
	texts := map[string]string{"answer": b.Answer, "second": b.Second, "reference": b.Reference, "other": other.Answer}
	fill := func(template string) string {
		return placeholder.ReplaceAllStringFunc(template, func(p string) string {
			m := placeholder.FindStringSubmatch(p)
			s := texts[m[1]]
			for _, c := range strings.Split(m[2], "|")[1:] {
				name, count, _ := strings.Cut(c, " ")
				change, n := changes[name], 0
				if change == nil {
					err = fmt.Errorf("nothing is known of %q in %s", name, p)
					return p
				}
				if count != "" {
					n, _ = strconv.Atoi(count)
				}
				s = change(s, n)
			}
			return s
		})
	}
	item = Item{Language: b.Language, Reference: b.Reference, Raw: fill(w.Text), Finish: w.Finish, Usable: !w.Unusable}
	if item.Usable {
		item.Want = b.Answer
		switch {
		case w.Want != "":
			item.Want = fill(w.Want)
		case w.Reference != "":
			item.Want = item.Raw
		}
	}
	return item, err
}

// inner takes the quotes off.
func inner(quoted string) string { return quoted[1 : len(quoted)-1] }

func each(s string, change func(r rune) string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteString(change(r))
	}
	return b.String()
}

func numeric(r rune) string {
	if r < unicode.MaxASCII && r != '"' && r != '\'' && r != '&' && r != ',' {
		return string(r)
	}
	return fmt.Sprintf("&#x%X;", r)
}

// between puts a mark behind spaces, and behind every fifth character where
// there are none.
func between(s, mark string) string {
	if strings.Count(s, " ") > 1 {
		return strings.ReplaceAll(s, " ", " "+mark)
	}
	return within(s, mark)
}

// within puts a mark into words.
func within(s, mark string) string {
	n := 0
	return each(s, func(r rune) string {
		if !unicode.IsLetter(r) {
			n = 0
			return string(r)
		}
		if n++; n%5 == 0 {
			return mark + string(r)
		}
		return string(r)
	})
}

// around puts marks around two words from the n-th, or around some characters
// where words have no spaces between them.
func around(s string, n int, open, end string) string {
	f := strings.Split(s, " ")
	if len(f) >= n+2 {
		f[n], f[n+1] = open+f[n], f[n+1]+end
		return strings.Join(f, " ")
	}
	r := []rune(s)
	if len(r) < n+4 {
		return open + s + end
	}
	return string(r[:n]) + open + string(r[n:n+2]) + end + string(r[n+2:])
}

func bytewise(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		b.WriteRune(rune(c))
	}
	return b.String()
}

func reverse(s string) string {
	var b strings.Builder
	r := []rune(s)
	for i := range r {
		b.WriteRune(r[len(r)-1-i])
	}
	return b.String()
}

// swap puts every second word in front of the one before, in lower case.
func swap(s string) string {
	f := strings.Fields(strings.ToLower(s))
	for i := 0; i+1 < len(f); i += 2 {
		f[i], f[i+1] = f[i+1], f[i]
	}
	return strings.Join(f, " ")
}

package check

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// unjson takes the rewriting out of JSON, or of what looks like it: of all
// strings that are no names, the one that corresponds to the reference.
func unjson(c *Checker, t string, ref *original) string {
	if call := calls.FindStringSubmatch(t); call != nil && !calls.MatchString(ref.text) && says(call[1]) && !strings.Contains(call[1], `"`) {
		return call[1]
	}
	if strings.HasPrefix(t, `"`) && strings.HasSuffix(t, `"`) && strings.Contains(t, `\"`) { // JSON in a string of JSON
		if plain, err := jsontext.AppendUnquote(nil, t); err == nil {
			return unjson(c, string(plain), ref)
		}
	}
	at := strings.IndexAny(t, "{[")
	if at < 0 || !strings.ContainsAny(t[at:], "\"'“") || strings.ContainsAny(ref.text, "{}") {
		return t
	}
	rest := strings.TrimLeftFunc(t[at+1:], unicode.IsSpace)
	if rest == "" || !strings.ContainsAny(rest[:1], "\"'{[") && !strings.HasPrefix(rest, "“") && !bareName(rest) {
		return t
	}
	values := jsonStrings(t[at:])
	if i := ref.choose(values); i >= 0 && strings.TrimSpace(values[i]) != "" {
		return values[i]
	}
	values = slices.DeleteFunc(values, func(s string) bool {
		n := runeCount(s)
		return !says(s) || 5*n < 2*ref.chars || n > 2*ref.chars+20 || ref.echoes(s)
	})
	if len(values) == 1 && ref.kin(values[0]) { // it may speak as talk does, but there is no other
		return values[0]
	}
	return t
}

// calls are code around one string: a call, or what is returned or assigned.
var calls = regexp.MustCompile(`^(?:return |[\w.]*\((?:\w+=)?|(?:\w+ )?\w+ = )"(.*)"[^"]*[);]?$`)

// bareName reports whether a text begins with a name and a colon.
func bareName(t string) bool {
	name, _, ok := strings.Cut(t, ":")
	return ok && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' })
}

// jsonStrings returns the strings of a text that are values: in double or
// single quotes, or in typographic ones. One that does not end is left out.
func jsonStrings(t string) []string {
	var out, late []string
	name := ""
	for i := 0; i < len(t); {
		open := t[i : i+1]
		shut := open
		if strings.HasPrefix(t[i:], "“") {
			open, shut = "“", "”"
		} else if open != `"` && open != "'" {
			i++
			continue
		}
		i += len(open)
		end := i
		for end < len(t) && (!strings.HasPrefix(t[end:], shut) || !endsValue(t[end+len(shut):])) {
			if t[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(t) {
			break
		}
		s := t[i:end]
		i = end + len(shut)
		if strings.HasPrefix(strings.TrimLeftFunc(t[i:], unicode.IsSpace), ":") {
			name = s
			continue
		}
		if open == "'" {
			s = strings.ReplaceAll(s, `\'`, "'")
			s = strings.ReplaceAll(strings.ReplaceAll(s, `\"`, `"`), `"`, `\"`)
		}
		s = strings.NewReplacer("\n", `\n`, "\t", `\t`, "\r", "").Replace(s)
		if plain, err := jsontext.AppendUnquote(nil, `"`+s+`"`); err == nil {
			s = string(plain)
		}
		if labelled(name, drafts) {
			late = append(late, s)
		} else {
			out = append(out, s)
		}
	}
	return append(out, late...)
}

// endsValue reports whether a string ends before s: what follows is JSON's.
func endsValue(s string) bool {
	s = strings.TrimLeftFunc(s, unicode.IsSpace)
	return s == "" || strings.ContainsAny(s[:1], ",:}]") || strings.HasPrefix(s, "```")
}

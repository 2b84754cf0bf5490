package redact

import (
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/text"
)

// Known finds secrets in texts, also in parts, in any case and escaped as in URLs, JSON and HTML.
type Known struct {
	secrets []string // decoded
	parts   map[string]bool
}

const (
	// PartLen is the length in bytes of a part of a secret that counts anywhere, StartLen of its
	// beginning, because an echo may be cut.
	PartLen, StartLen = 16, 8
	// Shortest is the length from which a secret counts within words. A shorter one, such as the key
	// "EMPTY" of servers without keys, also occurs there by chance.
	Shortest = 6
	// most is the length in bytes of what is shown of a text, and of the pieces in which one is searched:
	// a server or a program may send any number of bytes.
	most = 64 << 10
)

// NewKnown returns what finds these secrets.
func NewKnown(secrets []string) Known {
	k := Known{parts: map[string]bool{}}
	for _, s := range secrets {
		if s, _ := decode(s); s != "" && !placeholder(s) && !slices.Contains(k.secrets, s) {
			k.secrets = append(k.secrets, s)
			for i := PartLen; i <= len(s); i++ {
				k.parts[s[i-PartLen:i]] = true
			}
		}
	}
	return k
}

// placeholder reports whether a key is what vLLM, Ollama, LM Studio or llama.cpp propose where none is
// needed, and no secret.
func placeholder(key string) bool {
	return slices.Contains([]string{"EMPTY", "none", "ollama", "lm-studio", "sk-no-key-required"}, key)
}

// In reports whether a text contains a whole secret, or PartLen bytes of one.
func (k Known) In(text string) bool {
	overlap := 0 // of pieces, for a secret with each byte escaped more than once
	for _, s := range k.secrets {
		overlap = max(overlap, 16*len(s))
	}
	for len(text) > most+overlap {
		if k.in(text[:most+overlap]) {
			return true
		}
		text = text[most:]
	}
	return k.in(text)
}

func (k Known) in(text string) bool {
	plain, _ := decode(text)
	found := slices.ContainsFunc(k.secrets, func(s string) bool { return strings.Contains(plain, s) })
	for i := PartLen; i <= len(plain) && !found; i++ {
		found = k.parts[plain[i-PartLen:i]]
	}
	return found
}

// Hide replaces secrets and their parts in a text for a message, and leaves out what follows the
// first 64 KiB.
func (k Known) Hide(text, by string) string {
	text = text[:min(len(text), most)]
	if len(k.secrets) == 0 {
		return text
	}
	plain, at := decode(text)
	hidden := make([]bool, len(plain))
	hide := func(i, n int) {
		for j := range n {
			hidden[i+j] = true
		}
	}
	for _, s := range k.secrets {
		start := s[:min(len(s), StartLen)]
		for i := 0; i < len(plain); i++ {
			next := strings.Index(plain[i:], start)
			if next < 0 {
				break
			}
			if i += next; len(s) >= Shortest || isWord(plain, i, i+len(s)) {
				n := len(start)
				for n < len(s) && i+n < len(plain) && plain[i+n] == s[n] {
					n++
				}
				hide(i, n)
			}
		}
	}
	for i := PartLen; i <= len(plain); i++ {
		if k.parts[plain[i-PartLen:i]] {
			hide(i-PartLen, PartLen)
		}
	}
	if !slices.Contains(hidden, true) {
		return text
	}
	var b strings.Builder
	for i, h := range hidden {
		if !h {
			b.WriteString(text[at[i]:at[i+1]])
		} else if i == 0 || !hidden[i-1] {
			b.WriteString(by)
		}
	}
	return b.String() + text[at[len(plain)]:]
}

// isWord reports whether no letter or digit is next to a part of a text.
func isWord(s string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:start])
	after, _ := utf8.DecodeRuneInString(s[end:])
	return !strings.ContainsFunc(string([]rune{before, after}), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// escaped matches a character as URLs, JSON and HTML write it, also escaped again, and other
// backslashes, which each level of nesting doubles.
var escaped = text.Regexp(`(?i)\\+u([0-9a-f]{4})|\\+|%(?:25)*([0-9a-f]{2})|&(?:amp;)*((?:#\d{1,7}|#x[0-9a-f]{1,6}|amp|lt|gt|quot|apos);)`)

// decode returns a text without escapes and in lower case, and where in the text each of its bytes
// begins, and the last ends.
func decode(s string) (plain string, at []int) {
	var b []byte
	start, read := 0, 0 // of the next byte in s, with the backslashes before it; how far s is read
	raw := func(end int) {
		for ; read < end; read++ {
			b, at, start = append(b, lower(s[read])), append(at, start), read+1
		}
	}
	var escapes [][]int
	if strings.ContainsAny(s, `\%&`) {
		escapes = escaped().FindAllStringSubmatchIndex(s, -1)
	}
	for _, m := range escapes {
		raw(m[0])
		read = m[1]
		var char string
		switch {
		case m[2] >= 0:
			code, _ := strconv.ParseUint(s[m[2]:m[3]], 16, 32) // it has four such digits
			char = string(rune(code))
		case m[4] >= 0:
			code, _ := strconv.ParseUint(s[m[4]:m[5]], 16, 8)
			char = string([]byte{byte(code)})
		case m[6] >= 0:
			char = html.UnescapeString("&" + s[m[6]:m[7]])
		}
		if char == "" || char == `\` {
			continue
		}
		for i := range len(char) {
			b, at = append(b, lower(char[i])), append(at, start)
		}
		start = read
	}
	raw(len(s))
	return string(b), append(at, start)
}

// lower returns an ASCII letter in lower case, and a blank for "+", as in queries.
func lower(c byte) byte {
	switch {
	case 'A' <= c && c <= 'Z':
		return c + 'a' - 'A'
	case c == '+':
		return ' '
	}
	return c
}

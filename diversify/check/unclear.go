package check

import (
	"fmt"
	"strings"
	"unicode"
)

// leastTrust is the probability, by forest, below which it is not clear that a text is
// the rewriting.
var leastTrust = 0.5

// unclear says that what cleaning left of an answer is likely not the rewriting, or not all of
// it or more than it, by what it shows and by what was around it; or "".
func (c *Checker) unclear(ref *original, raw, text string) string {
	if ref.text == "" || !says(text) {
		return ""
	}
	before, _ := c.cleanBy(&c.prepare, raw, ref)
	v := ref.view(before)
	b, ok := v.holding(text)
	if ok { // else it is put together from what stands apart
		ref.shown = v.describe(ref, b, ref.shown[:0])
		ok = probability(trusted().of(ref.shown)) >= leastTrust
	}
	if ok {
		return ""
	}
	return fmt.Sprintf("it is not clear that this is the rewriting, and all of it: %s", quote(text))
}

// holding returns the smallest row of parts that has all letters of a text, by preference in
// what is kept. ok is false where none has.
func (v *view) holding(text string) (b block, ok bool) {
	if text == v.text {
		return block{to: len(v.parts)}, len(v.parts) > 0
	}
	want := lettersAndDigits(text)
	var all strings.Builder
	ends := make([]int, len(v.parts)) // of the parts, in letters
	for i, p := range v.parts {
		all.WriteString(lettersAndDigits(v.text[p.begin:p.end]))
		ends[i] = all.Len()
	}
	least := 0
	for begin := 0; ; begin++ {
		at := strings.Index(all.String()[begin:], want)
		if at < 0 || want == "" {
			return b, ok
		}
		begin += at
		found := block{to: len(v.parts)}
		for i, end := range ends {
			if end <= begin {
				found.from = i + 1
			}
			if end >= begin+len(want) {
				found.to = i + 1
				break
			}
		}
		size := ends[found.to-1]
		if found.from > 0 {
			size -= ends[found.from-1]
		}
		inside := found.from >= v.from && found.to <= v.to
		if !ok || size < least || size == least && inside && !(b.from >= v.from && b.to <= v.to) {
			b, least, ok = found, size, true
		}
	}
}

// lettersAndDigits are those of a text in lower case, without all that stands between them.
func lettersAndDigits(t string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, t)
}

package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/refract-eval/refract"
)

// readVariants reads "variants" or "rejected".
func (p *segmentParser) readVariants(field string, dst *[]refract.Variant) error {
	return p.array(func(i int) error {
		var v refract.Variant
		var origin originParser
		var seen uint
		err := p.object(func(key string) error {
			f := slices.Index(variantFields, key)
			if f < 0 {
				return p.unknownField(fmt.Sprintf("of %s[%d]: ", field, i), key, variantFields)
			}
			if seen&(1<<f) != 0 {
				return failAt(p.pos, p.key+1, "field %q of %s[%d] is there twice", key, field, i)
			}
			seen |= 1 << f
			if err := p.variantField(&v, &origin, key); err != nil {
				return p.in(err, "%s[%d].%s", field, i, key)
			}
			return nil
		})
		if err != nil {
			return p.in(err, "%s[%d]", field, i)
		}
		if seen&(1<<slices.Index(variantFields, "text")) == 0 {
			return failAt(p.pos, p.i, "%s[%d] has no text; write null for a missing one", field, i)
		}
		v.Origin = origin.finish(v.Text)
		*dst = append(*dst, v)
		return nil
	})
}

func (p *segmentParser) variantField(v *refract.Variant, o *originParser, key string) (err error) {
	name := func(dst *string) {
		*dst, err = p.optional()
		*dst = p.names.get(*dst)
	}
	switch key {
	case "reference":
		v.Reference, err = p.index()
	case "sample":
		v.Sample, err = p.index()
	case "prompt":
		name(&v.Prompt)
	case "model":
		name(&v.Model)
	case "finish":
		name(&v.Finish)
	case "text":
		v.Text, err = p.text()
	case "verdict":
		name(&v.Verdict)
	case "detail":
		v.Detail, err = p.optional()
	default:
		return p.originField(o, key)
	}
	return err
}

// originParser gathers an Origin, of which there is none before a field of it
// has come.
type originParser struct {
	origin *refract.Origin
	hasRaw bool
}

func (o *originParser) get() *refract.Origin {
	if o.origin == nil {
		o.origin = &refract.Origin{}
	}
	return o.origin
}

// finish returns the origin. A raw text that is not stated is the text itself.
func (o *originParser) finish(text refract.Text) *refract.Origin {
	if o.origin != nil && !o.hasRaw {
		o.origin.Raw = text
	}
	return o.origin
}

// originField reads a field of an Origin. null is an absent value, but for
// raw, where it says that the text is missing.
func (p *segmentParser) originField(o *originParser, key string) (err error) {
	if key == "raw" {
		o.hasRaw = true
		o.get().Raw, err = p.text()
		return err
	}
	if p.null() {
		return nil
	}
	name := func(dst *string) {
		*dst, err = p.optional()
		*dst = p.names.get(*dst)
	}
	origin := o.get()
	switch key {
	case "revision":
		name(&origin.Revision)
	case "served_model":
		name(&origin.ServedModel)
	case "sampling":
		if origin.Sampling, err = p.rawObject(); err == nil {
			origin.Sampling = p.names.get(origin.Sampling)
		}
	case "cleaned":
		err = p.array(func(int) error {
			step, err := p.str()
			if k, ok := err.(*kindError); ok {
				k.want = "an array of strings"
			}
			if err != nil {
				return err
			}
			origin.Cleaned = append(origin.Cleaned, p.names.get(step))
			return nil
		})
	case "prompt_tokens":
		origin.PromptTokens, err = p.index()
	case "completion_tokens":
		origin.CompletionTokens, err = p.index()
	case "created":
		origin.Created, err = p.time()
	}
	return err
}

// time reads an instant as RFC 3339 writes it.
func (p *jsonScanner) time() (time.Time, error) {
	const want = "a date and time such as 2024-02-29T13:00:00Z"
	if p.peek() != '"' {
		return time.Time{}, p.kind(want)
	}
	at := p.i
	s, err := p.str()
	if err != nil {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err == nil {
		t, err = t.UTC(), checkTime(t)
	}
	if err != nil {
		return time.Time{}, &kindError{column: at + 1, want: want, got: quote(s)}
	}
	return t, nil
}

// checkTime refuses years that RFC 3339 has no place for.
func checkTime(t time.Time) error {
	if y := t.UTC().Year(); y < 0 || y > 9999 {
		return fmt.Errorf("the year %d", y)
	}
	return nil
}

// checkVariants checks that the variants of a segment belong to one of n
// references.
func checkVariants(s *refract.Segment, n int) error {
	if err := checkParents(s.ID, "variants", s.Variants, n); err != nil {
		return err
	}
	return checkParents(s.ID, "rejected", s.Rejected, n)
}

func checkParents(id, field string, variants []refract.Variant, n int) error {
	for i := range variants {
		if r := variants[i].Reference; r < 0 || r >= n {
			return fmt.Errorf("segment %s: %s[%d] is of reference %d, but the segment has %s (the first is 0)",
				quote(id), field, i, r, plural(n, "reference"))
		}
	}
	return nil
}

// checkVariant finds what the reader would refuse in a variant.
func checkVariant(v *refract.Variant) error {
	for _, s := range [...]string{v.Text.Value, v.Prompt, v.Model, v.Finish, v.Verdict, v.Detail} {
		if !utf8.ValidString(s) {
			return errors.New("is not UTF-8")
		}
	}
	if v.Sample < 0 {
		return fmt.Errorf("has the sample %d", v.Sample)
	}
	o := v.Origin
	if o == nil {
		return nil
	}
	for _, s := range [...]string{o.Revision, o.ServedModel, o.Raw.Value} {
		if !utf8.ValidString(s) {
			return errors.New("is not UTF-8")
		}
	}
	for _, s := range o.Cleaned {
		if !utf8.ValidString(s) {
			return errors.New("is not UTF-8")
		}
	}
	for _, n := range [...]int{o.PromptTokens, o.CompletionTokens} {
		if n < 0 {
			return fmt.Errorf("has %d tokens", n)
		}
	}
	if err := checkTime(o.Created); err != nil {
		return fmt.Errorf("was created in %w, which RFC 3339 cannot hold", err)
	}
	if o.Sampling != "" && !isObject(o.Sampling) {
		return fmt.Errorf("has the sampling parameters %s, which are no JSON object on one line", quote(o.Sampling))
	}
	return nil
}

// isObject tells whether s is a JSON object, and can stand in a line.
func isObject(s string) bool {
	if !utf8.ValidString(s) || strings.Contains(s, "\n") {
		return false
	}
	p := jsonScanner{s: s}
	literal, err := p.rawObject()
	return err == nil && literal == s
}

// maxDepth bounds how deep values that are only passed on may be nested.
const maxDepth = 32

// rawObject checks an object and returns it as it is written.
func (p *jsonScanner) rawObject() (string, error) {
	if p.peek() != '{' {
		return "", p.kind("an object")
	}
	start := p.i
	if err := p.skip(maxDepth); err != nil {
		return "", err
	}
	return p.s[start:p.i], nil
}

// skip reads a value of any kind.
func (p *jsonScanner) skip(depth int) error {
	if depth == 0 {
		return p.bad(p.i, "the values are nested too deep")
	}
	switch c := p.peek(); {
	case c == '{':
		return p.object(func(string) error { return p.skip(depth - 1) })
	case c == '[':
		return p.array(func(int) error { return p.skip(depth - 1) })
	case c == '"':
		_, err := p.str()
		return err
	case c == '-' || '0' <= c && c <= '9':
		_, err := p.number()
		return err
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if strings.HasPrefix(p.s[p.i:], word) {
			p.i += len(word)
			return nil
		}
	}
	return p.unexpected("a value")
}

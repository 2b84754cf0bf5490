package metrics

import (
	"fmt"
	"slices"
	"strings"
)

// Signature is an ordered list of settings, written "key:value|key:value".
type Signature []Setting

// Setting is one entry of a Signature.
type Setting struct{ Key, Value string }

// With returns the signature with more settings at its end, given as alternating keys and
// values.
func (s Signature) With(keyValues ...string) Signature {
	s = slices.Clip(s)
	for pair := range slices.Chunk(keyValues, 2) {
		s = append(s, Setting{pair[0], pair[1]})
	}
	return s
}

// String writes the signature the way sacreBLEU does. The characters '|' and
// '%' inside a value are percent-encoded, so that values from users cannot
// be taken for further settings.
func (s Signature) String() string {
	var b strings.Builder
	for i, set := range s {
		if i > 0 {
			b.WriteByte('|')
		}
		b.WriteString(set.Key)
		b.WriteByte(':')
		b.WriteString(valueEscaper.Replace(set.Value))
	}
	return b.String()
}

var valueEscaper = strings.NewReplacer("%", "%25", "|", "%7C")

// ParseSignature reads what String writes.
func ParseSignature(s string) (Signature, error) {
	var sig Signature
	for field := range strings.SplitSeq(s, "|") {
		key, value, ok := strings.Cut(field, ":")
		if !ok || key == "" {
			return nil, fmt.Errorf("signature %q: %q is not of the form key:value", s, field)
		}
		sig = append(sig, Setting{key, valueUnescaper.Replace(value)})
	}
	return sig, nil
}

var valueUnescaper = strings.NewReplacer("%7C", "|", "%25", "%")

// reserved are the keys that others than the metric set: the engine, stored scores,
// and metrics that failed.
var reserved = []string{"nrefs", "agg", "system", "set", "first", "version", "scores", "status", "missing", "direction", "combine", "ended"}

// IsReserved reports whether a model or a program must not set a key in its signature.
// These are the keys that have a meaning there, with or without a number at the end, and
// the keys in own, which the kind of metric sets itself.
func IsReserved(key string, own ...string) bool {
	key = strings.TrimRight(key, "0123456789")
	return slices.Contains(reserved, key) || slices.Contains(own, key)
}

// YesNo is how a signature states a boolean.
func YesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Case is how a signature states whether texts are lower-cased.
func Case(lower bool) Setting {
	if lower {
		return Setting{"case", "lc"}
	}
	return Setting{"case", "mixed"}
}

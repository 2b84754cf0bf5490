package redact

import (
	"cmp"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// SecretKey is what a key that holds a secret is called.
var SecretKey = regexp.MustCompile(`(?i)key|token|secret|passw|credential|auth`)

// SecretField names a field of a value, or of what it holds, that is a secret by its
// name or its value; "" where none is. What is no text, such as the number of
// max_thinking_tokens, is none.
func SecretField(name string, value any) string {
	switch v := value.(type) {
	case string:
		u, err := url.Parse(v)
		hasPassword := false
		if err == nil && u.User != nil {
			_, hasPassword = u.User.Password()
		}
		if SecretKey.MatchString(name) || hasPassword || strings.HasPrefix(v, "sk-") || strings.Contains(v, "password=") {
			return cmp.Or(name, "it")
		}
	case []any:
		for _, one := range v {
			if found := SecretField(name, one); found != "" {
				return found
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if found := SecretField(key, v[key]); found != "" {
				return found
			}
		}
	}
	return ""
}

package redact

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/refract-eval/refract/internal/text"
)

// secretKey matches the names of keys that hold a secret.
var secretKey = text.Regexp(`(?i)key|token|secret|passw|credential|auth`)

// keys are the keys of services that have a shape of their own, and the start of JSON web tokens.
const keys = `hf_\w{20,}|gh[oprsu]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{20,}|xox[abeprs]-[\w-]{10,}|(?:gsk|npm)_\w{20,}|xai-\w{20,}|A[KS]IA[0-9A-Z]{16}|AIza[\w-]{35}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}`

// credential matches credentials in any text: keys of services, also short ones of OpenAI, and the
// values of HTTP Authorization headers.
var credential = text.Regexp(`^sk-|(?i:^|[^a-z0-9])(?:sk-[\w-]{4,}|(?i:bearer|basic)\s+[\w.~+/-]{8,}|` + keys + `)`)

// IsSecretKey reports whether the name of a key, in a file or in a request's fields, suggests
// that it holds a secret.
func IsSecretKey(name string) bool { return secretKey().MatchString(name) }

// HasPassword reports whether a value is an address with a password.
func HasPassword(value string) bool {
	if !strings.Contains(value, "://") {
		return false
	}
	u, err := url.Parse(value)
	if err != nil {
		return strings.Contains(value, "@")
	}
	_, has := u.User.Password()
	return has
}

// CheckStored returns an error if a field holds a secret, because fields are stored with
// every answer.
func CheckStored(fields map[string]any) error {
	if name := SecretField("", fields); name != "" {
		return fmt.Errorf("the field %q holds a secret, which would be stored with every answer: set OPENAI_API_KEY instead, which goes with every call and is stored nowhere", name)
	}
	return nil
}

// SecretField returns the name of the first field, in a value or nested in it, that is a
// secret by its name or its value; "" if there is none. Only texts can be secrets, not, for
// example, the number of max_thinking_tokens.
func SecretField(name string, value any) string {
	switch v := value.(type) {
	case string:
		if IsSecretKey(name) || HasPassword(v) || credential().MatchString(v) || strings.Contains(v, "password=") {
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

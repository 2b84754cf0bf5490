package program

import (
	"slices"
	"strings"

	"github.com/refract-eval/refract/internal/redact"
	"github.com/refract-eval/refract/internal/text"
)

// secretName matches the upper-case names of variables that may hold secrets.
var secretName = text.Regexp(`^REFRACT_|KEY|TOKEN|SECRET|PASS|PWD|CREDENTIAL|COOKIE|(^|_)(PAT|O?AUTH|AUTHORIZATION)(_|$)`)

// withhold removes possible secrets from an environment: variables that match secretName,
// and those whose value is an address with a password. Names in pass stay, as do PWD and
// OLDPWD. secrets are the removed values.
func withhold(environ []string, pass ...string) (kept, secrets []string) {
	pass = append(slices.Clone(pass), "PWD", "OLDPWD")
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if slices.Contains(pass, name) || !secretName().MatchString(strings.ToUpper(name)) && !redact.HasPassword(value) {
			kept = append(kept, v)
		} else {
			secrets = append(secrets, value)
		}
	}
	return kept, long(secrets)
}

// long returns the secrets that are long enough to hide.
func long(secrets []string) []string {
	return slices.DeleteFunc(secrets, func(s string) bool { return len(s) < redact.Shortest })
}

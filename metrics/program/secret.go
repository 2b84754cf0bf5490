package program

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// secretName is in the upper-case names of variables that may hold secrets.
var secretName = regexp.MustCompile(`^REFRACT_|KEY|TOKEN|SECRET|PASS|PWD|CREDENTIAL|COOKIE|(^|_)(PAT|O?AUTH|AUTHORIZATION)(_|$)`)

// shortestSecret is the least number of bytes of a value that is hidden: shorter
// ones are in texts by chance.
const shortestSecret = 6

// withhold leaves out of an environment what may be a secret: variables with a
// secretName, and those whose value is an address with a password. Names that are
// passed stay, as do PWD and OLDPWD. secrets are the values of what is left out.
func withhold(environ []string, pass ...string) (kept, secrets []string) {
	pass = append(slices.Clone(pass), "PWD", "OLDPWD")
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if slices.Contains(pass, name) || !secretName.MatchString(strings.ToUpper(name)) && !hasPassword(value) {
			kept = append(kept, v)
		} else {
			secrets = append(secrets, value)
		}
	}
	return kept, long(secrets)
}

// long are the secrets that can be hidden.
func long(secrets []string) []string {
	return slices.DeleteFunc(secrets, func(s string) bool { return len(s) < shortestSecret })
}

func hasPassword(value string) bool {
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

// hides returns what replaces secrets in a text.
func hides(secrets []string) func(string) string {
	secrets = slices.Clone(secrets)
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // one may be in another
	var pairs []string
	for _, s := range secrets {
		pairs = append(pairs, s, "SECRET")
	}
	return strings.NewReplacer(pairs...).Replace
}

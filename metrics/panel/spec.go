package panel

import (
	"errors"
	"fmt"
	"strings"
)

// metricName is the name of the metric in a spec.
const metricName = "panel"

// specTail is the form of a spec after the name.
const specTail = "MEMBER+MEMBER[+MEMBER…][,combine=mean|median|gemba-v2][,scale=bounds]"

// split reads a spec after the name: members joined by "+", and options after a comma. A
// member that contains one of these two is in square brackets, as in
// "[chrf++]+bleu,scale=bounds".
func split(tail string) (members []string, options string, err error) {
	for rest := tail; ; {
		var member string
		if member, rest, err = cutMember(rest); err != nil {
			return nil, "", err
		}
		if member == "" {
			return nil, "", fmt.Errorf("member %d is empty; put a member that contains %q or %q into brackets, as in [chrf++]+bleu", len(members)+1, "+", ",")
		}
		members = append(members, member)
		switch {
		case rest == "" || rest[0] == ',':
			return members, strings.TrimPrefix(rest, ","), nil
		case rest[0] != '+':
			return nil, "", fmt.Errorf("%q after the brackets of member %d; want %q or %q", rest, len(members), "+", ",")
		}
		rest = rest[1:]
	}
}

// cutMember cuts off the first member and removes its brackets.
func cutMember(s string) (member, rest string, err error) {
	if !strings.HasPrefix(s, "[") {
		end := strings.IndexAny(s, "+,")
		if end < 0 {
			end = len(s)
		}
		return s[:end], s[end:], nil
	}
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return s[1:i], s[i+1:], nil
			}
		}
	}
	return "", "", errors.New("a \"[\" that is not closed")
}

// join is the reverse of split.
func join(members []string, options ...string) string {
	var b strings.Builder
	for i, m := range members {
		if i > 0 {
			b.WriteByte('+')
		}
		if strings.ContainsAny(m, "+,") || strings.HasPrefix(m, "[") {
			m = "[" + m + "]"
		}
		b.WriteString(m)
	}
	for _, o := range options {
		b.WriteString("," + o)
	}
	return b.String()
}

// Rewrite changes each metric that a spec names, including the members of panels. A spec
// that cannot be parsed stays as it is.
func Rewrite(spec string, change func(spec string) string) string {
	name, tail, _ := strings.Cut(spec, ":")
	if name != metricName {
		return change(spec)
	}
	members, options, err := split(tail)
	if err != nil {
		return spec
	}
	for i := range members {
		members[i] = Rewrite(members[i], change)
	}
	spec = metricName + ":" + join(members)
	if options != "" {
		spec += "," + options
	}
	return spec
}

package guard

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// pattern finds one way of saying one thing, in a normalized text.
type pattern struct {
	flag string
	has  []string // the text holds one of them wherever re can match
	re   *regexp.Regexp
}

// matches reports whether the pattern is found in a normalized text.
func (p *pattern) matches(plain string) bool {
	return slices.ContainsFunc(p.has, func(s string) bool { return strings.Contains(plain, s) }) && p.re.MatchString(plain)
}

// patternTable says in its first lines what it holds.
//
//go:embed patterns.txt
var patternTable string

// expressions are those that patternTable names.
var expressions = strings.NewReplacer(
	"{closing}", `([^\s:,(=\[{"]"[ .,;:!?]{0,3}|"[ .,;:!?]{1,3})`,
	"{ignoring}", `\b(ignor(e|ing)|disregard(ing)?|forget(ting)?|overrid(e|ing)|overlook|skip) (about )?`,
)

// patterns compiles the table.
var patterns = sync.OnceValue(func() []pattern {
	var all []pattern
	flag := ""
	for line := range strings.Lines(patternTable) {
		line = strings.TrimSuffix(line, "\n")
		has, expression, row := strings.Cut(line, "\t")
		if !row {
			if strings.HasPrefix(line, "[") {
				flag = strings.Trim(line, "[]")
			}
			continue
		}
		re := regexp.MustCompile(`(?sm)` + strings.ReplaceAll(expressions.Replace(expression), " ", `\s`))
		all = append(all, pattern{flag, strings.Split(has, "|"), re})
	}
	return all
})

package guard

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// pattern finds one wording of a flag in a normalized text.
type pattern struct {
	flag string
	has  []string // anchors: any text that re matches contains one of them
	re   *regexp.Regexp
}

// matches reports whether the pattern occurs in a normalized text.
func (p *pattern) matches(plain string) bool {
	return slices.ContainsFunc(p.has, func(s string) bool { return strings.Contains(plain, s) }) && p.re.MatchString(plain)
}

// patternTable describes its format in its first lines.
//
//go:embed patterns.txt
var patternTable string

// expressions expands the names used in patternTable.
var expressions = strings.NewReplacer(
	"{closing}", `([^\s:,(=\[{"]"[ .,;:!?]{0,3}|"[ .,;:!?]{1,3})`,
	"{ignoring}", `\b(ignor(e|ing)|disregard(ing)?|forget(ting)?|overrid(e|ing)|overlook|skip) (about )?`,
)

// patterns compiles patternTable.
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

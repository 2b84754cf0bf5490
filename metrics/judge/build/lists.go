package build

import (
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/refract-eval/refract/metrics/analysis"
)

// quotedName is a name of a list such as the answer of table 25 has.
var (
	quotedName = regexp.MustCompile(`"([^"\n]{1,120})"`)
	listNumber = regexp.MustCompile(`(?:^|\s)\d{1,3}[.)]\s+`)
	bullet     = regexp.MustCompile(`^\s*(?:\d{1,3}[.):]|[-*•])\s+`)
)

// readNames reads a list of names: quoted ones, ones with numbers or bullets, or
// ones parted by commas.
func readNames(text string) []string {
	var names []string
	if quoted := quotedName.FindAllStringSubmatch(text, -1); len(quoted) > 1 {
		for _, m := range quoted {
			names = append(names, m[1])
		}
	} else if parts := listNumber.Split(text, -1); len(parts) > 2 {
		names = parts[1:] // what stands before the first number is talk
	} else if lines := readLines(text); len(lines) > 1 {
		names = lines
	} else {
		names = strings.Split(text, ",")
	}
	return distinct(names, func(s string) string { return strings.Trim(s, " \t\r\n,;.\"“”*") })
}

// readSentences reads sentences, each on a line or behind a number.
func readSentences(text string) []string {
	lines := readLines(text)
	if parts := listNumber.Split(text, -1); len(lines) == 1 && len(parts) > 2 {
		lines = parts[1:]
	}
	return distinct(lines, analysis.Unquote)
}

// readLines are the items of a list; where some lines have numbers or bullets,
// the others are talk.
func readLines(text string) []string {
	var all, items []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		all = append(all, line)
		if mark := bullet.FindString(line); mark != "" {
			items = append(items, line[len(mark):])
		}
	}
	if len(items) > 0 {
		return items
	}
	return all
}

// distinct cleans texts and leaves out empty and repeated ones.
func distinct(texts []string, clean func(string) string) []string {
	var out []string
	seen := map[string]bool{}
	for _, t := range texts {
		t = clean(strings.TrimSpace(t))
		if key := folded(t); t != "" && !seen[key] {
			seen[key] = true
			out = append(out, t)
		}
	}
	return out
}

// folded is a text without what makes no other text of it: case, white space and
// the Unicode form.
func folded(s string) string {
	return strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(s))), " ")
}

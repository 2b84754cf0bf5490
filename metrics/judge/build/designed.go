package build

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/metrics/analysis"
)

// designed are the data of the prompt that designates errors.
func designed(t *Task, r Raw, errors []analysis.Error) map[string]any {
	type numbered struct {
		Number                    int
		Dimension, Type, Severity string
	}
	var list []numbered
	minor := 0
	for i, e := range errors {
		list = append(list, numbered{i + 1, e.Dimension, e.Aspect, severityWord(e.Severity)})
		if e.Severity == analysis.Minor {
			minor++
		}
	}
	return map[string]any{
		"Source": r.Source, "Reference": r.Text, "Words": t.Words,
		"Number": len(errors), "Minor": minor, "Major": len(errors) - minor, "Errors": list,
	}
}

// otherLanguage says in which way a text is in another language than the correct
// one, or "".
func otherLanguage(c *check.Checker, correct, text string) (string, error) {
	if c == nil || correct == "" {
		return "", nil
	}
	r := c.Segment("", []string{correct}).Judge(check.Answer{Raw: text, HasText: true})
	if r.Err == nil && r.Verdict == check.ReasonLanguage {
		return r.Detail, nil
	}
	return "", r.Err
}

// fieldWords are the labels of an error.
const fieldWords = `(?:error[ \t]+(?:dimension|type|location)[ \t]+[1-9][ \t*]*:|major/minor[ \t*]*:|explanation[ \t]+for[ \t]+error[ \t]+[1-9][ \t*]*:)`

// The labels of an answer to the prompts of tables 29 to 33.
var (
	paraphraseLabel = regexp.MustCompile(`(?i)paraphrased?[ \t]+correct[ \t]+(?:translation|generation|output)[ \t*]*:`)
	incorrectLabel  = regexp.MustCompile(`(?i)incorrect[ \t]+(?:translation|generation|output)[ \t*]*:`)
	errorLabel      = regexp.MustCompile(`(?i)[*#]*error[ \t]+(?:type|dimension)[ \t]+1[ \t*]*:`)
	fieldLabel      = regexp.MustCompile(`(?i)[ \t]+([*_]*` + fieldWords + `)`)
	// What marks a line with a label, and the line after a text.
	labelMark = regexp.MustCompile(`(?im)^[ \t]*[-#>•]+[ \t]+([*_]*` + fieldWords + `)`)
	lastMark  = regexp.MustCompile(`\n[-#>•*_ \t]+$`)
)

// readDesigned parts an answer into the paraphrase, the output with errors, and
// the list of these, or says what is missing. An answer may stand on one line.
func readDesigned(text string) (paraphrase, output, list, why string) {
	p := paraphraseLabel.FindStringIndex(text)
	if p == nil {
		return "", "", "", "there is no paraphrase of the correct text"
	}
	o := incorrectLabel.FindStringIndex(text[p[1]:])
	if o == nil {
		return "", "", "", "there is no incorrect text"
	}
	e := errorLabel.FindStringIndex(text[p[1]+o[1]:])
	if e == nil {
		return "", "", "", "there is no list of errors"
	}
	paraphrase = plainText(text[p[1] : p[1]+o[0]])
	output = plainText(text[p[1]+o[1] : p[1]+o[1]+e[0]])
	list = fieldLabel.ReplaceAllString(labelMark.ReplaceAllString(text[p[1]+o[1]+e[0]:], "$1"), "\n$1")
	switch {
	case paraphrase == "":
		why = "the paraphrase of the correct text is empty"
	case output == "":
		why = "the incorrect text is empty"
	case strings.EqualFold(paraphrase, "N/A") || strings.EqualFold(output, "N/A"):
		why = "a text is N/A"
	}
	return paraphrase, output, list, why
}

// plainText is a text without the marks around it.
func plainText(s string) string {
	return analysis.Unquote(strings.Trim(lastMark.ReplaceAllString(s, ""), "* \t\r\n"))
}

// notDesignated says how errors differ from those that were asked for, some of
// which may not have been made.
func notDesignated(asked, got []analysis.Error) string {
	left := slices.Clone(asked)
	for _, e := range got {
		i := slices.IndexFunc(left, func(a analysis.Error) bool {
			return a.Severity == e.Severity && sameWords(a.Aspect, e.Aspect) && sameWords(a.Dimension, e.Dimension)
		})
		if i < 0 {
			return fmt.Sprintf("no %s error %q was asked for", e.Severity, strings.TrimSpace(e.Dimension+" "+e.Aspect))
		}
		left = slices.Delete(left, i, i+1)
	}
	return ""
}

// sameWords compares types of errors but for case and marks at their ends.
func sameWords(a, b string) bool {
	clean := func(s string) string { return strings.Trim(folded(s), `."' `) }
	return clean(a) == clean(b)
}

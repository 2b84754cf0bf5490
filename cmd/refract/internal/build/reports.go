package build

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/metrics/analysis"
)

// reportsGenerations lists the tasks whose models write "Your generation", and two spaces
// before a severity, as the released models do.
var reportsGenerations = map[string]bool{"d2t": true, "keyword-to-text": true, "commonsense": true}

// instructScoreAnswer writes a report as InstructScore's models do.
func instructScoreAnswer(task string, errors []analysis.Error) string {
	whose, space := "Translation", " "
	if reportsGenerations[task] {
		whose, space = "generation", "  "
	}
	if len(errors) == 0 {
		return "Your " + whose + " contains no error."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Your %s contains %s:", whose, english.Count(len(errors), "error"))
	for i, e := range errors {
		if e.Dimension != "" {
			fmt.Fprintf(&b, "\nError dimension %d: %s", i+1, e.Dimension)
		}
		fmt.Fprintf(&b, "\nError type %d: %s\nMajor/minor:%s%s\nError location %d: %s\nExplanation for error %d: %s",
			i+1, orNone(e.Aspect), space, severityWord(e.Severity), i+1, quotedOrNone(e.Location), i+1, orNone(e.Explanation))
	}
	return b.String()
}

// tigerScoreAnswer writes a report as TIGERScore's models do, with a space at the beginning.
func tigerScoreAnswer(_ string, errors []analysis.Error) string {
	if len(errors) == 0 {
		return " The model-generated output contains no errors."
	}
	total := 0.0
	for _, e := range errors {
		total += *e.Penalty
	}
	var b strings.Builder
	fmt.Fprintf(&b, " The model-generated output contains %s, with a total score reduction of %s.", english.Count(len(errors), "error"), decimal(total))
	for i, e := range errors {
		fmt.Fprintf(&b, "\nError location %d:  %s\nError aspect %d:  %s\nExplanation %d:  %s\nSeverity %d: %s\nScore reduction %d: %s",
			i+1, quotedOrNone(e.Location), i+1, orNone(e.Aspect), i+1, orNone(e.Explanation), i+1, severityWord(e.Severity), i+1, decimal(*e.Penalty))
	}
	return b.String()
}

// decimal writes a penalty with a fraction, as the models always do.
func decimal(x float64) string {
	s := strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func severityWord(s analysis.Severity) string {
	switch s {
	case analysis.Minor:
		return "Minor"
	case "":
		return "N/A"
	}
	return "Major"
}

// orNone puts a text on one line, because another line could begin another field.
func orNone(s string) string {
	if s = strings.Join(strings.Fields(s), " "); s == "" {
		return "N/A"
	}
	return s
}

// quotedOrNone quotes a location, unless it quotes something itself.
func quotedOrNone(s string) string {
	if s = orNone(s); s == "N/A" || strings.Contains(s, `"`) {
		return s
	}
	return `"` + s + `"`
}

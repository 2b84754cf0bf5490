package llmtest

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
)

// builderPrompts lists the prompts of refract build: a pattern that recognises the prompt, the
// faults that its answer can have, and the function that makes the answer.
var builderPrompts = []struct {
	form   *regexp.Regexp
	faults string
	answer func(q *Request, m []string, fault string) string
}{
	{regexp.MustCompile(`Compared to the reference, does the output contain any error\?`), "refused,withheld,empty", same("No")},
	{regexp.MustCompile(`The output format will be in JSON\n\{Err1`), "refused,withheld,empty,cut", feedback},
	{regexp.MustCompile(`(?m)^Reference: (.*)$(?s:.*)Only return the Output\.`), "",
		func(_ *Request, m []string, _ string) string { return m[1] + " Wrongly added." }},
	{analysedOutput, "", same("There is an error at the beginning.")},
	{regexp.MustCompile(`specific JSON format`), "refused,withheld,empty,cut,penalty,reference,location,no penalty,penalty", analysed},
	{regexp.MustCompile(`(?s)The model generated translation is "(.*?)"\. Please identify all errors`), "refused,withheld,empty,cut,no severity", sampled},
	{regexp.MustCompile(`(?s)The format is:?\n(.*)`), "refused,withheld,empty,cut,another language,no severity,another type", designed},
}

// BuilderAnswer returns the answer to a prompt of refract build, with its finish reason; asked is
// false for any other prompt. A share of the answers is bad in ways that are typical of models.
// Which are bad depends only on the request.
func BuilderAnswer(r *Request, share float64) (text, finish string, asked bool) {
	for _, p := range builderPrompts {
		m := p.form.FindStringSubmatch(r.Prompt)
		if m == nil || strings.HasSuffix(p.faults, "no severity") && r.Seed == nil {
			continue
		}
		fault := ""
		if p.faults != "" {
			fault = drawn(r, share, strings.Split(p.faults, ","))
		}
		text = p.answer(r, m, fault)
		switch fault {
		case "refused":
			text = "I'm sorry, but I cannot help with that."
		case "withheld":
			return "", "content_filter", true
		case "empty":
			text = " \n"
		case "cut":
			return text[:len(text)*2/3], "length", true
		}
		return text, "stop", true
	}
	return "", "", false
}

// drawn returns one of the faults, or "".
func drawn(r *Request, share float64, names []string) string {
	h := fnv.New32a()
	for _, m := range r.Messages {
		fmt.Fprintf(h, "%d %s", len(m.Content), m.Content)
	}
	fmt.Fprint(h, r.Prompt)
	if r.Seed != nil {
		fmt.Fprint(h, *r.Seed)
	}
	sum := h.Sum32()
	if float64(sum%1000) >= 1000*share {
		return ""
	}
	return names[sum/1000%uint32(len(names))]
}

func same(text string) func(*Request, []string, string) string {
	return func(*Request, []string, string) string { return text }
}

var (
	correctText = regexp.MustCompile(`The correct (?:translation|generation) is, "(.*?)"\.|One example generation is, "(.*?)"\.`)
	emptyField  = regexp.MustCompile(`(?m)^(Error location|Explanation for error|Paraphrased? correct|Incorrect) (\w+):$`)
)

// designed answers the prompts for designated errors (tables 29 to 33).
func designed(q *Request, m []string, fault string) string {
	c := correctText.FindStringSubmatch(q.Prompt)
	text, format := c[1]+c[2], m[1]
	wrong, short := text+" wrong1 wrong2 wrong3 wrong4 wrong5", "In short: "+text
	switch fault {
	case "another language":
		short, wrong = "Говорят, что Отчёт о городе прочитали вчера многие люди", "Отчёт о городе прочитали вчера не те люди wrong1 wrong2 wrong3 wrong4 wrong5"
	case "no severity":
		format = strings.ReplaceAll(format, "Major/minor: M", "Major/minor: N/A m")
	case "another type":
		format = strings.ReplaceAll(format, "Error type 1: ", "Error type 1: Not ")
	}
	return emptyField.ReplaceAllStringFunc(format, func(line string) string {
		switch f := emptyField.FindStringSubmatch(line); f[1] {
		case "Error location":
			return line + ` "wrong` + f[2] + `"`
		case "Explanation for error":
			return line + ` The word "wrong` + f[2] + `" does not belong there.`
		case "Incorrect":
			return line + ` "` + wrong + `"`
		}
		return line + ` "` + short + `"`
	})
}

var statedLocation = regexp.MustCompile(`(?m)^Error location \d: "(.*)"$`)

// feedback answers that all errors are major and the type of the first is wrong (table
// 34).
func feedback(q *Request, _ []string, _ string) string {
	var parts []string
	for i, m := range statedLocation.FindAllStringSubmatch(q.Prompt, -1) {
		typed := "Yes"
		if i == 0 {
			typed = "No"
		}
		parts = append(parts, fmt.Sprintf(`"Err%d": {"Q1": %q, "Q2": [%[2]q, null], "Q3": "None", "Q4": "major-error", "Q5": %q, "Q6": "Yes"}`, i+1, m[1], typed))
	}
	return "{" + strings.Join(parts, ", ") + `, "Q7": "No, 0"}`
}

var (
	analysedOutput = regexp.MustCompile(`(?m)^Model-generated Translation: (.*)$`)
	offeredAspect  = regexp.MustCompile(`Choose only one from ([^,.\n]*)`)
)

// analysed answers the second turn of both channels of MetricInstruct.
func analysed(q *Request, _ []string, fault string) string {
	location, severity, reduction, why := "Wrongly added", "Major", "2.0", "It is not in the source."
	if m := analysedOutput.FindStringSubmatch(slices.Concat(q.Messages, []Message{{Content: q.Prompt}})[0].Content); m != nil {
		location, severity, reduction = strings.Fields(m[1])[0], "Minor", "0.5"
	}
	switch fault {
	case "penalty":
		severity, reduction = "Minor", "3"
	case "reference":
		why = "The reference has it in another way."
	case "location":
		location = "quite other words"
	case "no penalty":
		reduction = `"unknown"`
	}
	return fmt.Sprintf(`{"errors": {"error_1": {"error_location": %q, "error_aspect": %q, "explanation": %q, "severity": %q, "score_reduction": %s}}}`,
		location, offeredAspect.FindStringSubmatch(q.Prompt)[1], why, severity, reduction)
}

// sampled returns one of several requested InstructScore reports. Each finds one more error than
// the one before, up to three, at the words of the output.
func sampled(q *Request, m []string, fault string) string {
	words := strings.Fields(strings.ReplaceAll(m[1], `"`, ""))
	n := min(1+*q.Seed%3, len(words))
	severity := "Major"
	if fault == "no severity" {
		severity = "Maybe"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Your Translation contains %d errors:", n)
	for i := range n {
		fmt.Fprintf(&b, "\nError type %d: A type\nMajor/minor: %s\nError location %[1]d: \"%[3]s\"\nExplanation for error %[1]d: It is not right there.", i+1, severity, words[i])
	}
	return b.String()
}

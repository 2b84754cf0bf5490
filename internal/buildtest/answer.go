// Package buildtest is a scripted model for tests of builders: it answers their
// prompts in the true forms, and some of them badly, in ways that models have.
package buildtest

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"

	"github.com/refract-eval/refract/internal/build"
	"github.com/refract-eval/refract/internal/llmtest"
)

// Reply is what the model says to a prompt.
type Reply struct {
	Text   string
	Finish string // why it ended, as servers say it
	Step   string // of the builder, as its card names it
	Fault  string // what is wrong with it; "" for nothing
	// Rule is the one that leaves the item out, or, of a report or of feedback,
	// what becomes of it; "" where there is no fault.
	Rule string
}

// faults are what can be wrong with an answer, and the rules that find it.
var faults = map[string]string{
	"refused": build.RuleRefusal, "withheld": build.RuleNoAnswer, "empty": build.RuleNoAnswer, "cut": build.RuleCut,
	"another language": build.RuleLanguage, "no severity": build.RuleMalformed, "another type": build.RuleNotDesignated, "unchanged": build.RuleUnchanged,
	"no Q6": build.RuleMalformed, "penalty": build.RulePenalty, "reference": build.RuleReference, "location": build.RuleLocation, "no penalty": build.RuleMalformed,
}

// prompts are those of the builders: the step, what the prompt is known by, the faults
// that its answer can have, and the answer.
var prompts = []struct {
	step   string
	form   *regexp.Regexp
	faults string
	answer func(q *llmtest.Request, m []string, fault string) string
}{
	{"no-errors", regexp.MustCompile(`Compared to the reference, does the output contain any error\?`), "refused,withheld,empty",
		func(*llmtest.Request, []string, string) string { return "No" }},
	{"errors", regexp.MustCompile(`The output format will be in JSON\n\{Err1`), "refused,withheld,empty,cut,no Q6", feedback},
	{"synthetic", regexp.MustCompile(`(?m)^Reference: (.*)$(?s:.*)Only return the Output\.`), "",
		func(_ *llmtest.Request, m []string, _ string) string { return m[1] + " Wrongly added." }},
	{"real", analysedOutput, "", func(*llmtest.Request, []string, string) string { return "There is an error at the beginning." }},
	{"synthetic", regexp.MustCompile(`specific JSON format`), "refused,withheld,empty,cut,penalty,reference,location,no penalty,penalty", analysed},
	{"samples", regexp.MustCompile(`(?s)The model generated translation is "(.*?)"\. Please identify all errors`), "refused,withheld,empty,cut,no severity", sampled},
	{"errors", regexp.MustCompile(`(?s)The format is:?\n(.*)`), "refused,withheld,empty,cut,another language,no severity,another type,unchanged", designed},
}

// Answer replies to a prompt of a builder, and says whether it is one. A share of
// the replies that end a conversation is bad, which depends on the request alone.
func Answer(r *llmtest.Request, share float64) (*Reply, bool) {
	for _, p := range prompts {
		m := p.form.FindStringSubmatch(r.Prompt)
		if m == nil || p.step == "samples" && r.Seed == nil {
			continue
		}
		reply := &Reply{Step: p.step, Finish: "stop"}
		if p.faults != "" {
			reply.Fault = drawn(r, share, strings.Split(p.faults, ","))
		}
		if first := firstPrompt(r); first != r.Prompt && analysedOutput.MatchString(first) {
			reply.Step = "real"
		}
		reply.Rule = faults[reply.Fault]
		reply.Text = p.answer(r, m, reply.Fault)
		switch reply.Fault {
		case "refused":
			reply.Text = "I'm sorry, but I cannot help with that."
			if p.step == "no-errors" || slices.Contains(strings.Split(p.faults, ","), "no Q6") {
				reply.Rule = build.RuleMalformed // what it is to feedback
			}
		case "withheld":
			reply.Text, reply.Finish = "", "content_filter"
		case "empty":
			reply.Text = " \n"
		case "cut":
			reply.Text, reply.Finish = reply.Text[:len(reply.Text)*2/3], "length"
		}
		return reply, true
	}
	return nil, false
}

func firstPrompt(r *llmtest.Request) string {
	if len(r.Messages) > 0 {
		return r.Messages[0].Content
	}
	return r.Prompt
}

// drawn is one of the faults, or "".
func drawn(r *llmtest.Request, share float64, names []string) string {
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

var (
	correctText = regexp.MustCompile(`The correct (?:translation|generation) is, "(.*?)"\.|One example generation is, "(.*?)"\.`)
	emptyField  = regexp.MustCompile(`(?m)^(Error location|Explanation for error|Paraphrased? correct|Incorrect) (\w+):$`)
)

// designed answers the prompts for designated errors (tables 29 to 33).
func designed(q *llmtest.Request, m []string, fault string) string {
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
	case "unchanged":
		wrong = text
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

// feedback finds that all errors are major, and that the type of the first is
// another one (table 34).
func feedback(q *llmtest.Request, _ []string, fault string) string {
	var parts []string
	for i, m := range statedLocation.FindAllStringSubmatch(q.Prompt, -1) {
		typed, more := "Yes", `, "Q6": "Yes"`
		if i == 0 {
			typed = "No"
		}
		if fault == "no Q6" {
			more = ""
		}
		parts = append(parts, fmt.Sprintf(`"Err%d": {"Q1": %q, "Q2": [%[2]q, null], "Q3": "None", "Q4": "major-error", "Q5": %q%s}`, i+1, m[1], typed, more))
	}
	return "{" + strings.Join(parts, ", ") + `, "Q7": "No, 0"}`
}

var (
	analysedOutput = regexp.MustCompile(`(?m)^Model-generated Translation: (.*)$`)
	offeredAspect  = regexp.MustCompile(`Choose only one from ([^,.\n]*)`)
)

// analysed answers the second turn of both channels of MetricInstruct.
func analysed(q *llmtest.Request, _ []string, fault string) string {
	location, severity, reduction, why := "Wrongly added", "Major", "2.0", "It is not in the source."
	if m := analysedOutput.FindStringSubmatch(firstPrompt(q)); m != nil {
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

// sampled is a report of InstructScore where several are asked for; each finds one
// error more, up to three, at the words of the output.
func sampled(q *llmtest.Request, m []string, fault string) string {
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

package command

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"strconv"
	"strings"

	"github.com/refract-eval/refract/llm/llmtest"
)

// teacherAnswer is a model that makes training data; any other prompt gets any
// answer. A faulty one answers some prompts badly, which depends on the prompt.
func teacherAnswer(faulty bool) func(*llmtest.Request) string {
	return func(r *llmtest.Request) string {
		if answer, asked := buildingAnswer(r, faulty); asked {
			return answer
		}
		return llmtest.Answer(r.Model, r.Prompt, r.Sample)
	}
}

var (
	askedDomains   = regexp.MustCompile(`^Find (\d+) major domains`)
	askedTopics    = regexp.MustCompile(`^Find (\d+) topics in the (.*) domain`)
	askedSentences = regexp.MustCompile(`^Give me (\d+) \S+ sentences about (.*) \(Each`)
	askedFormat    = regexp.MustCompile(`The format is:?\n`)
	correctText    = regexp.MustCompile(`The correct (?:translation|generation) is, "(.*?)"\.|One example generation is, "(.*?)"\.`)
	emptyLocation  = regexp.MustCompile(`(?m)^Error location (\d):$`)
	emptyReason    = regexp.MustCompile(`(?m)^Explanation for error (\d):$`)
)

// buildingAnswer answers the prompts of builders, and says whether this is one.
func buildingAnswer(r *llmtest.Request, faulty bool) (string, bool) {
	list := func(m []string, entry string, of string) string {
		n, _ := strconv.Atoi(m[1])
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%d. "+entry+"\n", i+1, of, i+1)
		}
		return b.String()
	}
	fault := -1
	if faulty {
		h := fnv.New32a()
		fmt.Fprint(h, r.Prompt)
		fault = int(h.Sum32() % 10)
	}
	if m := askedDomains.FindStringSubmatch(r.Prompt); m != nil {
		return list(m, "%s %d", "Domain"), true
	}
	if m := askedTopics.FindStringSubmatch(r.Prompt); m != nil {
		return "Here they are:\n" + list(m, "%s, part %d", m[2]), true
	}
	if m := askedSentences.FindStringSubmatch(r.Prompt); m != nil {
		return list(m, "The report on %s was read by %d people in the old town.", strings.ToLower(m[2])), true
	}
	if strings.Contains(r.Prompt, "The output format will be in JSON\n{Err1") {
		if fault == 0 {
			return "I cannot help with that.", true
		}
		return feedbackAnswer(r.Prompt), true
	}
	if strings.Contains(r.Prompt, "Compared to the reference, does the output contain any error?") {
		return "No", true
	}
	if answer, asked := analysisAnswer(r, faulty); asked {
		return answer, true
	}
	if answer, asked := sampledReport(r); asked && r.Seed != nil {
		return answer, true
	}
	at := askedFormat.FindStringIndex(r.Prompt)
	if at == nil {
		return "", false
	}
	m := correctText.FindStringSubmatch(r.Prompt)
	text, short := m[1]+m[2], "In short: "
	switch fault {
	case 0:
		return "I cannot help with that.", true
	case 1:
		text, short = "Отчёт о городе прочитали вчера многие люди", "Говорят, что " // another script
	}
	format := r.Prompt[at[1]:]
	switch fault {
	case 2:
		format = strings.ReplaceAll(format, "Major/minor: M", "Major/minor: N/A m")
	case 3:
		format = strings.ReplaceAll(format, "Error type 1: ", "Error type 1: Not ")
	}
	format = regexp.MustCompile(`(?m)^(Paraphrased? correct \w+):$`).ReplaceAllString(format, "$1: \""+short+text+"\"")
	format = regexp.MustCompile(`(?m)^(Incorrect \w+):$`).ReplaceAllString(format, "$1: \""+text+" wrong1 wrong2 wrong3 wrong4 wrong5\"")
	format = emptyLocation.ReplaceAllString(format, `Error location $1: "wrong$1"`)
	return emptyReason.ReplaceAllString(format, `Explanation for error $1: The word "wrong$1" does not belong there.`), true
}

var statedLocation = regexp.MustCompile(`(?m)^Error location \d: "(.*)"$`)

// feedbackAnswer finds that all errors are major, and that the type of the first
// is another one.
func feedbackAnswer(prompt string) string {
	var parts []string
	for i, m := range statedLocation.FindAllStringSubmatch(prompt, -1) {
		typed := "Yes"
		if i == 0 {
			typed = "No"
		}
		parts = append(parts, fmt.Sprintf(`"Err%d": {"Q1": %q, "Q2": [%[2]q, null], "Q3": "None", "Q4": "major-error", "Q5": %q, "Q6": "Yes"}`, i+1, m[1], typed))
	}
	return "{" + strings.Join(parts, ", ") + `, "Q7": "No, 0"}`
}

var (
	changedReference = regexp.MustCompile(`(?m)^Reference: (.*)$`)
	analysedOutput   = regexp.MustCompile(`(?m)^Model-generated Translation: (.*)$`)
	offeredAspect    = regexp.MustCompile(`Choose only one from ([^,.\n]*)`)
)

// analysisAnswer answers the two turns of both channels of MetricInstruct. Its
// faults follow from the text that is judged.
func analysisAnswer(r *llmtest.Request, faulty bool) (string, bool) {
	first := r.Prompt
	if len(r.Messages) > 0 {
		first = r.Messages[0].Content
	}
	switch {
	case strings.Contains(r.Prompt, "Only return the Output."):
		return changedReference.FindStringSubmatch(r.Prompt)[1] + " Wrongly added.", true
	case analysedOutput.MatchString(r.Prompt):
		return "There is an error at the beginning.", true
	case !strings.Contains(r.Prompt, "specific JSON format"):
		return "", false
	}
	location, severity, reduction, why := "Wrongly added", "Major", "2.0", "It is not in the source."
	if m := analysedOutput.FindStringSubmatch(first); m != nil {
		location, severity, reduction = strings.Fields(m[1])[0], "Minor", "0.5"
	}
	if faulty {
		h := fnv.New32a()
		fmt.Fprint(h, first)
		switch h.Sum32() % 6 {
		case 0:
			return "I cannot say.", true
		case 1:
			severity, reduction = "Minor", "3"
		case 2:
			why = "The reference has it in another way."
		case 3:
			location = "quite other words"
		}
	}
	return fmt.Sprintf(`{"errors": {"error_1": {"error_location": %q, "error_aspect": %q, "explanation": %q, "severity": %q, "score_reduction": %s}}}`,
		location, offeredAspect.FindStringSubmatch(r.Prompt)[1], why, severity, reduction), true
}

var judgedOutput = regexp.MustCompile(`(?s)The model generated translation is "(.*?)"\. Please identify all errors`)

// sampledReport is a report of InstructScore; each sample finds one error more, up to
// three, at the words of the output.
func sampledReport(r *llmtest.Request) (string, bool) {
	m := judgedOutput.FindStringSubmatch(r.Prompt)
	if m == nil {
		return "", false
	}
	words := strings.Fields(strings.ReplaceAll(m[1], `"`, ""))
	n := min(1+r.Sample%3, len(words))
	var b strings.Builder
	fmt.Fprintf(&b, "Your Translation contains %d errors:", n)
	for i := range n {
		fmt.Fprintf(&b, "\nError type %d: A type\nMajor/minor: Major\nError location %[1]d: \"%[2]s\"\nExplanation for error %[1]d: It is not right there.", i+1, words[i])
	}
	return b.String(), true
}

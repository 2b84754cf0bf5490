package buildtest

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"strconv"
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
	// what becomes of it; "" where there is no fault. Lists have none.
	Rule string
}

// bad gives the reply a fault.
func (r *Reply) bad(fault, rule string) { r.Fault, r.Rule = fault, rule }

// Answer replies to a prompt of a builder, and says whether it is one. A share of
// the replies that end a conversation is bad, which depends on the request alone.
func Answer(r *llmtest.Request, share float64) (*Reply, bool) {
	reply := &Reply{Finish: "stop"}
	draw := drawOf(r, share)
	switch {
	case reply.list(r, draw), reply.feedback(r, draw), reply.analysis(r, draw), reply.sample(r, draw), reply.designed(r, draw):
		return reply, true
	}
	return nil, false
}

// draw picks a fault.
type draw struct {
	bad  bool
	rest uint32
}

func drawOf(r *llmtest.Request, share float64) draw {
	h := fnv.New32a()
	for _, m := range r.Messages {
		fmt.Fprintf(h, "%d %s", len(m.Content), m.Content)
	}
	fmt.Fprint(h, r.Prompt)
	if r.Seed != nil {
		fmt.Fprint(h, *r.Seed)
	}
	sum := h.Sum32()
	return draw{float64(sum%1000) < 1000*share, sum / 1000}
}

// of is one of the faults, or "".
func (d draw) of(faults ...string) string {
	if !d.bad {
		return ""
	}
	return faults[d.rest%uint32(len(faults))]
}

// Faults that any answer can have.
const (
	refused  = "refused"
	withheld = "withheld"
	empty    = "empty"
	cut      = "cut"
	half     = "half" // a part of it, though the server says that it is whole
)

// whole sets a text, or what a fault makes of it.
func (r *Reply) whole(step, text, fault string) bool {
	r.Step, r.Text = step, text
	switch fault {
	case refused:
		r.Text = "I'm sorry, but I cannot help with that."
		r.bad(fault, build.RuleRefusal)
	case withheld:
		r.Text, r.Finish = "", "content_filter"
		r.bad(fault, build.RuleNoAnswer)
	case empty:
		r.Text = " \n"
		r.bad(fault, build.RuleNoAnswer)
	case cut:
		r.Text, r.Finish = text[:len(text)*2/3], "length"
		r.bad(fault, build.RuleCut)
	case half:
		r.Text = text[:len(text)/2]
		r.bad(fault, build.RuleMalformed)
	}
	return true
}

var (
	askedDomains   = regexp.MustCompile(`^Find (\d+) major domains`)
	askedTopics    = regexp.MustCompile(`^Find (\d+) topics in the (.*) domain`)
	askedSentences = regexp.MustCompile(`^Give me (\d+) \S+ sentences about (.*) \(Each`)
)

// list answers the prompts for texts (tables 25 to 27).
func (r *Reply) list(q *llmtest.Request, d draw) bool {
	list := func(m []string, entry string, of string) string {
		n, _ := strconv.Atoi(m[1])
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%d. "+entry+"\n", i+1, of, i+1)
		}
		return b.String()
	}
	if m := askedDomains.FindStringSubmatch(q.Prompt); m != nil {
		return r.whole("domains", list(m, "%s %d", "Domain"), "")
	}
	if m := askedTopics.FindStringSubmatch(q.Prompt); m != nil {
		return r.whole("topics", "Here they are:\n"+list(m, "%s, part %d", m[2]), "")
	}
	if m := askedSentences.FindStringSubmatch(q.Prompt); m != nil {
		text := list(m, "The report on %s was read by %d people in the old town.", strings.ToLower(m[2]))
		d.bad, d.rest = d.bad && d.rest%8 == 0, d.rest/8 // each is all of an item's texts
		return r.whole("sentences", text, d.of(withheld, empty, cut))
	}
	return false
}

var (
	askedFormat   = regexp.MustCompile(`The format is:?\n`)
	correctText   = regexp.MustCompile(`The correct (?:translation|generation) is, "(.*?)"\.|One example generation is, "(.*?)"\.`)
	emptyLocation = regexp.MustCompile(`(?m)^Error location (\d):$`)
	emptyReason   = regexp.MustCompile(`(?m)^Explanation for error (\d):$`)
	emptyCorrect  = regexp.MustCompile(`(?m)^(Paraphrased? correct \w+):$`)
	emptyWrong    = regexp.MustCompile(`(?m)^(Incorrect \w+):$`)
)

// designed answers the prompts for designated errors (tables 29 to 33).
func (r *Reply) designed(q *llmtest.Request, d draw) bool {
	at := askedFormat.FindStringIndex(q.Prompt)
	if at == nil {
		return false
	}
	m := correctText.FindStringSubmatch(q.Prompt)
	text, short, format := m[1]+m[2], "In short: ", q.Prompt[at[1]:]
	wrong := text + " wrong1 wrong2 wrong3 wrong4 wrong5"
	fault := d.of(refused, withheld, empty, cut, half, "another language", "no severity", "another type", "one error too few", "unchanged")
	switch fault {
	case "another language":
		short, text, wrong = "Говорят, что ", "Отчёт о городе прочитали вчера многие люди", "Отчёт о городе прочитали вчера не те люди wrong1 wrong2 wrong3 wrong4 wrong5"
		r.bad(fault, build.RuleLanguage)
	case "no severity":
		format = strings.ReplaceAll(format, "Major/minor: M", "Major/minor: N/A m")
		r.bad(fault, build.RuleMalformed)
	case "another type":
		format = strings.ReplaceAll(format, "Error type 1: ", "Error type 1: Not ")
		r.bad(fault, build.RuleNotDesignated)
	case "one error too few":
		format = format[:strings.LastIndex(format, "Error type ")]
		r.bad(fault, build.RuleMalformed)
	case "unchanged":
		wrong = text
		r.bad(fault, build.RuleUnchanged)
	}
	format = emptyCorrect.ReplaceAllString(format, "$1: \""+short+text+"\"")
	format = emptyWrong.ReplaceAllString(format, "$1: \""+wrong+"\"")
	format = emptyLocation.ReplaceAllString(format, `Error location $1: "wrong$1"`)
	format = emptyReason.ReplaceAllString(format, `Explanation for error $1: The word "wrong$1" does not belong there.`)
	return r.whole("errors", format, fault)
}

var statedLocation = regexp.MustCompile(`(?m)^Error location \d: "(.*)"$`)

// feedback finds that all errors are major, and that the type of the first is
// another one (table 34), or that there is none (table 35).
func (r *Reply) feedback(q *llmtest.Request, d draw) bool {
	if strings.Contains(q.Prompt, "Compared to the reference, does the output contain any error?") {
		return r.unreadable(r.whole("no-errors", "No", d.of(refused, withheld, empty)))
	}
	if !strings.Contains(q.Prompt, "The output format will be in JSON\n{Err1") {
		return false
	}
	fault := d.of(refused, withheld, empty, cut, half, "a question without an answer", "an error too many")
	var parts []string
	add := func(location, more string) {
		typed := "Yes"
		if len(parts) == 0 {
			typed = "No"
		}
		parts = append(parts, fmt.Sprintf(`"Err%d": {"Q1": %q, "Q2": [%[2]q, null], "Q3": "None", "Q4": "major-error", "Q5": %q%s}`, len(parts)+1, location, typed, more))
	}
	for _, m := range statedLocation.FindAllStringSubmatch(q.Prompt, -1) {
		more := `, "Q6": "Yes"`
		if fault == "a question without an answer" {
			more = ""
			r.bad(fault, build.RuleMalformed)
		}
		add(m[1], more)
	}
	if fault == "an error too many" {
		add("nothing", `, "Q6": "Yes"`)
		r.bad(fault, build.RuleMalformed)
	}
	return r.unreadable(r.whole("errors", "{"+strings.Join(parts, ", ")+`, "Q7": "No, 0"}`, fault))
}

// unreadable makes a refusal what it is to feedback.
func (r *Reply) unreadable(done bool) bool {
	if r.Fault == refused {
		r.Rule = build.RuleMalformed
	}
	return done
}

var (
	changedReference = regexp.MustCompile(`(?m)^Reference: (.*)$`)
	analysedOutput   = regexp.MustCompile(`(?m)^Model-generated Translation: (.*)$`)
	offeredAspect    = regexp.MustCompile(`Choose only one from ([^,.\n]*)`)
)

// analysis answers the two turns of both channels of MetricInstruct.
func (r *Reply) analysis(q *llmtest.Request, d draw) bool {
	first := q.Prompt
	if len(q.Messages) > 0 {
		first = q.Messages[0].Content
	}
	switch {
	case strings.Contains(q.Prompt, "Only return the Output."):
		return r.whole("synthetic", changedReference.FindStringSubmatch(q.Prompt)[1]+" Wrongly added.", "")
	case analysedOutput.MatchString(q.Prompt):
		return r.whole("real", "There is an error at the beginning.", "")
	case !strings.Contains(q.Prompt, "specific JSON format"):
		return false
	}
	faults := []string{refused, withheld, empty, cut, half, "penalty", "reference", "location", "no penalty"}
	step, location, severity, reduction, why := "synthetic", "Wrongly added", "Major", "2.0", "It is not in the source."
	aspect := offeredAspect.FindStringSubmatch(q.Prompt)[1]
	if m := analysedOutput.FindStringSubmatch(first); m != nil {
		step, location, severity, reduction = "real", strings.Fields(m[1])[0], "Minor", "0.5"
	} else {
		faults = append(faults, "another aspect")
	}
	fault := d.of(faults...)
	switch fault {
	case "penalty":
		severity, reduction = "Minor", "3"
		r.bad(fault, build.RulePenalty)
	case "reference":
		why = "The reference has it in another way."
		r.bad(fault, build.RuleReference)
	case "location":
		location = "quite other words"
		r.bad(fault, build.RuleLocation)
	case "no penalty":
		reduction = `"unknown"`
		r.bad(fault, build.RuleMalformed)
	case "another aspect":
		aspect = "Politeness"
		r.bad(fault, build.RuleNotDesignated)
	}
	return r.whole(step, fmt.Sprintf(`{"errors": {"error_1": {"error_location": %q, "error_aspect": %q, "explanation": %q, "severity": %q, "score_reduction": %s}}}`,
		location, aspect, why, severity, reduction), fault)
}

var judgedOutput = regexp.MustCompile(`(?s)The model generated translation is "(.*?)"\. Please identify all errors`)

// sample is a report of InstructScore where several are asked for; each finds one
// error more, up to three, at the words of the output.
func (r *Reply) sample(q *llmtest.Request, d draw) bool {
	m := judgedOutput.FindStringSubmatch(q.Prompt)
	if m == nil || q.Seed == nil {
		return false
	}
	words := strings.Fields(strings.ReplaceAll(m[1], `"`, ""))
	n := min(1+*q.Seed%3, len(words))
	fault := d.of(refused, withheld, empty, cut, "no severity")
	severity := "Major"
	if fault == "no severity" {
		severity = "Maybe"
		r.bad(fault, build.RuleMalformed)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Your Translation contains %d errors:", n)
	for i := range n {
		fmt.Fprintf(&b, "\nError type %d: A type\nMajor/minor: %s\nError location %[1]d: \"%[3]s\"\nExplanation for error %[1]d: It is not right there.", i+1, severity, words[i])
	}
	return r.whole("samples", b.String(), fault)
}

package build

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics/analysis"
)

// filter applies the rules of the recipe. original is the correct text from which the
// item's output was made; "" for an output of a system.
func (s *Set) filter(it *Item, original string) {
	for _, rule := range s.Recipe.Rules {
		if it.Rule != "" {
			return
		}
		why := ""
		switch rule {
		case RuleNotDesignated:
			why = it.notDesignated()
		case RuleUnchanged:
			if f := folded(it.Hypothesis); original != "" && (f == folded(original) || f == folded(it.Reference)) {
				why = "the output with errors is the correct text"
			}
		case RuleLanguage:
			why = cmp.Or(s.otherLanguage(original, it.Reference), s.otherLanguage(original, it.Hypothesis))
		case RulePenalty:
			why = implausiblePenalty(it.Errors)
		case RuleReference:
			why = it.mentionsReference()
		case RuleLocation:
			why = it.locationNotInText()
		case RuleRepeat:
			key := strings.Join([]string{it.Task, folded(it.Source), folded(it.Reference), folded(it.Hypothesis)}, "\x00")
			if s.seen[key] {
				why = "an earlier item has the same texts"
			}
			if s.seen == nil {
				s.seen = map[string]bool{}
			}
			s.seen[key] = true
		}
		if why != "" {
			it.leave(rule, why)
		}
	}
}

// notDesignated says how errors differ from the requested ones, or returns "". If severities
// were requested, it compares severity, type and dimension, each request at most once, and
// some may be missing; otherwise it compares only types.
func (it *Item) notDesignated() string {
	if len(it.Asked) == 0 {
		return ""
	}
	left := slices.Clone(it.Asked)
	for _, e := range it.Errors {
		i := slices.IndexFunc(left, func(a analysis.Error) bool {
			return sameWords(a.Aspect, e.Aspect) && (a.Severity == "" || a.Severity == e.Severity && sameWords(a.Dimension, e.Dimension))
		})
		if i < 0 {
			return fmt.Sprintf("no error %q was asked for", strings.Join(strings.Fields(string(e.Severity)+" "+e.Dimension+" "+e.Aspect), " "))
		}
		if left[i].Severity != "" {
			left = slices.Delete(left, i, i+1)
		}
	}
	if len(it.Errors) == 0 {
		return "there is no error"
	}
	return ""
}

// sameWords compares types of errors, ignoring case and marks at their ends.
func sameWords(a, b string) bool {
	clean := func(s string) string { return strings.Trim(folded(s), `."' `) }
	return clean(a) == clean(b)
}

// otherLanguage says in what way a text is in another language than the correct text, or
// returns "".
func (s *Set) otherLanguage(correct, text string) string {
	if s.Language == nil || correct == "" {
		return ""
	}
	r := s.Language.Segment("", []string{correct}).Judge(check.Answer{Raw: text, HasText: true, Field: true})
	if r.Verdict == check.ReasonLanguage {
		return r.Detail
	}
	return ""
}

// implausiblePenalty applies the prompt's bounds of penalties, and the bound for minor errors
// in section 3.3 of TIGERScore's paper.
func implausiblePenalty(errors []analysis.Error) string {
	for i, e := range errors {
		switch {
		case e.Penalty == nil:
		case *e.Penalty < 0.5 || *e.Penalty > 5:
			return fmt.Sprintf("error %d costs %v, which is not within 0.5 and 5", i+1, *e.Penalty)
		case e.Severity == analysis.Minor && *e.Penalty > 2.5:
			return fmt.Sprintf("error %d is minor and costs %v, more than 2.5", i+1, *e.Penalty)
		}
	}
	return ""
}

var reference = text.Regexp(`(?i)\b(?:reference|ground[- ]truth|gold(?:en)?[- ](?:standard|answer|output|translation|summary))\b`)

// mentionsReference looks for the word reference in explanations. It is allowed if the output
// or the source has it, because an explanation may quote them.
func (it *Item) mentionsReference() string {
	if reference().MatchString(it.Source) || reference().MatchString(it.Hypothesis) {
		return ""
	}
	for i, e := range it.Errors {
		if word := reference().FindString(e.Explanation); word != "" {
			return fmt.Sprintf("the explanation of error %d says %q", i+1, word)
		}
	}
	return ""
}

// mostUnknown is the share of a location's words that may occur in neither output nor
// source. The paper only says "too many".
const mostUnknown = 0.5

// locationNotInText splits locations at spaces, as section 3.3 of TIGERScore's paper does,
// and ignores punctuation around words.
func (it *Item) locationNotInText() string {
	words := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune(" \t\r\n.,;:!?\"'“”‘’()[]…", r) })
	}
	known := append(words(it.Hypothesis), words(it.Source)...)
	for i, e := range it.Errors {
		if e.Place.HasSpan() || e.Place == analysis.InSource {
			continue
		}
		all := words(e.Location)
		unknown := len(slices.DeleteFunc(slices.Clone(all), func(w string) bool { return slices.Contains(known, w) }))
		if float64(unknown) > mostUnknown*float64(len(all)) {
			return fmt.Sprintf("of the words at error %d, %d of %d stand neither in the output nor in the source", i+1, unknown, len(all))
		}
	}
	return ""
}

// refusals matches the beginnings of refusals, in the languages of the tasks and Chinese.
var refusals = []func() *regexp.Regexp{
	begins(`(?:as|i(?:['’]m| am)(?: just| only)?) an? (?:\w+ ){0,2}(?:ai|a\.i\.|language model|artificial intelligence|llm|virtual assistant|ai assistant)\b`),
	begins(`(?:(?:unfortunately|regrettably|sorry|(?:my )?apologies|i(?:['’]m| am)(?: \w+)? (?:sorry|afraid)|i apologi[sz]e|i regret)\b[^.!?\n]{0,60}[\s,])?(?:i|we)(?:(?:['’]m| am|['’]re| are)(?: \w+)? (?:unable|not able|not allowed|not permitted)| can['’]?t| can ?not| could ?n['’]t| wo ?n['’]t| will not| must| have to)(?: to)?(?: \w+){0,2} (?:assist|help|comply|fulfill?|accommodate|provide|create|generate|write|produce|translate|complete|process|respond|engage|continue|support|decline|refuse|paraphrase|rewrite|do) (?:with |to |in |on |of )?(?:you\b|any\b|such\b|that\b|this\b|these\b|those\b|the request|the task|your|so\b|content|sentences|texts?\b|harmful|offensive|inappropriate)`),
	begins(`(?:i(?:['’]m| am)(?: \w+)? (?:sorry|afraid)|sorry|i apologi[sz]e|(?:my )?apologies)\b[^.!?\n]{0,80}\b(?:(?:can['’]?t|can ?not|unable to|not able to) (?:\w+ )?(?:assist|help|comply|fulfill?)|your request|this request|that request)\b`),
	begins(`(?:als (?:eine? )?(?:ki|künstliche intelligenz|(?:\pL+ )?sprachmodell)\PL|(?:(?:es )?tut mir (?:\pL+ )?leid|leider|entschuldigung|ich)\PL[^.!?\n]{0,80}(?:kann|darf|werde)[^.!?\n]{0,80}(?:nicht|keine?n?)\PL[^.!?\n]{0,60}(?:anfrage|helfen|weiterhelfen|erfüllen|nachkommen|erstellen|unterstützen))`),
	begins(`(?:как (?:языковая модель|ии\PL|искусственный интеллект)|(?:извините|простите|к сожалению|сожалею|я)\PL[^.!?\n]{0,60}не (?:могу|можем|смогу) (?:\pL+ )?(?:помочь|выполнить|ответить на|предоставить|создать|создавать))`),
	begins(`(?:como (?:un |una )?(?:modelo de lenguaje|ia\b|inteligencia artificial)|(?:lo siento|lamento|lamentablemente|disculp\pL+|no)\b[^.!?\n]{0,60}(?:no )?puedo (?:\pL+ )?(?:ayudar|cumplir|asistir|proporcionar|generar|crear))`),
	begins(`(?:作为(?:一个|一名|一款)?(?:ai|人工智能|大?语言模型)|(?:很)?(?:抱歉|对不起|遗憾)[^。！？\n]{0,20}(?:无法|不能)|我(?:无法|不能)(?:协助|帮助|满足|提供|完成|回答|生成))`),
}

func begins(form string) func() *regexp.Regexp { return text.Regexp(`(?i)^\PL*` + form) }

// refusalBytes is the length of an answer's beginning that is searched for a refusal.
const refusalBytes = 400

// refusal returns a message if a text begins as a refusal, otherwise "".
func refusal(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > refusalBytes {
		text = strings.ToValidUTF8(text[:refusalBytes], "")
	}
	for _, form := range refusals {
		if found := form().FindString(text); found != "" {
			return "it begins as a refusal does: " + folded(found)
		}
	}
	return ""
}

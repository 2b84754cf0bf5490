package check

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The cleaning steps.
const (
	StepSpace        = "space"        // white space around
	StepUnicode      = "unicode"      // characters that no one sees, entities
	StepToken        = "token"        // <think>…</think>, </s>, <|im_end|>, HTML
	StepFence        = "fence"        // a code fence
	StepJSON         = "json"         // {"text": "…"}
	StepEmoji        = "emoji"        // pictographs
	StepMarkup       = "markup"       // **, _, `, # and tables
	StepRestated     = "restated"     // the prompt or the reference, repeated in front
	StepLeadIn       = "lead-in"      // "Sure, here is a paraphrase:"
	StepNote         = "note"         // "(present tense)" behind
	StepTalk         = "talk"         // lines and sentences about the task
	StepAlternatives = "alternatives" // lines that do not correspond, all but the first that do
	StepList         = "list"         // a list number or bullet in front
	StepQuotes       = "quotes"       // quotation marks around
	StepLines        = "lines"        // line breaks, where the reference has none
)

// Steps returns the names of the cleaning steps, in their order.
func Steps() []string {
	return stepNames(allSteps())
}

func stepNames(steps []step) []string {
	var names []string
	for _, s := range steps {
		names = append(names, s.name)
	}
	return names
}

// step takes one thing off a text without white space around. It returns the
// text as it is where there is nothing to take, as there is in no text that has
// nothing of what the step needs. Each step shortens the text or removes line
// breaks, so that repeating them ends.
type step struct {
	name  string
	needs needs
	apply func(c *Checker, t string, ref *original) string
}

func allSteps() []step {
	parts := needs{always: true} // what the parts are, only a look at them tells
	return []step{
		{StepSpace, needs{always: true}, func(_ *Checker, t string, _ *original) string { return t }}, // white space goes behind every step
		{StepUnicode, needs{ascii: unseen, other: func(r rune) bool { return suspicious(r) || strings.ContainsRune("▁Ġ†。ï\uFFFD", r) }, bytes: true, text: func(t string) bool { return strings.Contains(t, "  ") }}, undirt},
		{StepToken, needs{ascii: "<[{", other: func(r rune) bool { return r == '◁' || r == '【' }, text: losesTokens}, untoken},
		{StepFence, needs{ascii: "<`~"}, unfence},
		{StepJSON, needs{ascii: "{[\""}, unjson},
		{StepEmoji, needs{ascii: "(", other: func(r rune) bool {
			return isEmoji(r) || r == 'ʕ' || r > 0x3130 && strings.ContainsRune("（ㅋㅎㅠㅜ", r)
		}, text: func(t string) bool {
			return t != "" && strings.IndexByte(faceEnds, t[len(t)-1]) >= 0 || strings.Count(t, ":") > 1
		}}, unemoji},
		{StepMarkup, needs{ascii: "*_`#>|~\\=[$\n", text: func(t string) bool { return strings.HasPrefix(t, ":") }}, unmark},
		{StepRestated, parts, unrestate},
		{StepLeadIn, parts, takes(StepLeadIn)},
		{StepNote, parts, takes(StepNote)},
		{StepTalk, parts, takes(StepTalk)},
		{StepAlternatives, parts, takes(StepAlternatives)},
		{StepList, needs{text: mayBeLabelled}, unlist},
		{StepQuotes, needs{ascii: "\"'`{<[(", other: func(r rune) bool { return isQuote(r) || closers[r] != "" || strings.ContainsRune("《【〔´", r) }}, unquote},
		{StepLines, needs{ascii: "\n"}, joinLines},
	}
}

// mostCleaned bounds the texts that are cleaned, in bytes: no answer to one
// reference is longer, and nesting without end costs time.
const mostCleaned = 1 << 14

// mostRounds bounds how often the steps are repeated.
const mostRounds = 40

// Clean applies the cleaning steps of the configuration to a raw answer to a
// reference. It returns the text and the names of the steps that changed it.
// A step that would leave nothing does not apply. Cleaning the text again
// changes nothing. Texts over 16 KiB are only trimmed.
func (c *Checker) Clean(raw, reference string) (text string, steps []string) {
	return c.clean(raw, newOriginal(reference))
}

func (c *Checker) clean(raw string, ref *original) (string, []string) {
	return c.cleanBy(&c.steps, raw, ref)
}

func (c *Checker) cleanBy(w *wanted, raw string, ref *original) (string, []string) {
	var done []string
	ref.taken, ref.thinks = fit{}, false
	t, valid := raw, utf8.ValidString(raw)
	for rounds, again := 0, true; again; rounds++ {
		if rounds > mostRounds { // nesting that no answer has
			if t = strings.TrimSpace(raw); t != raw {
				return t, []string{StepSpace}
			}
			return t, nil
		}
		again = false
		set := w.by(t)
		for i := range w.steps {
			s := &w.steps[i]
			if set&(1<<i) == 0 || (len(t) > mostCleaned || !valid) && s.name != StepSpace {
				continue
			}
			if s.name == StepToken && mayHaveTokens(t) && unanswered(t, ref) {
				return t, done
			}
			next := s.apply(c, t, ref)
			if len(next) == len(t) && next == t && s.name != StepSpace {
				continue
			}
			next = strings.TrimSpace(next)
			if next == t || s.name != StepSpace && (next == "" || !says(next) && says(t)) {
				continue
			}
			t, again, set = next, true, w.by(next)
			if !slices.Contains(done, s.name) {
				done = append(done, s.name)
			}
		}
	}
	return t, done
}

// mayHaveTokens reports whether a text has a mark that opens a token.
func mayHaveTokens(t string) bool {
	return strings.ContainsAny(t, "<[{") || strings.Contains(t, "◁") || strings.Contains(t, "【")
}

// says reports whether a text has a letter or a digit.
func says(t string) bool {
	return strings.ContainsFunc(t, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// unfence takes the text out of a code fence.
func unfence(_ *Checker, t string, ref *original) string {
	if inner, ok := strings.CutPrefix(t, "<![CDATA["); ok {
		return strings.TrimSuffix(inner, "]]>")
	}
	const fence = "```"
	if strings.HasPrefix(t, "~~~") && !strings.Contains(ref.text, "~~~") {
		t = strings.ReplaceAll(t, "~~~", fence)
	}
	if !strings.Contains(t, fence) || strings.Contains(ref.text, fence) {
		return t
	}
	var inside, outside []string
	for i, part := range strings.Split(t, fence) {
		if i%2 == 0 {
			outside = append(outside, part)
			continue
		}
		// The name of a language is one word.
		if first, rest, ok := strings.Cut(part, "\n"); ok && !strings.ContainsAny(strings.TrimSpace(first), " \t.") {
			if isThought(strings.ToLower(first)) {
				continue
			}
			part = rest
		}
		inside = append(inside, part)
	}
	all := append(inside, outside...)
	if i := ref.choose(all); i >= 0 {
		return all[i]
	}
	return t
}

// unmark takes out Markdown: emphasis, code, headings, rules, quoted lines,
// tables.
func unmark(_ *Checker, t string, ref *original) string {
	if !strings.Contains(ref.text, "#") && strings.HasSuffix(t, "##") {
		return strings.TrimRight(t, "# ")
	}
	if !strings.ContainsAny(t, ":*_`#>|~\\=-$[\n") {
		return t
	}
	if !strings.Contains(ref.text, "#") {
		t = hashtags.ReplaceAllString(t, "")
	}
	if rows := cells(t); len(rows) > 1 && !strings.Contains(ref.text, "|") {
		if i := ref.choose(rows); i >= 0 {
			return rows[i]
		}
	}
	if t != "" && strings.ContainsRune(":=|>~", rune(t[0])) && !strings.HasPrefix(ref.text, t[:1]) {
		t = strings.TrimRight(strings.TrimLeft(t, ":=|>~ "), "= ")
	}
	if inner := strings.Trim(t, "$"); strings.HasPrefix(t, "$") && strings.HasSuffix(t, "$") && !strings.Contains(inner, "$") {
		return inner
	}
	if !strings.ContainsAny(ref.text, `\[`) {
		if m := boxed.FindStringSubmatch(t); m != nil {
			return m[1]
		}
		t = latex.ReplaceAllString(t, "$1")
		t = link.ReplaceAllString(t, "$1")
		t = escaped.ReplaceAllString(t, "$1")
	}
	for _, mark := range [...]string{"***", "**", "__", "~~", "==", "`", "*", "_"} {
		if strings.Contains(ref.text, mark) {
			continue
		}
		for from := 0; ; {
			begin, end := span(t, mark, from)
			if begin < 0 {
				break
			}
			inner := t[begin+len(mark) : end]
			if mark == "~~" { // struck out
				inner = ""
			}
			t = t[:begin] + inner + t[end+len(mark):]
			from = begin + len(inner)
		}
	}
	if strings.HasPrefix(t, "#") || strings.HasPrefix(t, ">") || strings.Contains(t, "\n") {
		var b strings.Builder
		for l := range strings.Lines(t) {
			for _, mark := range [...]string{"#", ">"} {
				if rest := strings.TrimLeft(l, mark); rest != l && strings.HasPrefix(rest, " ") && !strings.HasPrefix(ref.text, mark) {
					l = rest[1:]
				}
			}
			if s := strings.TrimSpace(l); s != "" && !says(s) && !strings.Contains(ref.text, "\n") {
				l = "\n"
			}
			b.WriteString(l)
		}
		t = b.String()
	}
	return t
}

// boxed has a final answer as mathematicians mark it, latex commands of LaTeX with the text in
// them, link a link with its text, escaped a mark that is no markup.
var (
	hashtags = regexp.MustCompile(`(\s*#\pL\w*)+$`)
	boxed    = regexp.MustCompile(`\\boxed\{(?:\\text\{)?([^{}]+)\}`)
	latex    = regexp.MustCompile(`\$?\\(?:begin|end)\{[a-z]+\}|\$?\\[a-z]+\{([^{}]*)\}\$?|\\[][()]|\\item `)
	escaped  = regexp.MustCompile("\\\\([_*#~`>.!+|-])")
	link     = regexp.MustCompile(`!?\[([^][]*)\]\([^()\s]*\)`)
)

// span finds text between two marks of emphasis that belong together: the
// first has no space behind it, the other none before it, and a single mark
// stands at the edge of a word.
func span(t, mark string, from int) (begin, end int) {
	edge := func(r rune) bool {
		return r == utf8.RuneError || isDense(r) || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	for {
		i := strings.Index(t[from:], mark)
		if i < 0 {
			return -1, -1
		}
		i += from
		from = i + len(mark)
		j := strings.Index(t[from:], mark)
		if j < 0 {
			return -1, -1
		}
		j += from
		inner := t[from:j]
		if strings.TrimSpace(inner) == inner && inner != "" && !strings.Contains(inner, "\n\n") &&
			(len(mark) > 1 || edge(lastRune(t[:i])) && edge(firstRune(t[j+len(mark):]))) {
			return i, j
		}
	}
}

// cells returns the cells of a Markdown table, or nil.
func cells(t string) []string {
	if strings.Count(t, "|") < 2 || !strings.Contains(t, "\n") && strings.Count(t, "|") < 3 {
		return nil
	}
	var out []string
	for l := range strings.Lines(t) {
		if l = strings.TrimSpace(l); !strings.Contains(l, "|") && l != "" {
			out = append(out, l)
		} else if l != "" {
			for c := range strings.SplitSeq(l, "|") {
				if c = strings.TrimSpace(c); c != "" {
					out = append(out, c)
				}
			}
		}
	}
	return out
}

// unrestate takes the prompt, or the reference and an arrow, from the front.
func unrestate(c *Checker, t string, ref *original) string {
	for _, p := range c.prompts {
		if len(t) > len(p) && strings.EqualFold(t[:len(p)], p) && !hasPrefixFold(ref.text, p) {
			return t[len(p):]
		}
	}
	if s := putAs(t, ref); s != "" {
		return s
	}
	return takes(StepRestated)(c, t, ref)
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

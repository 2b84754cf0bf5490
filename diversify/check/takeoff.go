package check

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// takes returns a step that takes off what is before and behind the rewriting,
// as far as it is of its kind.
func takes(step string) func(_ *Checker, t string, ref *original) string {
	return func(_ *Checker, t string, ref *original) string {
		if ref.text == "" {
			return t
		}
		v := ref.view(t)
		ref.thinks = ref.thinks || v.breaksOff(ref)
		from, to := 0, len(t)
		if v.from > 0 && v.kindBefore() == step {
			from = v.parts[v.from].begin
		}
		last := v.parts[max(v.to-1, 0):]
		if v.to < len(v.parts) && v.kindBehind() == step {
			to = v.parts[v.to].begin
		}
		if from == 0 && to == len(t) {
			return t
		}
		rest := strings.TrimSpace(t[from:to])
		if step != StepAlternatives && step != StepRestated {
			ref.take(t[:from], t[:from])
			ref.take(t[to:], t[:to])
		}
		if r := firstRune(rest); step == StepAlternatives && unicode.Is(unicode.Pd, r) && firstRune(ref.text) != r {
			rest = strings.TrimSpace(rest[utf8.RuneLen(r):])
		}
		if from > 0 {
			if r := strings.TrimLeftFunc(rest, func(r rune) bool {
				return strings.ContainsRune(" -=>|~:;,/", r) || isArrow(r) || unicode.Is(unicode.Pd, r)
			}); says(r) && firstRune(rest) != firstRune(ref.text) {
				rest = r
			}
		}
		if p := last[0]; to < len(t) {
			if p.kind == head && !endsLead(ref.text) {
				rest = strings.TrimRightFunc(rest, func(r rune) bool {
					return unicode.IsSpace(r) || !isStop(r) && !isQuote(r) && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.In(r, unicode.Pe, unicode.M)
				})
			}
			if r := lastRune(strings.TrimSpace(t[to:v.parts[v.to].end])); v.parts[v.to].kind == bracket && isStop(r) && !endingOf(rest).complete() {
				rest += string(r)
			}
		}
		if v.to-v.from == 1 && v.parts[v.from].kind == bracket && from > 0 {
			_, n := utf8.DecodeRuneInString(rest)
			inner := strings.TrimRight(rest, ".。")
			if _, m := utf8.DecodeLastRuneInString(inner); len(inner) > n+m {
				rest = inner[n : len(inner)-m]
			}
		}
		return rest
	}
}

func (v *view) kindBefore() string {
	switch {
	case slices.ContainsFunc(v.parts[:v.from], func(p part) bool { return p.echo }):
		return StepRestated
	case v.other && slices.ContainsFunc(v.parts[:v.from], func(p part) bool { return p.score > 0 }):
		return StepAlternatives
	case v.parts[v.from-1].kind == head:
		return StepLeadIn
	case v.parts[v.from-1].kind == bracket:
		return StepNote
	}
	return StepTalk
}

func (v *view) kindBehind() string {
	switch {
	case v.other:
		return StepAlternatives
	case v.parts[v.to].kind == bracket:
		return StepNote
	}
	return StepTalk
}

// take notes what was taken off: on a line with the rest, or words that refuse.
// What announces the rest tells nothing against it. before is the text up to the
// seam.
func (o *original) take(t, before string) {
	f := o.fit(t)
	if broken := strings.HasSuffix(strings.TrimRight(before, " "), "\n"); !endsLead(strings.TrimSpace(t)) && (!broken || f.sorry >= 2) {
		o.taken = o.taken.add(f)
	}
}

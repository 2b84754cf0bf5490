package diversify

import (
	"cmp"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/diversify/alarm"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/diversify/selection"
)

// Counts checks the existing answers of segments again and counts the verdicts.
type Counts struct {
	Segments   int
	References int // not missing
	Answers    int
	Without    int // segments without an answer
	Accepted   int
	Fewest     int // least number of accepted answers in a segment with answers

	Signature string   // of the checks
	Makes     []string // verdicts that the checks may give
	Cleans    []string // cleaning steps
	Others    []string // other verdicts
	ByVerdict map[string]*Count
	ByStep    map[string]*Count
	ByAlarm   map[string]*Count    // by kind, for accepted answers
	Worded    int                  // accepted answers in a language with word lists for alarms
	Diversity *selection.Diversity // of accepted answers

	checker *check.Checker
}

// Count counts how often a verdict was given, or how often a cleaning step changed a text.
type Count struct {
	Answers, Segments int
	last              int // number of the last counted segment
}

// NewCounts returns Counts of the verdicts of a Checker.
func NewCounts(c *check.Checker) *Counts {
	makes := []string{check.Accepted}
	for _, r := range check.Reasons() {
		if c.Makes(r) {
			makes = append(makes, r)
		}
	}
	return &Counts{
		checker: c, Signature: c.Signature(), Makes: makes, Cleans: check.Steps(),
		ByVerdict: map[string]*Count{}, ByStep: map[string]*Count{}, ByAlarm: map[string]*Count{}, Diversity: selection.NewDiversity(),
	}
}

// Add checks the variants and rejected answers of a segment again, and returns a copy of
// the segment with the new verdicts. It keeps people's decisions and verdicts that do not
// come from checks, such as a judge's.
func (n *Counts) Add(s *refract.Segment) *refract.Segment {
	n.Segments++
	for _, r := range s.References {
		if r.Valid {
			n.References++
		}
	}
	judge := n.checker.Segment(s.Source.Value, texts(s.References))
	judge.Language = cmp.Or(judge.Language, s.Language)
	refuse(judge, s)
	out := *s
	out.Variants, out.Rejected = nil, nil
	for i, v := range slices.Concat(s.Variants, s.Rejected) {
		if i == len(s.Variants) {
			setAside(judge, s)
		}
		given := v.Verdict != "" && v.Verdict != check.Accepted && !slices.Contains(check.Reasons(), v.Verdict)
		switch {
		case v.Review != "" || given:
			if v.Review != "" && v.Verdict == check.Accepted {
				judge.Accept(v.Text.Value)
			}
			if given && !slices.Contains(n.Others, v.Verdict) {
				n.Others = append(n.Others, v.Verdict)
			}
			n.count(n.ByVerdict, v.Verdict)
		default:
			n.judge(judge, s, &v)
		}
		if v.Verdict == check.Accepted {
			out.Variants = append(out.Variants, v)
		} else {
			out.Rejected = append(out.Rejected, v)
		}
	}
	answers := len(out.Variants) + len(out.Rejected)
	if n.Answers, n.Accepted = n.Answers+answers, n.Accepted+len(out.Variants); answers == 0 {
		n.Without++
	} else if n.Segments-n.Without == 1 || len(out.Variants) < n.Fewest {
		n.Fewest = len(out.Variants)
	}
	var accepted []string
	for i := range out.Variants {
		accepted = append(accepted, out.Variants[i].Text.Value)
		if alarm.HasWords(judge.Language, s.References[out.Variants[i].Reference].Value) {
			n.Worded++
		}
		for _, a := range out.Variants[i].Alarms {
			n.count(n.ByAlarm, alarm.Kind(a))
		}
	}
	n.Diversity.Add(accepted)
	return &out
}

// judge sets the verdict of a variant.
func (n *Counts) judge(judge *check.Segment, s *refract.Segment, v *refract.Variant) {
	origin := refract.Origin{}
	if v.Origin != nil {
		origin = *v.Origin
	}
	if !origin.Raw.Valid && (v.Origin == nil || v.Text.Value != "") {
		origin.Form, origin.Raw = "", v.Text
	}
	answer, notOf := unwrap(origin.Form, cache.Answer{Text: origin.Raw.Value, HasText: origin.Raw.Valid, FinishReason: v.Finish})
	res := notOf
	if res == nil {
		judged := checked(judge, v.Reference, &answer, origin.Form)
		if judged.Verdict == check.ReasonUnlike && v.Verdict == check.Accepted && strings.HasPrefix(v.Detail, judgedBy) {
			judged.Verdict, judged.Detail = check.Accepted, v.Detail
			judge.Accept(judged.Text)
		}
		res = &judged
	}
	n.count(n.ByVerdict, res.Verdict)
	for _, step := range res.Cleaned {
		n.count(n.ByStep, step)
	}
	origin.Cleaned = res.Cleaned
	v.Origin, v.Text = &origin, refract.Text{Value: res.Text, Valid: res.HasText}
	v.Verdict, v.Detail, v.Alarms = res.Verdict, res.Detail, nil
	if v.Verdict == check.Accepted {
		v.Alarms = alarm.Find(judge.Language, s.References[v.Reference].Value, v.Text.Value)
	}
}

// Measure includes alarms by vectors in the counts. Alarm raises them.
func (n *Counts) Measure() { n.ByAlarm[alarm.Embedding] = &Count{} }

// Alarm adds an alarm to an accepted variant of the segment that was added last.
func (n *Counts) Alarm(v *refract.Variant, kind, what string) {
	v.Alarms = append(v.Alarms, kind+": "+what)
	n.count(n.ByAlarm, kind)
}

// texts returns the texts of references, "" for a missing one.
func texts(references []refract.Text) []string {
	out := make([]string, len(references))
	for i, r := range references {
		out[i] = r.Value
	}
	return out
}

// refuse makes judge reject answers that equal one that a person or another model has
// rejected.
func refuse(judge *check.Segment, s *refract.Segment) {
	for _, v := range slices.Concat(s.Variants, s.Rejected) {
		switch {
		case !v.Text.Valid:
		case v.Review == refract.ReviewReject:
			judge.Refuse(v.Text.Value, "a person")
		case v.Verdict == NotEquivalent || v.Verdict == Unjudged:
			judge.Refuse(v.Text.Value, "the judge")
		}
	}
}

// setAside makes judge treat answers that a selection left out like accepted ones, so that
// their repetitions stay duplicates. Variants come first, so that of equal texts the
// selected one stays.
func setAside(judge *check.Segment, s *refract.Segment) {
	for _, v := range s.Rejected {
		if v.Verdict == selection.NotSelected && v.Text.Valid {
			judge.Accept(v.Text.Value)
		}
	}
}

// count counts an answer of the current segment.
func (n *Counts) count(to map[string]*Count, name string) {
	c := to[name]
	if c == nil {
		c = &Count{}
		to[name] = c
	}
	c.Answers++
	if c.last != n.Segments {
		c.last = n.Segments
		c.Segments++
	}
}

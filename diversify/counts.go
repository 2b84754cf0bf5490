package diversify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/internal/doubt"
	"github.com/refract-eval/refract/internal/report"
)

// Counts checks the answers of segments that exist, and counts the verdicts. What
// it counted may be stored as JSON, and merged.
type Counts struct {
	Segments   int
	References int // that are there
	Answers    int
	Without    int // segments without an answer
	Accepted   int
	Fewest     int // accepted answers of a segment that has answers

	counted
	checker *check.Checker // nil of what was stored
}

// counted is what the table is made of.
type counted struct {
	Signature string // of the checks
	Makes     []string
	Cleans    []string // the cleaning steps
	Keep      int      // examples of each
	ByVerdict map[string]*Count
	Others    []string // verdicts that no check gives
	ByStep    map[string]*Count
}

// Count is how often one verdict was given, or one cleaning step changed a text.
type Count struct {
	Name     string
	Answers  int
	Segments int
	Examples []Example
	last     int // the number of the last segment that was counted
}

// Example is an answer with a verdict, or one that a cleaning step changed.
type Example struct {
	Where  string // segment, reference and prompt
	Detail string // of the verdict
	Raw    string
	Text   string // what became of it
}

// NewCounts counts what a Checker finds, and keeps up to the given number of
// examples of each verdict and step.
func NewCounts(c *check.Checker, examples int) *Counts {
	makes := []string{check.Accepted}
	for _, r := range check.Reasons() {
		if c.Makes(r) {
			makes = append(makes, r)
		}
	}
	return &Counts{checker: c, counted: counted{
		Signature: c.Signature(), Makes: makes, Cleans: c.Steps(), Keep: examples, ByVerdict: map[string]*Count{}, ByStep: map[string]*Count{},
	}}
}

// Merge takes in what the same checks counted of the segments that follow.
func (n *Counts) Merge(o *Counts) {
	if o.Segments > o.Without && (n.Segments == n.Without || o.Fewest < n.Fewest) {
		n.Fewest = o.Fewest
	}
	n.Segments, n.References, n.Answers = n.Segments+o.Segments, n.References+o.References, n.Answers+o.Answers
	n.Without, n.Accepted = n.Without+o.Without, n.Accepted+o.Accepted
	merge(n.ByVerdict, o.ByVerdict, n.Keep)
	merge(n.ByStep, o.ByStep, n.Keep)
	for _, v := range o.Others {
		if !slices.Contains(n.Others, v) {
			n.Others = append(n.Others, v)
		}
	}
}

// merge adds counts up, and keeps the first examples of each.
func merge(to, from map[string]*Count, keep int) {
	for name, c := range from {
		if to[name] == nil {
			to[name] = &Count{Name: name}
		}
		t := to[name]
		t.Answers, t.Segments = t.Answers+c.Answers, t.Segments+c.Segments
		t.Examples = append(t.Examples, c.Examples[:min(len(c.Examples), keep-len(t.Examples))]...)
	}
}

// AddReferences checks the references after the first one against it. The error is
// that of the language check.
func (n *Counts) AddReferences(s *refract.Segment) error {
	if len(s.References) == 0 {
		n.Segments++
		n.Without++
		return nil
	}
	first := s.References[0]
	judge := n.begin(s, s.References[:1])
	answers, accepted := 0, 0
	for i, r := range s.References[1:] {
		if !r.Valid || !first.Valid {
			continue
		}
		answers++
		res := judge.Judge(check.Answer{Raw: r.Value, HasText: true})
		if res.Err != nil {
			return fmt.Errorf("segment %s, reference %d: %w", s.ID, i+2, res.Err)
		}
		if res.Verdict == check.Accepted {
			accepted++
		}
		n.count(&res, func() string { return fmt.Sprintf("segment %s, reference %d", s.ID, i+2) }, r.Value)
	}
	n.end(answers, accepted)
	return nil
}

// AddVariants checks the variants of a segment and what was rejected before,
// and returns a copy of the segment with the verdicts. A verdict that no check
// gives, such as a judge's, stays. The error is that of the language check.
func (n *Counts) AddVariants(s *refract.Segment) (*refract.Segment, error) {
	judge := n.begin(s, s.References)
	refuse(judge, s)
	out := *s
	out.Variants, out.Rejected = nil, nil
	for i, v := range slices.Concat(s.Variants, s.Rejected) {
		if i == len(s.Variants) {
			setAside(judge, s)
		}
		where := func() string {
			return fmt.Sprintf("segment %s, reference %d, prompt %q", s.ID, v.Reference+1, v.Prompt)
		}
		if v.Review != "" { // a person's word stands
			n.review(judge, &v, where)
			if v.Verdict == check.Accepted {
				out.Variants = append(out.Variants, v)
			} else {
				out.Rejected = append(out.Rejected, v)
			}
			continue
		}
		if v.Verdict != "" && v.Verdict != check.Accepted && !slices.Contains(check.Reasons(), v.Verdict) {
			n.given(&v, where)
			out.Rejected = append(out.Rejected, v)
			continue
		}
		origin := refract.Origin{}
		if v.Origin != nil {
			origin = *v.Origin
		}
		answer, notOf := cache.Answer{Text: origin.Raw.Value, HasText: origin.Raw.Valid, FinishReason: v.Finish}, (*check.Result)(nil)
		form := origin.Form
		if !origin.Raw.Valid {
			form, origin.Raw = "", v.Text
			answer.Text, answer.HasText = v.Text.Value, v.Text.Valid
		} else {
			answer, notOf = unwrap(origin.Form, answer)
		}
		var res check.Result
		if notOf != nil {
			res = *notOf
		} else {
			res = judge.Judge(checked(v.Reference, &answer, form))
		}
		if res.Err != nil {
			return nil, fmt.Errorf("%s: %w", where(), res.Err)
		}
		n.count(&res, where, origin.Raw.Value)
		origin.Cleaned = res.Cleaned
		v.Origin, v.Text = &origin, refract.Text{Value: res.Text, Valid: res.HasText}
		v.Verdict, v.Detail, v.Doubt = res.Verdict, res.Detail, nil
		if v.Verdict == check.Accepted {
			v.Doubt = new(doubt.Of(s.References[v.Reference].Value, v.Text.Value))
			out.Variants = append(out.Variants, v)
		} else {
			out.Rejected = append(out.Rejected, v)
		}
	}
	n.end(len(out.Variants)+len(out.Rejected), len(out.Variants))
	return &out, nil
}

// refuse has a segment's judge remember what a person or another model has
// rejected, so that an equal answer does not come back.
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

// setAside has a segment's judge know what a selection left out, so that what
// repeats it stays a duplicate. The variants come first: of equal texts the one
// that was selected stays.
func setAside(judge *check.Segment, s *refract.Segment) {
	for _, v := range s.Rejected {
		if v.Verdict == selection.NotSelected && v.Text.Valid {
			judge.Accept(v.Text.Value)
		}
	}
}

// review counts what a person decided. Later answers are compared with what was
// accepted so.
func (n *Counts) review(judge *check.Segment, v *refract.Variant, where func() string) {
	if v.Verdict == check.Accepted {
		judge.Accept(v.Text.Value)
	}
	n.given(v, where)
}

// given counts a verdict that stands.
func (n *Counts) given(v *refract.Variant, where func() string) {
	if !slices.Contains(append(check.Reasons(), check.Accepted), v.Verdict) && !slices.Contains(n.Others, v.Verdict) {
		n.Others = append(n.Others, v.Verdict)
	}
	n.count(&check.Result{Verdict: v.Verdict, Detail: v.Detail, Text: v.Text.Value}, where, v.Text.Value)
}

func (n *Counts) begin(s *refract.Segment, references []refract.Text) *check.Segment {
	n.Segments++
	texts := make([]string, len(references))
	for i, r := range references {
		if r.Valid {
			n.References++
		}
		texts[i] = r.Value
	}
	return n.checker.Segment(s.Source.Value, texts)
}

func (n *Counts) end(answers, accepted int) {
	if answers == 0 {
		n.Without++
		return
	}
	if n.Segments-n.Without == 1 || accepted < n.Fewest {
		n.Fewest = accepted
	}
	n.Accepted += accepted
}

// count adds a result. where says which answer it is of.
func (n *Counts) count(res *check.Result, where func() string, raw string) {
	n.Answers++
	add := func(to map[string]*Count, name string, example bool) {
		c := to[name]
		if c == nil {
			c = &Count{Name: name}
			to[name] = c
		}
		c.Answers++
		if c.last != n.Segments {
			c.last = n.Segments
			c.Segments++
		}
		if example && len(c.Examples) < n.Keep {
			c.Examples = append(c.Examples, Example{Where: where(), Detail: res.Detail, Raw: raw, Text: res.Text})
		}
	}
	add(n.ByVerdict, res.Verdict, res.Verdict != check.Accepted)
	for _, step := range res.Cleaned {
		add(n.ByStep, step, true)
	}
}

// Verdicts counts the verdicts that could be given, in the order of the checks,
// and behind them the others that were there.
func (n *Counts) Verdicts() []Count { return pick(n.ByVerdict, slices.Concat(n.Makes, n.Others)) }

// Steps counts the answers that each cleaning step changed, in their order.
func (n *Counts) Steps() []Count { return pick(n.ByStep, n.Cleans) }

// FalseAlarms returns, for references, how many were caught, of those that are
// not copies of each other.
func (n *Counts) FalseAlarms() (caught, of int) {
	of = n.Answers
	for _, c := range pick(n.ByVerdict, []string{check.ReasonCopy, check.ReasonDuplicate}) {
		of -= c.Answers
	}
	return of - n.Accepted, of
}

func pick(from map[string]*Count, names []string) []Count {
	out := make([]Count, len(names))
	for i, name := range names {
		out[i] = Count{Name: name}
		if c := from[name]; c != nil {
			out[i] = *c
		}
	}
	return out
}

// Table shows the counts to people, with the examples below. people says that
// the answers are references that people wrote, as AddReferences counts them.
func (n *Counts) Table(people bool) *report.NamedTable {
	t := &report.NamedTable{Columns: []report.Column{
		{Name: "kind"},
		{Name: "name"},
		{Name: "answers", Kind: report.KindInt},
		{Name: "share", Kind: report.KindFloat, Digits: 4},
		{Name: "segments", Kind: report.KindInt},
		{Name: "segment_share", Header: "of segments", Kind: report.KindFloat, Digits: 4},
		{Name: "examples", Hide: true},
	}}
	what := "variants"
	if people {
		what = "references after the first one"
	}
	t.Note("%d segments, %d references, %d %s; segments without any: %d", n.Segments, n.References, n.Answers, what, n.Without)
	caught, of := n.FalseAlarms()
	switch with := n.Segments - n.Without; {
	case people && of > 0:
		t.Note("false alarms, copies and duplicates left out: %d of %d (%.2f %%)", caught, of, 100*float64(caught)/float64(of))
	case !people && with > 0:
		t.Note("accepted of a segment: %d at least, %.2f on average", n.Fewest, float64(n.Accepted)/float64(with))
	}
	t.Note("checks: %s", n.Signature)
	add := func(kind string, c *Count, show func(*Example) string) {
		var examples []string
		for i := range c.Examples {
			line := c.Examples[i].Where + ": " + show(&c.Examples[i])
			examples = append(examples, line)
			t.Note("%s: %s", c.Name, line)
		}
		all := report.Null()
		if n.Keep > 0 {
			all = report.String(strings.Join(examples, "\n"))
		}
		t.Add(kind, c.Name, c.Answers, float64(c.Answers)/float64(n.Answers), c.Segments, float64(c.Segments)/float64(n.Segments), all)
	}
	for _, c := range n.Verdicts() {
		add("verdict", &c, func(x *Example) string {
			if x.Detail == "" { // of a verdict that no check gives
				return shorten(x.Text, 100)
			}
			return x.Detail + ": " + shorten(x.Text, 100)
		})
	}
	for _, c := range n.Steps() {
		add("cleaning", &c, func(x *Example) string { return shorten(x.Raw, 100) + " became " + shorten(x.Text, 100) })
	}
	return t
}

// shorten quotes the two ends of a text.
func shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		s = string(r[:most/2]) + " … " + string(r[len(r)-most/2:])
	}
	return "“" + report.Visible(s) + "”"
}

package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/internal/atomicfile"
	"github.com/refract-eval/refract/report"
)

// tallied counts what has one verdict, or was changed by one cleaning step.
type tallied struct {
	answers, segments int
	last              int // the number of the last segment that was counted
	examples          []string
}

// checkCounts judges the answers of segments and counts.
type checkCounts struct {
	c          *check.Checker
	most       int
	segments   int
	references int
	answers    int
	without    int // segments without an answer
	fewest     int // accepted answers of a segment that has answers
	accepted   int
	verdicts   map[string]*tallied
	others     []string // verdicts that no check gives
	steps      map[string]*tallied
}

func newCheckCounts(c *check.Checker, examples int) *checkCounts {
	return &checkCounts{c: c, most: examples, fewest: -1, verdicts: map[string]*tallied{}, steps: map[string]*tallied{}}
}

func (n *checkCounts) begin(s *refract.Segment, references []refract.Text) *check.Segment {
	n.segments++
	texts := make([]string, len(references))
	for i, r := range references {
		if r.Valid {
			n.references++
		}
		texts[i] = r.Value
	}
	return n.c.Segment(s.Source.Value, texts)
}

func (n *checkCounts) end(answers, accepted int) {
	if answers == 0 {
		n.without++
		return
	}
	if n.fewest < 0 || accepted < n.fewest {
		n.fewest = accepted
	}
	n.accepted += accepted
}

// humans judges the references after the first one.
func (n *checkCounts) humans(s *refract.Segment) {
	if len(s.References) == 0 {
		n.segments++
		n.end(0, 0)
		return
	}
	judge := n.begin(s, s.References[:1])
	answers, accepted := 0, 0
	for i, r := range s.References[1:] {
		if !r.Valid || !s.References[0].Valid {
			continue
		}
		answers++
		res := judge.Judge(check.Answer{Raw: r.Value, HasText: true})
		if res.Verdict == check.Accepted {
			accepted++
		}
		n.count(&res, func() string { return fmt.Sprintf("segment %s, reference %d", s.ID, i+2) }, r.Value)
	}
	n.end(answers, accepted)
}

// variants judges the variants, and what was rejected before, and returns the
// segment with the verdicts. The segment that was read stays as it is.
func (n *checkCounts) variants(s *refract.Segment) *refract.Segment {
	judge := n.begin(s, s.References)
	out := *s
	out.Variants, out.Rejected = nil, nil
	for _, v := range slices.Concat(s.Variants, s.Rejected) {
		where := func() string {
			return fmt.Sprintf("segment %s, reference %d, prompt %q", s.ID, v.Reference+1, v.Prompt)
		}
		if v.Verdict != "" && v.Verdict != check.Accepted && !slices.Contains(check.Reasons(), v.Verdict) {
			n.keep(&v, where)
			out.Rejected = append(out.Rejected, v)
			continue
		}
		raw := v.Text
		if v.Origin != nil && v.Origin.Raw.Valid {
			raw = v.Origin.Raw
		}
		res := judge.Judge(check.Answer{Reference: v.Reference, Raw: raw.Value, HasText: raw.Valid, Finish: v.Finish})
		n.count(&res, where, raw.Value)
		v = withVerdict(v, raw, &res)
		if res.Verdict == check.Accepted {
			out.Variants = append(out.Variants, v)
		} else {
			out.Rejected = append(out.Rejected, v)
		}
	}
	n.end(len(out.Variants)+len(out.Rejected), len(out.Variants))
	return &out
}

// withVerdict returns a variant as it was judged.
func withVerdict(v refract.Variant, raw refract.Text, res *check.Result) refract.Variant {
	var origin refract.Origin
	if v.Origin != nil {
		origin = *v.Origin
	}
	origin.Raw, origin.Cleaned = raw, res.Cleaned
	v.Origin = &origin
	v.Text = refract.Text{Value: res.Text, Valid: res.HasText}
	v.Verdict, v.Detail = res.Verdict, res.Detail
	return v
}

func (n *checkCounts) tally(m map[string]*tallied, key string) *tallied {
	t := m[key]
	if t == nil {
		t = &tallied{}
		m[key] = t
	}
	t.answers++
	if t.last != n.segments {
		t.last = n.segments
		t.segments++
	}
	return t
}

// count adds one result. where says which answer it is about.
func (n *checkCounts) count(res *check.Result, where func() string, raw string) {
	n.answers++
	t := n.tally(n.verdicts, res.Verdict)
	if res.Verdict != check.Accepted && len(t.examples) < n.most {
		t.examples = append(t.examples, where()+": "+res.Detail+": "+shorten(res.Text))
	}
	for _, step := range res.Cleaned {
		t := n.tally(n.steps, step)
		if len(t.examples) < n.most {
			t.examples = append(t.examples, where()+": "+shorten(raw)+" became "+shorten(res.Text))
		}
	}
}

// keep counts a verdict that no check gives, such as a judge's.
func (n *checkCounts) keep(v *refract.Variant, where func() string) {
	n.answers++
	if !slices.Contains(n.others, v.Verdict) {
		n.others = append(n.others, v.Verdict)
	}
	t := n.tally(n.verdicts, v.Verdict)
	if len(t.examples) < n.most {
		t.examples = append(t.examples, where()+": "+shorten(v.Text.Value))
	}
}

// shorten quotes the two ends of a text.
func shorten(s string) string {
	const most = 100
	r := []rune(s)
	if len(r) > most {
		s = string(r[:most/2]) + " … " + string(r[len(r)-most/2:])
	}
	return "“" + report.Visible(s) + "”"
}

// complain says that there was nothing to judge.
func (n *checkCounts) complain(human bool) error {
	switch {
	case n.answers > 0:
		return nil
	case human:
		return errors.New("no segment has a second reference; --human compares the references that people wrote: " +
			"name them with --reference, or give several --ref files")
	}
	return errors.New("the dataset has no variant to check; name expanded references with --references")
}

func (n *checkCounts) write(o *output, out *atomicfile.File, human bool) error {
	w, err := o.table(out, []report.Column{
		{Name: "kind"},
		{Name: "name"},
		{Name: "answers", Kind: report.KindInt},
		{Name: "share", Kind: report.KindFloat, Digits: 4},
		{Name: "segments", Kind: report.KindInt},
		{Name: "segment_share", Header: "of segments", Kind: report.KindFloat, Digits: 4},
		{Name: "examples", Hide: true},
	}, report.Options{Notes: n.notes(human)})
	if err != nil {
		return err
	}
	row := func(kind, name string, t *tallied) error {
		if t == nil {
			t = &tallied{}
		}
		examples := report.Null()
		if n.most > 0 {
			examples = report.String(strings.Join(t.examples, "\n"))
		}
		return w.Row(report.String(kind), report.String(name), report.Int(t.answers), report.Float(float64(t.answers)/float64(n.answers)),
			report.Int(t.segments), report.Float(float64(t.segments)/float64(n.segments)), examples)
	}
	for _, name := range n.verdictNames() {
		if err := row("verdict", name, n.verdicts[name]); err != nil {
			return err
		}
	}
	for _, name := range n.c.Steps() {
		if err := row("cleaning", name, n.steps[name]); err != nil {
			return err
		}
	}
	return w.Close()
}

// verdictNames are the verdicts that could be given, and the others that were
// there.
func (n *checkCounts) verdictNames() []string {
	names := []string{check.Accepted}
	for _, r := range check.Reasons() {
		if n.c.Makes(r) {
			names = append(names, r)
		}
	}
	return append(names, n.others...)
}

// notes say below the table what was judged, and give the examples.
func (n *checkCounts) notes(human bool) []string {
	what := "variants"
	if human {
		what = "references after the first one"
	}
	notes := newNotes()
	notes.add(fmt.Sprintf("%d segments, %d references, %d %s; segments without any: %d", n.segments, n.references, n.answers, what, n.without))
	if with := n.segments - n.without; with > 0 && !human {
		notes.add(fmt.Sprintf("accepted of a segment: %d at least, %.2f on average", n.fewest, float64(n.accepted)/float64(with)))
	}
	if human {
		copies := 0
		for _, r := range []string{check.ReasonCopy, check.ReasonDuplicate} {
			if t := n.verdicts[r]; t != nil {
				copies += t.answers
			}
		}
		caught := n.answers - copies
		if t := n.verdicts[check.Accepted]; t != nil {
			caught -= t.answers
		}
		if other := n.answers - copies; other > 0 {
			notes.add(fmt.Sprintf("false alarms, copies and duplicates left out: %d of %d (%.2f %%)", caught, other, 100*float64(caught)/float64(other)))
		}
	}
	notes.add("checks: " + n.c.Signature())
	for _, name := range n.verdictNames() {
		n.addExamples(notes, name, n.verdicts[name])
	}
	for _, name := range n.c.Steps() {
		n.addExamples(notes, name, n.steps[name])
	}
	return notes.lines
}

func (n *checkCounts) addExamples(to *notes, name string, t *tallied) {
	if t == nil {
		return
	}
	for _, x := range t.examples {
		to.add(name + ": " + x)
	}
}

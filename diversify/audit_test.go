package diversify_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/llm"
)

// judged is a segment with variants of a model, served under another name.
func judged(id string, texts ...string) *refract.Segment {
	s := &refract.Segment{ID: id, References: []refract.Text{refract.NewText(reference)}}
	for i, t := range texts {
		s.Variants = append(s.Variants, refract.Variant{
			Prompt: fmt.Sprint("p", i), Model: model, Text: refract.NewText(t), Verdict: refract.Accepted,
			Origin: &refract.Origin{ServedModel: "served"},
		})
	}
	return s
}

// audits runs an audit by a judge that says yes to what has "kept" in it, no to
// "lost", and is served under a name.
func audits(t *testing.T, n int, seed uint64, judge diversify.Equivalence, served string, segs ...*refract.Segment) (*diversify.Sample, []*refract.Segment, int64) {
	t.Helper()
	var asked atomic.Int64
	cfg := config(completer(func(_ context.Context, r llm.Request) (llm.Response, error) {
		asked.Add(1)
		answer := "Who knows?"
		switch {
		case strings.Contains(r.Prompt, "kept"):
			answer = "Yes"
		case strings.Contains(r.Prompt, "lost"):
			answer = "No, they differ."
		}
		return llm.Response{Text: answer, HasText: true, FinishReason: "stop", Model: served}, nil
	}))
	cfg.Check, cfg.Equivalence = checker(t), &judge
	cfg.So.Calls = 2
	x := newExpander(t, cfg)
	s := diversify.NewSample(n, seed, model)
	for _, seg := range segs {
		s.Add(seg)
	}
	sum, err := x.Audit(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if got := int64(sum.Calls - 2); got != asked.Load() || sum.Judged != sum.Calls-2 {
		t.Errorf("the summary counts %d calls and %d questions, the judge %d", got, sum.Judged, asked.Load())
	}
	return s, marked(t, s, segs), asked.Load()
}

// marked are the segments as an audit leaves them, read twice.
func marked(t *testing.T, s *diversify.Sample, segs []*refract.Segment) (out []*refract.Segment) {
	t.Helper()
	ds := s.Marked(segments(segs))
	for range 2 {
		out = nil
		for seg, err := range ds.Segments(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, seg)
		}
	}
	return out
}

// marks are the audits of variants, with a ! where they are rejected, in the
// order of the alphabet.
func marks(segs ...*refract.Segment) string {
	var out []string
	for _, s := range segs {
		for i, v := range slices.Concat(s.Variants, s.Rejected) {
			switch mark := v.Audit + ":" + v.AuditedBy; {
			case v.Audit == "":
			case i < len(s.Variants):
				out = append(out, mark)
			default:
				out = append(out, "!"+mark+" "+v.Verdict)
			}
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func TestAudit(t *testing.T) {
	for _, c := range []struct {
		name   string
		judge  diversify.Equivalence
		served string
		want   string
		asked  int64
	}{
		{"another model", diversify.Equivalence{Model: "j", From: 2}, "", "!lost:j not-equivalent, kept:j, kept:j, unclear:j", 4},
		{"of those that it has not chosen", diversify.Equivalence{Model: "j", From: .5}, "j-1", "!lost:j not-equivalent, kept:j, kept:j, unclear:j", 4},
		{"that has chosen them all", diversify.Equivalence{Model: "j"}, "", "sampled:, sampled:, sampled:, sampled:", 0},
		{"the same model", diversify.Equivalence{Model: model, From: 2}, "", "sampled:, sampled:, sampled:, sampled:", 0},
		{"the same model, by the name that the server gives it", diversify.Equivalence{Model: "j", From: 2}, "served", "sampled:, sampled:, sampled:, sampled:", 4},
		{"the same model, by the name that it was asked for", diversify.Equivalence{Model: "j", From: 2}, model, "sampled:, sampled:, sampled:, sampled:", 4},
		{"the same model, by its served name", diversify.Equivalence{Model: "served", From: 2}, "", "sampled:, sampled:, sampled:, sampled:", 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			segs := []*refract.Segment{judged("a", "kept 1", "lost 2"), judged("b"), judged("c", "clear as mud", "", "kept 4")}
			segs[0].Variants = append(segs[0].Variants, refract.Variant{Model: "other", Text: refract.NewText("lost")})
			s, segs, asked := audits(t, 50, 1, c.judge, c.served, segs...)
			// Neither other models' variants nor those without a text are drawn.
			if got := marks(segs...); got != c.want || asked != c.asked {
				t.Errorf("%s after %d questions; want %s after %d", got, asked, c.want, c.asked)
			}
			if lost := strings.Count(c.want, "!lost"); s.Lost != lost {
				t.Errorf("%d lost, want %d", s.Lost, lost)
			}
		})
	}
}

// Every variant has the same chance to be drawn, and one more variant changes
// little.
func TestSample(t *testing.T) {
	const size, n, draws = 40, 10, 400
	var segs []*refract.Segment
	for i := range size / 4 {
		segs = append(segs, judged(fmt.Sprint(i), "kept 1", "kept 2", "kept 3", "kept 4"))
	}
	counts := make([]int, size)
	draw := func(seed uint64, segs []*refract.Segment) map[int]bool {
		s := diversify.NewSample(n, seed, model)
		for _, seg := range segs {
			s.Add(seg)
		}
		out := map[int]bool{}
		at := 0
		for _, one := range marked(t, s, segs) {
			for _, v := range one.Variants {
				if v.Audit != "" {
					out[at] = true
				}
				at++
			}
		}
		return out
	}
	for seed := range uint64(draws) {
		drawn := draw(seed, segs)
		if len(drawn) != n {
			t.Fatalf("%d drawn, want %d", len(drawn), n)
		}
		for i := range drawn {
			counts[i]++
		}
	}
	mean := float64(draws) * n / size
	for i, c := range counts {
		if d := math.Abs(float64(c) - mean); d > 5*math.Sqrt(mean*(1-float64(n)/size)) {
			t.Errorf("variant %d is drawn %d times, %.0f are expected", i, c, mean)
		}
	}
	before, after := draw(1, segs), draw(1, append(segs, judged("more", "kept 5")))
	same := 0
	for i := range before {
		if after[i] {
			same++
		}
	}
	if same < n-1 {
		t.Errorf("a new variant leaves %d of %d in the sample", same, n)
	}
}

// Doubtful answers alone go to the judge, and all accepted ones have a doubt.
func TestDoubtful(t *testing.T) {
	const same, other = "At eight in the morning the train to Lindenau leaves.", "I am sorry for the loss of your cat, my dear friend."
	for from, want := range map[float64]int{0: 2, .5: 1, 2: 0} {
		s := &script{lines: map[string][]string{"order": {same}, "voice": {other}, "judge": {"Yes", "Yes"}}}
		cfg := config(s)
		cfg.Prompts, cfg.Check = ten(t, "order,voice"), checker(t, "copy")
		cfg.Equivalence = &diversify.Equivalence{Model: "judge", From: from}
		x := newExpander(t, cfg)
		out, sum := mustRun(t, x, oneReference())
		if sum.Judged != want || sum.Variants != 2 {
			t.Errorf("from %v: %d questions about %d variants, want %d", from, sum.Judged, sum.Variants, want)
		}
		if a, b := out[0].Variants[0].Doubt, out[0].Variants[1].Doubt; a == nil || b == nil || *a >= .5 || *b < .5 {
			t.Errorf("doubts %v and %v", a, b)
		}
		n, prompt, answer, err := x.MostQuestions(t.Context(), oneReference())
		if most := map[bool]int{true: 2}[from < 1]; err != nil || n != most || prompt < 20 || answer != 16 {
			t.Errorf("from %v: at most %d questions of %d and %d tokens (%v), want %d", from, n, prompt, answer, err, most)
		}
	}
}

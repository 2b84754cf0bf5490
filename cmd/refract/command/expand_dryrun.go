package command

import (
	"cmp"
	"context"
	"iter"
	"math"
	"strconv"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/llm/budget"
	"github.com/refract-eval/refract/report"
)

// fixed shows a share or a cost among counts.
func fixed(v float64) report.Value { return report.String(strconv.FormatFloat(v, 'f', 4, 64)) }

// foresee prints what a run would ask for, and what that may cost.
func (x *expander) foresee(ctx context.Context, e *env, ds refract.Dataset, prices budget.Prices) error {
	exp, err := diversify.New(x.Config)
	if err != nil {
		return usagef("%w", err)
	}
	o, err := exp.Plan(ctx, ds, nil)
	if err != nil {
		return err
	}
	all := o.Stored + o.Needed + o.Equal
	share := report.Null()
	if all > 0 {
		share = fixed(float64(o.Stored+o.Equal) / float64(all))
	}
	n, mostJudged, judgePriced, err := 0, 0.0, false, error(nil)
	audited, auditLoad := 0, diversify.Load{}
	if x.judge != "" {
		var prompt, answer int
		if n, prompt, answer, err = x.mostQuestions(ctx, exp, ds); err != nil {
			return err
		}
		if exp.Audits() {
			audited = x.audit
		}
		auditLoad = diversify.Load{Calls: audited, PromptTokens: audited * prompt, CompletionTokens: audited * answer}
		mostJudged, judgePriced = x.judgeCost(prices, n, prompt, answer)
		replaced := x.mostReplaced(exp)
		o.MostAnswers = o.MostAnswers.Plus(o.MostOfOne, float64(replaced))
		if x.judgeOn != listNone {
			o.MostQuestions = o.MostQuestions.Plus(diversify.Load{Calls: 1, PromptTokens: prompt, CompletionTokens: answer}, float64(replaced))
		}
	}
	cost, most := report.Null(), report.Null()
	if price, ok := prices[x.Model]; ok {
		judged := prices[cmp.Or(x.judge, x.Model)]
		sum := func(answers, questions diversify.Load) report.Value {
			return fixed(price.Cost(answers.PromptTokens, answers.CompletionTokens) +
				judged.Cost(questions.PromptTokens+auditLoad.PromptTokens, questions.CompletionTokens+auditLoad.CompletionTokens))
		}
		cost, most = sum(o.Answers, o.Questions), sum(o.MostAnswers, o.MostQuestions)
	}
	estimate, follow := "by the length of the texts", "assumed: 20 of 100 are rejected; --pilot 20 measures it"
	if o.Measured {
		estimate = "by the stored answers"
	}
	if o.FollowMeasured {
		follow = "estimated by the stored answers"
	}
	t := &report.NamedTable{Title: "what is to come", Columns: []report.Column{{Name: "what"}, {Name: "value"}, {Name: "how"}}}
	t.Add("segments", strconv.Itoa(o.Segments), "")
	t.Add("references", strconv.Itoa(o.References), "")
	t.Add("references without a text", strconv.Itoa(o.MissingReferences+o.EmptyReferences), "not expanded")
	t.Add("answers", strconv.Itoa(all), "known to be asked for")
	t.Add("stored answers", strconv.Itoa(o.Stored), x.storedIn())
	t.Add("share without a call", share, "stored, or equal to another one")
	t.Add("calls", strconv.Itoa(o.Needed), "")
	if x.Form == diversify.FormAuto {
		t.Add("form of the calls", x.form, "the text form is taken where it is stored; else JSON, if the server gives that")
	}
	t.Add("asked again", strconv.Itoa(o.Again), follow)
	if x.judge != "" {
		how := follow
		if x.embeds.model != "" && x.Vectors == nil {
			how += "; by words alone"
		}
		if audited > 0 {
			how += "; the audit's " + strconv.Itoa(audited) + " too, even if stored"
		}
		t.Add("questions to the judge", strconv.Itoa(o.Questions.Calls+audited), how)
		t.Add("most questions to the judge", strconv.Itoa(n), x.judge+", stored ones too; --judge-on "+x.judgeOn)
		if judgePriced {
			t.Add("most cost of the judge", fixed(mostJudged), "if variants are as long as references")
		}
	}
	t.Add("prompt tokens", strconv.Itoa(o.Answers.PromptTokens+o.Questions.PromptTokens+auditLoad.PromptTokens), "estimated "+estimate)
	t.Add("completion tokens", strconv.Itoa(o.Answers.CompletionTokens+o.Questions.CompletionTokens+auditLoad.CompletionTokens), "estimated "+estimate)
	const bound = "if all is asked as often as it may be, each answer as long as it may be"
	t.Add("most completion tokens", strconv.Itoa(o.MostAnswers.CompletionTokens+o.MostQuestions.CompletionTokens+auditLoad.CompletionTokens), bound)
	t.Add("cost", cost, "estimated, the judge too, in the currency of --prices")
	t.Add("most cost", most, bound)
	if o.Done > 0 {
		whose, others := "mean of "+english.Count(o.Done, "segment")+" that need no call", "if the others are like these"
		if x.Complete > 0 && o.Done < o.Segments {
			others += "; those that are complete first have more"
		}
		if x.audit > 0 {
			whose += ", before the audit"
			others += "; before the audit"
		}
		t.Add("accepted of a segment", fixed(o.Accepted), whose)
		t.Add("accepted in all", strconv.Itoa(int(math.Round(o.Accepted*float64(o.Segments)))), others)
	}
	out := x.onScreen() // -o names the dataset
	err = out.show(e, t)
	if err == nil && prices == nil {
		e.note("the cost is not known: name the prices of the model with --prices")
	}
	return err
}

// beginning is the first segments of a dataset.
type beginning struct {
	refract.Dataset
	n int
}

// Segments implements refract.Dataset.
func (b beginning) Segments(ctx context.Context) iter.Seq2[*refract.Segment, error] {
	return func(yield func(*refract.Segment, error) bool) {
		n := 0
		for s, err := range b.Dataset.Segments(ctx) {
			if n++; !yield(s, err) || err != nil || n == b.n {
				return
			}
		}
	}
}

// Len implements dataset.Sized.
func (b beginning) Len() (int, bool) { return b.n, true }

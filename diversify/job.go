package diversify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/diversify/alarm"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
)

// job is the [ask.Job] of one segment. After each round its answers are judged, and the
// verdicts decide what the next round asks.
type job struct {
	x      *Expander
	tally  *tally
	seg    *refract.Segment
	checks *check.Segment  // nil without Config.Check
	cells  []cell          // in the order of the variants: by reference, then prompt
	asks   []asked         // all requests, in order
	from   int             // index of the first request of this round
	round  []ask.Question  // questions of this round
	rounds int             // number of rounds of complete
	turn   int             // number of the change to plant; -1 for none or after planting it
	others []string        // references of earlier segments, if a change is to be planted
	judged *refract.Judged // nil until a judge is asked
	mute   bool            // the judge gave no verdict on some text
	tried  []ask.Result    // of the first round, if a trial has asked for it
}

// cell is a pair of a reference and a prompt, with counts of its variants.
type cell struct {
	reference, prompt int
	wanted            int // variants to ask for in the first round
	accepted          int // accepted by this run
	recalled          int // accepted before
	samples           int // samples asked for
	failed            bool
}

// asked is a request and its answer.
type asked struct {
	cell         int
	sample, room int    // room: how often max_tokens was enlarged
	form         int    // index into the Expander's forms
	items        []item // texts that the judge is asked about; nil for a request to the model

	answer  *cache.Answer // meaningless if failed is set
	params  cache.Params  // parameters of the request
	failed  error         // instead of an answer
	called  bool          // the answer took a call of this run
	result  check.Result  // verdict on the answer
	enlarge bool          // the answer was cut, and may be asked for with more tokens
	alarms  []string      // on an answer that the checks accept
	waits   bool          // the judge has still to be asked
}

// Next implements [ask.Job].
func (j *job) Next(results []ask.Result) ([]ask.Question, error) {
	switch {
	case results == nil && j.tried == nil:
		err := j.x.plan(j)
		return j.round, err
	case results == nil && len(j.tried) == 0:
		return nil, nil
	case results == nil:
		results = j.tried
	}
	for i := range results {
		a := &j.asks[j.from+i]
		a.answer, a.params, a.failed, a.called = &results[i].Answer, results[i].Params, results[i].Err, results[i].Called
		if results[i].Other {
			a.form = 1
		}
	}
	j.round = nil
	j.x.judgeAnswers(j)
	j.x.planNext(j)
	return j.round, nil
}

// Answered implements [ask.Job].
func (j *job) Answered(i int, r ask.Result) {
	a := &j.asks[j.from+i]
	if r.Tolerated {
		j.tally.update(func(p *Progress) { p.Refused = cmp.Or(p.Refused, r.Err) })
	}
	switch {
	case r.Err == nil:
		j.tally.update(func(p *Progress) { p.add(j, a, r) })
	case r.Called && !errors.Is(r.Err, context.Canceled):
		j.tally.update(func(p *Progress) { p.Failed++ })
	}
}

// At implements [ask.Job].
func (j *job) At(i int, err error) error {
	a := &j.asks[j.from+i]
	c := &j.cells[a.cell]
	if a.items != nil {
		return j.fail(c.reference, "", a.sample, err)
	}
	return j.fail(c.reference, j.x.cfg.Prompts[c.prompt].Name, a.sample, err)
}

// plan prepares the first round of a job.
func (e *Expander) plan(j *job) error {
	continues := e.continues(j.seg)
	if err := e.expandedBefore(j.seg); err != nil && !continues {
		return j.fail(0, "", 0, err)
	}
	if was := j.seg.Judged; e.judge != nil && was != nil && was.Model != e.judge.Model {
		return j.fail(0, "", 0, fmt.Errorf("its answers were judged by %q, and what another judge says does not add up with that: name the same judge, or expand the original dataset", was.Model))
	}
	sourced := false // the source is asked about once, not for each reference
	for r, ref := range j.seg.References {
		if !hasText(ref) {
			continue
		}
		if !utf8.ValidString(ref.Value) {
			return j.fail(r, "", 0, errors.New("it is not valid UTF-8, and would reach the model changed"))
		}
		for p := range e.cfg.Prompts {
			if e.cfg.Prompts[p].NeedsSource() && !j.seg.Source.Valid {
				return j.fail(r, e.cfg.Prompts[p].Name, 0, errors.New("the prompt has the source in it, and the segment has none"))
			}
			if e.cfg.Prompts[p].FromSource() && sourced {
				continue
			}
			c := cell{reference: r, prompt: p, wanted: e.cfg.Samples}
			if continues {
				j.recall(&c)
			}
			j.cells = append(j.cells, c)
			for range c.wanted {
				e.sample(j, len(j.cells)-1)
			}
		}
		sourced = true
	}
	if continues {
		e.complete(j)
	}
	j.tally.update(func(p *Progress) {
		p.Begun++
		p.Wanted += j.wanted()
	})
	if e.cfg.Check != nil {
		j.checks = e.cfg.Check.Segment(j.seg.Source.Value, texts(j.seg.References))
		j.checks.Language = cmp.Or(j.checks.Language, j.seg.Language)
		for _, v := range j.seg.Variants {
			if v.Text.Valid {
				j.checks.Accept(v.Text.Value)
			}
		}
		setAside(j.checks, j.seg)
		refuse(j.checks, j.seg)
	}
	return nil
}

// hasText reports whether an original is expanded.
func hasText(ref refract.Text) bool {
	return ref.Valid && strings.TrimSpace(ref.Value) != "" && !text.IsCanary(ref.Value)
}

// expandedBefore returns an error if the segment already has variants of the same model and
// prompt.
func (e *Expander) expandedBefore(seg *refract.Segment) error {
	for _, v := range slices.Concat(seg.Variants, seg.Rejected) {
		if v.Model == e.cfg.Model && slices.ContainsFunc(e.cfg.Prompts, func(p Prompt) bool { return p.Name == v.Prompt }) {
			return fmt.Errorf("it has been expanded before with model %q and prompt %q; expand the original dataset, name other prompts, or have its segments completed (--complete)", v.Model, v.Prompt)
		}
	}
	return nil
}

// sample adds a request for the next sample of a cell to the round.
func (e *Expander) sample(j *job, c int) {
	n := j.cells[c].samples
	j.cells[c].samples++
	e.ask(j, c, n, 0, 0)
}

// ask adds a request for a sample to the round. Form 0 may also be answered in the other form.
func (e *Expander) ask(j *job, c, sample, room, form int) {
	q := e.questionOf(j, c, form, sample, room)
	if form == 0 && len(e.forms) > 1 {
		other := e.questionOf(j, c, 1, sample, room)
		q.Other = &other
	}
	j.add(asked{cell: c, sample: sample, room: room, form: form}, q)
}

// questionOf returns the question for a sample of a cell in a form.
func (e *Expander) questionOf(j *job, c, form, sample, room int) ask.Question {
	cell := &j.cells[c]
	reference := j.seg.References[cell.reference].Value
	prompt := e.cfg.Prompts[cell.prompt].Render(reference, j.seg.Source.Value)
	return e.question(&e.forms[form], prompt, sample, room, max(1, llm.EstimateTokens(reference)))
}

func (j *job) add(a asked, q ask.Question) {
	j.asks = append(j.asks, a)
	j.round = append(j.round, q)
}

// planNext plans the next round from the results of the last one. It depends only on the
// answers, not on the order in which they arrived.
func (e *Expander) planNext(j *job) {
	from, end := j.from, len(j.asks)
	j.from = end
	accepted, called := 0, 0
	for i := from; i < end; i++ {
		had := j.found()
		if j.asks[i].items != nil {
			e.settleJudged(j, i)
		} else {
			e.settleAnswer(j, i)
		}
		accepted += j.found() - had
		if j.asks[i].called {
			called += j.found() - had
		}
	}
	if len(j.round) == 0 && e.judge != nil {
		e.askJudge(j)
	}
	if len(j.round) == 0 {
		e.complete(j)
	}
	j.tally.update(func(p *Progress) { p.Accepted += accepted; p.AcceptedByCalls += called })
}

// judgeAnswers sets the results of a round's answers, and the alarms of accepted ones.
func (e *Expander) judgeAnswers(j *job) {
	for i := j.from; i < len(j.asks); i++ {
		a := &j.asks[i]
		if a.items != nil {
			continue
		}
		e.judgeAnswer(j, a)
		if j.checks != nil && !rejects(a.result.Verdict) {
			j.alarm(a)
		}
		if e.judge != nil && a.result.Verdict == check.ReasonUnlike { // the judge may accept it
			j.checks.Accept(a.result.Text)
		}
	}
}

func (j *job) alarm(a *asked) {
	a.alarms = alarm.Find(j.checks.Language, j.seg.References[j.cells[a.cell].reference].Value, a.result.Text)
}

func (e *Expander) judgeAnswer(j *job, a *asked) {
	if a.failed != nil {
		a.result = check.Result{Verdict: Failed, Detail: a.failed.Error()}
		return
	}
	answer, notOf := unwrap(e.forms[a.form].name, *a.answer)
	// Also if there is no text yet, because a reasoning model used up the limit.
	a.enlarge = a.room < e.cfg.Enlarge && answer.FinishReason == llm.FinishLength
	switch {
	case classify(a.answer) == broken:
		a.result = check.Result{Verdict: NotUnicode, Detail: "the server sent invalid UTF-8 or half of a surrogate pair"}
	case notOf != nil:
		a.result = *notOf
	case j.checks != nil:
		a.result = checked(j.checks, j.cells[a.cell].reference, &answer, e.forms[a.form].name)
	default:
		a.result = unchecked(&answer)
		if a.enlarge {
			a.result.Verdict = check.ReasonCut
		}
	}
}

func (e *Expander) settleAnswer(j *job, i int) {
	a := &j.asks[i]
	c := &j.cells[a.cell]
	switch {
	case a.failed != nil:
		c.failed = true // the same request would fail again
	case e.judge != nil && (a.result.Verdict == check.ReasonUnlike || !rejects(a.result.Verdict)):
		a.waits = true
	case !rejects(a.result.Verdict):
		c.accepted++
	case a.result.Verdict == NotJSON && e.unread.Load():
		e.ask(j, a.cell, a.sample, a.room, 1)
	case a.enlarge:
		e.ask(j, a.cell, a.sample, a.room+1, 0)
	default:
		e.resample(j, a.cell)
	}
}

// resample asks for another sample of a cell, if one is allowed.
func (e *Expander) resample(j *job, c int) {
	cell := &j.cells[c]
	if e.cfg.Temperature > 0 && cell.samples < cell.wanted*(1+e.cfg.Resample) {
		e.sample(j, c)
	}
}

// rejects reports whether a verdict keeps an answer from being a reference.
func rejects(verdict string) bool { return verdict != "" && verdict != refract.Accepted }

func (j *job) fail(reference int, prompt string, sample int, err error) error {
	return &Error{Pos: j.seg.Pos, Segment: j.seg.ID, Reference: reference, Prompt: prompt, Sample: sample, Err: err}
}

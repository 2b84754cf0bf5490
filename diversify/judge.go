package diversify

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/internal/guard"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics/judge/answer"
)

// Equivalence is a judge of meaning: a model that is shown a reference with all its accepted
// answers at once, and says for each whether it means the same or what was changed. It decodes
// greedily.
type Equivalence struct {
	Model    string       // may be the model that wrote the answers
	Endpoint llm.Endpoint // the Client's; "" means llm.Chat
}

const (
	// judgeList is the number of answers shown to the judge at once, and verdictTokens the
	// approximate tokens of each verdict.
	judgeList, verdictTokens = 20, 16
	// judgeSame is the judge's word for an answer with unchanged meaning.
	judgeSame = "same"

	judgeTask = `Here is a reference text, with its source where there is one, and a numbered list of rewritings. ` +
		`Compare the meaning of each rewriting with that of the reference. Other words, another order, voice or tense are no change. ` +
		`For each number answer "same", or what was changed of the meaning:
negation: something is denied that was said, or said that was denied
number: a number, a date, an amount or a unit
name: a person, a place or a thing is another one
role: who does something to whom
modality: must, may, can, should, all, some, only
dropped: something that was said is missing
added: something is said that was not
other: any other change of the meaning

Answer with a JSON object that has a verdict for each number: ` +
		`{"verdicts":[{"number":1,"changed":"same","words":""},{"number":2,"changed":"name","words":"the changed words"}]}`
)

// judgeTokens returns the token limit of the judge's answer. The second try has a higher one,
// because the first answer may have been cut.
func judgeTokens(try int) int { return []int{2048, 8192}[try] }

// changes returns the words that a judge may use for a change of meaning.
func changes() []string {
	return []string{judgeSame, "negation", "number", "name", "role", "modality", "dropped", "added", "other"}
}

func judgeSchema() llm.Schema {
	return llm.Schema{Name: "verdicts", JSON: `{"type":"object","properties":{"verdicts":{"type":"array","items":{"type":"object",` +
		`"properties":{"number":{"type":"integer"},"changed":{"type":"string","enum":["` + strings.Join(changes(), `","`) + `"]},"words":{"type":"string"}},` +
		`"required":["number","changed","words"],"additionalProperties":false}}},"required":["verdicts"],"additionalProperties":false}`}
}

// judge is an Equivalence with what its requests need.
type judge struct {
	Equivalence
	forms  []form         // to look up, in this order
	params []cache.Params // by try
}

// item is a text in a question to the judge: an answer, given by its index in job.asks, or a
// text that measures the judge and never becomes a variant.
type item struct {
	ask     int    // -1 for a text that measures the judge
	text    string // the text that measures the judge
	planted string // kind of the change in it; "" for another human reference
}

// newJudge returns a judge that answers in the same form as the model, if possible.
func newJudge(e Equivalence, answers Form) (*judge, error) {
	e.Endpoint = cmp.Or(e.Endpoint, llm.Chat)
	g := &judge{Equivalence: e}
	schema := judgeSchema()
	for try := range 2 {
		p, err := cache.NewParams(map[string]any{
			"temperature": 0.0, "top_p": 1.0, "max_tokens": judgeTokens(try),
			formParam: fmt.Sprintf("judge:%.4x", sha256.Sum256([]byte(judgeTask+schema.String()))),
		})
		if err != nil {
			return nil, fmt.Errorf("the judge of equivalence: %w", err)
		}
		g.params = append(g.params, p)
	}
	if e.Endpoint == llm.Completions {
		answers = FormText
	}
	g.forms = formsOf(answers, e.Endpoint, llm.Request{Model: e.Model, TopP: 1}, schema)
	if err := g.question("", "a", []string{"b"}, 0).Wire.Check(e.Endpoint); err != nil {
		return nil, fmt.Errorf("the judge of equivalence: %w", err)
	}
	return g, nil
}

// question returns the question about some texts. source may be "".
func (g *judge) question(source, reference string, texts []string, try int) ask.Question {
	var b strings.Builder
	b.WriteString(judgeTask + "\n\n" + guard.Notice + "\n\n" + guard.Fence(guard.Reference, reference) + "\n")
	if source != "" {
		b.WriteString(guard.Fence(guard.Source, source) + "\n")
	}
	for i, t := range texts {
		fmt.Fprintf(&b, "%d. %s\n", i+1, guard.Fence("rewriting", t))
	}
	prompt := b.String()
	var q *ask.Question
	for _, f := range slices.Backward(g.forms) {
		request := cache.Request{Kind: f.kind, Model: g.Model, Prompt: prompt, Params: g.params[try], Sample: try}
		wire := f.wire
		wire.Prompt, wire.MaxTokens = prompt, judgeTokens(try)
		q = &ask.Question{Request: request, Key: request.Key(), Wire: wire, Expected: verdictTokens * len(texts), Other: q}
	}
	return *q
}

// foresee estimates the judge's calls for the answers that a segment still waits for.
func (g *judge) foresee(j *job, out *ask.Outlook) {
	for r, ref := range j.seg.References {
		var texts []string
		for i := range j.cells {
			if c := &j.cells[i]; c.reference == r {
				texts = append(texts, slices.Repeat([]string{ref.Value}, c.wanted)...)
			}
		}
		for list := range slices.Chunk(texts, judgeList) {
			q := g.question(j.seg.Source.Value, ref.Value, list, 0)
			out.Needed++
			out.PromptTokens += q.Wire.PromptTokens()
			out.CompletionTokens += q.Expected
			out.MostCompletionTokens += judgeTokens(0)
		}
	}
}

// asks reports whether a question is for the judge.
func (g *judge) asks(q *ask.Question) bool {
	return strings.HasPrefix(q.Request.Prompt, judgeTask) && q.Request.Model == g.Model
}

// opinion is a judge's verdict on a text; Changed is "" if it is unknown.
type opinion struct {
	Number  int
	Changed string
	Words   string
}

// opinions parses a judge's answer about n texts. A text
// has no opinion if its number is missing, has two verdicts, or has a word that was not
// offered.
func opinions(a *cache.Answer, n int) []opinion {
	out, seen := make([]opinion, n), make([]bool, n)
	if !a.HasText || a.FinishReason == llm.FinishContentFilter {
		return out
	}
	rows, _ := answer.ReadList(a.Text, "verdicts", "number", "changed", "words")
	for _, row := range rows {
		number, _ := strconv.Atoi(row[0])
		o := opinion{number, row[1], row[2]}
		i := o.Number - 1
		if i < 0 || i >= n {
			continue
		}
		if o.Changed = strings.ToLower(strings.TrimSpace(o.Changed)); seen[i] && o.Changed != out[i].Changed || !slices.Contains(changes(), o.Changed) {
			o = opinion{}
		}
		out[i], seen[i] = o, true
	}
	return out
}

// askJudge asks the judge about the accepted answers that wait for it, together for each
// reference.
func (e *Expander) askJudge(j *job) {
	for r := range j.seg.References {
		var items []item
		for i := range j.asks {
			if a := &j.asks[i]; a.waits && j.cells[a.cell].reference == r {
				a.waits = false
				items = append(items, item{ask: i})
			}
		}
		e.judgeItems(j, r, e.plantIn(j, r, items), 0)
	}
}

// judgeItems asks the judge about some texts, in an order that depends only on the reference.
func (e *Expander) judgeItems(j *job, reference int, items []item, try int) {
	hash := sha256.Sum256([]byte(j.seg.References[reference].Value))
	rng := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(hash[:]), uint64(try)))
	rng.Shuffle(len(items), func(a, b int) { items[a], items[b] = items[b], items[a] })
	for list := range slices.Chunk(items, judgeList>>try) { // a second answer may have been cut
		e.judgeList(j, reference, list, try)
	}
}

// judgeList asks the judge about texts in one request.
func (e *Expander) judgeList(j *job, reference int, list []item, try int) {
	var texts []string
	for _, it := range list {
		if it.ask >= 0 {
			it.text = j.asks[it.ask].result.Text
		}
		texts = append(texts, it.text)
	}
	cell := slices.IndexFunc(j.cells, func(c cell) bool { return c.reference == reference })
	q := e.judge.question(j.seg.Source.Value, j.seg.References[reference].Value, texts, try)
	j.add(asked{cell: cell, sample: try, items: list}, q)
}

// settleJudged applies the judge's verdicts to the answers.
func (e *Expander) settleJudged(j *job, i int) {
	q := j.asks[i]
	if half := len(q.items) / 2; q.failed != nil && half > 0 { // one of the texts may be why
		for _, list := range [][]item{q.items[:half], q.items[half:]} {
			e.judgeList(j, j.cells[q.cell].reference, list, q.sample)
		}
		return
	}
	said := make([]opinion, len(q.items))
	if q.failed == nil {
		said = opinions(q.answer, len(q.items))
	}
	var left []item
	for n, it := range q.items {
		o := said[n]
		switch {
		case o.Changed != "":
			judgedItem(j.judged, it, o.Changed != judgeSame)
		case q.failed == nil && q.sample == 0:
			left = append(left, it)
			continue
		default:
			j.judged.Unjudged++
			j.mute = true
		}
		if it.ask < 0 {
			continue
		}
		a := &j.asks[it.ask]
		switch {
		case q.failed != nil:
			a.result.Verdict, a.result.Detail = Unjudged, "the judge gave no answer: "+q.failed.Error()
			continue // not the variant's fault
		case o.Changed == "":
			a.result.Verdict, a.result.Detail = Unjudged, fmt.Sprintf("the judge gave no verdict on number %d: %.80q", n+1, q.answer.Text)
			continue
		case o.Changed != judgeSame:
			// Words that occur only in other texts are dropped; they may come from a planted change.
			reference := j.seg.References[j.cells[a.cell].reference].Value
			o.Words = strings.TrimSpace(o.Words)
			if o.Words != "" && (strings.Contains(a.result.Text, o.Words) || strings.Contains(reference, o.Words)) {
				o.Changed += fmt.Sprintf(": %.80s", o.Words)
			}
			a.result.Verdict, a.result.Detail = NotEquivalent, o.Changed+" ("+judgedBy+e.judge.Model+")"
		default:
			if a.result.Verdict == check.ReasonUnlike {
				a.result.Verdict, a.result.Detail = check.Accepted, judgedBy+e.judge.Model
				j.alarm(a)
			}
			j.cells[a.cell].accepted++
			continue
		}
		e.resample(j, a.cell)
	}
	e.judgeItems(j, j.cells[q.cell].reference, left, 1)
}

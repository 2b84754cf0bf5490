package command

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"os"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/diversify/doubt"
	"github.com/refract-eval/refract/diversify/meaning"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/llm/budget"
)

// auditFlags say who looks at the meaning of variants.
type auditFlags struct {
	judge    string
	judgeURL string // "" for the servers of the others
	judgeOn  string
	audit    int
}

// The words of --judge-on, beside all and none.
const judgeDoubtful = "doubtful"

// leastKept is the share of variants that are to keep the meaning.
const leastKept = 0.8

func (a *auditFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.judge, "judge", "", "`MODEL` that tells whether answers mean what their references do")
	f.StringVar(&a.judgeURL, "judge-url", "", "`URL` of a server of its own for --judge (default that of --base-url)")
	f.StringVar(&a.judgeOn, "judge-on", judgeDoubtful, "accepted answers that the judge is asked about: doubtful, all, or none, for the --audit alone")
	oneOf(cmd, "judge-on", judgeDoubtful, listAll, listNone)
	f.IntVar(&a.audit, "audit", 0, "draw `N` accepted variants at random, for the judge or for people to tell how many keep the meaning")
	atLeast(cmd, 0, "audit")
	grouped(cmd, taskFlags, "judge", "audit")
}

// equivalence is the judge that the flags ask for; nil for none.
func (x *expander) equivalence() (*diversify.Equivalence, error) {
	switch {
	case x.judge == "" && x.given("judge-on"):
		return nil, usagef("--judge-on needs a --judge")
	case x.judge == "" && x.judgeURL != "":
		return nil, usagef("--judge-url needs a --judge")
	case x.judgeURL != "" && x.batch:
		return nil, usagef("--batch sends all calls to one server: leave out --judge-url")
	case x.judge == "":
		return nil, nil
	case x.Check == nil:
		return nil, usagef("--judge comes after the checks: leave out --checks none")
	case x.judgeOn == listNone && x.audit == 0:
		return nil, usagef("--judge-on none leaves the judge to the --audit: say how many variants it draws, such as --audit 50")
	case x.judge == x.Model && x.given("audit") && x.audit > 0:
		return nil, usagef("a model never audits itself: name another --judge, or none, which leaves the sample to people")
	case x.judgeOn == listAll && x.given("audit") && x.audit > 0:
		return nil, usagef("with --judge-on all the judge chooses all variants itself, so that it cannot audit them: name --judge-on doubtful or none, or leave out --judge, which leaves the sample to people")
	}
	j := &diversify.Equivalence{Model: x.judge, Endpoint: x.Endpoint}
	switch x.judgeOn {
	case judgeDoubtful:
		j.From = doubt.Limit
	case listNone:
		j.From = 2 // which no doubt reaches
	}
	return j, nil
}

// reachJudge gives the judge its own server, where it has one.
func (x *expander) reachJudge(e *env) error {
	if x.judgeURL == "" {
		return nil
	}
	server := x.callFlags.serverFlags.at(x.judgeURL)
	client, err := server.client(e, x.Endpoint)
	if err == nil {
		x.Equivalence.Client = e.awaiting(client, x.wait)
	}
	return err
}

// mostReplaced is how many answers --complete asks for at most in place of what
// the audit rejects.
func (x *expander) mostReplaced(exp *diversify.Expander) int {
	if !exp.Audits() || x.Complete == 0 {
		return 0
	}
	return x.audit * x.Rounds
}

// mostQuestions says how often the judge is asked at most, and the tokens of a
// question and of its answer.
func (x *expander) mostQuestions(ctx context.Context, exp *diversify.Expander, ds refract.Dataset) (n, prompt, answer int, err error) {
	n, prompt, answer, err = exp.MostQuestions(ctx, ds)
	if exp.Audits() {
		n += x.audit
	}
	if x.judgeOn != listNone {
		n += x.mostReplaced(exp)
	}
	return n, prompt, answer, err
}

// judgeCost is what questions to the judge cost; priced is false where the
// price is not known.
func (x *expander) judgeCost(prices budget.Prices, n, prompt, answer int) (cost float64, priced bool) {
	price, priced := prices[x.judge]
	return price.Cost(n*prompt, n*answer), priced
}

// tellQuestions says before a run what the judge will be asked.
func (x *expander) tellQuestions(ctx context.Context, e *env, exp *diversify.Expander, ds refract.Dataset, prices budget.Prices) error {
	if x.judge == "" {
		return nil
	}
	n, prompt, answer, err := x.mostQuestions(ctx, exp, ds)
	if err != nil {
		return err
	}
	switch cost, priced := x.judgeCost(prices, n, prompt, answer); {
	case priced:
		e.note("questions to the judge %s: at most %d, for about %.4f", x.judge, n, cost)
	default:
		e.note("questions to the judge %s: at most %d", x.judge, n)
	}
	return nil
}

// auditing is a sample of the variants on their way to the output.
type auditing struct {
	*diversify.Sample
	spool *os.File
	buf   *bufio.Writer
	enc   *dataset.Encoder
}

// newAudit keeps the segments in a file until the sample is judged. It is nil
// where no sample is drawn; close it.
func (x *expander) newAudit() (*auditing, error) {
	if x.audit == 0 {
		return nil, nil
	}
	f, err := os.CreateTemp("", "refract-*.jsonl")
	if err != nil {
		return nil, fmt.Errorf("--audit keeps the segments in a file until the sample is judged: %w", err)
	}
	_ = os.Remove(f.Name()) // so that it ends with the process; where that cannot be, close does it
	buf := bufio.NewWriter(f)
	return &auditing{diversify.NewSample(x.audit, defaultSeed, x.Model), f, buf, dataset.NewEncoder(buf)}, nil
}

func (a *auditing) close() {
	if a != nil {
		a.spool.Close()
		os.Remove(a.spool.Name())
	}
}

func (a *auditing) add(s *refract.Segment) error {
	a.Add(s)
	return a.enc.Encode(s)
}

// Segments implements refract.Dataset: it reads what was added.
func (a *auditing) Segments(ctx context.Context) iter.Seq2[*refract.Segment, error] {
	ds, err := dataset.Open("jsonl:-", dataset.Options{Stdin: io.NewSectionReader(a.spool, 0, math.MaxInt64)})
	if err != nil {
		return func(yield func(*refract.Segment, error) bool) { yield(nil, err) }
	}
	return ds.Segments(ctx)
}

// finish has the sample judged, and gives all segments to write. What the judge
// rejects is replaced: with --select by others that there are, with --complete by
// new ones.
func (a *auditing) finish(ctx context.Context, e *env, x *expander, watch *watcher, choose, write func(*refract.Segment) error) (diversify.Summary, error) {
	if err := a.buf.Flush(); err != nil {
		return watch.last.Summary, err
	}
	exp, err := x.further(ctx, e, watch, func(ctx context.Context, exp *diversify.Expander, need func(ask.Question) error) error {
		return exp.PlanAudit(ctx, a.Sample, need)
	})
	if err != nil {
		return watch.last.Summary, err
	}
	sum, err := exp.Audit(ctx, a.Sample)
	if err != nil {
		return sum, err
	}
	sum.Variants = max(0, sum.Variants-a.Lost) // which may be of earlier runs
	sum.Rejected += a.Lost
	marked := a.Marked(a)
	if x.keep > 0 {
		marked = dataset.Map(marked, func(_ context.Context, s *refract.Segment) (*refract.Segment, error) {
			if diversify.Lost(s) {
				s = selection.Unselected(s)
			}
			return s, nil
		})
	}
	leave := func(s *refract.Segment) error {
		if diversify.Lost(s) {
			if err := choose(s); err != nil {
				return err
			}
		}
		return write(s)
	}
	if watch.lost(a.Lost, x.Complete > 0, sum); x.Complete > 0 && a.Lost > 0 {
		so := &watch.last // the segments are counted once more
		so.Segments, so.References, so.MissingReferences, so.EmptyReferences, so.Lacking = 0, 0, 0, 0, 0
		x.Only = diversify.Lost
		exp, err := x.further(ctx, e, watch, func(ctx context.Context, exp *diversify.Expander, need func(ask.Question) error) error {
			_, err := exp.Plan(ctx, marked, need)
			return err
		})
		if err != nil {
			return sum, err
		}
		return exp.Expand(ctx, marked, leave)
	}
	for s, err := range marked.Segments(ctx) {
		if err == nil {
			err = leave(s)
		}
		if err != nil {
			return sum, err
		}
	}
	return sum, ctx.Err()
}

// further is an Expander that goes on from what was done so far, with what it
// needs through the Batch API where that is wanted.
func (x *expander) further(ctx context.Context, e *env, watch *watcher, plan func(context.Context, *diversify.Expander, func(ask.Question) error) error) (*diversify.Expander, error) {
	if x.batch {
		var err error
		if x.Client, err = x.inBatches(ctx, e, plan, watch.spend); err != nil {
			return nil, err
		}
	}
	x.So = watch.last
	return diversify.New(x.Config)
}

// tell says what the audit did.
func (a *auditing) tell(e *env, x *expander) {
	if a != nil && a.Own > 0 {
		e.warn("the server gives the judge %s as the model that wrote the variants: what it says of %s does not count, as a model never audits itself",
			x.judge, english.Count(a.Own, "variant"))
	}
}

// tellMeaning says of each model how many of its variants keep the meaning, and
// what to do; unmeasured says it where nobody has looked, or not at what was
// selected.
func (e *env) tellMeaning(findings []meaning.Finding, least float64, unmeasured func(string, ...any)) {
	for _, f := range findings {
		of := ""
		if len(findings) > 1 {
			of = ", variants of " + cmp.Or(f.Model, "a model that is not named")
		}
		say, w := e.note, f.Worst()
		switch {
		case w == nil:
			say = unmeasured
		case w.Share() < least:
			say = e.warn
		case w.BeforeSelection():
			say = unmeasured
		}
		for _, line := range f.Lines() {
			say("%s%s", line, of)
		}
		switch {
		case w != nil:
			e.note("  %s", w.Advice(least))
		case f.Drawn > 0:
			e.note("  'refract review' shows them to people")
		default:
			e.note("  'refract expand --audit 50 --judge MODEL' measures it, by another model than the one that wrote them")
		}
	}
}

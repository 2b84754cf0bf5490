package command

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/publish"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/diversify/alarm"
	"github.com/refract-eval/refract/embeddings"
	"github.com/refract-eval/refract/internal/english"
)

// checkRun is one run of refract check.
type checkRun struct {
	data      input
	check     checkFlags
	decisions decisionFlag
	vectors   embeddingFlags
	result    output // where the dataset goes
	table     output // how the counts are shown
}

func (e *env) checkCommand() *cobra.Command {
	k := &checkRun{}
	cmd := e.newCommand(&cobra.Command{
		Use:   "check [DATASET | FOLDER]",
		Short: "Clean and check the expanded references of a dataset",
		Long: `Clean the variants of a dataset, count what each check catches, and show how much
the accepted ones differ; or verify a FOLDER that 'refract publish' wrote.

An answer counts for the first check that catches it, in the order of the table.
The checks do not know what a text means: what may have changed, such as a
negation, a name or a unit, raises an alarm and rejects nothing. -o writes accepted
variants under "variants", and the others under "rejected" with their verdict,
raw text and alarms. docs/explanation/checks.md explains each check.`,
		Example: `  refract check jsonl:expanded.jsonl -o checked.jsonl
  refract check published`,
	}, cobra.MaximumNArgs(1), k.run)
	k.data.register(cmd)
	k.check.register(cmd)
	k.decisions.register(cmd)
	k.vectors.register(cmd, "raise an alarm where their cosine is below 0.7")
	k.result.registerLines(cmd)
	k.table.registerFormat(cmd, "how counts are shown: ", "")
	return cmd
}

func (r *checkRun) run(ctx context.Context, e *env, args []string) error {
	if len(args) > 0 && r.result.path == "" {
		if info, err := os.Stat(args[0]); err == nil && info.IsDir() {
			return r.verify(ctx, e, args[0])
		}
	}
	c, err := r.check.checker(e, args, diversify.Prompts())
	if err == nil && c == nil {
		err = usagef("--checks none leaves nothing to do; name a check")
	}
	if err != nil {
		return err
	}
	ds, err := r.data.dataset(e, args, r.result.path != "")
	if err != nil {
		return err
	}
	if wrong := r.check.learn(ctx, e, args, ds, nil); wrong != nil { // no call is made, so a warning is enough
		e.warn("%v", wrong)
	}
	if ds, err = r.decisions.decided(ds); err != nil {
		return err
	}
	out, err := e.create(r.result.path)
	if err != nil {
		return err
	}
	encode := func(*refract.Segment) error { return nil }
	if r.result.path != "" {
		encode = dataset.NewEncoder(out).Encode
	}
	run, model, err := r.vectors.open(ctx, e)
	if err != nil {
		return err
	}
	defer run.close()
	found, kept := diversify.NewCounts(c), &publish.Tally{}
	if model != nil {
		found.Measure()
	}
	for s, err := range ds.Segments(ctx) {
		if err = cmp.Or(err, ctx.Err()); err == nil {
			s = found.Add(s)
			kept.Add(s)
			err = alarmFar(ctx, model, s, found)
		}
		if err == nil {
			err = encode(s)
		}
		if err != nil {
			run.done(ctx, err)
			return err
		}
	}
	run.answered()
	run.done(ctx, nil)
	return r.show(e, args, found, kept)
}

// show reports what the checks found.
func (r *checkRun) show(e *env, args []string, found *diversify.Counts, kept *publish.Tally) error {
	reviewed := r.decisions.read != nil
	if found.Answers == 0 {
		return e.noVariant("check", args)
	}
	if reviewed {
		e.suggestNext(r.result.path, "select", "jsonl:"+r.result.path, "-k", "all", "-o", "selected.jsonl")
		r.decisions.note(e)
		e.noteMeaning(kept.Findings())
	} else {
		e.suggestNext(r.result.path, "review", "jsonl:"+r.result.path, "-o", "decisions.jsonl")
	}
	t := checkedTable(found)
	if r.table.format == report.Table {
		t.Rows = slices.DeleteFunc(t.Rows, func(row []report.Value) bool { return row[2] == report.Int(0) })
		t.Note("verdicts, alarms and cleaning without an answer are left out; -f csv shows them")
	}
	if r.result.path == "-" {
		return r.table.whole(e.stderr, t)
	}
	return r.table.show(e, t)
}

// leastCosine is the cosine of two vectors below which their texts are far apart.
const leastCosine = 0.7

// alarmFar raises an alarm about variants whose vectors are far from their references'; none
// without a model.
func alarmFar(ctx context.Context, m *embeddings.Model, s *refract.Segment, found *diversify.Counts) error {
	if m == nil {
		return nil
	}
	for i := range s.Variants {
		v := &s.Variants[i]
		ref := s.References[v.Reference].Value
		if strings.TrimSpace(ref) == "" || strings.TrimSpace(v.Text.Value) == "" {
			continue
		}
		vectors, err := m.Embed(ctx, []string{ref, v.Text.Value})
		if err != nil {
			return err
		}
		cosines, err := embeddings.Cosines(vectors[:1], vectors[1:])
		if err != nil {
			return err
		}
		if cosines[0] < leastCosine {
			found.Alarm(v, alarm.Embedding, fmt.Sprintf("cosine %.2f", cosines[0]))
		}
	}
	return nil
}

// verify reads a published folder to its end.
func (r *checkRun) verify(ctx context.Context, e *env, dir string) error {
	e.collectAt(100)
	res, err := publish.Verify(ctx, dir, func(w dataset.Warning) { e.warn("%s", w) })
	if err != nil {
		return err
	}
	return r.table.show(e, publishedTable(res, dir))
}

// checkedTable shows the counts: all verdicts of the checks in their order, other verdicts,
// alarms on accepted answers, how many answers each cleaning step changed, and the diversity
// of accepted answers.
func checkedTable(n *diversify.Counts) *report.NamedTable {
	ofSegments := numberColumn("segment_share", 4)
	ofSegments.Header = "of segments"
	t := &report.NamedTable{Columns: []report.Column{
		textColumn("kind"), textColumn("name"), countColumn("answers"), numberColumn("share", 4), countColumn("segments"), ofSegments, numberColumn("value", 3),
	}}
	t.Note("%s, %s, %s, %s; segments without an answer: %d", english.Count(n.Segments, "segment"), english.Count(n.References, "reference"), english.Count(n.Answers, "answer"), english.Count(n.Accepted, "variant"), n.Without)
	if with := n.Segments - n.Without; with > 0 {
		t.Note("accepted of a segment: %d at least, %.2f on average", n.Fewest, float64(n.Accepted)/float64(with))
	}
	t.Note("diversity: of the accepted variants of a segment, on average; lower self-BLEU is more diverse")
	if n.Worded < n.Accepted {
		t.Note("alarms about %s need word lists, which Refract lacks for the language of %d of %s: they are not measured", strings.Join(alarm.ByWords(), ", "), n.Accepted-n.Worded, english.Count(n.Accepted, "accepted variant"))
	}
	t.Note("checks: %s", n.Signature)
	add := func(kind string, names []string, from map[string]*diversify.Count) {
		for _, name := range names {
			c := from[name]
			switch {
			case c == nil && kind == "alarm" && n.Worded == 0 && n.Accepted > 0 && slices.Contains(alarm.ByWords(), name):
				t.Add(kind, name, nil, nil, nil, nil, nil)
				continue
			case c == nil:
				c = &diversify.Count{}
			}
			t.Add(kind, name, c.Answers, float64(c.Answers)/float64(n.Answers), c.Segments, float64(c.Segments)/float64(n.Segments), nil)
		}
	}
	add("verdict", slices.Concat(n.Makes, n.Others), n.ByVerdict)
	kinds := alarm.Kinds()
	if n.ByAlarm[alarm.Embedding] != nil {
		kinds = append(kinds, alarm.Embedding)
	}
	add("alarm", kinds, n.ByAlarm)
	add("cleaning", n.Cleans, n.ByStep)
	for _, m := range n.Diversity.Means {
		t.Add("diversity", m.Measure, nil, nil, m.Segments, float64(m.Segments)/float64(n.Segments), m.Value())
	}
	return t
}

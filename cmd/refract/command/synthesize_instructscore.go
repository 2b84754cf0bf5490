package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/metrics/judge/build"
)

// instructing is one run of refract synthesize instructscore.
type instructing struct {
	buildFlags
	task                       string
	domains, topics, sentences int
	items                      int
}

func (x *instructing) command(e *env) *cobra.Command {
	const name = "instructscore"
	cmd := &cobra.Command{
		Use:   name + " [DATASET]",
		Short: "Reports on outputs whose errors were designated",
		Long: `Make examples for InstructScore, by the prompts of its paper (tables 25 to 33).
A model lists domains and topics of each, and writes sentences about each topic,
of which one is drawn. Of each it makes a paraphrase, the reference, and an
output with 1 to 5 errors whose types (dimension by dimension, where the task
has them) and severities are drawn, with an explanation of each. With a DATASET
its references are the texts; d2t, keyword-to-text and commonsense need one, for
the input of the systems.

-o is a folder: train and validation, items.jsonl with all items and the rule
that left some out, a card, and the recipe. Answers are stored, so that the same
command goes on where a run ended. --write-recipe DIR writes the prompts to
change, and --recipe DIR takes them.`,
		Example: `  refract synthesize instructscore --task mt_zh-en --model gpt-4o --domains 5 --topics 5 --dry-run
  refract synthesize instructscore --task mt_zh-en --model gpt-4o -o data
  refract synthesize instructscore jsonl:webnlg.jsonl --task d2t --model gpt-4o --items 1000 -o data`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: x.asking(e, x.run),
	}
	f := cmd.Flags()
	f.StringVar(&x.task, "task", "", "task of the metric: mt_zh-en, mt_en-de, mt_en-ru, mt_en-es, caption, d2t, keyword-to-text or commonsense")
	f.IntVar(&x.domains, "domains", 100, "domains to ask for")
	f.IntVar(&x.topics, "topics", 100, "topics of each domain")
	f.IntVar(&x.sentences, "sentences", 5, "sentences of each topic, of which one is drawn")
	f.IntVar(&x.items, "items", 0, "most texts, drawn by the seed; 0 for all")
	atLeast(cmd, 1, "domains", "topics", "sentences")
	atLeast(cmd, 0, "items")
	grouped(cmd, taskFlags, "task", "domains", "topics", "items")
	x.buildFlags.register(cmd)
	return cmd
}

func (x *instructing) run(ctx context.Context, e *env, args []string) error {
	if done, err := x.load(e, "instructscore"); done || err != nil {
		return err
	}
	task, err := x.recipe.Task(x.task)
	switch {
	case err != nil:
		return usagef("--task: %w", err)
	case task.NeedsSource && len(args) == 0:
		return usagef("--task %s needs the input of the systems: give a DATASET with sources and references", x.task)
	case x.dir == "" && !x.dryRun:
		return usagef("-o is missing: name the folder to write")
	}
	var texts []build.Raw
	if len(args) > 0 {
		if texts, err = x.texts(ctx, e, args[0], task); err != nil {
			return err
		}
	}
	teacher, err := x.teacher(ctx, e)
	if err != nil {
		return err
	}
	b := &build.InstructScore{
		Recipe: x.recipe, Task: task, Teacher: teacher, Seed: x.seed,
		Domains: x.domains, Topics: x.topics, Sentences: x.sentences, Most: x.items,
	}
	if b.Language, err = inLanguage(task.Language); err != nil {
		return err
	}
	unknown := 0
	if len(args) == 0 {
		if texts, unknown, err = b.Texts(ctx); err != nil {
			return err
		}
	}
	if len(texts)+unknown == 0 {
		return x.noText(b)
	}
	err = b.Items(ctx, texts, unknown, func(it *build.Item) error {
		x.set.Items = append(x.set.Items, it)
		return nil
	})
	if err != nil {
		return err
	}
	if x.dryRun {
		return x.foreseen(e, teacher.Steps)
	}
	x.set.Lists, x.set.Served = b.Lists, []build.Prompted{b.Served}
	if b.NotMade > 0 {
		x.set.Notes = append(x.set.Notes, english.Count(b.NotMade, "error")+" that the model says it could not make (N/A); no example has them.")
	}
	return x.write(e, teacher)
}

// noText says why there is nothing to make errors in.
func (x *instructing) noText(b *build.InstructScore) error {
	for _, l := range b.Lists {
		if l.Got == 0 {
			return fmt.Errorf("no text: of %s that the step %s asked for, %d are in another language, %s, and %s none; the answers are in %s",
				english.Count(l.Asked, "entry", "entries"), l.Step, l.Foreign, english.Count(l.Refused, "is a refusal", "are refusals"), english.Count(l.Lost, "list has", "lists have"), x.storedIn())
		}
	}
	return errors.New("no text: the dataset has no reference that can be used")
}

// texts are the references of a dataset.
func (x *instructing) texts(ctx context.Context, e *env, spec string, task *build.Task) ([]build.Raw, error) {
	segments, err := x.segments(ctx, e, spec)
	if err != nil {
		return nil, err
	}
	texts, lacking := build.TextsOf(segments, task, x.seed, x.items)
	if lacking > 0 {
		e.warn("segments without a reference, or without a source that %s needs: %d", task.Name, lacking)
	}
	return texts, nil
}

package command

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/cmd/refract/internal/conclusions"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/internal/files"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics/program"
)

func (e *env) demoCommand() *cobra.Command {
	var dir string
	cmd := e.newCommand(&cobra.Command{
		Use:   "demo",
		Short: "Run every step offline on a built-in sample",
		Long: `Expand, score and compare a built-in sample without network, or save the sample.

The sample has translations into English and German, summaries and captions, with
made-up systems, judgements and recorded answers; the program's authors wrote all
of it. Every command of the documentation runs in the folder that -o makes.`,
		Example: `  refract demo
  refract demo -o sample`,
	}, cobra.NoArgs, func(ctx context.Context, e *env, _ []string) error {
		if dir != "" {
			return e.writeSample(dir)
		}
		return e.demo(ctx)
	})
	taskFlags.of(cmd)("output,o", plain(&dir, ""), "`DIR` to save the sample in, instead of running it", shown)
	return cmd
}

func (e *env) demo(ctx context.Context) error {
	segments, sum, err := expandSample(ctx)
	if err != nil {
		return err
	}
	c := &comparison{}
	c.register(e, &cobra.Command{}, comparisonDefaults{groups: "none", test: "auto"})
	c.scoring.aggregators = aggregate.Default("single", "max")
	plan, err := c.plan("sample", nil)
	if err != nil {
		return err
	}
	plan.Ranking, plan.Pairing = true, experiment.WithinMetric
	run := c.runner(e, nil, plan)
	run.Open = func(experiment.Dataset) (refract.Dataset, error) { return refract.InMemory(segments), nil }
	return run.show(ctx, func(res *experiment.Result) error {
		fmt.Fprintf(e.stdout, `This shows whether metrics rank systems more as people do with eleven references
than with one. The sample has %d segments (translations, summaries, captions) with
one reference each, and outputs of %d systems, judged from 0 to 100. Ten prompts
rewrote each reference: %d recorded answers, of which the checks rejected %d.

`, sum.Segments, len(res.Rankings[0].Systems), sum.Cached, sum.Rejected)
		found := conclusions.Of(res)
		ranking, err := found.Table("ranking")
		if err == nil {
			err = ranking.WriteTitled(e.stdout)
		}
		if err != nil {
			return err
		}
		claim := found.Claim()
		for _, text := range slices.Concat([]string{claim.Text + "."}, claim.Evidence, claim.Cautions, []string{claim.Method}) {
			fmt.Fprintf(e.stdout, "\n%s\n", strings.Join(report.Wrap(text, 80), "\n"))
		}
		_, err = fmt.Fprint(e.stdout, demoEnd)
		return err
	})
}

const demoEnd = `
Go on:
  refract demo -o sample    save the sample, and texts for the commands of README
  refract expand --help          with references of your own and a model of yours

This does not show that more references help elsewhere: the texts, systems,
judgements and answers are the authors' own. README has figures of WMT22.
`

// writeSample saves the sample's files, and says how to go on.
func (e *env) writeSample(dir string) error {
	if err := saveSample(dir); err != nil {
		return err
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	e.note("wrote sample.jsonl and its recorded answers, and ref.txt, a.txt and other short texts to %s: the commands of README run there; without a model, continue with", dir)
	e.note("  refract cache import %s %s", in("cache.sqlite"), in("answers.jsonl"))
	e.note("  refract expand jsonl:%s --model %s --cache %s --offline -o %s", in("sample.jsonl"), sampleModel, in("cache.sqlite"), in("expanded.jsonl"))
	e.note("  refract compare jsonl:%s", in("expanded.jsonl"))
	e.note("  refract compare jsonl:%s -a max --curve random --plot %s", in("expanded.jsonl"), in("agreement.svg"))
	return nil
}

// sampleModel is the model's name under which the answers are recorded.
const sampleModel = "recorded"

// sampleFiles are a small benchmark that the authors wrote for this program:
// translations, summaries and captions with the outputs of six made-up systems,
// judgements of them by meaning, and an answer to each of the ten prompts for every
// reference; one has a second answer, because the first is rejected for a changed
// number. It all has one origin, so the numbers are no evidence for anything. Next to it
// are answers of a judge, and five lines of each of some texts with an experiment and
// prompts.
//
//go:embed sample
var sampleFiles embed.FS

// expandSample expands the sample from its recorded answers.
func expandSample(ctx context.Context) ([]*refract.Segment, diversify.Summary, error) {
	answers, err := sampleFiles.ReadFile("sample/answers.jsonl")
	segments, missing := sampleFiles.ReadFile("sample/sample.jsonl")
	store := cache.NewMemory()
	_, wrong := cache.Import(ctx, bytes.NewReader(answers), store)
	ds, unread := dataset.Open("jsonl:-", dataset.Options{Stdin: bytes.NewReader(segments)})
	checks, unmade := check.New(check.Config{})
	if err := errors.Join(err, missing, wrong, unread, unmade); err != nil {
		return nil, diversify.Summary{}, err
	}
	x, err := diversify.New(diversify.Config{
		Prompts: diversify.Ten(), Model: sampleModel, Config: ask.Config{Store: store},
		Temperature: diversify.PaperTemperature, TopP: diversify.PaperTopP, Check: checks, Resample: 2,
	})
	if err != nil {
		return nil, diversify.Summary{}, err
	}
	var out []*refract.Segment
	sum, err := x.Expand(ctx, ds, func(s *refract.Segment) error {
		out = append(out, s)
		return nil
	})
	return out, sum, err
}

// saveSample saves the sample in a folder: sample.jsonl, answers.jsonl, and the other
// files that the documentation uses. It overwrites no file with other contents.
func saveSample(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return files.CannotCreate(dir, dir, err)
	}
	if err := writeNew(filepath.Join(dir, "refract_metric.py"), program.Helper); err != nil {
		return err
	}
	return fs.WalkDir(sampleFiles, "sample", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := sampleFiles.ReadFile(path)
		if err != nil {
			return err
		}
		return writeNew(filepath.Join(dir, entry.Name()), data)
	})
}

func writeNew(path string, data []byte) error {
	switch there, err := os.ReadFile(path); {
	case err == nil && bytes.Equal(there, data):
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s is there already; move it away, or choose another folder", path)
	}
	out, err := files.Create(path) // so that an incomplete file is not taken for the sample
	if err != nil {
		return err
	}
	defer out.Abort()
	if _, err := out.Write(data); err != nil {
		return err
	}
	return out.Commit()
}

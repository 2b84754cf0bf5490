package command

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/internal/report"
)

// stageCommand holds the commands that stand in a pipe of an engine.
func (e *env) stageCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stage",
		Short: "Be a step in a pipe of Spark, Beam, Ray or xargs",
		Long: `Be a step in a pipe of another program's: Spark's rdd.pipe, Beam, Ray or xargs.
A stage reads segments on standard input, as JSON Lines with all systems of a
segment on its line, and writes results on standard output, with nothing else
there. No input gives no output. An exit code other than 0 says that the output
is not whole: have the engine drop it and run the step again. What was paid for
is in --cache, which is best a Postgres that all steps share.`,
		Example: `  refract stage score -m bleu -m chrf < part.jsonl > part.statistics
  cat *.statistics | refract stage merge
  refract stage expand --model my-model --base-url http://gpu:8000/v1 < part.jsonl`,
	}
	group(cmd)
	cmd.AddCommand(e.stageScoreCommand(), e.stageExpandCommand(), e.stageMergeCommand())
	return cmd
}

func (e *env) stageScoreCommand() *cobra.Command {
	s := &scorer{}
	s.into = s.statistics
	cmd := stageOf(s.command(e), "format", "wide", "systems", "domain", "reports", "canaries", "confidence")
	s.format = report.JSONLines
	cmd.Short = "Score the segments on standard input"
	cmd.Long = `Score the segments on standard input, and write one line of JSON: statistics of all
systems, which 'refract stage merge' adds up exactly. With --per segment there is a
line for each system and segment; those of all parts, one after the other, are the
rows of one process. --per cell gives a matrix of the part. A metric that weighs
words by all references takes df=FILE here.`
	cmd.Example = `  refract stage score -m chrf < part.jsonl > part.statistics
  refract stage score -m chrf -a max --per segment < part.jsonl > rows.jsonl`
	return cmd
}

func (e *env) stageExpandCommand() *cobra.Command {
	cmd := stageOf((&expandFlags{staged: true}).command(e), "format", "wide", "batch")
	cmd.Short = "Expand the references of the segments on standard input"
	cmd.Long = `Expand the references of the segments on standard input with a language model,
and write the segments with their variants: see 'refract expand'. Name the
language of the references, which one process learns from all of them. What
--complete cannot fill is a warning here, as it would come again.`
	cmd.Example = `  refract stage expand --model my-model --language de --base-url http://gpu:8000/v1 --cache postgres://db/answers < part.jsonl > expanded.jsonl`
	return cmd
}

// stageOf makes a stage of a command on datasets: the same work and flags, but
// for those that name files or say how results look.
func stageOf(whole *cobra.Command, without ...string) *cobra.Command {
	cmd := &cobra.Command{
		Use:  whole.Name(),
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := whole.RunE(cmd, []string{"jsonl:-"})
			if errors.Is(err, dataset.ErrEmpty) {
				return nil // an engine may have parts without a segment
			}
			return err
		},
	}
	without = append(without, "source", "ref", "hyp", "reference", "references", "shard", "output", "dry-run")
	whole.Flags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(without, f.Name) {
			cmd.Flags().AddFlag(f)
		}
	})
	return cmd
}

// statistics are the line that 'refract stage score' writes of its segments, and
// 'refract stage merge' adds up.
type statistics struct {
	Form     string              `json:"refract"`
	Version  string              `json:"version"`
	Settings map[string][]string `json:"settings"` // all that changes results, by flag
	Details  scoreDetails        `json:"details"`
	Sample   idSample            `json:"sample"`
	Systems  json.RawMessage     `json:"systems"`
	SHA256   string              `json:"sha256"` // of the line with "" in its place
}

// digest is the SHA256 of a line.
func (s statistics) digest() (string, error) {
	s.SHA256 = ""
	line, err := json.Marshal(s)
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:]), err
}

const statisticsForm = "statistics 3"

// idSample is the smallest hashes of the ids of a part: all of up to mostSampled.
// Two parts that share many segments share some of these.
type idSample []uint64

const mostSampled = 512

func (s *idSample) add(id string) {
	sum := sha256.Sum256([]byte(id))
	if *s = append(*s, binary.LittleEndian.Uint64(sum[:])); len(*s) >= 2*mostSampled {
		s.trim()
	}
}

func (s *idSample) trim() {
	slices.Sort(*s)
	*s = (*s)[:min(len(*s), mostSampled)]
}

// statistics is the sink of a stage that writes them.
func (s *scorer) statistics(eng *refract.Engine, out io.Writer) (*sink, error) {
	acc, ids := eng.Systems(), idSample{}
	add := func(seg *refract.SegmentScores) error {
		ids.add(seg.Segment.ID)
		return acc.Add(seg)
	}
	return &sink{add, func(_ context.Context, ended *refract.Incomplete) error {
		if ended != nil {
			return ended // the part is scored again
		}
		ids.trim()
		line := statistics{
			Form: statisticsForm, Version: refract.Version, Settings: s.shardFlag.settings(), Details: s.details(eng), Sample: ids,
		}
		var err error
		if line.Systems, err = acc.MarshalJSON(); err != nil {
			return err
		}
		if line.SHA256, err = line.digest(); err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(line)
	}}, nil
}

func (e *env) stageMergeCommand() *cobra.Command {
	v := &scoreView{}
	cmd := &cobra.Command{
		Use:   "merge",
		Short: "Add the statistics on standard input up to scores of systems",
		Long: `Add up the statistics that 'refract stage score' wrote of each part, in any order,
and show the scores of systems. They are those of one process to the last bit, as
sums are exact. The signatures leave out the set of references, which no part
knows. A part that is there twice, shares many segments with another, or is of
other settings is an error; one that is missing is not noticed.`,
		Example: `  refract stage merge -f csv < statistics.jsonl`,
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			acc, eng, err := e.addUp(ctx)
			if acc == nil {
				return err
			}
			out, err := e.create(v.path)
			if err != nil {
				return err
			}
			return v.showSystems(ctx, acc, eng.Settings(), out, e.verbose, nil)
		},
	}
	v.output.register(cmd)
	return cmd
}

// addUp reads statistics and adds them up; nil where there are none.
func (e *env) addUp(ctx context.Context) (all *refract.Systems, eng *refract.Engine, err error) {
	parts, first, lines := map[uint64]int{}, statistics{}, json.NewDecoder(e.stdin)
	for n := 1; ; n++ {
		wrong := func(format string, args ...any) (*refract.Systems, *refract.Engine, error) {
			return nil, nil, fmt.Errorf("part %d of standard input "+format, append([]any{n}, args...)...)
		}
		var line statistics
		switch err := lines.Decode(&line); {
		case err == io.EOF:
			return all, eng, nil
		case err != nil:
			return wrong("is not whole: %w; the stage that wrote it did not end well: run it again", err)
		case line.Form != statisticsForm:
			return wrong("has no statistics: they are what 'refract stage score' writes without --per")
		case line.Version != refract.Version:
			return wrong("is of refract %s, and this is refract %s: merge it with that", line.Version, refract.Version)
		}
		if digest, err := line.digest(); err != nil || digest != line.SHA256 || len(line.Sample) == 0 {
			return wrong("is damaged: run the stage that wrote it again")
		}
		for _, id := range line.Sample {
			if parts[id] > 0 {
				return wrong("has segments of part %d: give each once", parts[id])
			}
			parts[id] = n
		}
		systems := line.Systems
		if line.Sample, line.Systems, line.SHA256 = nil, nil, ""; n == 1 {
			first = line
			if eng, err = line.Details.engine(ctx, e, nil); err != nil {
				return nil, nil, err
			}
			all = eng.Systems()
		}
		if !reflect.DeepEqual(line, first) {
			return wrong("was scored with other metrics or flags than part 1")
		}
		if err := errors.Join(addState(eng, all, json.NewDecoder(bytes.NewReader(systems))), ctx.Err()); err != nil {
			return wrong("cannot be added: %w", err)
		}
	}
}

package command

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/internal/files"
	"github.com/refract-eval/refract/internal/redact"
	"github.com/refract-eval/refract/internal/shard"
)

// The variables that --shard auto/N reads. SLURM counts as the array says, Kubernetes
// from 0.
const (
	slurmTask     = "SLURM_ARRAY_TASK_ID"
	kubernetesJob = "JOB_COMPLETION_INDEX"
)

// shardFlag selects the part of the input that a process takes.
type shardFlag struct {
	shard string
	cmd   *cobra.Command

	file     string          // of the shard
	manifest *shard.Manifest // nil without --shard
	writer   *shard.Writer   // nil before create
}

func (s *shardFlag) register(cmd *cobra.Command) {
	s.cmd = cmd
	cmd.Flags().StringVar(&s.shard, "shard", "", "`I/N`: do part I of N, from 1, and write OUT.I-of-N.shard for 'refract merge'; auto/N takes I from SLURM or Kubernetes")
	isNamed(cmd, "shard")
	neutral(cmd, "shard")
	grouped(cmd, taskFlags)
}

// place reads the flag.
func (s *shardFlag) place(getenv func(string) string) (index, of int, err error) {
	i, n, _ := strings.Cut(s.shard, "/")
	if of, err = strconv.Atoi(n); err != nil || of < 1 || of > shard.Most {
		return 0, 0, usagef("--shard %q: want I/N or auto/N, with N from 1 to %d, such as 3/8", s.shard, shard.Most)
	}
	from := "--shard"
	if i == "auto" {
		if from, i, err = taskIndex(getenv); err != nil {
			return 0, 0, err
		}
	}
	if index, err = strconv.Atoi(i); err != nil || index < 1 || index > of {
		return 0, 0, usagef("%s: shard %q is none of 1 to %d", from, i, of)
	}
	return index, of, nil
}

// taskIndex is the shard that the scheduler assigns to this process, and the variable
// that holds it.
func taskIndex(getenv func(string) string) (from, index string, err error) {
	slurm, kubernetes := getenv(slurmTask), getenv(kubernetesJob)
	if n, err := strconv.Atoi(kubernetes); err == nil {
		kubernetes = strconv.Itoa(n + 1)
	}
	switch {
	case slurm != "" && (kubernetes == "" || kubernetes == slurm):
		return slurmTask, slurm, nil
	case kubernetes != "" && slurm == "":
		return kubernetesJob, kubernetes, nil
	}
	return "", "", usagef("--shard auto: %s says shard %q, and %s says %q: write --shard I/N", slurmTask, slurm, kubernetesJob, kubernetes)
}

// settings are the flags that change results and are not at their default.
func (s *shardFlag) settings() map[string][]string {
	out := map[string][]string{}
	s.cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if isNeutral(f) || f.Value.String() == f.DefValue {
			return
		}
		for _, v := range flagValues(f) {
			out["--"+f.Name] = append(out["--"+f.Name], redact.Text(v))
		}
	})
	return out
}

// contents adds the contents of files to settings that name them.
func contents(e *env, settings map[string][]string) error {
	for _, flag := range slices.Sorted(maps.Keys(settings)) {
		for _, path := range e.paths.ReadBy(flag) {
			if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
				continue // not a file, or an error that reading it reports
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			what := "the content of " + flag
			settings[what] = append(settings[what], fmt.Sprintf("%.6x", sha256.Sum256(b)))
		}
	}
	return nil
}

// cut returns the part of a dataset that --shard selects, or all of it. It refuses
// flags that need the whole input.
func (s *shardFlag) cut(ctx context.Context, e *env, args []string, output string, ds refract.Dataset, wholly ...string) (refract.Dataset, error) {
	if s.shard == "" {
		return ds, nil
	}
	for _, f := range wholly {
		if s.cmd.Flags().Changed(f) {
			return nil, usagef("--%s needs the whole input, and --shard takes a part: leave it out, or do it with the merged output", f)
		}
	}
	index, of, err := s.place(e.getenv)
	if err != nil {
		return nil, err
	}
	dry := s.cmd.Flags().Lookup("dry-run").Value.String() == "true" // a dry run writes nothing
	if (output == "" || output == "-") && !dry {
		return nil, usagef("--shard names its file after the merged output: name that with -o")
	}
	part, input, err := dataset.Cut(ctx, ds, index, of)
	if err != nil {
		return nil, err
	}
	settings := s.settings()
	if len(args) > 0 {
		if source, target := dataset.LanguagePair(args[0]); source+target != "" {
			settings["the language pair"] = []string{source, target}
		}
	}
	s.file = shard.Name(output, index, of)
	s.manifest = &shard.Manifest{Version: refract.Version, Command: s.cmd.Name(), Index: index, Of: of, Input: input, Settings: settings}
	return part, contents(e, settings)
}

// create makes the output, or the file of the shard. done is true if a complete file of
// the same work exists.
func (s *shardFlag) create(ctx context.Context, e *env, path string) (out io.Writer, done bool, err error) {
	if s.manifest == nil {
		out, err = e.create(path)
		return out, false, err
	}
	e.paths.Writes("--output", s.file)
	if err := e.checkPaths(); err != nil {
		return nil, false, err
	}
	files.RemoveStale(s.file)
	switch there, err := shard.Verify(ctx, s.file, nil); {
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, shard.ErrDamaged):
		e.warn("%v; it is replaced", err)
	case err != nil:
		return nil, false, err
	default:
		if diff := s.manifest.Same(there); len(diff) > 0 {
			return nil, false, fmt.Errorf("%s is the shard of another run: %s; remove it, or name another -o", s.file, strings.Join(diff, "; "))
		}
		e.note("%s exists already, and is complete: nothing to do", s.file)
		return nil, true, nil
	}
	file, err := e.create(s.file)
	if err != nil {
		return nil, false, err
	}
	file.Durable()
	s.writer = shard.NewWriter(file, *s.manifest)
	return s.writer, false, nil
}

// index adds a segment to the index of the shard, if there is one.
func (s *shardFlag) index(id string, references []byte) error {
	if s.writer == nil {
		return nil
	}
	return s.writer.Segment(id, references)
}

// end completes the file of the shard, if there is one, and puts outputs in place.
func (s *shardFlag) end(e *env, details any) error {
	if s.writer == nil {
		return e.commit()
	}
	if err := s.writer.Close(details); err != nil {
		return err
	}
	if err := e.commit(); err != nil {
		return err
	}
	e.note("%s is written; 'refract merge' puts all shards together", s.file)
	return nil
}

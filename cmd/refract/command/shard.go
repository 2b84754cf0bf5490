package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/shard"
	"github.com/refract-eval/refract/internal/atomicfile"
	"github.com/refract-eval/refract/internal/redact"
)

// The variables that --shard auto/N reads. The first is as its array counts, the
// second counts from 0.
const (
	slurmTask     = "SLURM_ARRAY_TASK_ID"
	kubernetesJob = "JOB_COMPLETION_INDEX"
)

// shardFlag says which part of the input a process takes.
type shardFlag struct {
	shard string
	cmd   *cobra.Command
}

func (s *shardFlag) register(cmd *cobra.Command) {
	s.cmd = cmd
	cmd.Flags().StringVar(&s.shard, "shard", "", "`I/N`: do part I of N, from 1, and write OUT.I-of-N.shard for 'refract merge'; auto/N takes I from SLURM or Kubernetes")
	isNamed(cmd, "shard")
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

// taskIndex is the shard that the scheduler gives this process, and the variable
// that says so.
func taskIndex(getenv func(string) string) (from, index string, err error) {
	slurm, kubernetes := getenv(slurmTask), getenv(kubernetesJob)
	if n, err := strconv.Atoi(kubernetes); err == nil {
		kubernetes = strconv.Itoa(n + 1)
	}
	switch {
	case slurm == "" && kubernetes == "":
		return "", "", usagef("--shard auto takes its number from %s or %s, and neither is set: write --shard I/N", slurmTask, kubernetesJob)
	case slurm != "" && kubernetes != "" && slurm != kubernetes:
		return "", "", usagef("--shard auto: %s says shard %s, and %s says %s: write --shard I/N", slurmTask, slurm, kubernetesJob, kubernetes)
	case slurm != "":
		return slurmTask, slurm, nil
	}
	return kubernetesJob, kubernetes, nil
}

// unshared are the flags that change no result, and those that name the input,
// which is known by its content.
var unshared = []string{
	"source", "ref", "hyp", "reference", "references",
	"output", "format", "wide", "quiet", "verbose", "config", "shard", "help",
	"cache", "offline", "base-url", "concurrency", "rpm", "tpm", "timeout", "retries", "max-wait", "wait", "tolerate",
	"batch", "batch-state", "batch-interval", "batch-size",
	"prices", "max-cost", "max-calls", "max-time", "dry-run", "store-scores",
}

// settings are all that changes results: the flags that are not at their default.
func (s *shardFlag) settings() map[string][]string {
	out := map[string][]string{}
	s.cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if slices.Contains(unshared, f.Name) || f.Value.String() == f.DefValue {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			out["--"+f.Name] = append(out["--"+f.Name], redact.Text(v))
		}
	})
	return out
}

// sharding is the part of a run that one process does.
type sharding struct {
	*shard.Writer
	path string
}

// cut returns the part of a dataset that --shard names.
func (s *shardFlag) cut(ctx context.Context, e *env, args []string, path string, ds refract.Dataset) (*dataset.Part, *shard.Manifest, error) {
	m, err := s.manifest(e, path)
	if err != nil {
		return nil, nil, err
	}
	part, err := dataset.Cut(ctx, ds, m.Index, m.Of)
	if err != nil {
		return nil, nil, err
	}
	m.Input = part.Input
	if len(args) > 0 {
		if source, target := dataset.LanguagePair(args[0]); source+target != "" {
			m.Settings["the language pair"] = []string{source, target}
		}
	}
	return part, m, nil
}

// manifest begins that of the shard of an output.
func (s *shardFlag) manifest(e *env, path string) (*shard.Manifest, error) {
	index, of, err := s.place(e.getenv)
	if err != nil {
		return nil, err
	}
	if path == "" || path == "-" {
		return nil, usagef("--shard writes a file of its own, which is named by that of the whole: name that with -o")
	}
	return &shard.Manifest{Version: refract.Version, Command: s.cmd.Name(), Index: index, Of: of, Settings: s.settings()}, nil
}

// begin begins the file of a shard; it is nil where the file is there already,
// whole and of the same work.
func (e *env) begin(ctx context.Context, m *shard.Manifest, output string) (*sharding, error) {
	path := shard.Name(output, m.Index, m.Of)
	e.paths.Writes("--output", path)
	if err := e.checkPaths(); err != nil {
		return nil, err
	}
	switch there, err := shard.Verify(ctx, path, nil); {
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, shard.ErrDamaged):
		e.warn("%v; it is replaced", err)
	case err != nil:
		return nil, err
	default:
		if diff := m.Same(there); len(diff) > 0 {
			return nil, fmt.Errorf("%s is the shard of another run: %s; remove it, or name another -o", path, strings.Join(diff, "; "))
		}
		e.note("%s is there already, and whole: nothing is left to do", path)
		return nil, nil
	}
	file, err := atomicfile.Create(path)
	if err != nil {
		return nil, err
	}
	file.Durable()
	e.outputs = append(e.outputs, file)
	w, err := shard.NewWriter(file, *m)
	return &sharding{w, path}, err
}

// end completes the file of a shard.
func (s *sharding) end(e *env, details any) error {
	if err := s.Close(details); err != nil {
		return err
	}
	if err := e.commit(); err != nil {
		return err
	}
	e.note("%s is written; 'refract merge' puts all shards together", s.path)
	return nil
}

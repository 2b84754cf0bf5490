package command

import (
	"cmp"
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
	"github.com/refract-eval/refract/internal/text"
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
	part  *partWriter // nil where the whole is the output
	file  string      // of the shard; "" for standard output
}

func (s *shardFlag) register(cmd *cobra.Command) {
	taskFlags.of(cmd)("shard", plain(&s.shard, ""), "`I/N`: do part I of N, from 1, and write OUT.I-of-N.jsonl for 'refract merge', or without -o to standard output; auto/N takes I from SLURM or Kubernetes", neutral, notEmpty("I/N or auto/N, such as 3/8"))
}

// mostShards is the largest number of shards.
const mostShards = 1 << 20

// place reads the flag. For auto the scheduler says which shard this process takes.
func (s *shardFlag) place(getenv func(string) string) (index, of int, err error) {
	i, n, _ := strings.Cut(s.shard, "/")
	if of, err = strconv.Atoi(n); err != nil || of < 1 || of > mostShards {
		return 0, 0, usagef("--shard %q: want I/N or auto/N, with N from 1 to %d, such as 3/8", s.shard, mostShards)
	}
	from := "--shard"
	if i == "auto" {
		slurm, kubernetes := getenv(slurmTask), getenv(kubernetesJob)
		if n, err := strconv.Atoi(kubernetes); err == nil {
			kubernetes = strconv.Itoa(n + 1)
		}
		from, i = slurmTask, cmp.Or(slurm, kubernetes)
		if slurm == "" {
			from = kubernetesJob
		}
		if i == "" || kubernetes != "" && kubernetes != i {
			return 0, 0, usagef("--shard auto: %s says shard %q, and %s says %q: write --shard I/N", slurmTask, slurm, kubernetesJob, kubernetes)
		}
	}
	if index, err = strconv.Atoi(i); err != nil || index < 1 || index > of {
		return 0, 0, usagef("%s: there is no shard %q of %d, which count from 1", from, i, of)
	}
	return index, of, nil
}

// resultSettings are the flags that change results and are not at their default.
func (e *env) resultSettings() map[string][]string {
	out := map[string][]string{}
	e.command.Flags().VisitAll(func(f *pflag.Flag) {
		k := knownOf(f)
		if k.neutral || k.String() == f.DefValue {
			return
		}
		for _, v := range k.values() {
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
func (s *shardFlag) cut(ctx context.Context, e *env, args []string, ds refract.Dataset) (refract.Dataset, error) {
	if s.shard == "" {
		return ds, nil
	}
	if err := e.refuse("needs the whole input, and --shard takes a part: leave it out, or do it with the merged output", func(k *known) bool { return k.wholly }); err != nil {
		return nil, err
	}
	index, of, err := s.place(e.getenv)
	if err != nil {
		return nil, err
	}
	taken, whole, err := dataset.Cut(ctx, ds, index, of)
	if err != nil {
		return nil, err
	}
	if whole.Size == 0 {
		e.note("every shard reads the whole input; parts are read of plain JSON Lines, and of Parquet with at least as many row groups as shards")
	}
	settings := e.resultSettings()
	if len(args) > 0 && whole.Size == 0 { // a plain file states its own, and is the same
		if source, target := dataset.LanguagePair(args[0]); source+target != "" {
			settings["the language pair"] = []string{source, target}
		}
	}
	s.part = newPart(e.command.Name(), settings)
	s.part.Shard, s.part.Of, s.part.Input = index, of, whole
	return taken, contents(e, settings)
}

// create makes the output, which is a part's if there is one. done is true if a complete
// file of the same work exists.
func (s *shardFlag) create(ctx context.Context, e *env, path string) (out io.Writer, done bool, err error) {
	if s.part == nil {
		out, err = e.create(path)
		return out, false, err
	}
	if s.part.Of > 0 && path != "" && path != "-" {
		path = fmt.Sprintf("%s.%d-of-%d.jsonl", path, s.part.Shard, s.part.Of)
		if done, err = s.done(ctx, e, path); done || err != nil {
			return nil, done, err
		}
		s.file = path
	}
	file, err := e.create(path)
	if err != nil {
		return nil, false, err
	}
	file.Durable()
	s.part.to = file
	return s.part, false, nil
}

// done reports whether the file of the shard exists already. A file of another run is an
// error.
func (s *shardFlag) done(ctx context.Context, e *env, path string) (bool, error) {
	e.paths.add("--output", used(true, path)...)
	if err := e.paths.check(); err != nil {
		return false, err
	}
	files.RemoveStale(path)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var there *part
	if err == nil {
		defer f.Close()
		err = readParts(ctx, f, io.Discard, func(p *part) error { there = p; return nil })
	}
	switch {
	case errors.Is(err, errNoPart), err == nil && there == nil:
		e.warn("%s: %v; it is replaced", text.Path(path), errNoPart)
		return false, nil
	case err != nil:
		return false, err
	}
	diff := s.part.differences(there)
	if there.Shard != s.part.Shard {
		diff = append(diff, fmt.Sprintf("it is shard %d", there.Shard))
	}
	if len(diff) == 0 && there.Input != s.part.Input {
		diff = append(diff, "the input is different")
	}
	if len(diff) > 0 {
		return false, fmt.Errorf("%s is the shard of another run: %s; remove it, or name another -o", path, strings.Join(diff, "; "))
	}
	e.note("%s exists already, and is complete: nothing to do", path)
	return true, nil
}

// end completes the part, if there is one, and puts outputs in place.
func (s *shardFlag) end(e *env) error {
	if s.part != nil {
		if err := s.part.end(); err != nil {
			return err
		}
	}
	if err := e.commit(); err != nil {
		return err
	}
	if s.file != "" {
		e.note("%s is written; 'refract merge' puts all shards together", s.file)
	}
	return nil
}

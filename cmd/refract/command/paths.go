package command

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/internal/config"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/judge"
	"github.com/refract-eval/refract/metrics/panel"
)

// writtenFlags name files that a command writes; readFlags, what it reads.
var (
	writtenFlags = []string{"output", "cache", "reports", "html", "plot", "batch-state"}
	folderFlags  = []string{"figures", "tables"}
	readFlags    = []string{"source", "ref", "hyp", "references", "matrix", "scores", "prices", "diversity", "prompts", "metric", "store", "decisions"}
)

// distinctPaths refuses one file for two purposes of a run where one of them
// writes it.
func (e *env) distinctPaths(cmd *cobra.Command, args []string) error {
	for _, name := range slices.Concat(writtenFlags, folderFlags, readFlags) {
		f := cmd.Flags().Lookup(name)
		if f == nil || !f.Changed && f.Value.String() == f.DefValue {
			continue
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			if err := cache.CheckName(v); name == "cache" && err != nil {
				return usagef("--cache: %w", err)
			}
			e.addPath(name, v)
		}
	}
	if path := cmp.Or(e.configPath, config.Name); e.configPath != "" {
		e.paths.Reads("--config", path)
	} else if _, err := os.Stat(path); err == nil {
		e.paths.Reads("the configuration", path)
	}
	for i, arg := range args {
		e.paths.Reads(arg, dataset.Inputs(arg)...)
		if i == 0 && cmd.HasParent() && cmd.Parent().Name() == "cache" {
			if err := cache.CheckName(arg); err != nil {
				return usagef("%w", err)
			}
			e.paths.Reads(arg, sideFiles(arg)...)
		}
	}
	e.paths.ReadsStream("standard input", e.stdin)
	e.paths.WritesStream("standard output", e.stdout)
	return e.checkPaths()
}

func (e *env) checkPaths() error {
	if err := e.paths.Check(); err != nil {
		return usagef("%w", err)
	}
	return nil
}

// addPath adds what a value of a flag names.
func (e *env) addPath(name, v string) {
	shown := "--" + name
	switch {
	case name == "cache":
		e.paths.Writes(shown, append(sideFiles(v), v)...)
	case slices.Contains(writtenFlags, name):
		e.paths.Writes(shown, v)
	case slices.Contains(folderFlags, name):
		e.paths.WritesFolder(shown, v)
	case name == "hyp" || name == "scores":
		_, path, _ := strings.Cut(v, "=")
		e.paths.Reads(shown, path)
	case name == "references":
		e.paths.Reads(shown, dataset.Inputs(v)...)
	case name == "metric":
		e.addMetric(shown, v)
	case name == "store":
		e.paths.Reads(shown, experiment.StoreFile(v))
	case name == "prompts":
		e.paths.Reads(shown, diversify.PromptFiles(v)...)
	case name != "prices" || !strings.HasPrefix(v, "{"):
		e.paths.Reads(shown, v)
	}
}

// addMetric adds what a spec names: the files of a metric's options, the
// definition of a judge, and whatever its options may name, such as examples=FILE.
func (e *env) addMetric(shown, spec string) {
	if strings.HasPrefix(spec, panel.Name+":") {
		panel.Rewrite(spec, func(member string) string {
			e.addMetric(shown, member)
			return member
		})
		return
	}
	name, rest, _ := strings.Cut(spec, ":")
	var options []metrics.Option // nil for a judge
	for _, f := range e.registry() {
		if f.Name == name {
			options = append([]metrics.Option{}, f.Options...)
		}
	}
	if name == judge.FileMetric {
		e.paths.Reads(shown, dataset.Inputs(spec)...)
	}
	for option := range strings.SplitSeq(rest, ",") {
		key, value, ok := strings.Cut(option, "=")
		if ok && (options == nil || slices.ContainsFunc(options, func(o metrics.Option) bool { return o.Key == key && o.File })) {
			e.paths.Reads(shown, value)
		}
	}
}

// sideFiles are what SQLite keeps beside a cache.
func sideFiles(cache string) []string {
	if real, err := filepath.EvalSymlinks(cache); err == nil {
		cache = real
	}
	return []string{cache + "-wal", cache + "-shm", cache + "-journal"}
}

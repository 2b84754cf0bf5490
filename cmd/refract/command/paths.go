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
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/internal/config"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/judge"
	"github.com/refract-eval/refract/metrics/panel"
)

// writtenFlags name files that a command writes; readFlags, what it reads.
var (
	writtenFlags = []string{"output", "cache", "reports", "verdicts"}
	folderFlags  = []string{"plot", "write-recipe"}
	readFlags    = []string{"source", "ref", "hyp", "references", "matrix", "scores", "prices", "prompts", "metric", "decisions", "recipe", "labels", "feedback"}
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
	case name == "plot" && filepath.Ext(v) == ".svg":
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
	case name == "prompts":
		e.paths.Reads(shown, diversify.PromptFiles(v)...)
	case name != "prices" || !strings.HasPrefix(v, "{"):
		e.paths.Reads(shown, v)
	}
}

// addMetric adds the files that a spec names.
func (e *env) addMetric(shown, spec string) {
	e.mapFiles(spec, func(path string, written bool) string {
		if written {
			e.paths.Writes(shown, path)
		} else {
			e.paths.Reads(shown, path)
		}
		return path
	})
}

// mapFiles changes the files that a spec names: the definition of a judge, and those
// of options.
func (e *env) mapFiles(spec string, change func(path string, written bool) string) string {
	return panel.Rewrite(spec, func(spec string) string {
		name, rest, _ := strings.Cut(spec, ":")
		options := map[string]metrics.Option{}
		at := slices.IndexFunc(e.registry(), func(f metrics.Factory) bool { return f.Name == name })
		switch {
		case at >= 0:
			for _, o := range e.registry()[at].Options {
				options[o.Key] = o
			}
		case name == judge.FileMetric:
			path, more, comma := strings.Cut(rest, ",")
			if rest = change(path, false); comma {
				rest += "," + more
			}
		}
		fields := strings.Split(rest, ",")
		for i, field := range fields {
			key, value, ok := strings.Cut(field, "=")
			if o := options[key]; ok && value != "" && (o.File || o.Saves) {
				fields[i] = key + "=" + change(value, o.Saves)
			}
		}
		if rest == "" {
			return spec
		}
		return name + ":" + strings.Join(fields, ",")
	})
}

// sideFiles are what SQLite keeps beside a cache.
func sideFiles(cache string) []string {
	if real, err := filepath.EvalSymlinks(cache); err == nil {
		cache = real
	}
	return []string{cache + "-wal", cache + "-shm", cache + "-journal"}
}

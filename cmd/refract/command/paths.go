package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refract-eval/refract/internal/atomicfile"
)

// writtenFlags name files that a command writes; readFlags, what it reads.
var (
	writtenFlags = []string{"output", "cache", "reports", "html", "plot", "batch-state"}
	readFlags    = []string{"source", "ref", "hyp", "references", "matrix", "scores", "prices", "diversity", "config"}
)

// distinctFiles refuses one file for two purposes of a run where one of them
// writes it: what stands in it would be lost.
func distinctFiles(cmd *cobra.Command, args []string) error {
	var names, paths []string
	add := func(name, path string) {
		if path != "" && path != "-" && path != os.DevNull && !strings.Contains(path, "://") {
			names, paths = append(names, name), append(paths, path)
		}
	}
	written := 0 // the first so many are
	for i, name := range slices.Concat(writtenFlags, readFlags) {
		if i == len(writtenFlags) {
			written = len(names)
		}
		f := cmd.Flags().Lookup(name)
		if f == nil || !f.Changed && f.Value.String() == f.DefValue {
			continue
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			switch name {
			case "hyp", "scores":
				_, v, _ = strings.Cut(v, "=")
			case "references":
				_, v, _ = strings.Cut(v, ":")
			}
			if name != "prices" || !strings.HasPrefix(v, "{") {
				add("--"+name, v)
			}
		}
	}
	for _, arg := range args {
		path := arg
		if format, rest, ok := strings.Cut(arg, ":"); ok && !strings.ContainsAny(format, `/\.`) {
			path, _, _ = strings.Cut(rest, ",")
		}
		add(arg, path)
	}
	for i := range names {
		for k := range min(i, written) {
			if atomicfile.Same(paths[k], paths[i]) {
				return usagef("%s and %s name the same file, %s: give each its own", names[k], names[i], filepath.Clean(paths[i]))
			}
		}
	}
	return nil
}

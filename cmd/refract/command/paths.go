package command

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// writtenFlags name files that a command writes; readFlags, what it reads.
var (
	writtenFlags = []string{"output", "cache", "reports", "html", "plot", "batch-state"}
	readFlags    = []string{"source", "ref", "hyp", "references", "matrix", "scores", "prices", "diversity", "config"}
)

// distinctFiles refuses one file for two purposes of a run where one of them
// writes it: what stands in it would be lost.
func distinctFiles(cmd *cobra.Command, args []string) error {
	type use struct {
		name, path string
		written    bool
	}
	var uses []use
	add := func(name, path string, written bool) error {
		if path == "" || path == "-" || path == os.DevNull || strings.Contains(path, "://") {
			return nil
		}
		for _, u := range uses {
			if (written || u.written) && sameFile(u.path, path) {
				return usagef("%s and %s name the same file, %s: give each its own", u.name, name, filepath.Clean(path))
			}
		}
		uses = append(uses, use{name, path, written})
		return nil
	}
	var err error
	flag := func(name string, written bool) {
		f := cmd.Flags().Lookup(name)
		if err != nil || f == nil || name == "cache" && f.Value.String() == f.DefValue && !f.Changed {
			return
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
			case "prices":
				if strings.HasPrefix(v, "{") {
					continue
				}
			}
			if err == nil {
				err = add("--"+name, v, written)
			}
		}
	}
	for _, name := range writtenFlags {
		flag(name, true)
	}
	for _, name := range readFlags {
		flag(name, false)
	}
	for _, arg := range args {
		path := arg
		if format, rest, ok := strings.Cut(arg, ":"); ok && !strings.ContainsAny(format, `/\.`) {
			path, _, _ = strings.Cut(rest, ",")
		}
		if err == nil {
			err = add(arg, path, false)
		}
	}
	return err
}

// sameFile reports whether two paths are one file, by whatever names and links.
func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX == nil && errY == nil {
		return x.Mode().IsRegular() && os.SameFile(x, y)
	}
	return place(a) == place(b)
}

// place is where a file that may not exist yet will be.
func place(path string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, filepath.Base(path))
}

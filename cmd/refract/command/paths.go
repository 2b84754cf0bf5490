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
	"github.com/refract-eval/refract/internal/files"
	"github.com/refract-eval/refract/internal/redact"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/judge"
)

// paths are the files and folders of a run, so that it does not overwrite what it
// reads.
type paths struct {
	used  []usedPath
	wrong error // with a name
}

// usedPath is a file or a folder with the name that users know, such as a flag.
type usedPath struct {
	name, path string
	stream     os.FileInfo // of an open one, which has no path
	written    bool
}

// used are files and folders that the run reads or writes.
func used(written bool, paths ...string) (all []usedPath) {
	for _, path := range paths {
		all = append(all, usedPath{path: path, written: written})
	}
	return all
}

// ReadBy are the files and folders that the run reads under a name.
func (p *paths) ReadBy(name string) []string {
	var out []string
	for _, u := range p.used {
		if u.name == name && u.path != "" && !u.written {
			out = append(out, u.path)
		}
	}
	return out
}

// add names files. It quotes no value that may be a key.
func (p *paths) add(name string, used ...usedPath) {
	for _, u := range used {
		scheme, _, isURL := strings.Cut(u.path, "://")
		switch {
		case isURL && slices.Contains([]string{"s3", "gs", "az", "file", "http", "https"}, strings.ToLower(scheme)):
			p.wrong = cmp.Or(p.wrong, usagef("a name that begins with %s:// cannot be read or written: Refract takes local files; copy the file (aws s3 cp, rclone), or mount the bucket", scheme))
		case isURL || u.path == "" || u.path == "-" || u.path == os.DevNull:
		case isKey(u.path):
			if !strings.HasPrefix(name, "-") {
				name = "an argument"
			}
			p.wrong = cmp.Or(p.wrong, usagef("%s has a key in the place of a file, which is not there: keys of servers are read from OPENAI_API_KEY", name))
		default:
			u.name = name
			p.used = append(p.used, u)
		}
	}
}

// isKey reports whether the name of a file that does not exist looks like a key.
func isKey(path string) bool {
	if _, err := os.Stat(path); err == nil {
		return false
	}
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		path = filepath.Base(path)
	}
	return redact.Message(path) != path
}

// addStream adds an open file, such as standard output.
func (p *paths) addStream(name string, stream any, written bool) {
	if f, ok := stream.(interface{ Stat() (os.FileInfo, error) }); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			p.used = append(p.used, usedPath{name: name, stream: info, written: written})
		}
	}
}

// check refuses to write a file that has another purpose in the run, or one in a folder
// that it reads.
func (p *paths) check() error {
	inside := p.wrong
	for i, out := range p.used {
		for j, other := range p.used {
			switch path := cmp.Or(other.path, out.path, "a stream"); {
			case !out.written || other.written && j <= i:
			case out.same(other):
				return usagef("%s and %s name the same file, %s: give each its own", out.name, other.name, filepath.Clean(path))
			case !other.written && out.path != "" && files.Within(out.path, other.path):
				inside = cmp.Or(inside, usagef("%s, %s, lies in the folder %s, which %s reads: name a place outside it", out.name, filepath.Clean(out.path), filepath.Clean(other.path), other.name))
			}
		}
	}
	return inside
}

func (u usedPath) same(other usedPath) bool {
	if u.stream == nil && other.stream == nil {
		return files.Same(u.path, other.path)
	}
	a, b := u.info(), other.info()
	return a != nil && b != nil && os.SameFile(a, b)
}

// info is nil where there is no file.
func (u usedPath) info() os.FileInfo {
	if u.stream != nil {
		return u.stream
	}
	info, _ := os.Stat(u.path)
	return info
}

// distinctPaths refuses two purposes for one file where one of them writes it.
func (e *env) distinctPaths(cmd *cobra.Command, args []string) error {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		k := knownOf(f)
		if k.files == nil || !f.Changed && k.String() == f.DefValue {
			return
		}
		for _, v := range k.values() {
			e.paths.add("--"+f.Name, k.files(v)...)
		}
	})
	if e.configPath == "" {
		if _, err := os.Stat(configName); err == nil {
			e.paths.add("the configuration", used(false, configName)...)
		}
	}
	for i, arg := range args {
		files := used(false, dataset.Inputs(arg)...)
		if i == 0 && slices.Contains([]string{"metrics", "parse"}, cmd.Name()) {
			files = e.metricFiles(arg)
		}
		e.paths.add(arg, files...)
		if i == 0 && cmd.HasParent() && cmd.Parent().Name() == "cache" {
			if err := cache.CheckName(arg); err != nil {
				return usagef("%w", err)
			}
			e.paths.add(arg, used(false, sideFiles(arg)...)...)
		}
	}
	e.paths.addStream("standard input", e.stdin, false)
	e.paths.addStream("standard output", e.stdout, true)
	return e.paths.check()
}

// The files that values of flags name.

func readsFile(path string) []usedPath  { return used(false, path) }
func writesFile(path string) []usedPath { return used(true, path) }

// readsTexts is a file of texts, perhaps with a column.
func readsTexts(v string) []usedPath { return readsFile(dataset.TextsFile(v)) }

// readsOutputs is a file of outputs, perhaps after the name of the system.
func readsOutputs(v string) []usedPath { return readsTexts(v[strings.Index(v, "=")+1:]) }

// readsTable is NAME=FILE with a table, perhaps with the names of columns.
func readsTable(v string) (files []usedPath) {
	if _, table, named := strings.Cut(v, "="); named {
		for _, file := range dataset.Inputs("table:" + table) {
			files = append(files, readsTexts(file)...)
		}
	}
	return files
}

func readsDataset(v string) []usedPath { return used(false, dataset.Inputs(v)...) }
func readsPrompts(v string) []usedPath { return used(false, diversify.PromptFiles(v)...) }

// readsPrices is a file of prices, or nothing where the value is the table itself.
func readsPrices(v string) []usedPath {
	if strings.HasPrefix(v, "{") {
		return nil
	}
	return readsFile(v)
}

// writesCache is the file of a cache and those next to it; nothing for a database.
func writesCache(v string) []usedPath {
	if cache.IsPostgres(v) {
		return nil
	}
	return used(true, append(sideFiles(v), v)...)
}

// metricFiles are the files that the spec of a metric names.
func (e *env) metricFiles(spec string) (files []usedPath) {
	e.mapFiles(spec, func(path string, written bool) string {
		files = append(files, usedPath{path: path, written: written})
		return path
	})
	return files
}

// mapFiles changes the files that a spec names: the definition of a judge, and those
// of options.
func (e *env) mapFiles(spec string, change func(path string, written bool) string) string {
	name, rest, _ := strings.Cut(spec, ":")
	if rest == "" {
		return spec
	}
	factory, _ := e.registry().Find(name) // judges have no options that name files
	fields := strings.Split(rest, ",")
	for i, field := range fields {
		key, value, _ := strings.Cut(field, "=")
		at := slices.IndexFunc(factory.Options, func(o metrics.Option) bool { return o.Key == key && (o.File || o.Saves) })
		switch {
		case i == 0 && name == judge.FileMetric:
			fields[i] = change(field, false)
		case at >= 0 && value != "":
			fields[i] = key + "=" + change(value, factory.Options[at].Saves)
		}
	}
	return name + ":" + strings.Join(fields, ",")
}

// sideFiles are the files that SQLite keeps next to a cache.
func sideFiles(cache string) []string {
	if real, err := filepath.EvalSymlinks(cache); err == nil {
		cache = real
	}
	return []string{cache + "-wal", cache + "-shm", cache + "-journal"}
}

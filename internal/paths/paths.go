// Package paths refuses runs that write over what they read.
package paths

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/refract-eval/refract/internal/atomicfile"
)

// Run is the files and folders of a run, each with the name that people know it
// by, such as a flag.
type Run struct {
	written, folders, read []named
	wrong                  error // with a name
}

type named struct {
	name, path string
	open       os.FileInfo // of a stream, which has no path
}

// WritesStream names an open stream that the run writes, such as standard
// output. It counts where it is a regular file.
func (r *Run) WritesStream(name string, stream any) { addStream(&r.written, name, stream) }

// ReadsStream is WritesStream for a stream that is read.
func (r *Run) ReadsStream(name string, stream any) { addStream(&r.read, name, stream) }

func addStream(to *[]named, name string, stream any) {
	if f, ok := stream.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			*to = append(*to, named{name: name, open: info})
		}
	}
}

// Writes names files that the run writes.
func (r *Run) Writes(name string, paths ...string) { r.add(&r.written, name, paths) }

// WritesFolder names new folders that the run writes; several results may
// share one.
func (r *Run) WritesFolder(name string, paths ...string) { r.add(&r.folders, name, paths) }

// Reads names files and folders that the run reads.
func (r *Run) Reads(name string, paths ...string) { r.add(&r.read, name, paths) }

// ReadBy are the files and folders that the run reads under a name.
func (r *Run) ReadBy(name string) []string {
	var out []string
	for _, n := range r.read {
		if n.name == name && n.path != "" {
			out = append(out, n.path)
		}
	}
	return out
}

func (r *Run) add(to *[]named, name string, paths []string) {
	for _, path := range paths {
		scheme, _, isURL := strings.Cut(path, "://")
		switch {
		case isURL && slices.Contains([]string{"s3", "gs", "az", "file", "http", "https"}, strings.ToLower(scheme)):
			// The name itself is not quoted: it may hold a key.
			r.wrong = cmp.Or(r.wrong, fmt.Errorf("a name that begins with %s:// cannot be read or written: Refract takes local files; copy the file (aws s3 cp, rclone), or mount the bucket", scheme))
		case !isURL && path != "" && path != "-" && path != os.DevNull:
			*to = append(*to, named{name: name, path: path})
		}
	}
}

// Check refuses one file for two purposes where the run writes it, and an
// output in a folder that it reads: what stands there would be lost.
func (r *Run) Check() error {
	if r.wrong != nil {
		return r.wrong
	}
	for i, out := range r.written {
		for _, other := range append(r.written[i+1:len(r.written):len(r.written)], r.read...) {
			switch path := cmp.Or(other.path, out.path); {
			case !same(out, other):
			case path == "":
				return fmt.Errorf("%s and %s are the same file: give each its own", out.name, other.name)
			default:
				return fmt.Errorf("%s and %s name the same file, %s: give each its own", out.name, other.name, filepath.Clean(path))
			}
		}
	}
	for _, out := range append(r.written[:len(r.written):len(r.written)], r.folders...) {
		for _, in := range r.read {
			if out.path != "" && atomicfile.Within(out.path, in.path) {
				return fmt.Errorf("%s, %s, lies in the folder %s, which %s reads: name a place outside it", out.name, filepath.Clean(out.path), filepath.Clean(in.path), in.name)
			}
		}
	}
	return nil
}

func same(a, b named) bool {
	if a.open == nil && b.open == nil {
		return atomicfile.Same(a.path, b.path)
	}
	x, y := a.info(), b.info()
	return x != nil && y != nil && os.SameFile(x, y)
}

// info is nil where there is no file.
func (n named) info() os.FileInfo {
	if n.open != nil {
		return n.open
	}
	info, err := os.Stat(n.path)
	if err != nil {
		return nil
	}
	return info
}

// Package paths refuses runs that write over what they read.
package paths

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/refract-eval/refract/internal/atomicfile"
)

// Run is the files and folders of a run, each with the name that people know it
// by, such as a flag.
type Run struct{ written, folders, read []named }

type named struct{ name, path string }

// Writes names files that the run writes.
func (r *Run) Writes(name string, paths ...string) { add(&r.written, name, paths) }

// WritesFolder names new folders that the run writes; several results may
// share one.
func (r *Run) WritesFolder(name string, paths ...string) { add(&r.folders, name, paths) }

// Reads names files and folders that the run reads.
func (r *Run) Reads(name string, paths ...string) { add(&r.read, name, paths) }

func add(to *[]named, name string, paths []string) {
	for _, path := range paths {
		if path != "" && path != "-" && path != os.DevNull && !strings.Contains(path, "://") {
			*to = append(*to, named{name, path})
		}
	}
}

// Check refuses one file for two purposes where the run writes it, and an
// output in a folder that it reads: what stands there would be lost.
func (r *Run) Check() error {
	for i, out := range r.written {
		for _, other := range append(r.written[i+1:len(r.written):len(r.written)], r.read...) {
			if atomicfile.Same(out.path, other.path) {
				return fmt.Errorf("%s and %s name the same file, %s: give each its own", out.name, other.name, filepath.Clean(other.path))
			}
		}
	}
	for _, out := range append(r.written[:len(r.written):len(r.written)], r.folders...) {
		for _, in := range r.read {
			if atomicfile.Within(out.path, in.path) {
				return fmt.Errorf("%s, %s, lies in the folder %s, which %s reads: name a place outside it", out.name, filepath.Clean(out.path), filepath.Clean(in.path), in.name)
			}
		}
	}
	return nil
}

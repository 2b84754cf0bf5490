package publish

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/internal/files"
)

// folder is a folder that gets its name when it is complete.
type folder struct {
	*files.Folder
	files []file
}

// file is a file that the manifest lists.
type file struct {
	*files.File
	path, role string
}

func newFolder(dir string) (*folder, error) {
	dir = filepath.Clean(dir)
	f, err := files.CreateFolder(dir)
	if _, no := os.Stat(filepath.Join(dir, dataset.ManifestName)); err != nil && no == nil {
		err = fmt.Errorf("%s is a published set and is not overwritten: to replace it, remove it first (rm -r %[1]s), or name a new folder", dir)
	}
	return &folder{Folder: f}, err
}

// create adds a file that the manifest lists.
func (d *folder) create(path, role string) (*files.File, error) {
	f, err := d.Create(filepath.FromSlash(path))
	if err == nil {
		d.files = append(d.files, file{f, path, role})
	}
	return f, err
}

// close completes these files and describes them.
func (d *folder) close() (out []dataset.File, err error) {
	for _, f := range d.files {
		if err := f.Commit(); err != nil {
			return nil, err
		}
		described, err := dataset.Describe(d.Path(), f.path, f.role)
		if err != nil {
			return nil, err
		}
		out = append(out, described)
	}
	return out, nil
}

// discard removes a folder that did not get its name.
func (d *folder) discard() {
	for _, f := range d.files {
		f.Abort()
	}
	d.Abort()
}

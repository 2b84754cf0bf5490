package publish

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"os"
	"path/filepath"

	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/internal/files"
)

// folder is a folder that gets its name when it is complete.
type folder struct {
	*files.Folder
	final  string
	files  []*file
	failed bool // a write failed, so the error is not about a segment
}

func newFolder(dir string) (*folder, error) {
	dir = filepath.Clean(dir)
	f, err := files.CreateFolder(dir)
	if _, no := os.Stat(filepath.Join(dir, dataset.ManifestName)); err != nil && no == nil {
		err = fmt.Errorf("%s is a published set and is not overwritten: to replace it, remove it first (rm -r %[1]s), or name a new folder", dir)
	}
	return &folder{Folder: f, final: dir}, err
}

// file is a file of the folder; its size and hash are computed while it is written.
type file struct {
	*bufio.Writer
	folder *folder
	info   dataset.File
	f      *os.File
	hash   hash.Hash
}

// create adds a file.
func (d *folder) create(path, role string) (*file, error) {
	full := pathIn(d.Path(), path)
	if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
		return nil, d.fail(path, err)
	}
	f, err := os.Create(full)
	if err != nil {
		return nil, d.fail(path, err)
	}
	out := &file{folder: d, info: dataset.File{Path: path, Role: role}, f: f, hash: sha256.New()}
	out.Writer = bufio.NewWriterSize((*hashed)(out), 1<<16)
	d.files = append(d.files, out)
	return out, nil
}

// hashed is the writer below a file's buffer.
type hashed file

func (h *hashed) Write(p []byte) (int, error) {
	n, err := h.f.Write(p)
	h.hash.Write(p[:n])
	h.info.Bytes += int64(n)
	if err != nil {
		err = h.folder.fail(h.info.Path, err)
	}
	return n, err
}

func (d *folder) fail(path string, err error) error {
	d.failed = true
	return fmt.Errorf("%s cannot be written: %w", pathIn(d.final, path), bare(err))
}

// close closes all files and returns their descriptions.
func (d *folder) close() ([]dataset.File, error) {
	var out []dataset.File
	for _, f := range d.files {
		if err := f.Flush(); err != nil {
			return nil, err
		}
		if err := f.f.Close(); err != nil {
			return nil, d.fail(f.info.Path, err)
		}
		f.f = nil
		f.info.SHA256 = hex.EncodeToString(f.hash.Sum(nil))
		out = append(out, f.info)
	}
	return out, nil
}

// write adds a file that the manifest does not list.
func (d *folder) write(path string, b []byte) error {
	if err := os.WriteFile(pathIn(d.Path(), path), b, 0o666); err != nil {
		return d.fail(path, err)
	}
	return nil
}

// discard removes a folder that did not get its name.
func (d *folder) discard() {
	for _, f := range d.files {
		if f.f != nil {
			f.f.Close()
		}
	}
	d.Abort()
}

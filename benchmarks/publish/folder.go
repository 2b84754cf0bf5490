package publish

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"

	"github.com/refract-eval/refract/benchmarks/dataset"
)

// folder is a folder in the making, under another name beside its final one.
type folder struct {
	final, temp string
	files       []*file
	failed      bool // a write has failed: the fault is not a segment's
}

func newFolder(dir string) (*folder, error) {
	dir = filepath.Clean(dir)
	temp, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+".*.tmp")
	if err != nil {
		return nil, fmt.Errorf("%s cannot be made: %w", dir, bare(err))
	}
	return &folder{final: dir, temp: temp}, nil
}

// file is a file of the folder, of which the size and the hash are taken on
// the way.
type file struct {
	*bufio.Writer
	folder *folder
	info   dataset.File
	f      *os.File
	hash   hash.Hash
}

// create adds a file.
func (d *folder) create(path, role string) (*file, error) {
	full := pathIn(d.temp, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
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

// hashed is what a file's buffer writes to.
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

// close ends all files and returns what they are.
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

// write adds a file that is not listed.
func (d *folder) write(path string, b []byte) error {
	if err := os.WriteFile(pathIn(d.temp, path), b, 0o644); err != nil {
		return d.fail(path, err)
	}
	return nil
}

// place gives the folder its name. An empty folder of that name gives way.
func (d *folder) place() error {
	err := os.Remove(d.final)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if err == nil {
		err = os.Chmod(d.temp, 0o755)
	}
	if err == nil {
		err = os.Rename(d.temp, d.final)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", d.final, bare(err))
	}
	d.temp = ""
	return nil
}

// discard removes a folder that was not placed.
func (d *folder) discard() {
	for _, f := range d.files {
		if f.f != nil {
			f.f.Close()
		}
	}
	if d.temp != "" {
		os.RemoveAll(d.temp)
	}
}

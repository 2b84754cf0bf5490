// Package files writes files and folders that appear under their names only
// when they are complete, reads and writes compressed ones, and locks them. Output
// goes to a temporary name next to the final one. A killed process leaves its
// temporary file; the next process that writes the same output removes it.
package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// File is an output. Its errors name the output, not the temporary file.
type File struct {
	*bufio.Writer
	to      *named
	name    string
	out     *os.File // nil for a stream, and after Commit or Abort
	final   string   // the name that Commit gives the file; "" if it has its name already
	pack    io.WriteCloser
	durable bool
}

// Create opens an output. An existing file keeps its permissions, and a new one gets
// those of the user's mask. A symbolic link stays a link: the file that it points to
// is replaced or created. Devices and pipes are written directly. If the name
// ends in .gz or .zst, the file is compressed.
//
//	f, err := Create(path)
//	…
//	defer f.Abort()
//	… // write; return on any error
//	return f.Commit()
func Create(path string) (*File, error) {
	final, mode, known := follow(path), fs.FileMode(0o666), false
	if st, err := os.Stat(path); err == nil {
		if st.IsDir() {
			return nil, fmt.Errorf("%s is a folder; name a file in it", path)
		}
		if !st.Mode().IsRegular() {
			out, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return nil, cannotWrite(path, err)
			}
			return newFile(out, path, out, ""), nil
		}
		mode, known = st.Mode().Perm(), true
	}
	temp, err := reserve(final, func(name string) (*os.File, error) {
		return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	})
	if err != nil {
		return nil, CannotCreate(path, final, err)
	}
	if known {
		if err := temp.Chmod(mode); err != nil { // the mask may have narrowed it
			temp.Close()
			os.Remove(temp.Name())
			return nil, cannotWrite(path, err)
		}
	}
	f := newFile(temp, path, temp, final)
	return f, f.packs(temp, path)
}

// packs compresses what is written, if the name asks for it.
func (f *File) packs(w io.Writer, name string) (err error) {
	if f.pack, err = NewWriter(&named{w: w, name: name}, name); f.pack != nil {
		f.Reset(f.pack)
	}
	return err
}

// Stream returns a File for an output that is already open, such as standard output.
// Commit writes what is buffered and does not close w. Abort does the same once the
// first bytes were written, so that a reader never gets half a row.
func Stream(w io.Writer, name string) *File { return newFile(w, name, nil, "") }

// Fd is the descriptor of the output, by which a terminal is known; where there is
// none, it is one that is never open.
func (f *File) Fd() uintptr {
	if w, ok := f.to.w.(interface{ Fd() uintptr }); ok {
		return w.Fd()
	}
	return ^uintptr(0)
}

func newFile(w io.Writer, name string, out *os.File, final string) *File {
	to := &named{w: w, name: name}
	return &File{Writer: bufio.NewWriterSize(to, 1<<16), to: to, name: name, out: out, final: final}
}

// named is a writer whose errors name the output.
type named struct {
	w     io.Writer
	name  string
	begun bool // whether anything was written
}

func (n *named) Write(p []byte) (int, error) {
	n.begun = true
	k, err := n.w.Write(p)
	if err != nil {
		err = cannotWrite(n.name, err)
	}
	return k, err
}

// Cause returns the cause of an error of the file system, without its operation and path, for
// messages that name the file themselves.
func Cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// cannotWrite names the output instead of a temporary path.
func cannotWrite(name string, err error) error { return &WriteError{name, Cause(err)} }

// WriteError says that an output cannot be written.
type WriteError struct {
	Name string
	Err  error
}

// Error names the output.
func (e *WriteError) Error() string { return fmt.Sprintf("%s cannot be written: %v", e.Name, e.Err) }

// Unwrap returns the cause.
func (e *WriteError) Unwrap() error { return e.Err }

// CannotCreate says why the output final could not be created, and what to do.
func CannotCreate(name, final string, err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		if dir, failed := filepath.Abs(filepath.Dir(final)); failed == nil {
			return fmt.Errorf("%w: make the folder %s writable, or choose another place", cannotWrite(name, err), dir)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Dir(final)); err == nil { // as in /proc
			return fmt.Errorf("%s cannot be written: nothing can be made in the folder %s", name, filepath.Dir(final))
		}
		return fmt.Errorf("%s cannot be written: there is no folder %s; make it first", name, filepath.Dir(final))
	}
	return cannotWrite(name, err)
}

// Durable makes Commit wait until the file is on the disk, so that it also survives
// a failure of the machine.
func (f *File) Durable() { f.durable = f.final != "" }

// Commit writes what is buffered and gives the file its name. After an error the
// name is as before: free, or that of the old file.
func (f *File) Commit() error {
	err := f.Flush()
	if err == nil && f.pack != nil && f.out != nil {
		err = f.pack.Close()
	}
	if err != nil || f.out == nil {
		return err
	}
	if f.durable {
		err = f.out.Sync()
	}
	if err = errors.Join(err, f.out.Close()); err == nil && f.final != "" {
		err = os.Rename(f.out.Name(), f.final)
	}
	if err == nil && f.durable {
		err = syncFolder(filepath.Dir(f.final))
	}
	if err != nil {
		return cannotWrite(f.name, err)
	}
	f.out = nil
	return nil
}

// Abort removes the temporary file. After Commit it does nothing.
func (f *File) Abort() {
	if f.out == nil {
		if f.to.begun && f.final == "" {
			f.Flush()
		}
		return
	}
	f.out.Close()
	if f.final != "" {
		os.Remove(f.out.Name())
	}
	f.out = nil
}

// Folder is a folder that gets its name when it is complete.
type Folder struct {
	final string
	temp  *os.File // open for its lock; nil after Commit or Abort
}

// CreateFolder creates a folder under a temporary name. path must not exist or must
// be an empty folder, now and at Commit, so that nobody's files are overwritten. A
// symbolic link stays a link: the folder that it points to is created.
func CreateFolder(path string) (*Folder, error) {
	path = follow(filepath.Clean(path))
	entries, err := os.ReadDir(path)
	switch {
	case len(entries) > 0:
		return nil, fmt.Errorf("the folder %s has something in it; name a new one", path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, cannotWrite(path, err)
	}
	temp, err := reserve(path, func(name string) (*os.File, error) {
		if err := os.Mkdir(name, 0o777); err != nil {
			return nil, err
		}
		return os.Open(name)
	})
	if err != nil {
		return nil, CannotCreate(path, path, err)
	}
	return &Folder{path, temp}, nil
}

// Create opens a file of the folder, and makes the folders in which it is. Commit completes it.
func (d *Folder) Create(name string) (*File, error) {
	path, shown := filepath.Join(d.temp.Name(), name), filepath.Join(d.final, name)
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	if err != nil {
		return nil, cannotWrite(shown, err)
	}
	out, err := os.Create(path)
	if err != nil {
		return nil, cannotWrite(shown, err)
	}
	return newFile(out, shown, out, ""), nil
}

// Write creates a file in the folder and calls write to fill it.
func (d *Folder) Write(name string, write func(io.Writer) error) error {
	f, err := d.Create(name)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := write(f); err != nil {
		return err
	}
	return f.Commit()
}

// Path returns the temporary path, where the folder's files are to be written.
func (d *Folder) Path() string { return d.temp.Name() }

// Commit gives the folder its name. It replaces an empty folder of that name,
// and keeps the permissions of that one.
func (d *Folder) Commit() error {
	var err error
	if st, statErr := os.Stat(d.final); statErr == nil {
		err = errors.Join(os.Chmod(d.temp.Name(), st.Mode().Perm()), os.Remove(d.final))
	}
	if err == nil {
		err = os.Rename(d.temp.Name(), d.final)
	}
	if err != nil {
		return cannotWrite(d.final, err)
	}
	d.temp.Close() // it was only locked
	d.temp = nil
	return nil
}

// Abort removes the folder. After Commit it does nothing.
func (d *Folder) Abort() {
	if d.temp == nil {
		return
	}
	os.RemoveAll(d.temp.Name())
	d.temp.Close()
	d.temp = nil
}

// Temporary names are .NAME.XXXXXXXX.tmp, where X is a hexadecimal digit.
const (
	hexDigits = 8
	suffix    = ".tmp"
	longest   = 200 // bytes of NAME; a file system takes 255 in all
)

// reserve creates a file or folder under a temporary name next to path and locks
// it for as long as it is open. First it removes the leftovers of killed processes.
func reserve(path string, create func(name string) (*os.File, error)) (*os.File, error) {
	dir, prefix := filepath.Dir(path), prefixOf(path)
	removeStale(dir, prefix)
	for try := 0; ; try++ {
		f, err := create(filepath.Join(dir, fmt.Sprintf("%s%0*x%s", prefix, hexDigits, rand.Uint32(), suffix)))
		if errors.Is(err, fs.ErrExist) && try < 100 {
			continue
		}
		if err != nil {
			return nil, err
		}
		// Before it is locked, another process may take it for stale and remove it.
		if free, err := TryLock(f); (free || err != nil) && isNamed(f) {
			return f, nil
		}
		f.Close()
	}
}

// isNamed reports whether the file's name still refers to the open file.
func isNamed(f *os.File) bool {
	a, errA := f.Stat()
	b, errB := os.Lstat(f.Name())
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// RemoveStale removes the leftovers of killed processes that wrote path, as Create
// does. Callers use it when the output exists already.
func RemoveStale(path string) {
	path = follow(path)
	removeStale(filepath.Dir(path), prefixOf(path))
}

// prefixOf returns the prefix of all temporary names for a path.
func prefixOf(path string) string {
	base := filepath.Base(path)
	return "." + base[:min(len(base), longest)] + "."
}

// removeStale removes temporary files and folders that no process has locked. It
// ignores those that it cannot remove, because they do no harm.
func removeStale(dir, prefix string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		middle, ours := strings.CutPrefix(name, prefix)
		middle, temporary := strings.CutSuffix(middle, suffix)
		if !ours || !temporary || len(middle) != hexDigits || strings.Trim(middle, "0123456789abcdef") != "" {
			continue
		}
		path := filepath.Join(dir, name)
		if st, err := os.Lstat(path); err != nil || !st.IsDir() && !st.Mode().IsRegular() {
			continue
		}
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		if free, err := TryLock(f); free && err == nil && isNamed(f) {
			os.RemoveAll(path)
		}
		f.Close()
	}
}

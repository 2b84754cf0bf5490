package files

import (
	"os"
	"path/filepath"
)

// Same reports whether two paths lead to the same file, through any names and links.
func Same(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX == nil && errY == nil {
		return x.Mode().IsRegular() && os.SameFile(x, y)
	}
	return place(a) == place(b)
}

// place returns the path with links resolved, also for a file that does not exist yet.
func place(path string) string {
	path = follow(path)
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, filepath.Base(path))
}

// Within reports whether an output would lie in a folder, through any names and
// links. It is false for a folder that contains the working directory, which holds
// many other things, too.
func Within(path, folder string) bool {
	if st, err := os.Stat(folder); err != nil || !st.IsDir() {
		return false
	}
	folder = place(filepath.Join(folder, "x"))
	return !inside(place("x"), filepath.Dir(folder)) && inside(target(path), filepath.Dir(folder))
}

// target returns the path of the file that writing to path changes.
func target(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return place(path)
}

func inside(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}

// follow returns what a symbolic link points to, whether that exists or not, and other
// paths unchanged.
func follow(path string) string {
	const most = 40 // links to follow, as in Linux
	for range most {
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			dir := filepath.Dir(path)
			if real, err := filepath.EvalSymlinks(dir); err == nil {
				dir = real
			}
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return path
}

package files

import (
	"os"
	"path/filepath"
)

// Same reports whether two paths are one file, by whatever names and links.
func Same(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX == nil && errY == nil {
		return x.Mode().IsRegular() && os.SameFile(x, y)
	}
	return place(a) == place(b)
}

// place is where a file that may not exist yet will be.
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

// Within reports whether an output would lie in a folder, by whatever names and
// links. A folder that holds the working directory too is not asked about:
// it is one of many things.
func Within(path, folder string) bool {
	if st, err := os.Stat(folder); err != nil || !st.IsDir() {
		return false
	}
	folder = place(filepath.Join(folder, "x"))
	return !inside(place("x"), filepath.Dir(folder)) && inside(target(path), filepath.Dir(folder))
}

// target is where what is written to a path ends up.
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

// follow is what a symbolic link stands for, be it there or not; other paths stay.
func follow(path string) string {
	const most = 40 // links, as in Linux
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

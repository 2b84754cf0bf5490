package dataset

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ownFolders and ownFiles are what a set that is a folder contains; the files are patterns
// of fs.Glob.
var (
	ownFolders = []string{"sources", "references", "system-outputs", "human-scores", "metric-scores", "documents", "data"}
	ownFiles   = []string{ManifestName, "README.md", "CITATION.cff", "*.parquet"}
)

// Inputs returns the files and folders that a spec "FORMAT:PLACE", or a plain path, reads.
// For a folder it also names the set's files in it, because a folder such as the working
// directory may contain other things too. It reads no more than a manifest, and also names
// what does not exist.
func Inputs(spec string) []string {
	format, place, ok := strings.Cut(spec, ":")
	if !ok || strings.ContainsAny(format, `/\.`) || strings.HasPrefix(place, "//") {
		format, place = "", spec
	}
	if format != "" {
		parts := strings.Split(place, ",")
		place = parts[0]
		for _, part := range parts[1:] {
			if strings.Contains(part, "=") {
				break
			}
			place += "," + part
		}
	}
	if place == "" {
		return nil
	}
	out := []string{place}
	if format == "mtme" {
		out[0] = filepath.Dir(filepath.Clean(place))
	}
	dir := out[0]
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return out
	}
	for _, name := range ownFolders {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			out = append(out, filepath.Join(dir, name))
		}
	}
	for _, pattern := range ownFiles {
		found, _ := fs.Glob(os.DirFS(dir), pattern) // the pattern is valid, and the folder's name is not a pattern
		for _, name := range found {
			out = append(out, filepath.Join(dir, name))
		}
	}
	if m, err := ReadManifest(dir); err == nil {
		for _, f := range m.Files {
			out = append(out, filepath.Join(dir, filepath.FromSlash(f.Path)))
		}
	}
	return out
}

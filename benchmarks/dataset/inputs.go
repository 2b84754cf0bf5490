package dataset

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ownFolders and ownFiles are what sets that are folders have in them; the
// files are patterns of fs.Glob.
var (
	ownFolders = []string{"sources", "references", "system-outputs", "human-scores", "metric-scores", "documents", "data"}
	ownFiles   = []string{ManifestName, "README.md", "*.parquet"}
)

// Inputs returns the files and folders that a spec "FORMAT:PLACE", or a plain
// path, reads. Of a folder it names what the set has in it too, as the folder
// may be one of other things besides, such as the working directory. It
// reads no more than a manifest, and names what does not exist, too.
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
		found, _ := fs.Glob(os.DirFS(dir), pattern) // the pattern is right, and the folder's name is none
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

package dataset

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/suggest"
	"github.com/refract-eval/refract/internal/text"
)

// ManifestName is the file of a published folder that holds its Manifest.
const ManifestName = "manifest.json"

// ManifestVersion is the highest version of manifests that is read, and the
// one that is written.
const ManifestVersion = 1

// The formats of published sets.
const (
	FormatJSONL   = "jsonl"
	FormatParquet = "parquet"
	FormatText    = "text"
	FormatMTME    = "mtme"
	FormatDivRef  = "div-ref"
)

// Formats lists the formats of published sets.
func Formats() []string {
	return []string{FormatJSONL, FormatParquet, FormatText, FormatMTME, FormatDivRef}
}

// Manifest describes a published folder: what is in it, and how to read it
// back and know that it is whole.
type Manifest struct {
	Version      int      `json:"version"`
	Tool         string   `json:"tool"` // that wrote it, with its version
	Format       string   `json:"format"`
	Set          string   `json:"set"` // the content hash, see refract.Identity
	Segments     int      `json:"segments"`
	References   int      `json:"references"` // originals, of all segments
	Variants     int      `json:"variants"`   // of all segments
	Rejected     int      `json:"rejected"`   // that the files hold
	LanguagePair string   `json:"language_pair,omitempty"`
	Prompts      []string `json:"prompts,omitempty"` // of the columns of the variants of div-ref
	Files        []File   `json:"files"`
}

// The roles of files.
const (
	RoleSegments  = "segments"  // all there is, as JSON Lines or Parquet
	RoleSource    = "source"    // a line a segment
	RoleReference = "reference" // a line a segment; the files are in the order of the references
	RoleVariants  = "variants"  // a Python list a segment
	RoleDocuments = "documents" // as mt-metrics-eval has them
)

// File is a file of a published folder.
type File struct {
	Path   string `json:"path"` // relative to the folder, with slashes
	Role   string `json:"role"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // 64 hexadecimal digits
}

// Role returns the files of a role, in order.
func (m *Manifest) Role(role string) []File {
	var out []File
	for _, f := range m.Files {
		if f.Role == role {
			out = append(out, f)
		}
	}
	return out
}

// ReadManifest reads the manifest of a published folder. It looks at no other
// file.
func ReadManifest(dir string) (*Manifest, error) {
	path := filepath.Join(dir, ManifestName)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, failFile(dir, "there is no %s, so this is no published folder: %w", ManifestName, fs.ErrNotExist)
	}
	if err != nil {
		return nil, fileError(path, err)
	}
	var m Manifest
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, badManifest(path, b, err)
	}
	if m.Version > ManifestVersion {
		return nil, failFile(path, "version %d of the manifest is newer than this program, which reads %d; use a newer refract", m.Version, ManifestVersion)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return nil, failFile(path, "bad manifest: %w", err)
	}
	if err := m.check(); err != nil {
		return nil, failFile(path, "bad manifest: %w", err)
	}
	return &m, nil
}

// badManifest says where a manifest is no JSON, or another one, in words of JSON.
func badManifest(path string, b []byte, err error) error {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	line := func(offset int64) int { return 1 + bytes.Count(b[:min(offset, int64(len(b)))], []byte("\n")) }
	switch {
	case errors.As(err, &kind) && kind.Field == "":
		return failAt(refract.Position{File: path, Line: line(kind.Offset)}, 0, "bad manifest: it must be a JSON object, not of kind %s; get it again", kind.Value)
	case errors.As(err, &kind):
		return failAt(refract.Position{File: path, Line: line(kind.Offset)}, 0, "bad manifest: field %s is of kind %s, which it must not be; get it again", text.Quote(kind.Field), kind.Value)
	case errors.As(err, &syntax):
		return failAt(refract.Position{File: path, Line: line(syntax.Offset)}, 0, "bad manifest: no JSON (%w); get it again", err)
	}
	return failFile(path, "bad manifest: %w", err)
}

func (m *Manifest) check() error {
	if m.Version < 1 {
		return fmt.Errorf("version %d", m.Version)
	}
	if !slices.Contains(Formats(), m.Format) {
		return errors.New(suggest.Unknown("format", m.Format, Formats()))
	}
	for _, f := range m.Files {
		if !filepath.IsLocal(filepath.FromSlash(f.Path)) {
			return fmt.Errorf("the file %s is not in the folder", text.Quote(f.Path))
		}
	}
	return nil
}

// Verify checks that the files of the folder are those that were published, by
// reading them.
func (m *Manifest) Verify(dir string) error {
	for _, f := range m.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		n, sum, err := hashFile(path)
		if err != nil {
			return err
		}
		if n != f.Bytes || sum != f.SHA256 {
			return failFile(path, "is not the file that was published (%d bytes, SHA-256 %.12s…, where %s says %d and %.12s…); get it again, or read the file by its own format",
				n, sum, ManifestName, f.Bytes, f.SHA256)
		}
	}
	return nil
}

func hashFile(path string) (n int64, sum string, err error) {
	in, err := newRegular(path)
	if err != nil {
		return 0, "", err
	}
	f, err := os.Open(in.name)
	if err != nil {
		return 0, "", fileError(path, err)
	}
	defer f.Close()
	h := sha256.New()
	if n, err = io.Copy(h, f); err != nil {
		return 0, "", fileError(path, err)
	}
	return n, hex.EncodeToString(h.Sum(nil)), nil
}

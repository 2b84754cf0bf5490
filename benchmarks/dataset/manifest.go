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
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/files"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

// ManifestName is the file of a published folder that holds its Manifest.
const ManifestName = "manifest.json"

// ManifestVersion is the highest version of manifests that can be read, and the one that is
// written.
const ManifestVersion = 3

// The formats of published sets.
const (
	FormatJSONL   = "jsonl"
	FormatParquet = "parquet"
	FormatCSV     = "csv"
	FormatText    = "text"
	FormatMTME    = "mtme"
	FormatDivRef  = "div-ref"
)

// Formats lists the formats of published sets.
func Formats() []string {
	return []string{FormatJSONL, FormatParquet, FormatCSV, FormatText, FormatMTME, FormatDivRef}
}

// Manifest describes a published folder: what it contains, how to read it, and how to
// verify it.
type Manifest struct {
	Version      int      `json:"version"`
	Tool         string   `json:"tool"` // the writing program with its version
	Format       string   `json:"format"`
	Set          string   `json:"set"` // the content hash, see refract.Identity
	Segments     int      `json:"segments"`
	References   int      `json:"references"` // number of originals in all segments
	Variants     int      `json:"variants"`   // number in all segments
	Rejected     int      `json:"rejected"`   // number of rejected variants in the files
	LanguagePair string   `json:"language_pair,omitempty"`
	Prompts      []string `json:"prompts,omitempty"` // for the columns of variants in div-ref
	// Detector is the detector of languages of the writing program, and Forms are those of the
	// models' answers, both since version 3.
	Detector string   `json:"language_detector,omitempty"`
	Forms    []string `json:"answer_forms,omitempty"`
	// MeaningKept says, since version 2, for each model how many of its variants keep the
	// meaning.
	MeaningKept []MeaningKept `json:"meaning_kept,omitempty"`
	// MeaningChecked says what a judge of meaning found; "" if none was asked.
	MeaningChecked string `json:"meaning_checked,omitempty"`
	Files          []File `json:"files"`
	Digest         string `json:"digest,omitempty"` // see Sum; older folders have none
}

// Sum is the SHA-256, in hexadecimal digits, of the manifest's compact JSON
// without its digest.
func (m Manifest) Sum() string {
	m.Digest = ""
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // impossible: texts and finite numbers always marshal
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// MeaningKept is the share of a model's variants that keep the meaning of their references,
// measured on a random sample; an N of 0 means not measured.
type MeaningKept struct {
	Model    string    `json:"model"`               // the model that wrote the variants
	JudgedBy string    `json:"judged_by,omitempty"` // a model, or "people"
	N        int       `json:"n"`
	Kept     int       `json:"kept"`               // how many of N
	Unclear  int       `json:"unclear,omitempty"`  // drawn too, but not counted in N or Kept
	Interval []float64 `json:"interval,omitempty"` // 95 % interval around Kept / N
	// InSet is how many of N are in the set, if the sample was drawn before the set was
	// selected, so that the share describes the variants before selection; otherwise nil.
	InSet *int `json:"in_set,omitempty"`
}

func (k *MeaningKept) possible() bool {
	switch {
	case k.Kept < 0 || k.Kept > k.N || k.Unclear < 0, k.InSet != nil && (*k.InSet < 0 || *k.InSet > k.N):
		return false
	case len(k.Interval) == 0 || k.N == 0:
		return true
	case len(k.Interval) != 2:
		return false
	}
	share := float64(k.Kept) / float64(k.N)
	const rounding = 1e-9
	return k.Interval[0] >= 0 && k.Interval[0] <= share+rounding && share-rounding <= k.Interval[1] && k.Interval[1] <= 1
}

// The roles of files.
const (
	RoleSegments  = "segments"  // all segments, as JSON Lines or Parquet
	RoleSource    = "source"    // one line a segment
	RoleReference = "reference" // one line a segment; the files are in the order of the references
	RoleVariants  = "variants"  // one Python list a segment
	RoleDocuments = "documents" // in the format of mt-metrics-eval
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

// mostSmall bounds the manifest and the card of a folder, in MiB.
const mostSmall = 64

// ReadManifest reads the manifest of a published folder, and no other file.
func ReadManifest(dir string) (*Manifest, error) {
	path := filepath.Join(dir, ManifestName)
	b, err := files.ReadSmall(path, mostSmall)
	if _, gone := os.Stat(dir); errors.Is(gone, fs.ErrNotExist) {
		return nil, failFile(dir, "the folder does not exist")
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, failFile(dir, "this is not a published folder: %s: %w", ManifestName, fs.ErrNotExist)
	}
	if err != nil {
		return nil, fileError(path, err)
	}
	var m Manifest
	var version struct {
		Version int `json:"version"`
	}
	if json.Unmarshal(b, &version) == nil && version.Version > ManifestVersion {
		return nil, failFile(path, "version %d of the manifest is newer than this program, which reads %d; use a newer refract", version.Version, ManifestVersion)
	}
	if err := jsonline.Unmarshal(b, &m, "a manifest"); err != nil {
		line := 1
		if at := (*jsonline.Error)(nil); errors.As(err, &at) {
			line += bytes.Count(b[:min(at.Offset, len(b))], []byte("\n"))
		}
		return nil, failAt(refract.Position{File: path, Line: line}, 0, "bad manifest: %w; get it again", err)
	}
	if err := m.check(); err != nil {
		return nil, failFile(path, "bad manifest: %w", err)
	}
	return &m, nil
}

func (m *Manifest) check() error {
	if m.Version < 1 {
		return fmt.Errorf("version %d", m.Version)
	}
	if !slices.Contains(Formats(), m.Format) {
		return english.Unknown("format", m.Format, Formats())
	}
	for _, k := range m.MeaningKept {
		if !k.possible() {
			return fmt.Errorf("of the variants of %s, %d of %d keep the meaning, with the interval %v, which is impossible; get the folder again", text.Quote(k.Model), k.Kept, k.N, k.Interval)
		}
	}
	for _, f := range m.Files {
		if !filepath.IsLocal(filepath.FromSlash(f.Path)) {
			return fmt.Errorf("the file %s is not in the folder", text.Quote(f.Path))
		}
	}
	return nil
}

// Verify reads the files of the folder and checks that they are the published ones.
func (m *Manifest) Verify(dir string) error {
	for _, f := range m.Files {
		now, err := Describe(dir, f.Path, f.Role)
		if err != nil {
			return err
		}
		if now != f {
			return failFile(filepath.Join(dir, filepath.FromSlash(f.Path)), "is not the file that was published (%d bytes, SHA-256 %.12s…, where %s says %d and %.12s…); get it again, or read the file by its own format",
				now.Bytes, now.SHA256, ManifestName, f.Bytes, f.SHA256)
		}
	}
	return nil
}

// Describe reads a file of a folder for its manifest.
func Describe(dir, path, role string) (File, error) {
	full := filepath.Join(dir, filepath.FromSlash(path))
	if _, err := newRegular(full); err != nil {
		return File{}, err
	}
	f, err := os.Open(full)
	if err != nil {
		return File{}, fileError(full, err)
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return File{}, fileError(full, err)
	}
	return File{path, role, n, hex.EncodeToString(h.Sum(nil))}, nil
}

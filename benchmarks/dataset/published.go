package dataset

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
)

func openPublished(place string, o Options) (*set, error) {
	m, err := ReadManifest(place)
	if err != nil {
		return nil, err
	}
	if err := m.Verify(place); err != nil {
		return nil, err
	}
	inner, err := m.open(place, o)
	if err != nil {
		return nil, err
	}
	return inner.through(func(context.Context) (step, error) {
		id := refract.NewIdentity()
		return step{
			each: func(s *refract.Segment) (*refract.Segment, error) {
				id.Add(s)
				return s, nil
			},
			end: func() error {
				if got := id.Hash(); got != m.Set {
					return failFile(place, "the references differ from the published ones: %s with the hash %s, where %s says %d and %s",
						english.Count(id.Segments(), "segment"), refract.SetName(got), ManifestName, m.Segments, refract.SetName(m.Set))
				}
				return nil
			},
		}, nil
	}), nil
}

// open opens the files in their own format.
func (m *Manifest) open(dir string, o Options) (*set, error) {
	paths := func(role string) []string {
		var out []string
		for _, f := range m.Role(role) {
			out = append(out, filepath.Join(dir, filepath.FromSlash(f.Path)))
		}
		return out
	}
	one := func(role string, open func(path string) (*set, error)) (*set, error) {
		found := paths(role)
		if len(found) != 1 {
			return nil, failFile(filepath.Join(dir, ManifestName), "bad manifest: %s with the role %q, where there must be one", english.Count(len(found), "file"), role)
		}
		return open(found[0])
	}
	switch m.Format {
	case FormatJSONL:
		return one(RoleSegments, func(path string) (*set, error) { return openJSONL(path, o) })
	case FormatParquet:
		return parquetSet(dir, paths(RoleSegments), o)
	case FormatCSV:
		return one(RoleSegments, func(path string) (*set, error) {
			return openCSV(path, (m.References+m.Variants)/max(1, m.Segments), o)
		})
	case FormatMTME:
		o.References = nil
		for _, path := range paths(RoleReference) {
			name := strings.TrimSuffix(filepath.Base(path), ".txt")
			o.References = append(o.References, strings.TrimPrefix(name, m.LanguagePair+"."))
		}
		return openMTME(filepath.Join(dir, m.LanguagePair), o)
	}
	spec := LinesSpec{References: paths(RoleReference)}
	if len(paths(RoleSource)) > 0 {
		spec.Source = paths(RoleSource)[0]
	}
	ds, err := openLines(spec, o, true)
	if err != nil || m.Format == FormatText {
		return ds, err
	}
	return one(RoleVariants, func(lists string) (*set, error) {
		return withReferences(ds, "div-ref-lines:"+lists, o, m.Prompts)
	})
}

// CSVColumns names the columns of a published table with n references of each segment.
func CSVColumns(n int) []string {
	out := []string{"id", "document", "domain", "source"}
	for i := range n {
		out = append(out, fmt.Sprint("reference ", i))
	}
	return out
}

// CSVCell returns a text for a published table: "" if it is missing, and with an apostrophe
// before it if it is empty or a spreadsheet would take it for a formula.
func CSVCell(t refract.Text) string {
	if t.Valid && (strings.Trim(t.Value, "'") == "" || text.StartsFormula(t.Value)) {
		return "'" + t.Value
	}
	return t.Value
}

// fromCSVCell undoes CSVCell for a cell that is not empty.
func fromCSVCell(cell string) string {
	if strings.Trim(cell, "'") == "" {
		return cell[1:]
	}
	return text.Unguarded(cell)
}

// CSVLanguage is the column of languages in a published table that states some.
const CSVLanguage = "language"

// openCSV opens a published table, whose cells are texts whatever they look like. Other
// columns are those that the set's own tables had.
func openCSV(path string, references int, o Options) (*set, error) {
	columns := append(CSVColumns(references), CSVLanguage)
	t := &tableSpec{path: path, columns: columns, optional: []string{CSVLanguage}, keep: []string{keepAll}, quotes: true, errors: errorsText, published: true,
		single: map[string]int{"id": 0, "document": 1, "domain": 2, "source": 3, "language": len(columns) - 1}}
	for i := range references {
		t.references = append(t.references, 4+i)
	}
	return t.open(o)
}

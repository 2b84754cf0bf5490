package dataset

import (
	"context"
	"iter"
	"path/filepath"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
)

// published is a published folder, whose references are checked against its
// content hash.
type published struct {
	refract.Dataset
	dir      string
	manifest *Manifest
}

func openPublished(place string, o Options) (refract.Dataset, error) {
	m, err := ReadManifest(place)
	if err != nil {
		return nil, err
	}
	if err := m.Verify(place); err != nil {
		return nil, err
	}
	ds, err := m.open(place, o)
	if err != nil {
		return nil, err
	}
	return &published{ds, place, m}, nil
}

// open opens the files by their own format.
func (m *Manifest) open(dir string, o Options) (refract.Dataset, error) {
	paths := func(role string) []string {
		var out []string
		for _, f := range m.Role(role) {
			out = append(out, filepath.Join(dir, filepath.FromSlash(f.Path)))
		}
		return out
	}
	one := func(role string) (string, error) {
		found := paths(role)
		if len(found) != 1 {
			return "", failFile(filepath.Join(dir, ManifestName), "bad manifest: %s with the role %q, where there must be one", english.Count(len(found), "file"), role)
		}
		return found[0], nil
	}
	switch m.Format {
	case FormatJSONL:
		path, err := one(RoleSegments)
		if err != nil {
			return nil, err
		}
		return openJSONL(path, o)
	case FormatParquet:
		return newParquet(dir, paths(RoleSegments))
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
	ds, err := OpenLines(spec, o)
	if err != nil || m.Format == FormatText {
		return ds, err
	}
	lists, err := one(RoleVariants)
	if err != nil {
		return nil, err
	}
	return WithReferences(ds, "div-ref-lines:"+lists, o, m.Prompts)
}

func (d *published) rereadable() bool { return Rereadable(d.Dataset) }

func (d *published) firstReferences(ctx context.Context) iter.Seq2[refract.Text, error] {
	return firstReferences(ctx, d.Dataset)
}

func (d *published) firstStream() *input { return firstStream(d.Dataset) }

// Segments yields the segments, and an error after the last one where they are
// not the set that was published.
func (d *published) Segments(ctx context.Context) iter.Seq2[*refract.Segment, error] {
	return func(yield func(*refract.Segment, error) bool) {
		id := refract.NewIdentity()
		for s, err := range d.Dataset.Segments(ctx) {
			if err == nil {
				id.Add(s)
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
		if got := id.Hash(); ctx.Err() == nil && got != d.manifest.Set {
			yield(nil, failFile(d.dir, "the references are not those that were published: %s with the hash %s, where %s says %d and %s",
				english.Count(id.Segments(), "segment"), refract.SetName(got), ManifestName, d.manifest.Segments, refract.SetName(d.manifest.Set)))
		}
	}
}

package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/files"
	"github.com/refract-eval/refract/internal/jsonline"
)

// Options configure how a set is published.
type Options struct {
	Format string // one of dataset.Formats
	// LanguagePair names the files of the format mtme, such as "en-de".
	LanguagePair string
	// Detector is the name of the program's detector of languages, for the card and the manifest.
	Detector string
	Card     Card
}

// Result describes what was published.
type Result struct {
	Manifest dataset.Manifest
	Stats    *Stats
}

// exporter writes the files of one format.
type exporter interface {
	add(*refract.Segment) error
	// finish writes what is buffered, and completes the manifest except for its files.
	finish(*dataset.Manifest) error
}

// FormatError says that a format cannot hold a segment.
type FormatError struct {
	ID     string
	Pos    refract.Position
	Format string
	Err    error
}

// Error says which segment it is, what is wrong and what to do.
func (e *FormatError) Error() string {
	at := ""
	if p := e.Pos.String(); p != "" {
		at = p + ": "
	}
	return fmt.Sprintf("%ssegment %q cannot be published as %s: %v", at, e.ID, e.Format, e.Err)
}

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Err }

// OptionError says that options are wrong or do not go together: an error of the command
// line, not of a file.
type OptionError struct{ message string }

func (e *OptionError) Error() string { return e.message }

// Check returns an error if the options are wrong, before any work.
func (o *Options) Check() error {
	switch {
	case !slices.Contains(dataset.Formats(), o.Format):
		return &OptionError{english.Unknown("format", o.Format, dataset.Formats()).Error()}
	case o.Format == dataset.FormatMTME && o.LanguagePair == "":
		return &OptionError{"the format mtme needs the name of the language pair, such as en-de"}
	case o.Format != dataset.FormatMTME && o.LanguagePair != "":
		return &OptionError{"only the format mtme takes a language pair"}
	case o.LanguagePair != "" && !plainName.MatchString(o.LanguagePair):
		return &OptionError{fmt.Sprintf("the language pair %q is not a file name: use letters, digits, - and _", o.LanguagePair)}
	}
	return nil
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]*$`)

// Publish writes ds to the folder dir, which must not exist or must be empty. The folder
// appears under its name only when it is complete. The same segments and options give the
// same bytes.
func Publish(ctx context.Context, ds refract.Dataset, dir string, o Options) (*Result, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	f, err := newFolder(dir)
	if err != nil {
		return nil, err
	}
	defer f.discard()
	e, err := newExporter(f, o)
	if err != nil {
		return nil, err
	}
	id, stats := refract.NewIdentity(), newStats()
	var first *refract.Segment
	for s, err := range ds.Segments(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			s = stats.leaveOut(s)
			if first == nil {
				first = s
			}
			if err = e.add(s); errors.Is(err, errUnequal) {
				err = fmt.Errorf("%w; %s", err, equalize(first, s))
			}
			if disk := (*files.WriteError)(nil); err != nil && !errors.As(err, &disk) {
				err = &FormatError{s.ID, s.Pos, o.Format, err}
			}
		}
		if err != nil {
			return nil, err
		}
		id.Add(s)
		stats.add(s)
		stats.measure(s)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if id.Segments() == 0 {
		return nil, errors.New("there is no segment to publish")
	}
	m := dataset.Manifest{
		Version: dataset.ManifestVersion, Tool: "refract " + refract.Version, Format: o.Format, Set: id.Hash(),
		Segments: stats.Segments, References: stats.References, Variants: stats.Variants, LanguagePair: o.LanguagePair, Detector: o.Detector, Forms: stats.forms(), MeaningKept: stats.meaningKept(),
	}
	if stats.Checked.Any() {
		m.MeaningChecked = stats.Checked.String()
	}
	if err := e.finish(&m); err != nil {
		return nil, err
	}
	if m.Files, err = f.close(); err != nil {
		return nil, err
	}
	m.Digest = m.Sum()
	all := shown{&o.Card, &m, stats}
	for _, file := range []struct {
		name    string
		content func() ([]byte, error)
	}{
		{"README.md", func() ([]byte, error) { return FillCard(cardTemplate, all) }},
		{CitationName, all.citationFile},
		{dataset.ManifestName, func() ([]byte, error) {
			b, err := json.MarshalIndent(m, "", "  ")
			return append(jsonline.Escape(b), '\n'), err
		}},
	} {
		b, err := file.content()
		if err == nil {
			err = f.Write(file.name, func(w io.Writer) error { _, err := w.Write(b); return err })
		}
		if err != nil {
			return nil, err
		}
	}
	return &Result{m, stats}, f.Commit()
}

func newExporter(f *folder, o Options) (exporter, error) {
	switch o.Format {
	case dataset.FormatJSONL:
		out, err := f.create("references.jsonl", dataset.RoleSegments)
		return &whole{encode: dataset.NewEncoder(out).Encode, close: func() error { return nil }}, err
	case dataset.FormatParquet:
		// Hugging Face recognises the split "test" by this name.
		out, err := f.create("data/test-00000-of-00001.parquet", dataset.RoleSegments)
		e := dataset.NewParquetEncoder(out)
		return &whole{encode: e.Encode, close: e.Close}, err
	case dataset.FormatCSV:
		return newCSV(f)
	case dataset.FormatMTME:
		return newMTME(f, o.LanguagePair), nil
	case dataset.FormatDivRef:
		return newDivRef(f), nil
	default:
		return newText(f), nil
	}
}

// whole writes segments with everything that is known about them to one file.
type whole struct {
	encode   func(*refract.Segment) error
	close    func() error
	rejected int
}

func (w *whole) add(s *refract.Segment) error {
	w.rejected += len(s.Rejected)
	return w.encode(s)
}

func (w *whole) finish(m *dataset.Manifest) error {
	m.Rejected = w.rejected
	return w.close()
}

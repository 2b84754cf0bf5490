package publish

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/files"
	"github.com/refract-eval/refract/internal/text"
)

// columns writes aligned text files: one line per segment, and one file per reference.
type columns struct {
	folder *folder
	path   func(i int) string
	// hold returns an error if a reader would not get a text back unchanged.
	hold func(t refract.Text, first bool) error
	// missing is the line for a missing text; "" if the format has none.
	missing string
	sources *files.File // nil if there are no sources
	files   []*files.File
	n       int
}

// add writes the originals and the variants of a segment.
func (c *columns) add(s *refract.Segment) error { return c.write(s.Source, s.AllReferences(nil)) }

// write writes a line of each file. There are sources if the first segment has one.
func (c *columns) write(source refract.Text, references []refract.Text) (err error) {
	switch {
	case c.n == 0 && len(references) == 0 && c.missing == "":
		return errors.New("it has no reference, " + useWhole)
	case c.n == 0:
		if c.sources == nil && source.Valid {
			if c.sources, err = c.folder.create("src", dataset.RoleSource); err != nil {
				return err
			}
		}
		for i := range references {
			f, err := c.folder.create(c.path(i), dataset.RoleReference)
			if err != nil {
				return err
			}
			c.files = append(c.files, f)
		}
	case c.sources == nil && source.Valid:
		return errors.New("it has a source where the segments before have none; publish as jsonl or parquet")
	case len(references) != len(c.files):
		whole := useWhole
		if c.missing == "" {
			whole = "none of them missing, " + whole
		}
		return unequal(len(references), len(c.files), whole)
	}
	if c.sources != nil {
		err = c.line(c.sources, source, "the source")
	}
	for i, t := range references {
		if err == nil {
			err = c.line(c.files[i], t, fmt.Sprintf("reference %d", i))
		}
	}
	c.n++
	return err
}

// unequal is the error for a segment with another number of references. whole says what other
// formats hold.
func unequal(n, before int, whole string) error {
	return fmt.Errorf("it has %s where the segments before have %d; %w, %s", english.Count(n, "reference"), before, errUnequal, whole)
}

var errUnequal = errors.New("this format holds the same number for all")

// equalize says what to do about [errUnequal], where one of two segments has more references.
func equalize(one, other *refract.Segment) string {
	if len(one.References) != len(other.References) {
		return "the segments' own references differ in number, so publish as jsonl or parquet"
	}
	return "'refract select -k all' keeps as many variants as every segment has, and 'refract expand --complete N' adds variants until all have N"
}

// finish adds nothing.
func (c *columns) finish(*dataset.Manifest) error { return nil }

const useWhole = "but jsonl and parquet any"

func (c *columns) line(f *files.File, t refract.Text, what string) error {
	if err := c.hold(t, c.n == 0); err != nil {
		return fmt.Errorf("%s %w", what, err)
	}
	line := t.Value
	if !t.Valid {
		line = c.missing
	}
	if _, err := f.WriteString(line); err != nil {
		return err
	}
	return f.WriteByte('\n')
}

var errNotUTF8 = errors.New("is not UTF-8")

// oneLine returns an error if a text cannot be a line.
func oneLine(t refract.Text, first bool) error {
	switch {
	case !utf8.ValidString(t.Value):
		return errNotUTF8
	case strings.ContainsAny(t.Value, "\n\r"):
		return errors.New("has a line break in it, which a file of lines cannot hold; publish as jsonl or parquet")
	case first && strings.HasPrefix(t.Value, "\ufeff"):
		return errors.New("begins with a byte order mark, which is removed from the beginning of a file; publish as jsonl or parquet")
	}
	return nil
}

const trimming = "which readers of this format remove; publish as jsonl or parquet, or remove it from all texts first"

// holdText is the hold of files for sacreBLEU.
func holdText(t refract.Text, first bool) error {
	if !t.Valid {
		return errors.New("is missing, which a text file cannot hold; publish as jsonl, parquet or mtme")
	}
	if strings.TrimRightFunc(t.Value, text.IsSpace) != t.Value {
		return errors.New("ends in white space, " + trimming)
	}
	return oneLine(t, first)
}

func holdMTME(t refract.Text, first bool) error {
	if t.Value == dataset.NoTranslation {
		return fmt.Errorf("is the text %q, which stands for a missing one; publish as jsonl or parquet", dataset.NoTranslation)
	}
	if strings.TrimFunc(t.Value, text.IsSpace) != t.Value {
		return errors.New("begins or ends in white space, " + trimming)
	}
	return oneLine(t, first)
}

// newText writes ref.0, ref.1 and so on, and src if the segments have sources.
func newText(d *folder) *columns {
	return &columns{folder: d, hold: holdText, path: func(i int) string { return fmt.Sprintf("ref.%d", i) }}
}

// mtmeFiles writes the references, sources and documents of a language pair in the
// layout of mt-metrics-eval.
type mtmeFiles struct {
	columns
	lp        string
	documents *files.File
}

func newMTME(d *folder, lp string) *mtmeFiles {
	return &mtmeFiles{lp: lp, columns: columns{folder: d, hold: holdMTME, missing: dataset.NoTranslation,
		path: func(i int) string { return fmt.Sprintf("references/%s.%s.txt", lp, ReferenceName(i)) }}}
}

// ReferenceName returns the name of a column of the format mtme: refA to refZ, then refZAA
// to refZZZ, so that sorting the names gives the order of the references.
func ReferenceName(i int) string {
	if i < 26 {
		return "ref" + string(rune('A'+i))
	}
	i -= 26
	return "refZ" + string(rune('A'+i/26)) + string(rune('A'+i%26))
}

const maxMTME = 26 + 26*26

func (m *mtmeFiles) add(s *refract.Segment) error {
	if n := s.NumReferences(); n > maxMTME {
		return fmt.Errorf("it has %d references; the names of this format are for %d", n, maxMTME)
	}
	stated := s.Document != "" && s.Domain != ""
	if m.n == 0 {
		var err error
		m.sources, err = m.folder.create("sources/"+m.lp+".txt", dataset.RoleSource)
		if err == nil && stated {
			m.documents, err = m.folder.create("documents/"+m.lp+".docs", dataset.RoleDocuments)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case m.documents == nil && stated:
		return errors.New("it has a domain and a document where the segments before have none; publish as jsonl or parquet")
	case m.documents == nil:
	case !stated:
		return errors.New("its domain or its document is missing, where the segments before have both; publish as jsonl or parquet")
	default:
		if !isField(s.Document) || !isField(s.Domain) {
			return fmt.Errorf("its domain %q and document %q cannot stand on a line with a tab between them; publish as jsonl or parquet", s.Domain, s.Document)
		}
		if _, err := fmt.Fprintf(m.documents, "%s\t%s\n", s.Domain, s.Document); err != nil {
			return err
		}
	}
	return m.columns.add(s)
}

func isField(s string) bool {
	return strings.TrimFunc(s, text.IsSpace) == s && !strings.ContainsAny(s, "\t\n\r") && !strings.HasPrefix(s, "\ufeff")
}

// divRefFiles writes the originals as text files, and the variants in the form of
// Div-Ref's releases.
type divRefFiles struct {
	*columns
	lists   *files.File
	buf     []byte
	prompts []string
	mixed   bool // a column has variants of different prompts
}

const divRefPath = "references.diversified"

func newDivRef(d *folder) *divRefFiles { return &divRefFiles{columns: newText(d)} }

func (d *divRefFiles) add(s *refract.Segment) error {
	if d.n == 0 {
		if len(s.References) == 0 {
			return errors.New("it has no original reference; publish as jsonl or parquet")
		}
		var err error
		if d.lists, err = d.folder.create(divRefPath, dataset.RoleVariants); err != nil {
			return err
		}
	}
	texts := make([]refract.Text, len(s.Variants))
	for i := range s.Variants {
		v := &s.Variants[i]
		if v.Reference != 0 {
			return fmt.Errorf("variant %d is of reference %d, and this format holds variants of the first only; publish as jsonl or parquet", i, v.Reference)
		}
		if i == len(d.prompts) {
			d.prompts = append(d.prompts, v.Prompt)
		}
		d.mixed = d.mixed || d.prompts[i] != v.Prompt
		if texts[i] = v.Text; !utf8.ValidString(v.Text.Value) {
			return fmt.Errorf("variant %d %w", i, errNotUTF8)
		}
	}
	if err := d.write(s.Source, s.References); err != nil {
		return err
	}
	d.buf = append(dataset.AppendPythonList(d.buf[:0], texts), '\n')
	_, err := d.lists.Write(d.buf)
	return err
}

func (d *divRefFiles) finish(m *dataset.Manifest) error {
	if !d.mixed && !slices.Contains(d.prompts, "") {
		m.Prompts = d.prompts
	}
	return nil
}

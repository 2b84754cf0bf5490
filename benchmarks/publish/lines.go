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
	"github.com/refract-eval/refract/internal/text"
)

// columns writes aligned text files: one line per segment, and one file per reference.
type columns struct {
	folder  *folder
	path    func(i int) string
	sources *file // nil if there are no sources
	files   []*file
	// hold returns an error if a reader would not get a text back unchanged.
	hold func(t refract.Text, first bool) error
	// missing is the line for a missing text; "" if the format has none.
	missing string
	n       int
}

// add writes a line of each column.
func (c *columns) add(source refract.Text, references []refract.Text) error {
	if c.n == 0 {
		for i := range references {
			f, err := c.folder.create(c.path(i), dataset.RoleReference)
			if err != nil {
				return err
			}
			c.files = append(c.files, f)
		}
	}
	if len(references) != len(c.files) {
		whole := useWhole
		if c.missing == "" {
			whole = "none of them missing, " + whole
		}
		return unequal(len(references), len(c.files), whole)
	}
	if c.sources != nil {
		if err := c.line(c.sources, source, "the source"); err != nil {
			return err
		}
	}
	for i, t := range references {
		if err := c.line(c.files[i], t, fmt.Sprintf("reference %d", i)); err != nil {
			return err
		}
	}
	c.n++
	return nil
}

// unequal is the error for a segment with another number of references. whole says what other
// formats hold.
func unequal(n, before int, whole string) error {
	return fmt.Errorf("it has %s where the segments before have %d; this format holds the same number for all, %s; 'refract select -k all' keeps as many variants as every segment has, and 'refract expand --complete N' adds variants until all have N", english.Count(n, "reference"), before, whole)
}

// finish adds nothing.
func (c *columns) finish(*dataset.Manifest) error { return nil }

const useWhole = "but jsonl and parquet any"

func (c *columns) line(f *file, t refract.Text, what string) error {
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

// noTranslation is how mt-metrics-eval writes a missing text.
const noTranslation = "[No translation supplied]"

func holdMTME(t refract.Text, first bool) error {
	if t.Value == noTranslation {
		return fmt.Errorf("is the text %q, which stands for a missing one; publish as jsonl or parquet", noTranslation)
	}
	if strings.TrimFunc(t.Value, text.IsSpace) != t.Value {
		return errors.New("begins or ends in white space, " + trimming)
	}
	return oneLine(t, first)
}

// textFiles writes ref.0, ref.1 and so on, and src if the segments have sources.
type textFiles struct {
	columns
}

func newText(d *folder) exporter { return &textFiles{newColumns(d)} }

func newColumns(d *folder) columns {
	return columns{folder: d, hold: holdText, path: func(i int) string { return fmt.Sprintf("ref.%d", i) }}
}

func (t *textFiles) add(s *refract.Segment) error {
	if err := t.open(s); err != nil {
		return err
	}
	return t.columns.add(s.Source, s.AllReferences(nil))
}

// open opens the files; the first segment decides whether there are sources.
func (c *columns) open(s *refract.Segment) error {
	switch {
	case c.n == 0 && s.NumReferences() == 0:
		return errors.New("it has no reference, " + useWhole)
	case c.n == 0 && s.Source.Valid:
		var err error
		c.sources, err = c.folder.create("src", dataset.RoleSource)
		return err
	case c.sources == nil && s.Source.Valid:
		return errors.New("it has a source where the segments before have none; publish as jsonl or parquet")
	}
	return nil
}

// mtmeFiles writes the references, sources and documents of a language pair in the
// layout of mt-metrics-eval.
type mtmeFiles struct {
	columns
	lp        string
	documents *file
	decided   bool
}

func newMTME(d *folder, lp string) exporter {
	e := &mtmeFiles{lp: lp, columns: columns{folder: d, hold: holdMTME, missing: noTranslation}}
	e.path = func(i int) string { return fmt.Sprintf("references/%s.%s.txt", lp, ReferenceName(i)) }
	return e
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
	if !m.decided {
		m.decided = true
		var err error
		if m.sources, err = m.folder.create("sources/"+m.lp+".txt", dataset.RoleSource); err != nil {
			return err
		}
		if s.Document != "" && s.Domain != "" {
			if m.documents, err = m.folder.create("documents/"+m.lp+".docs", dataset.RoleDocuments); err != nil {
				return err
			}
		}
	}
	switch {
	case m.documents == nil && s.Document != "" && s.Domain != "":
		return errors.New("it has a domain and a document where the segments before have none; publish as jsonl or parquet")
	case m.documents == nil:
	case s.Document == "" || s.Domain == "":
		return errors.New("its domain or its document is missing, where the segments before have both; publish as jsonl or parquet")
	default:
		if !isField(s.Document) || !isField(s.Domain) {
			return fmt.Errorf("its domain %q and document %q cannot stand on a line with a tab between them; publish as jsonl or parquet", s.Domain, s.Document)
		}
		if _, err := fmt.Fprintf(m.documents, "%s\t%s\n", s.Domain, s.Document); err != nil {
			return err
		}
	}
	return m.columns.add(s.Source, s.AllReferences(nil))
}

func isField(s string) bool {
	return strings.TrimFunc(s, text.IsSpace) == s && !strings.ContainsAny(s, "\t\n\r") && !strings.HasPrefix(s, "\ufeff")
}

// divRefFiles writes the originals as text files, and the variants in the form of
// Div-Ref's releases.
type divRefFiles struct {
	columns
	lists   *file
	buf     []byte
	prompts []string
	mixed   bool // a column has variants of different prompts
}

const divRefPath = "references.diversified"

func newDivRef(d *folder) exporter { return &divRefFiles{columns: newColumns(d)} }

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
	if err := d.open(s); err != nil {
		return err
	}
	if err := d.columns.add(s.Source, s.References); err != nil {
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

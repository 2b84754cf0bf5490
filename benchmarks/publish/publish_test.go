package publish_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/publish"
)

func hashOf(segments []*refract.Segment) string {
	id := refract.NewIdentity()
	for _, s := range segments {
		id.Add(s)
	}
	return id.Hash()
}

func collect(ds refract.Dataset, err error) ([]*refract.Segment, error) {
	if err != nil {
		return nil, err
	}
	var out []*refract.Segment
	for s, err := range ds.Segments(context.Background()) {
		if err != nil {
			return nil, err
		}
		s.Pos = refract.Position{}
		out = append(out, s)
	}
	return out, nil
}

// readers returns all ways to read a published folder.
func readers(dir string, m *dataset.Manifest) map[string]func() ([]*refract.Segment, error) {
	path := func(role string) (out []string) {
		for _, f := range m.Role(role) {
			out = append(out, filepath.Join(dir, filepath.FromSlash(f.Path)))
		}
		return out
	}
	open := func(spec string, o dataset.Options) func() ([]*refract.Segment, error) {
		return func() ([]*refract.Segment, error) { return collect(dataset.Open(spec, o)) }
	}
	out := map[string]func() ([]*refract.Segment, error){"published": open("published:"+dir, dataset.Options{})}
	lines := func() (refract.Dataset, error) {
		var files []string
		for _, p := range path(dataset.RoleReference) {
			files = append(files, "text:"+p)
		}
		return dataset.OpenLines(dataset.LinesSpec{References: files}, dataset.Options{})
	}
	switch m.Format {
	case dataset.FormatJSONL:
		out["file"] = open("jsonl:"+path(dataset.RoleSegments)[0], dataset.Options{})
	case dataset.FormatParquet:
		out["file"] = open("parquet:"+path(dataset.RoleSegments)[0], dataset.Options{})
		out["folder"] = open("parquet:"+dir, dataset.Options{})
	case dataset.FormatText:
		out["files"] = func() ([]*refract.Segment, error) { return collect(lines()) }
	case dataset.FormatMTME:
		out["folder"] = open("mtme:"+filepath.Join(dir, m.LanguagePair), dataset.Options{References: []string{"all"}})
	case dataset.FormatDivRef:
		out["files"] = func() ([]*refract.Segment, error) {
			ds, err := lines()
			if err != nil {
				return nil, err
			}
			return collect(dataset.WithReferences(ds, "div-ref-lines:"+path(dataset.RoleVariants)[0], dataset.Options{}))
		}
	}
	return out
}

// shape describes what a format can hold.
type shape struct {
	missing, ragged, hostile, whole bool
	firstOnly                       bool // only variants of the first reference, any number
	breaks                          bool // newlines, formulas and white space at the ends
}

var shapes = map[string]shape{
	dataset.FormatJSONL:   {missing: true, ragged: true, hostile: true, whole: true},
	dataset.FormatParquet: {missing: true, ragged: true, hostile: true, whole: true},
	dataset.FormatCSV:     {missing: true, breaks: true},
	dataset.FormatText:    {},
	dataset.FormatMTME:    {missing: true},
	dataset.FormatDivRef:  {firstOnly: true},
}

var (
	anyText  = rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("ab'\"\\\n\r\t \x00\x85\u2028😀\ufeff\ufffd[],")), 0, 12, -1))
	cellText = rapid.StringOfN(rapid.RuneFrom([]rune("ab'\"=+-@\n\t ;,\ufeff#[]")), 0, 8, -1)
	lineText = rapid.Map(rapid.StringOfN(rapid.RuneFrom([]rune("ab'\"\\\t \x00\x85\x1c\u2028\u3000😀\ufffd[],|-{}#`<")), 0, 12, -1), strings.TrimSpace).
			Filter(func(s string) bool {
			return strings.Trim(s, "\x1c\x1d\x1e\x1f") == s && !strings.HasPrefix(s, "\x00\ufeff")
		})
)

func drawText(t *rapid.T, g *rapid.Generator[string], missing bool) refract.Text {
	if missing && rapid.IntRange(0, 4).Draw(t, "missing") == 0 {
		return refract.Text{}
	}
	return refract.NewText(g.Draw(t, "text"))
}

// text generates texts that the format holds, or any.
func (sh shape) text(any bool) *rapid.Generator[string] {
	switch {
	case any:
		return anyText
	case sh.breaks:
		return cellText
	}
	return lineText
}

func drawVariant(t *rapid.T, references int, sh shape) refract.Variant {
	v := refract.Variant{
		Reference: rapid.IntRange(0, references-1).Draw(t, "reference"),
		Text:      drawText(t, sh.text(sh.hostile || sh.firstOnly), sh.missing || sh.firstOnly),
		Prompt:    anyText.Draw(t, "prompt"), Model: anyText.Draw(t, "model"), Sample: rapid.IntRange(0, 9).Draw(t, "sample"),
		Finish: rapid.SampledFrom([]string{"", "stop"}).Draw(t, "finish"), Verdict: refract.Accepted, Detail: anyText.Draw(t, "detail"),
	}
	if sh.firstOnly {
		v.Reference = 0
	}
	if rapid.Bool().Draw(t, "origin") {
		v.Origin = &refract.Origin{
			Revision: anyText.Draw(t, "revision"), ServedModel: anyText.Draw(t, "served model"), Sampling: rapid.SampledFrom([]string{"", `{"a":1}`}).Draw(t, "sampling"),
			Raw: drawText(t, anyText, true), Cleaned: rapid.SampledFrom([][]string{nil, {"quotes", "", "note"}}).Draw(t, "cleaned"),
			PromptTokens: rapid.IntRange(0, 2).Draw(t, "tokens"), CompletionTokens: rapid.IntRange(0, 1<<40).Draw(t, "tokens"),
		}
		if rapid.Bool().Draw(t, "raw is the text") {
			v.Origin.Raw = v.Text
		}
		if rapid.Bool().Draw(t, "created") {
			v.Origin.Created = time.Unix(rapid.Int64Range(-62167219200, 253402300799).Draw(t, "second"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanosecond")).UTC()
		}
	}
	return v
}

func drawSet(t *rapid.T, sh shape) refract.InMemory {
	text := sh.text(sh.hostile)
	references, variants := rapid.IntRange(1, 3).Draw(t, "references"), rapid.IntRange(0, 3).Draw(t, "variants")
	source := rapid.Bool().Draw(t, "sources")
	var out refract.InMemory
	for i := range rapid.IntRange(1, 4).Draw(t, "segments") {
		s := &refract.Segment{ID: fmt.Sprint(i, "-", sh.text(!sh.breaks).Draw(t, "id")), Document: "d 1", Domain: "news"}
		if sh.whole {
			s.Document, s.Domain = anyText.Draw(t, "document"), anyText.Draw(t, "domain")
		}
		if source {
			s.Source = drawText(t, text, sh.missing)
		}
		if sh.ragged {
			references = rapid.IntRange(0, 3).Draw(t, "references")
		}
		if sh.ragged || sh.firstOnly {
			variants = rapid.IntRange(0, 3).Draw(t, "variants")
		}
		for range references {
			s.References = append(s.References, drawText(t, text, sh.missing))
		}
		for range variants {
			if references > 0 {
				s.Variants = append(s.Variants, drawVariant(t, references, sh))
			}
		}
		if references > 0 && rapid.Bool().Draw(t, "rejected") {
			v := drawVariant(t, references, shape{hostile: true, missing: true})
			v.Verdict = "duplicate"
			s.Rejected = append(s.Rejected, v)
		}
		out = append(out, s)
	}
	return out
}

// Reading a folder back gives the same set, and the same segments for formats that hold
// everything.
func TestRoundTrip(t *testing.T) {
	for _, format := range dataset.Formats() {
		t.Run(format, func(t *testing.T) {
			parent, n := t.TempDir(), 0
			rapid.Check(t, func(t *rapid.T) {
				n++
				set := drawSet(t, shapes[format])
				dir := filepath.Join(parent, fmt.Sprint(n))
				res, err := publish.Publish(context.Background(), set, dir, options(format))
				require.NoError(t, err)
				require.Equal(t, hashOf(set), res.Manifest.Set, "hash")
				for way, read := range readers(dir, &res.Manifest) {
					if way == "files" && res.Stats.Empty > 0 {
						continue // there a blank line is a missing reference
					}
					got, err := read()
					require.NoError(t, err, "%s", way)
					if hashOf(got) != res.Manifest.Set {
						t.Fatalf("%s: another set: %s", way, cmp.Diff([]*refract.Segment(set), got))
					}
					if shapes[format].whole {
						require.Empty(t, cmp.Diff([]*refract.Segment(set), got), way)
					}
				}
				require.NoError(t, os.RemoveAll(dir))
			})
		})
	}
}

// Many references and segments: several pages and row groups, and more names of references
// than letters.
func TestWideAndLong(t *testing.T) {
	var wide, long refract.InMemory
	for i := range 3 {
		s := &refract.Segment{ID: fmt.Sprint(i)}
		for k := range 100 {
			s.References = append(s.References, refract.NewText(fmt.Sprint("r", i, k)))
		}
		wide = append(wide, s)
	}
	filler := strings.Repeat("many words ", 100)
	for i := range 10_000 {
		s := &refract.Segment{ID: fmt.Sprint(i), References: []refract.Text{refract.NewText(fmt.Sprint(i, filler))}}
		for k := range i % 3 {
			s.Variants = append(s.Variants, refract.Variant{Text: refract.NewText(fmt.Sprint(i, k, filler))})
		}
		long = append(long, s)
	}
	for _, c := range []struct {
		set    refract.InMemory
		format string
	}{{wide, dataset.FormatText}, {wide, dataset.FormatMTME}, {long, dataset.FormatParquet}} {
		dir := filepath.Join(t.TempDir(), "set")
		res, err := publish.Publish(t.Context(), c.set, dir, options(c.format))
		require.NoError(t, err)
		for way, read := range readers(dir, &res.Manifest) {
			got, err := read()
			require.NoError(t, err)
			assert.Equal(t, hashOf(c.set), hashOf(got), "%s, %s: another set", c.format, way)
		}
	}
}

func TestReferenceNames(t *testing.T) {
	var names []string
	for i := range 26 + 26*26 {
		names = append(names, publish.ReferenceName(i))
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Error("the names are not in order")
	}
	if names[0] != "refA" || names[25] != "refZ" || names[26] != "refZAA" || names[701] != "refZZZ" {
		t.Errorf("%s %s %s %s", names[0], names[25], names[26], names[701])
	}
}

// The same set and options give the same bytes.
func TestSameBytes(t *testing.T) {
	set := sample()
	for _, format := range dataset.Formats() {
		var first map[string]string
		for range 2 {
			dir := filepath.Join(t.TempDir(), "set")
			_, err := publish.Publish(t.Context(), set, dir, options(format))
			require.NoError(t, err)
			got := contents(t, dir)
			if first == nil {
				first = got
			} else if d := cmp.Diff(first, got); d != "" {
				t.Errorf("%s: %s", format, d)
			}
		}
	}
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		out[filepath.ToSlash(name)] = string(b)
		return err
	})
	require.NoError(t, err)
	return out
}

func options(format string) publish.Options {
	o := publish.Options{Format: format}
	if format == dataset.FormatMTME {
		o.LanguagePair = "en-de"
	}
	return o
}

// sample returns a small set with everything that a card shows.
func sample() refract.InMemory {
	text := refract.NewText
	day := time.Date(2024, 2, 29, 13, 0, 0, 0, time.UTC)
	origin := &refract.Origin{Revision: "main", ServedModel: "tiny-1", Sampling: `{"temperature":1}`, Raw: text("1. It's shut."), Cleaned: []string{"number"}, PromptTokens: 30, CompletionTokens: 5, Created: day}
	return refract.InMemory{
		{ID: "a", Source: text("Es ist zu."), References: []refract.Text{text("It is closed.")}, Document: "d1", Domain: "news",
			Variants: []refract.Variant{
				{Prompt: "order", Model: "tiny", Text: text("It's shut."), Finish: "stop", Verdict: refract.Accepted, Origin: origin},
				{Prompt: "tone", Model: "tiny", Text: text("It is closed."), Finish: "stop", Verdict: refract.Accepted, Origin: &refract.Origin{Raw: text("It is closed."), Created: day.AddDate(0, 0, 3)}},
			},
			Rejected:   []refract.Variant{{Prompt: "order", Model: "tiny", Text: text("I cannot."), Finish: "stop", Verdict: "refusal", Detail: "cannot"}},
			Hypotheses: []refract.Hypothesis{{System: "x", Text: text("Closed.")}}, Judgements: []refract.Judgement{{Name: "mqm", System: "x", Score: -1, Valid: true}}},
		{ID: "b", Source: text("Ja."), References: []refract.Text{text("Yes.")}, Document: "d1", Domain: "news",
			Variants: []refract.Variant{{Prompt: "order", Model: "tiny", Text: text("Indeed."), Finish: "stop", Verdict: refract.Accepted}, {Prompt: "tone", Model: "tiny", Text: text(""), Finish: "length", Verdict: refract.Accepted}}},
	}
}

// A segment that a format cannot hold is an error that names the segment and what to do.
func TestFormatErrors(t *testing.T) {
	text := refract.NewText
	one := func(ts ...refract.Text) *refract.Segment { return &refract.Segment{ID: "one", References: ts} }
	second := func(s *refract.Segment) refract.InMemory {
		s.ID = "two"
		return refract.InMemory{one(text("r")), s}
	}
	for _, c := range []struct {
		name   string
		format string
		set    refract.InMemory
		want   string
	}{
		{"ragged", "text", second(one(text("a"), text("b"))), `segment "two" cannot be published as text: it has 2 references where the segments before have 1; this format holds the same number for all, none of them missing, but jsonl and parquet any`},
		{"ragged", "mtme", second(one()), `segment "two" cannot be published as mtme: it has 0 references where the segments before have 1; this format holds the same number for all, but`},
		{"no reference", "text", refract.InMemory{one()}, `segment "one" cannot be published as text: it has no reference, but jsonl and parquet any`},
		{"no reference", "div-ref", refract.InMemory{one()}, `segment "one" cannot be published as div-ref: it has no original reference; publish as jsonl or parquet`},
		{"leading space", "mtme", refract.InMemory{one(text("\u3000a"))}, `segment "one" cannot be published as mtme: reference 0 begins or ends in white space`},
		{"no translation", "mtme", refract.InMemory{one(text("[No translation supplied]"))}, `segment "one" cannot be published as mtme: reference 0 is the text "[No translation supplied]", which stands for a missing one; publish as jsonl or parquet`},
		{"byte order mark", "text", refract.InMemory{one(text("\ufeffa"))}, `segment "one" cannot be published as text: reference 0 begins with a byte order mark`},
		{"UTF-8", "text", refract.InMemory{one(text("\xff"))}, `segment "one" cannot be published as text: reference 0 is not UTF-8`},
		{"UTF-8", "parquet", refract.InMemory{one(text("\xff"))}, `segment "one" cannot be published as parquet: cannot write segment "one": it has "\xff", which is not UTF-8`},
		{"UTF-8", "div-ref", refract.InMemory{{ID: "one", References: []refract.Text{text("r")}, Variants: []refract.Variant{{Text: text("\xff")}}}}, `segment "one" cannot be published as div-ref: variant 0 is not UTF-8`},
		{"source", "text", refract.InMemory{{ID: "one", Source: text("a\n"), References: []refract.Text{text("r")}}}, `segment "one" cannot be published as text: the source ends in white space`},
		{"late source", "text", second(&refract.Segment{Source: text("s"), References: []refract.Text{text("r")}}), `segment "two" cannot be published as text: it has a source where the segments before have none; publish as jsonl or parquet`},
		{"missing source", "text", refract.InMemory{{ID: "one", Source: text("s"), References: []refract.Text{text("r")}}, one(text("r"))}, `segment "one" cannot be published as text: the source is missing`},
		{"document", "mtme", refract.InMemory{{ID: "one", References: []refract.Text{text("r")}, Document: "a\tb", Domain: "d"}}, `segment "one" cannot be published as mtme: its domain "d" and document "a\tb" cannot stand on a line with a tab between them`},
		{"missing document", "mtme", refract.InMemory{{ID: "one", References: []refract.Text{text("r")}, Document: "a", Domain: "d"}, one(text("r"))}, `segment "one" cannot be published as mtme: its domain or its document is missing, where the segments before have both; publish as jsonl or parquet`},
		{"late document", "mtme", refract.InMemory{one(text("r")), {ID: "two", References: []refract.Text{text("r")}, Document: "a", Domain: "d"}}, `segment "two" cannot be published as mtme: it has a domain and a document where the segments before have none; publish as jsonl or parquet`},
		{"no segment", "jsonl", nil, `there is no segment to publish`},
	} {
		t.Run(c.name+" "+c.format, func(t *testing.T) {
			parent := t.TempDir()
			_, err := publish.Publish(t.Context(), c.set, filepath.Join(parent, "set"), options(c.format))
			require.True(t, err != nil && strings.HasPrefix(err.Error(), c.want), "error %v\nwant  %s", err, c.want)
			var format *publish.FormatError
			if c.set != nil && !errors.As(err, &format) {
				t.Errorf("error of type %T", err)
			}
			left := contents(t, parent)
			assert.LessOrEqual(t, len(left), 0, "left behind: %v", left)
		})
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		o    publish.Options
		want string
	}{
		{publish.Options{Format: "xlsx"}, `unknown format "xlsx" (known: jsonl, parquet, csv, text, mtme, div-ref)`},
		{publish.Options{Format: "mtme"}, `the format mtme needs the name of the language pair, such as en-de`},
		{publish.Options{Format: "text", LanguagePair: "en-de"}, `only the format mtme takes a language pair`},
		{publish.Options{Format: "mtme", LanguagePair: "../x"}, `the language pair "../x" is not a file name: use letters, digits, - and _`},
	} {
		_, err := publish.Publish(t.Context(), sample(), t.TempDir(), c.o)
		var option *publish.OptionError
		assert.True(t, err != nil && err.Error() == c.want && errors.As(err, &option), "error %v, want %s", err, c.want)
	}
}

// An empty folder is filled; nothing is left of a run that was cancelled.
func TestFolder(t *testing.T) {
	parent := t.TempDir()
	empty := filepath.Join(parent, "empty")
	require.NoError(t, os.Mkdir(empty, 0o755))
	_, err := publish.Publish(t.Context(), sample(), empty, options("jsonl"))
	assert.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = publish.Publish(ctx, sample(), filepath.Join(parent, "late"), options("jsonl"))
	assert.ErrorIs(t, err, context.Canceled, "error")
	entries, _ := os.ReadDir(parent)
	assert.Len(t, entries, 1, "left behind")
}

// A folder that differs from what was published is refused.
func TestDamage(t *testing.T) {
	for _, format := range dataset.Formats() {
		dir := filepath.Join(t.TempDir(), "set")
		res, err := publish.Publish(t.Context(), sample(), dir, options(format))
		require.NoError(t, err)
		for _, f := range res.Manifest.Files {
			path := filepath.Join(dir, filepath.FromSlash(f.Path))
			whole, err := os.ReadFile(path)
			require.NoError(t, err)
			other := slices.Clone(whole)
			other[len(other)/2] ^= 1
			for _, b := range [][]byte{other, whole[:len(whole)-1], append(slices.Clone(whole), '\n')} {
				require.NoError(t, os.WriteFile(path, b, 0o644))
				_, err := dataset.Open("published:"+dir, dataset.Options{})
				assert.ErrorContains(t, err, "is not the file that was published", "%s, %s", format, f.Path)
			}
			require.NoError(t, os.Remove(path))
			_, err = dataset.Open("published:"+dir, dataset.Options{})
			assert.ErrorContains(t, err, "no such file", "%s, %s", format, f.Path)
			require.NoError(t, os.WriteFile(path, whole, 0o644))
		}
		// A manifest of another set.
		path := filepath.Join(dir, dataset.ManifestName)
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		hash := res.Manifest.Set
		require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(b), hash, strings.Repeat("0", len(hash)), 1)), 0o644))
		_, err = collect(dataset.Open("published:"+dir, dataset.Options{}))
		assert.ErrorContains(t, err, "the references differ from the published ones", "%s", format)
	}
}

func TestManifestErrors(t *testing.T) {
	good := `{"version":1,"tool":"t","format":"text","set":"0","segments":1,"references":1,"variants":0,"rejected":0,"files":[]}`
	for _, c := range []struct{ text, want string }{
		{"", "this is not a published folder: manifest.json: file does not exist"},
		{"[]", "manifest.json:1: bad manifest: a manifest must be a JSON object, not an array"},
		{"{\n\"files\": 3}", `manifest.json:2: bad manifest: field files must be an array, not a number`},
		{"{\n", "manifest.json:2: bad manifest: bad JSON: it ends before its value does"},
		{strings.Replace(good, `"version":1`, `"version":4,"new":0`, 1), "version 4 of the manifest is newer than this program"},
		{strings.Replace(good, `"version":1`, `"version":0`, 1), "bad manifest: version 0"},
		{strings.Replace(good, `"tool"`, "\n\n\"toll\"", 1), `manifest.json:3: bad manifest: unknown field "toll" (did you mean "tool"?); get it again`},
		{strings.Replace(good, `"text"`, `"txt"`, 1), `bad manifest: unknown format "txt"; did you mean "text"?`},
		{strings.Replace(good, `[]`, `[{"path":"../x"}]`, 1), `bad manifest: the file "../x" is not in the folder`},
		{strings.Replace(good, `"text"`, `"jsonl"`, 1), `bad manifest: 0 files with the role "segments", where there must be one`},
	} {
		dir := t.TempDir()
		if c.text != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, dataset.ManifestName), []byte(c.text), 0o644))
		}
		_, err := dataset.Open("published:"+dir, dataset.Options{})
		assert.ErrorContains(t, err, c.want, "error")
	}
}

// A set states how many of its variants keep the meaning.
func TestMeaningKept(t *testing.T) {
	set := sample()
	set[0].Variants[0].Audit, set[0].Variants[0].Review = refract.AuditSampled, refract.ReviewAccept
	set[0].Rejected[0].Audit, set[0].Rejected[0].Review = refract.AuditSampled, refract.ReviewReject
	res, err := publish.Publish(t.Context(), set, filepath.Join(t.TempDir(), "set"), publish.Options{Format: dataset.FormatJSONL})
	require.NoError(t, err)
	want := dataset.MeaningKept{Model: "tiny", JudgedBy: "people", N: 2, Kept: 1}
	got := res.Manifest.MeaningKept
	require.True(t, len(got) == 1 && len(got[0].Interval) == 2, "%+v", got)
	got[0].Interval = nil
	assert.Empty(t, cmp.Diff(want, got[0]))
}

func TestVerifyTheManifestItself(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	_, err := publish.Publish(t.Context(), sample(), dir, options(dataset.FormatJSONL))
	require.NoError(t, err)
	path := filepath.Join(dir, dataset.ManifestName)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "stranger"), nil, 0o666))
	for _, c := range []struct {
		name          string
		change        func(*dataset.Manifest)
		fails, warned string
	}{
		{"whole", func(*dataset.Manifest) {}, "", "stranger: the manifest does not list it"},
		{"tool", func(m *dataset.Manifest) { m.Tool = "other" }, "its digest does not match its content", ""},
		{"no digest", func(m *dataset.Manifest) { m.Digest = "" }, "", "it has no digest"},
		{"more than all", func(m *dataset.Manifest) {
			m.MeaningKept = []dataset.MeaningKept{{Model: "m", N: 2, Kept: 3}}
			m.Digest = m.Sum()
		}, "3 of 2 keep the meaning", ""},
		{"another interval", func(m *dataset.Manifest) {
			m.MeaningKept = []dataset.MeaningKept{{Model: "m", N: 4, Kept: 1, Interval: []float64{.5, .9}}}
			m.Digest = m.Sum()
		}, "which is impossible", ""},
	} {
		var m dataset.Manifest
		require.NoError(t, json.Unmarshal(whole, &m))
		c.change(&m)
		b, err := json.Marshal(m)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, b, 0o666))
		warned := ""
		_, err = publish.Verify(t.Context(), dir, func(w dataset.Warning) { warned += w.String() + "\n" })
		if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%s: %v", c.name, err)
		}
		assert.Contains(t, warned, c.warned, "%s: warned", c.name)
	}
}

// Columns that are kept, and languages, come back from every format that holds them.
func TestKeptColumns(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o666))
		return path
	}
	rows := write("t.csv", "id,ref,lang,topic,=note\na,one,de,news,=1+1\nb,two,fr,,\"a, b\"\n")
	objects := write("t.jsonl", `{"id":"a","ref":"one","lang":"de","topic":["x",1.50],"n":1e400}`+"\n"+`{"id":"b","ref":"two","lang":"fr","topic":null,"n":2}`+"\n")
	csv := []string{`{"=note":"=1+1","topic":"news"}`, `{"=note":"a, b","topic":null}`}
	jsonl := []string{`{"n":1e400,"topic":["x",1.50]}`, `{"n":2,"topic":null}`}
	asCSV := []string{`{"n":"1e400","topic":"[\"x\",1.50]"}`, `{"n":"2","topic":null}`}
	for _, c := range []struct {
		path, keep string
		format     string
		want       []string
	}{
		{rows, "keep=*", "jsonl", csv}, {rows, "keep=*", "parquet", csv}, {rows, "keep=*", "csv", csv},
		{objects, "keep=*", "jsonl", jsonl}, {objects, "keep=topic,keep=n", "parquet", jsonl}, {objects, "keep=*", "csv", asCSV},
		{rows, "keep=topic", "csv", []string{`{"topic":"news"}`, `{"topic":null}`}},
	} {
		ds, err := dataset.Open("table:"+c.path+",id=id,reference=ref,language=lang,"+c.keep, dataset.Options{})
		require.NoError(t, err)
		out := filepath.Join(t.TempDir(), "set")
		_, err = publish.Publish(t.Context(), ds, out, publish.Options{Format: c.format})
		require.NoError(t, err, "%s %s", c.format, c.keep)
		got, err := collect(dataset.Open("published:"+out, dataset.Options{}))
		require.NoError(t, err)
		for i, language := range []string{"de", "fr"} {
			if got[i].Extra != c.want[i] || got[i].Language != language {
				t.Errorf("%s %s: %s in %q, want %s", c.format, c.keep, got[i].Extra, got[i].Language, c.want[i])
			}
		}
	}
}

package page_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"flag"
	"html"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/cmd/refract/internal/figure"
	"github.com/refract-eval/refract/cmd/refract/internal/page"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
)

var demoDir = flag.String("demo", "", "write the pages of the browser test into this folder")

func written(t testing.TB, d *page.Document) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, page.Write(context.Background(), &b, d))
	return b.Bytes()
}

// TestDemo writes the pages that benchmarks/servers/browser.sh opens.
func TestDemo(t *testing.T) {
	if *demoDir == "" {
		t.Skip("no folder: -args -demo DIR")
	}
	for name, d := range map[string]*page.Document{
		"demo.html":  demoDocument(t, demoExplorer(40)),
		"large.html": demoDocument(t, largeExplorer(1875, 16, 11)),
		"plain.html": {Title: "A report without segments", Claim: "Nothing was compared"},
	} {
		b := written(t, d)
		t.Logf("%s: %d bytes", name, len(b))
		require.NoError(t, os.WriteFile(filepath.Join(*demoDir, name), b, 0o644))
	}
}

// element returns the contents of the elements that begin with a tag.
func element(b []byte, begin, end string) []string {
	var out []string
	for _, part := range strings.Split(string(b), begin)[1:] {
		out = append(out, part[:strings.Index(part, end)])
	}
	return out
}

func TestPolicyAllowsOnlyOwnScriptAndStyle(t *testing.T) {
	b := written(t, demoDocument(t, demoExplorer(1)))
	scripts, styles := element(b, "<script>", "</script>"), element(b, "<style>", "</style>")
	if len(scripts) != 1 || len(styles) != 1 {
		t.Fatalf("%d scripts and %d styles, want one each", len(scripts), len(styles))
	}
	metas := element(b, `<meta http-equiv="Content-Security-Policy" content="`, `"`)
	require.Len(t, metas, 1, "%d policies", len(metas))
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	want := "default-src 'none'; script-src " + hash(scripts[0]) + "; style-src " + hash(styles[0]) +
		"; img-src data:; base-uri 'none'; form-action 'none'"
	assert.Equal(t, want, html.UnescapeString(metas[0]), "policy")
	if before, _, _ := bytes.Cut(b, []byte("<meta http-equiv")); bytes.Contains(before, []byte("<script")) || bytes.Contains(before, []byte("<style")) {
		t.Error("something stands before the policy")
	}
	for _, banned := range []string{"eval(", "innerHTML", "outerHTML", "insertAdjacent", "document.write", "new Function", "fetch(", "XMLHttpRequest", "import(", "http:", "https:"} {
		if strings.Contains(scripts[0], banned) || strings.Contains(styles[0], banned) {
			t.Errorf("the script or the style has %q", banned)
		}
	}
}

// skeleton is the tags of a page in order, without texts, data and the values
// of attributes.
func skeleton(b []byte) string {
	var out strings.Builder
	for _, tag := range regexp.MustCompile(`<(/?[a-zA-Z!][^\s>]*)((?:\s+[a-z-]+(?:="[^"]*")?)*)\s*>`).FindAllStringSubmatch(string(b), -1) {
		out.WriteString(tag[1])
		for _, name := range regexp.MustCompile(`([a-z-]+)="[^"]*"`).FindAllStringSubmatch(tag[2], -1) {
			out.WriteString(" " + name[1])
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// textDocument has one text in every place of the static part.
func textDocument(s string) *page.Document {
	table := report.NamedTable{Title: s, Coverage: s, Notes: []string{s}, Columns: []report.Column{{Name: "c", Header: s}}, Rows: [][]report.Value{{report.String(s)}}}
	return &page.Document{
		Title: "T" + s, Claim: "L" + s, Evidence: []string{"B" + s}, Method: "M" + s, Findings: []string{s}, Facts: []report.Fact{{Name: s, Value: s}},
		Forests:  []page.Figure{{Title: s, Alt: "A" + s, Notes: []string{s}, Data: &table, Panels: []figure.Panel{&figure.Bars{Value: s, Bars: []figure.Bar{{Name: s}}}}}},
		Figures:  []page.Figure{{Title: s, Alt: "A" + s, Panels: []figure.Panel{&figure.Lines{Title: s, X: s, Y: s}}, Notes: []string{s}, Findings: []string{s}, Data: &table}},
		Tables:   []*report.NamedTable{&table},
		Rankings: []*report.NamedTable{&table},
		Explorer: textExplorer(s),
	}
}

// textExplorer has one text in every place of a segment.
func textExplorer(s string) *page.Explorer {
	seg := &page.Segment{ID: s, Document: s, Domain: s, Source: text(s), References: []page.Reference{{Text: text(s), Detail: s}},
		Outputs: []page.Output{{Text: text(s), Human: []float64{1}, Scores: []page.Score{page.DecidedBy(0, 1)},
			Reports: []page.Report{{Judge: s, Outcome: s, Notes: []string{s}, Errors: []page.Error{{Location: s, Type: s, Severity: s, Explanation: s}}}}}}}
	return &page.Explorer{Systems: []string{s}, Humans: []string{s}, Metrics: []page.Measure{{Name: s}}, Settings: []page.Measure{{Name: s}}, Prompts: []string{s},
		Segments: one(seg)}
}

func one(s *page.Segment) iter.Seq2[*page.Segment, error] {
	return func(yield func(*page.Segment, error) bool) { yield(s, nil) }
}

// FuzzMarkup asserts that no text changes the markup: the tags of a page are
// those of a page of harmless text.
func FuzzMarkup(f *testing.F) {
	for _, s := range hostileTexts {
		f.Add(s)
	}
	f.Add(`" onload="x`)
	f.Add("' style='x")
	want := skeleton(written(f, textDocument("harmless")))
	f.Fuzz(func(t *testing.T, s string) {
		if s == "" { // for which headings and notes are left out
			return
		}
		assert.Equal(t, want, skeleton(written(t, textDocument(s))), "the text %q changes the markup to", s)
	})
}

func TestSameDocumentGivesSameBytes(t *testing.T) {
	if !bytes.Equal(written(t, demoDocument(t, demoExplorer(2))), written(t, demoDocument(t, demoExplorer(2)))) {
		t.Error("the same document gives other bytes")
	}
}

func TestStaticPart(t *testing.T) {
	b := string(written(t, demoDocument(t, demoExplorer(1))))
	for _, want := range []string{
		`<td class="number" data-key="0.18">0.180</td>`,
		`[0.169, 0.191]</td>`,
		`<td class="number missing">–</td>`,
		`&lt; 0.001</td>`, // a p-value that rounds to 0 is not 0
		`29,958 of 30,000 cells have a score`,
		`<source media="screen and (prefers-color-scheme: dark)" srcset="data:image/svg&#43;xml;base64,`,
		`alt="Two line charts.`,
		`<p class="claim" dir="auto">Use the maximum over 10 references</p>`,
		`>−0.041</td><td class="number" data-key="-0.041">[−0.053, −0.029]</td>`,
		`alt="Forest plot: difference in Kendall’s τ with mqm`,
		`8 of 11 are enough: −0.001 [−0.002, 0.000] against all`,
		`<button type="button" class="term">Kendall’s τ<span class="unseen">: How often`,
	} {
		assert.Contains(t, b, want, "the page lacks")
	}
	assert.NotContains(t, b, "nrefs:10|case:mixed<", "a hidden column is shown")
	if plain := string(written(t, &page.Document{Title: "x"})); strings.Contains(plain, `id="segments"`) || strings.Contains(plain, "<h2>") {
		t.Error("an empty document has empty parts")
	}
}

func TestWriteErrors(t *testing.T) {
	for want, d := range map[string]*page.Document{
		"no title":                              {},
		"more than 65535 domains or references": {Title: "x", Explorer: &page.Explorer{Segments: one(&page.Segment{References: make([]page.Reference, 1<<16)})}},
	} {
		err := page.Write(context.Background(), new(bytes.Buffer), d)
		if err == nil || !strings.Contains(err.Error(), want) || strings.HasPrefix(err.Error(), "page: ") {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func TestWriteStopsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	e := demoExplorer(50)
	all, n := e.Segments, 0
	e.Segments = func(yield func(*page.Segment, error) bool) {
		for s, err := range all {
			if n++; n == 7 {
				cancel()
			}
			if !yield(s, err) {
				return
			}
		}
	}
	err := page.Write(ctx, new(bytes.Buffer), &page.Document{Title: "x", Explorer: e})
	assert.True(t, errors.Is(err, context.Canceled) && n == 7, "error %v after %d segments", err, n)
	broken := errors.New("line 7: cut off")
	e.Segments = func(yield func(*page.Segment, error) bool) { yield(nil, broken) }
	assert.ErrorIs(t, page.Write(context.Background(), new(bytes.Buffer), &page.Document{Title: "x", Explorer: e}), broken)
	assert.ErrorIs(t, page.Write(context.Background(), full{}, demoDocument(t, demoExplorer(50))), errFull)
}

var errFull = errors.New("the disk is full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// A page without data stays small.
func TestPageWithoutDataIsSmall(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, page.Write(t.Context(), &b, &page.Document{Title: "x", Explorer: &page.Explorer{Segments: func(func(*page.Segment, error) bool) {}}}))
	n, most := b.Len(), 68_000
	assert.LessOrEqual(t, n, most, "an empty page takes")
}

package report

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/internal/text"
)

func renderPeople(t rapid.TB, format Format, columns []Column, opts Options, rows [][]Value) string {
	var out bytes.Buffer
	w := NewWriter(&out, format, columns, opts)
	writeAll(t, w, rows)
	return out.String()
}

// No control character reaches a terminal, and a row stays on one line.
func TestPeopleTerminalSafety(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns, rows := anyRows(t)
		columns[0].Header = anyText().Draw(t, "header")
		opts := Options{Wide: true, Title: anyText().Draw(t, "title"), Notes: rapid.SliceOfN(anyText(), 0, 2).Draw(t, "notes")}
		for _, format := range []Format{Table, Markdown, LaTeX} {
			out := renderPeople(t, format, columns, opts, rows)
			require.True(t, utf8.ValidString(out), "%s: not UTF-8: %q", format, out)
			for i, r := range out {
				require.False(t, r != '\n' && text.Hidden(r), "%s: %U at byte %d of %q", format, r, i, out)
			}
			empty := renderPeople(t, format, columns, opts, nil)
			if got, want := strings.Count(out, "\n"), strings.Count(empty, "\n")+len(rows); got != want {
				t.Fatalf("%s: %d lines, want %d: %q", format, got, want, out)
			}
		}
	})
}

func TestVisible(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", ""},
		{"plain ~", "plain ~"},
		{"\x1b[31m", `\x1b[31m`},
		{"a\r\n\tb\x00\x7f", `a\r\n\tb\x00\x7f`},
		{"\u009b31m\u0085", `\u009b31m\u0085`},
		{"\u202a\u202e\u2066\u2069\u200e\u200f\u061c", `\u202a\u202e\u2066\u2069\u200e\u200f\u061c`},
		{"\u2028\u2029\ufeff\u200b\u00ad", `\u2028\u2029\ufeff\u200b\u00ad`},
		{"\U000e0041", `\U000e0041`},
		{"\xff\xe4\xb8x", "\ufffd\ufffd\ufffdx"},
		{"می\u200cخواهم 👩\u200d👧 中文\u3000！ e\u0301", "می\u200cخواهم 👩\u200d👧 中文\u3000！ e\u0301"},
		{"\u06dd", "\u06dd"}, // a format character that is drawn
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, Visible(tt.in), "Visible(%q)", tt.in)
	}
}

// Unescaping a cell of Markdown gives the text back: no text can end its cell or start
// markup.
func TestMarkdownEscaping(t *testing.T) {
	entities := strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">")
	rapid.Check(t, func(t *rapid.T) {
		text := anyText().Draw(t, "text")
		out := renderPeople(t, Markdown, []Column{{Name: "a"}, {Name: "b"}}, Options{}, [][]Value{{String(text), String("end")}})
		line := strings.Split(out, "\n")[2]
		cell, ok := strings.CutPrefix(strings.TrimSuffix(line, " | end |"), "| ")
		require.True(t, ok, "row %q", line)
		var plain strings.Builder
		for i := 0; i < len(cell); i++ {
			switch c := cell[i]; {
			case c == '\\':
				i++
				plain.WriteByte(cell[i])
			case strings.IndexByte("|`*_~[]<>#!$@", c) >= 0:
				t.Fatalf("bare %q in %q", c, cell)
			default:
				plain.WriteByte(c)
			}
		}
		require.Equal(t, Visible(text), entities.Replace(plain.String()), "%q came back as", cell)
	})
}

// Every special character of TeX is escaped, and the escapes stand for the
// text.
func TestLaTeXEscaping(t *testing.T) {
	commands := strings.NewReplacer(
		`\textbackslash{}`, `\`, `\textasciicircum{}`, `^`, `\textasciitilde{}`, `~`, `\textless{}`, `<`,
		`\textgreater{}`, `>`, `\textbar{}`, `|`, `\textasciigrave{}`, "`", `-{}`, `-`, `{[}`, `[`, `{*}`, `*`,
		`\{`, `{`, `\}`, `}`, `\$`, `$`, `\&`, `&`, `\#`, `#`, `\%`, `%`, `\_`, `_`,
	)
	rapid.Check(t, func(t *rapid.T) {
		text := anyText().Draw(t, "text")
		out := renderPeople(t, LaTeX, []Column{{Name: "a"}, {Name: "b"}}, Options{}, [][]Value{{String(text), String("end")}})
		line := strings.Split(out, "\n")[4]
		cell := strings.TrimSuffix(line, ` & end \\`)
		depth := 0
		for i := 0; i < len(cell); i++ {
			switch cell[i] {
			case '\\':
				i++ // the escaped character, or the first letter of a command
			case '{':
				depth++
			case '}':
				depth--
			case '$', '&', '#', '%', '_', '^', '~', '<', '>', '|', '`':
				t.Fatalf("bare %q in %q", cell[i], cell)
			}
			require.True(t, depth >= 0 && depth <= 1, "braces of %q", cell)
		}
		require.True(t, depth == 0 && !strings.HasPrefix(cell, "[") && !strings.HasPrefix(cell, "*"), "cell %q", cell)
		require.Equal(t, Visible(text), commands.Replace(cell), "%q came back as", cell)
	})
}

func TestTableLayout(t *testing.T) {
	out := renderPeople(t, Table,
		[]Column{{Name: "system"}, {Name: "score", Header: "Score", Kind: KindFloat, Digits: 2}, {Name: "signature", Hide: true}},
		Options{Title: "Title", Notes: []string{"one", "two"}},
		[][]Value{{String("中文"), Float(3.14159), String("hidden")}, {String("b"), Null(), Null()}, {String("c"), Float(-12.5), Null()}})
	want := strings.Join([]string{
		"Title",
		"",
		" system   Score",
		"────────────────",
		" 中文      3.14",
		" b            –",
		" c       -12.50",
		"",
		"one",
		"two",
		"",
	}, "\n")
	assert.Equal(t, want, out)
}

// A table that is too wide for a terminal moves constant columns to a note, wraps texts,
// and leaves minor columns out, in that order.
func TestTableFits(t *testing.T) {
	columns := []Column{{Name: "metric"}, {Name: "human"}, {Name: "text"}, {Name: "n", Kind: KindInt}, {Name: "signature", Minor: true}}
	row := func(metric string, words, signature int) []Value {
		return []Value{String(metric), String("mqm"), String(strings.TrimSpace(strings.Repeat("word ", words))), Int(1), String(strings.Repeat("s", signature))}
	}
	for _, tt := range []struct {
		name             string
		words, signature int
		has, not         []string
	}{
		{"fits", 2, 2, []string{" metric  human  text", " mqm "}, []string{"in every row", "left out"}},
		{"constant", 16, 20, []string{" metric  text", "in every row: human mqm"}, []string{"left out"}},
		{"wrapped", 40, 20, []string{"in every row: human mqm", "signature"}, []string{"left out"}},
		{"minor", 40, 90, []string{"left out, to fit: signature (-v shows all)"}, []string{"sss"}},
	} {
		rows := [][]Value{row("bleu", tt.words, tt.signature), row("chrf", 1, tt.signature+1)}
		out := renderPeople(t, Table, columns, Options{}, rows)
		for line := range strings.Lines(out) {
			n := utf8.RuneCountInString(strings.TrimSpace(line))
			assert.True(t, n <= TableWidth, "%s: %d characters: %s", tt.name, n, line)
		}
		for _, s := range tt.has {
			assert.Contains(t, out, s, tt.name)
		}
		for _, s := range tt.not {
			assert.NotContains(t, out, s, "%s", tt.name)
		}
		assert.Equal(t, tt.words+1, strings.Count(out, "word"), tt.name)
		wide := renderPeople(t, Table, columns, Options{Wide: true}, rows)
		if !strings.Contains(wide, "signature") || !strings.Contains(wide, " mqm ") || strings.Contains(wide, "left out") {
			t.Errorf("%s: wide:\n%s", tt.name, wide)
		}
	}
}

// A column without values that is left out is named in a note.
func TestEmptyColumnIsNamedInANote(t *testing.T) {
	columns := []Column{{Name: "system"}, {Name: strings.Repeat("ended ", 8), Kind: KindFloat}, {Name: strings.Repeat("scored ", 9), Kind: KindFloat}}
	out := renderPeople(t, Table, columns, Options{}, [][]Value{{String("a"), Null(), Float(1)}, {String("b"), Null(), Float(2)}})
	assert.Contains(t, out, "in every row: "+strings.Repeat("ended ", 8)+" "+missingCell, "the empty column vanishes:\n")
}

// The width of a character, and so the bytes, must not depend on the locale.
// The width library reads it once, when a process starts.
func TestTableLayoutInAnotherLocale(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Skipf("cannot start the test again: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestTableLayout$")
	cmd.Env = append(os.Environ(), "LC_ALL=ja_JP.UTF-8", "RUNEWIDTH_EASTASIAN=1")
	out, err := cmd.CombinedOutput()
	assert.NoError(t, err, "%s", out)
}

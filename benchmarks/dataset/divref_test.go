package dataset

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
)

// repeated has the first reference "x" three times and "" twice. In the third line the
// first reference is missing; the sixth has no references at all.
const repeated = `{"id":"a","references":["x","r"]}
{"id":"b","references":[""]}
{"id":"c","references":[null,"x"]}
{"id":"d","references":["x"]}
{"id":"e","references":[""]}
{"id":"f"}
{"id":"g","references":["x"]}
{"id":"h","references":["y"]}
`

// variantTexts writes each segment's variants on a line.
func variantTexts(segments []*refract.Segment) []string {
	var all []string
	for _, s := range segments {
		var texts []string
		for _, v := range s.Variants {
			texts = append(texts, v.Text.Value)
		}
		all = append(all, strings.Join(texts, " "))
	}
	return all
}

func TestRepeatedReferences(t *testing.T) {
	for _, c := range []struct {
		name, scheme, lists string
		want                []string
		warnings            []string
	}{
		{"the last line wins", "div-ref", "['1','1']\n['2']\n['3']\n['4']\n['5']\n[]\n['7']\n['8']\n",
			[]string{"7", "5", "3", "7", "5", "", "7", "8"},
			[]string{`refs: 3 of 8 segments have the variants of a later line with the same first reference ` +
				`("a" of line 1 has those of line 7, "b" of line 2 has those of line 5, "d" of line 4 has those of line 7); ` +
				`div-ref-lines:FILE gives each segment the variants of its own line`}},
		{"an empty list is one", "div-ref", "['1']\n['2']\n['3']\n['4']\n['2']\n[]\n[]\n['8']\n",
			[]string{"", "2", "3", "", "2", "", "", "8"},
			[]string{`refs: 2 of 8 segments have the variants of a later line with the same first reference ` +
				`("a" of line 1 has those of line 7, "d" of line 4 has those of line 7); div-ref-lines:FILE gives each segment the variants of its own line`}},
		{"equal lists", "div-ref", "['1','2']\n['2']\n['3']\n['1', \"2\"]\n['2']\n[]\n['1','2']\n['8']\n",
			[]string{"1 2", "2", "3", "1 2", "2", "", "1 2", "8"}, nil},
		{"line by line", "div-ref-lines", "['1']\n['2']\n['3']\n['4']\n['5']\n[]\n['7']\n['8']\n",
			[]string{"1", "2", "3", "4", "5", "", "7", "8"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w warnings
			ds, dir, err := extendWith(t, repeated, c.scheme, c.lists, &w)
			require.NoError(t, err)
			for range 2 { // a dataset can be read again
				got, err := collect(ds)
				require.NoError(t, err)
				assert.Empty(t, cmp.Diff(c.want, variantTexts(got)))
			}
			w.check(t, dir, c.warnings...)
		})
	}
}

func TestRepeatedReferencesErrors(t *testing.T) {
	for _, c := range []struct{ name, base, lists, want string }{
		{"few lines", repeated, "['1']\n['2']\n", `refs: has 2 lines, but the dataset has 8 segments; the first without one is "c" (base:3)`},
		{"few lines after all", repeated, strings.Repeat("[]\n", 7), `refs: has 7 lines, but the dataset has 8 segments; the first without one is "h" (base:8)`},
		{"bad list ahead", repeated, strings.Repeat("[]\n", 6) + "[1]\n[]\n", `refs:7:2: bad Python list: '1' where a string in quotes or None should be`},
		{"bad list that another replaces", repeated, "[1]\n" + strings.Repeat("[]\n", 7), `refs:1:2: bad Python list: '1' where a string in quotes or None should be`},
		{"base", repeated + "{}", strings.Repeat("[]\n", 9), `base:9: the segment has no id; each segment needs a unique, non-empty id`},
	} {
		t.Run(c.name, func(t *testing.T) {
			ds, dir, err := extendWith(t, c.base, "div-ref", c.lists, nil)
			_, err = openAndCollect(ds, err)
			wantError(t, dir, err, c.want)
		})
	}
}

func TestDivRefFromStandardInput(t *testing.T) {
	dir := folderOf(t, map[string]string{"refs": "['1']\n['2']\n"})
	ds, err := Open("jsonl:-", Options{Stdin: strings.NewReader(base)})
	require.NoError(t, err)
	_, err = WithReferences(ds, "div-ref:"+filepath.Join(dir, "refs"), Options{})
	spec := (*SpecError)(nil)
	assert.True(t, errors.As(err, &spec), "%T is no *SpecError", err)
	wantError(t, dir, err, `references "div-ref:refs" need a pass over the first references beforehand, but <stdin> can be read only once; `+
		`store it in a file, or write div-ref-lines:FILE to have the variants line by line`)

	ds, err = WithReferences(ds, "div-ref-lines:"+filepath.Join(dir, "refs"), Options{})
	got, err := openAndCollect(ds, err)
	assert.True(t, err == nil && len(got) == 2 && got[1].Variants[0].Text.Value == "2", "got %v, %v", got, err)
}

func TestDivRefForMTME(t *testing.T) {
	files := changed(map[string]string{
		"ts/references/de-en.refA.txt":  "one\none \u00a0\n[No translation supplied]\n",
		"ts/references/de-en.refB.txt":  "[No translation supplied]\nB\n[No translation supplied]\n",
		"ts/system-outputs/de-en/b.txt": "one\ntwo\nthree\n",
		"refs":                          "['1']\n['2']\n['3']\n",
	})
	dir := folderOf(t, files)
	for reference, want := range map[string][]string{"refA": {"2", "2", "3"}, "refB": {"1", "2", "3"}} {
		ds, err := Open("mtme:"+dir+"/ts/de-en", Options{References: []string{reference}})
		if err == nil {
			ds, err = WithReferences(ds, "div-ref:"+filepath.Join(dir, "refs"), Options{})
		}
		got, err := openAndCollect(ds, err)
		require.NoError(t, err)
		assert.Empty(t, cmp.Diff(want, variantTexts(got)), reference)
	}
}

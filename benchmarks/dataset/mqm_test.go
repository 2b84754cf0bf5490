package dataset

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/metrics/analysis"
)

// The ratings of the sample, one a line, with the texts of their spans.
func TestReadMQM(t *testing.T) {
	ratings, err := ReadMQM("mqm:"+filepath.Join("testdata", "mqm.tsv"), nil)
	require.NoError(t, err)
	var b strings.Builder
	for _, r := range ratings {
		fmt.Fprintf(&b, "%d: %s %s %s %s %g\n", r.Pos.Line, r.ID, r.System, r.Rater, r.Report.Outcome, *r.Report.Score)
		for _, e := range r.Report.Errors {
			within := ""
			if e.Place.HasSpan() {
				within = string([]rune(r.Hypothesis)[e.Span.Start:e.Span.End])
			}
			fmt.Fprintf(&b, "  %s|%s %s %g: %q %s %v %q %s\n", e.Dimension, e.Aspect, e.Severity, *e.Penalty, e.Location, e.Place, e.Span, within, e.Explanation)
		}
	}
	const want = `2: 1 good r1 scored -1
  Fluency|Grammar minor 1: "den" hypothesis {5 8} "den" case
3: 1 good r2 scored -0.1
  Fluency|Punctuation minor 0.1: "." hypothesis {19 20} "." 
4: 1 bad r1 scored -5
  Accuracy|Omission major 5: "the kettle" source {0 0} "" 
  Style|Awkward neutral 0: "Setz … auf" approximate {0 8} "Setz auf" 
6: 1 bad r2 scored -25
  |Non-translation! major 25: "Setz auf." hypothesis {0 9} "Setz auf." 
7: 1 ref.A r1 no-error 0
8: 2 good r1 scored -1
  Locale convention|Quotes minor 1: "\"\"nein\"\"" hypothesis {10 18} "\"\"nein\"\"" 
11: 2 ref.A r2 no-error 0
12: 2 ref.B r2 no-error 0
13: 2 good r2 scored -1
  |Other minor 1: "nein" hypothesis {12 16} "nein" 
`
	assert.Empty(t, cmp.Diff(want, b.String()))
}

// Files of other years and tools are read, or refused with the line and the cause.
func TestMQMVariants(t *testing.T) {
	const head = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
	row := func(target, category, severity string) string {
		return "\na\td\t1\t7\tr\tPut it on.\t" + target + "\t" + category + "\t" + severity
	}
	for _, test := range []struct{ name, data, want string }{
		{"lower case", head + row("Setz <v>es</v> auf.", "no-error", "no-error"), "7 0"},
		{"spaces and underscores", head + row("Setz es auf.", "No error", "no_error"), "7 0"},
		{"entities are text", head + row("Setz <v>es &amp; sie</v> auf.", "Other", "Minor"), `7 -1 "es &amp; sie" hypothesis {5 17}`},
		{"several spans", head + row("<v>Setz</v> <v></v>es <v>auf</v>.", "Other", "Minor"), `7 -1 "Setz … auf" approximate {0 11}`},
		{"another tag", head + row("<V>Setz</V> es.", "Other", "Minor"), `7 -1 "" none {0 0}`},
		{"comment in the head", head + "\t# Documentation: elsewhere" + row("Setz <v>es</v> auf.", "Other", "Minor"), `7 -1 "es" hypothesis {5 7}`},
		{"note", head + "\tnote" + row("Setz <v>es</v> auf.", "Other", "Minor") + "\twhich?", `7 -1 "es" hypothesis {5 7} which?`},

		{"critical", head + row("Setz <v>es</v> auf.", "Other", "Critical"), `mqm.tsv:2: the severity is "Critical"; want No-error, Neutral, Minor or Major, for which there are weights`},
		{"a line break", head + "\na\td\t1\t7\tr\t\"Put\nit on.\"\tt\tOther\tMinor", "; mqm.tsv: 2 rows (line 2, 3): left out: it has fewer columns than the first row names"},
		{"edited", head + row("Setz sie auf.", "Other", "Major") + row("<v>Setz</v> es.", "Other", "Minor") + row("Setz es .", "Other", "Neutral"), `7 -1 "Setz" hypothesis {0 4} "" none {0 0}; mqm.tsv: 1 row (line 4): other white space in a text than the first row of it has, which is taken; spans are shifted; mqm.tsv: 1 row (line 2): left out: its target is not the output of the system that most rows of the segment have`},
		{"no head", strings.TrimPrefix(row("t", "Other", "Minor"), "\n"), `mqm.tsv:1: there is no column "system"; there are "a", "d", "1", "7", "r", "Put it on.", "t", "Other", "Minor"`},
	} {
		path := filepath.Join(t.TempDir(), "mqm.tsv")
		require.NoError(t, os.WriteFile(path, []byte(test.data), 0o600))
		var w []string
		ratings, err := ReadMQM("mqm:"+path, func(of Warning) { w = append(w, of.String()) })
		var parts []string
		for _, r := range ratings {
			s := fmt.Sprintf("%s %g", r.ID, *r.Report.Score)
			for _, e := range r.Report.Errors {
				s += strings.TrimSuffix(fmt.Sprintf(" %q %s %v %s", e.Location, e.Place, e.Span, e.Explanation), " ")
			}
			parts = append(parts, s)
		}
		got := strings.Join(append([]string{strings.Join(parts, ", ")}, w...), "; ")
		if err != nil {
			got = err.Error()
		}
		got = strings.ReplaceAll(got, filepath.Dir(path)+"/", "")
		assert.Equal(t, test.want, got, "%s: %s\nwant %s", test.name, got, test.want)
	}
}

// The scores of segments are those released with the file, and the spans are where the
// words are.
func TestMQMReleased(t *testing.T) {
	dir := filepath.Join(realData(t), "mqm")
	if _, err := os.Stat(dir); err != nil {
		t.Skip(err)
	}
	var w warnings
	spec := "mqm:" + filepath.Join(dir, "ted.en-de.tsv")
	all, err := openAndCollect(Open(spec, Options{Warn: w.add}))
	require.NoError(t, err)
	w.check(t, dir, `ted.en-de.tsv: 1 row (line 6444): a <v> that nothing closes: its span goes to the end of the text`,
		`ted.en-de.tsv: 4 raters, and none has rated an output of another: how far they agree is not known`)
	got := map[string]float64{}
	for _, s := range all {
		if len(s.References) != 1 || !s.References[0].Valid || len(s.Hypotheses) != 14 {
			t.Fatalf("segment %s: %d references, %d systems", s.ID, len(s.References), len(s.Hypotheses))
		}
		for _, h := range s.Hypotheses {
			require.Equal(t, h.System == "ref", h.Human, "system %s: Human", h.System)
		}
		for _, j := range s.Judgements {
			got[j.System+"\t"+s.ID] = j.Score
		}
	}
	file, err := os.Open(filepath.Join(dir, "ted.en-de.avg_seg_scores.tsv"))
	require.NoError(t, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Scan() // names of columns
	n := 0
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if f[1] == "None" {
			continue
		}
		n++
		want, err := strconv.ParseFloat(f[1], 64)
		require.NoError(t, err)
		system := strings.Replace(f[0], "ref-A", "ref", 1)
		if score, ok := got[system+"\t"+f[2]]; !ok || math.Abs(score-want) > 5e-7 {
			t.Errorf("%s, segment %s: %v, released %v", system, f[2], score, want)
		}
	}
	assert.True(t, n == len(got) && n == 7406, "%d scores were released, %d are read", n, len(got))

	ratings, err := ReadMQM(spec, nil)
	require.NoError(t, err)
	places := map[analysis.Place]int{}
	for _, r := range ratings {
		for _, e := range r.Report.Errors {
			places[e.Place]++
			if e.Place == analysis.InHypothesis && string([]rune(r.Hypothesis)[e.Span.Start:e.Span.End]) != e.Location {
				t.Errorf("line %d: %q is not at %v", r.Pos.Line, e.Location, e.Span)
			}
		}
	}
	assert.Empty(t, cmp.Diff(map[analysis.Place]int{analysis.InHypothesis: 4017, analysis.InSource: 14}, places))
}

// Any file gives valid segments and ratings, or an error.
func FuzzMQM(f *testing.F) {
	seed(f, "mqm.tsv")
	f.Add("system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\tmetadata\t# x\na\td\t1\t0\tr\ts\t<v>t</v> <v> \tOther\tno_error\t{\"note\":\"n\"}\na\td\t2\t\tr\ts\t<v>t\tOther\tMajor\t{\n")
	f.Fuzz(func(t *testing.T, data string) {
		path := fileOf(t, data)
		all, err := openAndCollect(Open("mqm:"+path, Options{References: []string{"all"}}))
		if err != nil {
			return
		}
		sound(t, all)
		ratings, err := ReadMQM("mqm:"+path, nil)
		require.NoError(t, err)
		for _, r := range ratings {
			body, err := r.Report.MarshalJSON()
			if err == nil {
				err = new(analysis.Report).UnmarshalJSON(body)
			}
			require.NoError(t, err, "line %d", r.Pos.Line)
		}
	})
}

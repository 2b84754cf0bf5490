package answer_test

import (
	"bufio"
	"bytes"
	stdcmp "cmp"
	"compress/gzip"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refract-eval/refract/internal/answer"
	"github.com/refract-eval/refract/metrics/analysis"
)

// realData opens a file below $REFRACT_DATA, or below shared/data beside the
// repository's root folder.
func realData(t *testing.T, name string) io.Reader {
	t.Helper()
	dir := os.Getenv("REFRACT_DATA")
	for root := "."; dir == ""; root = filepath.Join(root, "..") {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			dir = filepath.Join(root, "..", "shared", "data")
		}
		if len(root) > 60 {
			t.Skip("no go.mod above the package, so shared/data cannot be found; set REFRACT_DATA")
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Skipf("no real data: %v; set REFRACT_DATA to the folder that holds %s", err, name)
	}
	if !strings.HasSuffix(name, ".gz") {
		return bytes.NewReader(data)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// eachLine decodes JSON Lines.
func eachLine[T any](t *testing.T, r io.Reader, f func(n int, row T)) {
	t.Helper()
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<24)
	n := 0
	for ; lines.Scan(); n++ {
		var row T
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatalf("line %d: %v", n+1, err)
		}
		f(n, row)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// TestInstructScoreAnswers repeats the paper's correlations with MQM on WMT22.
func TestInstructScoreAnswers(t *testing.T) {
	p := parser(t, answer.Spec{Kind: answer.InstructScore})
	var zero, kept [2][]float64 // scores and MQM
	parsed, disagree, runaway := 0, 0, 0
	eachLine(t, realData(t, "instructscore/wmt22.zh-en.outputs.jsonl.gz"), func(_ int, row struct {
		Output string
		MQM    float64
	}) {
		r := p.Parse(row.Output)
		score := 0.0
		if r.Score != nil {
			score = *r.Score
		}
		zero[0], zero[1] = append(zero[0], score), append(zero[1], row.MQM)
		if !r.Outcome.HasScore() {
			return
		}
		parsed++
		kept[0], kept[1] = append(kept[0], score), append(kept[1], row.MQM)
		if *r.StatedErrors != len(r.Errors) {
			disagree++
			if *r.StatedErrors == 5 && len(r.Errors) == 1 && len(r.Errors[0].Location) > 500 {
				runaway++ // which does not get beyond the first location
			}
		}
	})
	if len(zero[0]) != 26250 || parsed != 26200 {
		t.Errorf("%d of %d answers are parsed, want 26200 of 26250", parsed, len(zero[0]))
	}
	if disagree != 4 || runaway != 1 {
		t.Errorf("%d answers state another count than they list, %d of them in a runaway repetition; want 4 and 1", disagree, runaway)
	}
	for _, c := range []struct {
		name          string
		got, expected float64
	}{
		{"unparseable as zero, Kendall", kendall(zero[0], zero[1]), 0.4027},
		{"unparseable as zero, Pearson", pearson(zero[0], zero[1]), 0.5183},
		{"unparseable left out, Kendall", kendall(kept[0], kept[1]), 0.4072},
		{"unparseable left out, Pearson", pearson(kept[0], kept[1]), 0.5284},
	} {
		if math.Abs(c.got-c.expected) > 0.00005 {
			t.Errorf("%s: got %.6f, want %.4f", c.name, c.got, c.expected)
		}
	}
}

func TestTIGERScoreAnswers(t *testing.T) {
	p := parser(t, answer.Spec{Kind: answer.TIGERScore})
	n, disagree := 0, 0
	eachLine(t, realData(t, "tigerscore/outputs.jsonl"), func(i int, row struct{ Output string }) {
		n++
		r := p.Parse(row.Output)
		if r.Outcome != analysis.Scored && r.Outcome != analysis.NoError {
			t.Errorf("line %d: %s (%s)", i+1, r.Outcome, r.Detail)
			return
		}
		if r.StatedErrors == nil || *r.StatedErrors != len(r.Errors) || r.StatedTotal == nil {
			t.Errorf("line %d: the statement is not read, or %d errors are too few", i+1, len(r.Errors))
			return
		}
		if *r.StatedTotal+*r.Score != 0 {
			disagree++
		}
		// All the text that is not a label is in a field: nothing is lost.
		read := 0
		for _, e := range r.Errors {
			read += letters(e.Location) + letters(e.Aspect) + letters(e.Explanation)
			if e.Severity == "" || e.Explanation == "" || e.Aspect == "" {
				t.Errorf("line %d: a field is missing in %+v", i+1, e)
			}
		}
		_, body, _ := strings.Cut(row.Output[strings.LastIndex(row.Output, "model-generated output contains"):], "\n")
		labels := letters("Error location") + letters("Error aspect") + letters("Explanation") + letters("Severity Major") + letters("Score reduction")
		if want := letters(body) - labels*len(r.Errors); read != want {
			t.Errorf("line %d: the fields hold %d letters, the answer %d", i+1, read, want)
		}
	})
	if n != 187 || disagree != 10 {
		t.Errorf("%d answers, of which %d state another total than their sum; want 187 and 10", n, disagree)
	}
}

// letters counts the ASCII letters of a text. "Minor" has as many as "Major".
func letters(s string) int {
	n := 0
	for i := range len(s) {
		if c := s[i] | 0x20; 'a' <= c && c <= 'z' {
			n++
		}
	}
	return n
}

// TestXGPTScoreAnswers reads the JSON turn in the ways in which models write
// it.
func TestXGPTScoreAnswers(t *testing.T) {
	p := parser(t, answer.Spec{Kind: answer.Errors, Form: answer.XGPTScore})
	n := 0
	eachLine(t, realData(t, "tigerscore/xgptscore.responses.jsonl"), func(i int, row struct{ Responses []json.RawMessage }) {
		n++
		turn := row.Responses[len(row.Responses)-1]
		var want struct {
			Errors map[string]struct {
				Reduction float64 `json:"score_reduction"`
			}
		}
		if err := json.Unmarshal(turn, &want); err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, e := range want.Errors {
			sum += e.Reduction
		}
		plain := string(turn)
		loose := strings.TrimSuffix(plain, "}") + ",}"
		whole := p.Parse(plain).Errors
		for _, text := range []string{plain, "```json\n" + plain + "\n```", "Here is the JSON:\n" + plain + "\nDone.", loose} {
			r := p.Parse(text)
			if !r.Outcome.HasScore() || *r.Score != 0-sum || len(r.Errors) != len(want.Errors) {
				t.Errorf("line %d: got %s %v with %d errors (%s), want %v with %d", i+1, r.Outcome, show(r.Score), len(r.Errors), r.Detail, 0-sum, len(want.Errors))
			}
			if diff := cmp.Diff(whole, r.Errors); diff != "" {
				t.Errorf("line %d: %s", i+1, diff)
			}
		}
		if r := p.Parse(plain[:len(plain)-2]); r.Outcome != analysis.Unparseable {
			t.Errorf("line %d: a cut answer is %s", i+1, r.Outcome)
		}
	})
	if n == 0 {
		t.Error("no answers")
	}
}

func pearson(x, y []float64) float64 {
	mean := func(v []float64) (m float64) {
		for _, a := range v {
			m += a / float64(len(v))
		}
		return m
	}
	mx, my := mean(x), mean(y)
	var xx, yy, xy float64
	for i := range x {
		a, b := x[i]-mx, y[i]-my
		xx, yy, xy = xx+a*a, yy+b*b, xy+a*b
	}
	return xy / math.Sqrt(xx*yy)
}

// kendall is tau-b by counting over the table of distinct values, of which
// scores in whole numbers have few.
func kendall(x, y []float64) float64 {
	distinct := func(v []float64) []float64 {
		v = slices.Clone(v)
		slices.Sort(v)
		return slices.Compact(v)
	}
	dx, dy := distinct(x), distinct(y)
	table := make([][]float64, len(dx))
	for i := range table {
		table[i] = make([]float64, len(dy))
	}
	for i := range x {
		r, _ := slices.BinarySearchFunc(dx, x[i], stdcmp.Compare[float64])
		c, _ := slices.BinarySearchFunc(dy, y[i], stdcmp.Compare[float64])
		table[r][c]++
	}
	var concordant, discordant, tiedX, tiedY float64
	above := make([]float64, len(dy)) // the cells of the rows before, by column
	columns := make([]float64, len(dy))
	for _, row := range table {
		total := 0.0
		for _, n := range row {
			total += n
		}
		tiedX += total * (total - 1) / 2
		left, right := 0.0, 0.0
		for _, a := range above {
			right += a
		}
		for c, n := range row {
			right -= above[c]
			concordant += n * left
			discordant += n * right
			left += above[c]
		}
		for c, n := range row {
			above[c] += n
			columns[c] += n
		}
	}
	for _, n := range columns {
		tiedY += n * (n - 1) / 2
	}
	pairs := float64(len(x)) * float64(len(x)-1) / 2
	return (concordant - discordant) / math.Sqrt((pairs-tiedX)*(pairs-tiedY))
}

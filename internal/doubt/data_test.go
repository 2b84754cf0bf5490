package doubt_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
)

// sample is an answer, with whether it lost the meaning of its reference, and
// the distance between the vectors that all-MiniLM-L6-v2 gives both.
type sample struct {
	ID                int // of the reference
	Model, Kind       string
	Reference, Answer string
	Lost              bool
	Distance          float64
}

// tuning tells that the weights are fitted on a labelled sample.
func (s sample) tuning() bool { return s.ID <= 16 && (s.Model != "hand" || s.Kind == "other") }

// test tells that nothing was fitted on a labelled sample or on others of its
// reference or of its writer.
func (s sample) test() bool { return s.ID > 16 || s.Model == "hand" && s.Kind != "other" }

// labelled is the labelled set: references, answers of SmolLM2-135M-Instruct
// to the ten prompts that the checks accept, and paraphrases and errors
// written by hand. Answers of which it is not clear are left out.
func labelled(t *testing.T) []sample {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "labelled.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var out []sample
	for line := range bytes.Lines(b) {
		var s sample
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

func realData(t *testing.T, path ...string) string {
	t.Helper()
	dir := os.Getenv("REFRACT_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	file := filepath.Join(append([]string{dir}, path...)...)
	if _, err := os.Stat(file); err != nil {
		t.Skipf("no %s; set REFRACT_DATA to a folder that has it", file)
	}
	return file
}

func open(t *testing.T, reference, variants string) refract.Dataset {
	t.Helper()
	ds, err := dataset.OpenLines(dataset.LinesSpec{References: []string{reference}}, dataset.Options{})
	if err == nil {
		ds, err = dataset.WithReferences(ds, "div-ref-lines:"+variants, dataset.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

// released are the answers of gpt-3.5-turbo that Div-Ref's authors released,
// to 600 references of WMT22 zh-en drawn at random, less those that the checks
// rejected when the file of their distances was made.
func released(t *testing.T) []sample {
	t.Helper()
	reference := realData(t, "mt-metrics-eval-v2", "wmt22", "references", "zh-en.refA.txt")
	ds := open(t, reference, realData(t, "div-ref", "wmt22.zh-en.refA.diversified"))
	b, err := os.ReadFile(filepath.Join("testdata", "released.zh-en.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	distances := map[string][]string{}
	for line := range strings.Lines(string(b)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		distances[fields[0]] = fields[1:]
	}
	var out []sample
	for s, err := range ds.Segments(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for i, field := range distances[s.ID] {
			if field == "" {
				continue
			}
			id, err := strconv.Atoi(s.ID)
			if err != nil {
				t.Fatal(err)
			}
			d, err := strconv.ParseFloat(field, 64)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, sample{ID: id, Reference: s.References[0].Value, Answer: s.Variants[i].Text.Value, Distance: d})
		}
	}
	return out
}

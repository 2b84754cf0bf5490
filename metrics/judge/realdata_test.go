package judge_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/judge"
)

func dataFolder(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("REFRACT_DATA"); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "..", "shared", "data")
		}
	}
	t.Fatal("no go.mod above")
	return ""
}

// recordedAnswer is an answer that the authors of InstructScore released.
type recordedAnswer struct {
	Segment                       int
	Reference, Hypothesis, Output string
}

func recordedAnswers(t testing.TB) []recordedAnswer {
	t.Helper()
	path := filepath.Join(dataFolder(t), "instructscore", "wmt22.zh-en.outputs.jsonl.gz")
	f, err := os.Open(path)
	if err != nil {
		t.Skipf("no released answers of InstructScore: %v", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var rows []recordedAnswer
	for dec := json.NewDecoder(z); ; {
		var r recordedAnswer
		if err := dec.Decode(&r); errors.Is(err, io.EOF) {
			return rows
		} else if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
}

// The released answers of InstructScore go through the whole judge: prompts as
// they were made with, a store, calls, parser and report. 26,200 of 26,250 have
// a score, and the rest are unparseable.
func TestInstructScoreReleased(t *testing.T) {
	rows := recordedAnswers(t)
	answers := map[string]string{}
	blocks := make([]metrics.Block, 0, 1875)
	bySegment := map[int]int{}
	for _, r := range rows {
		answers[r.Reference+"\x00"+r.Hypothesis] = r.Output
		i, ok := bySegment[r.Segment]
		if !ok {
			i = len(blocks)
			bySegment[r.Segment] = i
			blocks = append(blocks, metrics.Block{References: []string{r.Reference}})
		}
		blocks[i].Hypotheses = append(blocks[i].Hypotheses, r.Hypothesis)
	}
	m := &model{}
	m.answer = func(r llm.Request) (llm.Response, error) {
		rest, ok := strings.CutPrefix(r.Prompt, `You are evaluating a model output based on a reference, which reflects text semantics. The correct translation is "`)
		ref, out, also := strings.Cut(rest, `". The model generated translation is "`)
		out, _, ends := strings.Cut(out, `". Please identify all errors within each model output, up to a maximum of five.`)
		if !ok || !also || !ends {
			t.Errorf("a prompt of another form: %q", r.Prompt)
		}
		a, ok := answers[ref+"\x00"+out]
		if !ok {
			t.Errorf("no answer for %q", r.Prompt)
		}
		return llm.Response{Text: a, HasText: true, FinishReason: "stop"}, nil
	}
	d, err := judge.Find("instructscore")
	if err != nil {
		t.Fatal(err)
	}
	env := judge.Environment{Asker: ask.New(ask.Config{Client: m, Store: cache.NewMemory(), Concurrency: 64})}
	metric, err := metrics.Registry{d.Factory(env)}.Parse(t.Context(), "instructscore:task=mt_zh-en,first=old")
	if err != nil {
		t.Fatal(err)
	}
	scores, err := metric.Score(t.Context(), blocks)
	if err != nil {
		t.Fatal(err)
	}
	count := map[metrics.Status]int{}
	counted := 0
	for _, s := range scores {
		for i, status := range s.Status {
			count[status]++
			for _, p := range s.Reports[i].Problems {
				if p.Code == "count" {
					counted++
				}
			}
		}
	}
	if count[metrics.Scored] != 26200 || count[metrics.Unparseable] != 50 || len(count) != 2 {
		t.Errorf("%v; want 26,200 scored and 50 unparseable", count)
	}
	if counted != 4 {
		t.Errorf("%d answers state another number of errors than they list, want 4", counted)
	}
	if n := len(m.asked); n >= len(rows) {
		t.Errorf("%d calls for %d cells, of which some are equal", n, len(rows))
	} else {
		t.Logf("%d calls for %d cells", n, len(rows))
	}
}

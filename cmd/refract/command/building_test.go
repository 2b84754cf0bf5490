package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/internal/llmtest"
)

// A judge that was trained on a build, and is served as judge-file:, is sent the
// prompts of its examples, byte for byte, at the endpoint that the card names.
func TestBuildingServedPrompts(t *testing.T) {
	atLength(t)
	dir := t.TempDir()
	require.NoError(t, saveSample(dir))
	mix := "recipe: metricinstruct\nvalidation: 0\nmix:\n  - {dataset: 'jsonl:" + filepath.Join(dir, "sample.jsonl") + "', task: translation, options: {sl: German, tl: English}, metric: chrf, real: 12, synthetic: 6}\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mix.yaml"), []byte(mix), 0o600))
	plan := "recipe: instructscore\nvalidation: 0\ndataset: 'jsonl:" + filepath.Join(dir, "sample.jsonl") + "'\ntask: mt_zh-en\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "plan.yaml"), []byte(plan), 0o600))
	for _, c := range []struct{ metric, options, plan string }{
		{"instructscore", "task=mt_zh-en", "plan.yaml"},
		{"tigerscore", "task=translation,sl=German,tl=English", "mix.yaml"},
	} {
		for _, endpoint := range []string{"completions", "chat"} {
			t.Run(c.metric+"/"+endpoint, func(t *testing.T) {
				h, url, stop, err := startServer(nil, documentAnswer, &atomic.Int64{})
				require.NoError(t, err)
				t.Cleanup(stop)
				at := func(name string) string { return filepath.Join(dir, c.metric+"-"+endpoint+"-"+name) }
				refract := func(args ...string) {
					t.Helper()
					code, _, errs := askHere(t, args...)
					require.Equal(t, exitDone, code, "%v: %s", args, errs)
				}
				asking := []string{"--base-url", url, "--cache", at("cache.sqlite")}
				refract(slices.Concat([]string{"build", filepath.Join(dir, c.plan), "--model", "teacher", "-o", at("data")}, asking)...)

				refract("metrics", c.metric, "-o", at("judge.yaml"))
				edit(t, at("judge.yaml"), "name: "+c.metric, "name: my-judge", "endpoint: completions", "endpoint: "+endpoint)
				want := trainedOn(t, at("data"), at("texts.jsonl"))
				before := len(h.Requests())
				refract(append([]string{"score", "jsonl:" + at("texts.jsonl"), "-m", "judge-file:" + at("judge.yaml") + "," + c.options + ",model=my-org/my-judge", "-a", "single"}, asking...)...)
				var got []string
				for _, r := range h.Requests()[before:] {
					if r.Chat != (endpoint == "chat") || len(r.Messages) > 1 || r.Model != "my-org/my-judge" {
						t.Errorf("model %s, chat %v, %d messages", r.Model, r.Chat, len(r.Messages))
					}
					got = append(got, r.Prompt)
				}
				slices.Sort(got)
				if len(want) < 12 || !slices.Equal(got, want) {
					t.Errorf("%d prompts are sent, and %d trained on:\n%.400q\n%.400q", len(got), len(want), got, want)
				}
			})
		}
	}
}

// edit replaces lines of a file, in pairs of old and new.
func edit(t *testing.T, path string, lines ...string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for i := 0; i < len(lines); i += 2 {
		next := strings.Replace(string(text), lines[i]+"\n", lines[i+1]+"\n", 1)
		if next == string(text) && lines[i] != lines[i+1] {
			t.Fatalf("%s has no line %q", path, lines[i])
		}
		text = []byte(next)
	}
	require.NoError(t, os.WriteFile(path, text, 0o600))
}

// trainedOn writes the texts of a build's examples as a dataset, and gives the
// prompts that a model is trained on, in order.
func trainedOn(t *testing.T, folder, texts string) (prompts []string) {
	t.Helper()
	var data bytes.Buffer
	for i, line := range linesOf(t, filepath.Join(folder, "items.jsonl")) {
		var item struct{ Rule, Source, Reference, Hypothesis string }
		err := json.Unmarshal([]byte(line), &item)
		require.True(t, err == nil && item.Rule == "", "%v: %s", err, line)
		row := map[string]any{"id": fmt.Sprint(i), "references": []string{item.Reference}, "hypotheses": map[string]string{"a": item.Hypothesis}}
		if item.Source != "" {
			row["source"] = item.Source
		}
		require.NoError(t, json.NewEncoder(&data).Encode(row))
	}
	require.NoError(t, os.WriteFile(texts, data.Bytes(), 0o600))
	for _, line := range linesOf(t, filepath.Join(folder, "train.jsonl")) {
		var row struct {
			Prompt   string
			Messages []llmtest.Message
		}
		require.NoError(t, json.Unmarshal([]byte(line), &row))
		if len(row.Messages) > 0 {
			row.Prompt = row.Messages[0].Content
		}
		prompts = append(prompts, row.Prompt)
	}
	slices.Sort(prompts)
	return prompts
}

func linesOf(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return slices.Collect(strings.Lines(string(text)))
}

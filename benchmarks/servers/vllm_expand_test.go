package servers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// letters writes invented segments into a folder.
func letters(t *testing.T, dir string, segments int) {
	t.Helper()
	var in bytes.Buffer
	for i := range segments {
		fmt.Fprintf(&in, "{\"id\":\"%d\",\"references\":[\"The teacher opened letter %d.\"]}\n", i, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "in.jsonl"), in.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// answers are the texts of an expansion, accepted or not, by segment.
func answers(t *testing.T, path string) (all [][]string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		var s struct {
			Variants, Rejected []struct {
				Text   string
				Origin struct{ Raw *string } // where it is not the text
			}
		}
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, v := range append(s.Variants, s.Rejected...) {
			if v.Origin.Raw != nil {
				v.Text = *v.Origin.Raw
			}
			texts = append(texts, v.Text)
		}
		all = append(all, texts)
	}
	return all
}

// The program waits for a server that is still loading. benchmarks/servers/vllm.sh
// runs this before all else.
func TestVLLMWait(t *testing.T) {
	url, dir, program := vLLM(t), t.TempDir(), program(t)
	letters(t, dir, 1)
	args := []string{"expand", "jsonl:in.jsonl", "--model", model, "--base-url", url, "--prompts", "plain", "--form", "text", "--max-tokens", "16", "--resample", "0", "-o", "out.jsonl"}
	resp, err := http.Get(strings.TrimSuffix(url, "/v1") + "/health")
	if err == nil {
		_ = resp.Body.Close()
	}
	if loading := err != nil || resp.StatusCode != http.StatusOK; loading {
		_, said, code := run(t, dir, program, append(args, "--retries", "0")...)
		if code != 1 {
			t.Errorf("without waiting: exit code %d\n%s", code, said)
		}
		t.Logf("the server is loading; without waiting: %s", said)
	} else {
		t.Log("the server has loaded before this check")
	}
	_, said, code := run(t, dir, program, append(args, "--wait", "4m")...)
	if code != 0 || len(answers(t, filepath.Join(dir, "out.jsonl"))) != 1 {
		t.Errorf("exit code %d\n%s", code, said)
	}
}

// The program expands against the server: sampled, and greedily. At temperature
// 0 two runs with a cache of their own give the same answers where the server
// works on one call at a time; what it batches may move the last digits of a
// model's numbers.
func TestVLLMExpand(t *testing.T) {
	vLLM(t)
	dir, program := t.TempDir(), program(t)
	const segments, prompts = 6, 11
	letters(t, dir, segments)
	for _, endpoint := range []string{"chat", "completions"} {
		expand := func(name string, want map[string]any, args ...string) [][]string {
			w := newWitness(t, vLLM(t), nil)
			_, said, code := run(t, dir, program, append([]string{"expand", "jsonl:in.jsonl", "--model", model, "--base-url", w.URL + "/v1", "--endpoint", endpoint,
				"--prompts", "ten@de,plain", "--max-tokens", "40", "--resample", "0", "--enlarge", "0", "--cache", name + ".sqlite", "-o", name + ".jsonl"}, args...)...)
			if code != 0 || len(w.asked) != segments*prompts {
				t.Fatalf("%s: exit code %d, %d calls\n%s", name, code, len(w.asked), said)
			}
			for _, a := range w.asked {
				var body map[string]any
				if err := json.Unmarshal(a.body, &body); err != nil {
					t.Fatal(err)
				}
				for field, value := range want {
					if body[field] != value {
						t.Fatalf("%s: %s is %v on the wire, want %v", name, field, body[field], value)
					}
				}
			}
			all := answers(t, filepath.Join(dir, name+".jsonl"))
			for i, texts := range all {
				if len(texts) != prompts {
					t.Errorf("%s: %d answers in segment %d, want %d", name, len(texts), i, prompts)
				}
			}
			if len(all) != segments {
				t.Fatalf("%s: %d segments", name, len(all))
			}
			return all
		}
		equal := func(a, b [][]string) (n int) {
			for i := range a {
				for k := range a[i] {
					if a[i][k] == b[i][k] {
						n++
					}
				}
			}
			return n
		}
		sampling := map[string]any{"temperature": 1.0, "top_p": 0.9, "max_tokens": 40.0}
		sampled := expand(endpoint+"-sampled", sampling, "--concurrency", "16")
		greedy := map[string]any{"temperature": 0.0, "top_p": 1.0, "max_tokens": 40.0}
		zero := []string{"--temperature", "0", "--top-p", "1", "--concurrency"}
		first := expand(endpoint+"-first", greedy, append(zero, "1")...)
		second := expand(endpoint+"-second", greedy, append(zero, "1")...)
		batched := expand(endpoint+"-batched", greedy, append(zero, "16")...)
		t.Logf("%s, temperature 0: of %d answers %d are equal in two runs with one call at a time, %d of another run with 16; %d of a sampled run",
			endpoint, segments*prompts, equal(first, second), equal(first, batched), equal(first, sampled))
		if equal(first, second) != segments*prompts {
			t.Errorf("%s: two greedy runs differ", endpoint)
		}
		if equal(first, sampled) == segments*prompts {
			t.Errorf("%s: sampling changes nothing", endpoint)
		}
	}
}

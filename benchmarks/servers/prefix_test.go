package servers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// counted is what the server has read of prompts so far: tokens that it had to
// compute, and tokens that a slot still had.
func counted(t *testing.T) (computed, cached float64) {
	t.Helper()
	found := 0
	for line := range strings.Lines(string(get(t, "/metrics"))) {
		for name, to := range map[string]*float64{"prompt_tokens_total": &computed, "prompt_tokens_cached_total": &cached} {
			if n, _ := fmt.Sscanf(line, "llamacpp:"+name+" %g", to); n == 1 {
				found++
			}
		}
	}
	if found != 2 {
		t.Skip("the server counts no cached tokens")
	}
	return computed, cached
}

// replay sends bodies anew, one by one, with a word before each first text that
// no earlier prompt begins with, and gives the share of the prompts' tokens
// that the server had cached.
func replay(t *testing.T, all []asked, word string) float64 {
	t.Helper()
	computed, cached := counted(t)
	resend(t, llamaCPP(t), all, func(body map[string]any) {
		briefly(body)
		if prompt, ok := body["prompt"].(string); ok {
			body["prompt"] = word + prompt
			return
		}
		first := body["messages"].([]any)[0].(map[string]any)
		first["content"] = word + first["content"].(string)
	})
	return share(t, computed, cached)
}

// share is how much of the prompts since a count was cached.
func share(t *testing.T, computed, cached float64) float64 {
	t.Helper()
	c, k := counted(t)
	return (k - cached) / (c - computed + k - cached)
}

// Calls that share a prefix go out next to each other, and the server's own
// counter shows that it need not compute the prefix again. In another order it
// must, since it has fewer slots than there are prefixes.
func TestLlamaCPPPrefixes(t *testing.T) {
	dir, program := t.TempDir(), program(t)
	const segments, references, systems = 12, 2, 5
	var in bytes.Buffer
	encode := json.NewEncoder(&in)
	for i := range segments {
		s := map[string]any{"id": fmt.Sprint(i)}
		long := func(what string, n int) string {
			return strings.TrimSpace(strings.Repeat(fmt.Sprintf("%s %d of item %d stands here. ", what, n, i), 6))
		}
		s["source"] = long("Source", 0)
		var refs []string
		for n := range references {
			refs = append(refs, long("Reference", n))
		}
		hyps := map[string]string{}
		for n := range systems {
			hyps[fmt.Sprint("system", n)] = fmt.Sprintf("Output %d.", n)
		}
		s["references"], s["hypotheses"] = refs, hyps
		if err := encode.Encode(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "in.jsonl"), in.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, spec := range []string{"instructscore:task=mt_zh-en,model=" + model, "gemba-da:sl=German,tl=English,model=" + model} {
		t.Run(strings.SplitN(spec, ":", 2)[0], func(t *testing.T) {
			w := newWitness(t, llamaCPP(t), nil)
			computed, cached := counted(t)
			_, said, code := run(t, dir, program, "score", "jsonl:in.jsonl", "-m", spec, "--base-url", w.URL+"/v1",
				"--concurrency", "1", "--cache", spec[:4]+".sqlite", "--max-unparsed", "1")
			ordered := share(t, computed, cached)
			if len(w.asked) != segments*references*systems {
				t.Fatalf("%d calls (exit code %d):\n%s", len(w.asked), code, said)
			}
			again := replay(t, w.asked, "A ")
			mixed := append([]asked(nil), w.asked...)
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			shuffled := replay(t, mixed, "B ")
			t.Logf("of the prompts' tokens were cached: %.1f %% in the program's order, %.1f %% when it is replayed, %.1f %% in a random order",
				100*ordered, 100*again, 100*shuffled)
			// What stands behind the output in a prompt is cached in no order.
			if ordered < 0.35 || math.Abs(ordered-again) > 0.05 || shuffled > 0.6*ordered {
				t.Error("the order does not pay")
			}
		})
	}
}

package command

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/refract-eval/refract/internal/llmtest"
)

// The program is killed with -9 after a random number of calls and started again, until it
// is done. The output is that of a run that was never interrupted, and no
// answer that was stored is asked for again: at a kill, only the calls that
// are in flight can be lost.
func TestKilledExpandGoesOn(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs kill -9")
	}
	dir := t.TempDir()
	const segments, prompts, concurrency = 60, 10, 8
	var data bytes.Buffer
	for i := range segments {
		fmt.Fprintf(&data, "{\"id\":\"s%d\",\"references\":[\"The reference with the number %d.\"]}\n", i, i)
	}
	in := filepath.Join(dir, "data.jsonl")
	if err := os.WriteFile(in, data.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	// run kills the program after a number of calls, 0 for never, and reports whether it
	// ended by itself.
	run := func(server *llmtest.Server, cache, out string, kill int) bool {
		before := server.Handler.Calls()
		cmd := exec.Command("refract", "expand", "jsonl:"+in, "--checks", "none", "--model", "m", "--base-url", server.BaseURL,
			"--concurrency", fmt.Sprint(concurrency), "--cache", filepath.Join(dir, cache), "-o", filepath.Join(dir, out))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		for {
			select {
			case err := <-done:
				if err != nil {
					t.Fatalf("expand: %v\n%s", err, stderr.String())
				}
				return true
			case <-time.After(time.Millisecond):
			}
			if kill == 0 || server.Handler.Calls() < before+kill {
				continue
			}
			cmd.Process.Kill()
			<-done
			// It may have been killed after its last step.
			if b, err := os.ReadFile(filepath.Join(dir, out)); err == nil && bytes.Count(b, []byte("\n")) != segments {
				t.Fatal("a killed run left a part of an output under its final name")
			}
			return false
		}
	}
	server := llmtest.NewServer(t, &llmtest.Handler{Answer: func(r *llmtest.Request) string {
		time.Sleep(2 * time.Millisecond)
		return llmtest.Answer(r.Model, r.Prompt, 0)
	}})
	rng := rand.New(rand.NewPCG(1, 2))
	kills := 0
	for !run(server, "killed.sqlite", "killed.jsonl", concurrency+rng.IntN(60)) {
		kills++
	}
	calls := server.Handler.Calls()
	if calls > segments*prompts+kills*2*concurrency {
		t.Errorf("%d calls for %d answers and %d kills with at most %d calls in flight", calls, segments*prompts, kills, concurrency)
	}
	whole := llmtest.NewServer(t, &llmtest.Handler{})
	run(whole, "whole.sqlite", "whole.jsonl", 0)
	undated := func(name string) []byte {
		b, _ := os.ReadFile(filepath.Join(dir, name))
		return created.ReplaceAll(b, nil)
	}
	killed, want := undated("killed.jsonl"), undated("whole.jsonl")
	if len(want) == 0 || !bytes.Equal(killed, want) {
		t.Errorf("the output of killed runs differs from that of a whole one (%d and %d bytes)", len(killed), len(want))
	}
	// And everything is stored now.
	before := server.Handler.Calls()
	run(server, "killed.sqlite", "again.jsonl", 0)
	if server.Handler.Calls() != before {
		t.Errorf("a second run made %d calls", server.Handler.Calls()-before)
	}
	t.Logf("%d kills, %d calls for %d answers", kills, calls, segments*prompts)
}

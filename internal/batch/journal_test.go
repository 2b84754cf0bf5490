package batch

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

func TestOneProcessAJournal(t *testing.T) {
	h := &llmtest.Handler{}
	r := newRunner(t, h)
	tried := false
	rs := results{}
	err := r.Run(t.Context(), items(2), func(res Result) error {
		if !tried {
			tried = true
			second := *r
			if err := second.Run(t.Context(), items(2), results{}.keep(t)); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), r.Journal) {
				t.Errorf("the second run: %v", err)
			}
			if err := Remove(r.Journal); !errors.Is(err, ErrLocked) {
				t.Errorf("removing: %v", err)
			}
		}
		return rs.keep(t)(res)
	})
	if err != nil || !tried {
		t.Fatal(err)
	}
	wantAnswers(t, rs, 2)
	wantSubmitted(t, h, 2, nil)
	if err := Remove(r.Journal); err != nil {
		t.Error(err)
	}
	if err := Remove(r.Journal); err != nil {
		t.Errorf("removing what is not there: %v", err)
	}
}

func TestForeignJournal(t *testing.T) {
	h := &llmtest.Handler{}
	for name, change := range map[string]func(*Runner, *Item){
		"server": func(r *Runner, _ *Item) {
			r.Client = newClient(t, h, func(cfg *llm.Config) { cfg.BaseURL = "http://elsewhere:8000/v1" })
		},
		"endpoint": func(r *Runner, _ *Item) {
			r.Client = newClient(t, h, func(cfg *llm.Config) { cfg.Endpoint = llm.Completions })
		},
		"model": func(_ *Runner, it *Item) { it.Request.Model = "another" },
	} {
		r := newRunner(t, h)
		mustRun(t, r, items(1))
		it := item("p")
		change(r, &it)
		calls := h.Calls()
		err := r.Run(t.Context(), list(it), results{}.keep(t))
		if !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), "test-model") || h.Calls() != calls {
			t.Errorf("%s: error %v", name, err)
		}
		// Without items there is nothing to compare, and nothing to do.
		if err := r.Run(t.Context(), items(0), results{}.keep(t)); err != nil {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestDamagedJournal(t *testing.T) {
	head := `{"refract_batch_journal":1,"server":"` + testURL + `","url":"/v1/chat/completions","model":"test-model"}` + "\n"
	for name, content := range map[string]string{
		"another file": "one\ntwo\n", "another version": `{"refract_batch_journal":2}` + "\n", "JSON": "[]\n",
		"no event": head + "{}\n", "unknown batch": head + `{"event":"created","batch":"x","id":"y"}` + "\n",
		"unknown event": head + `{"event":"intent","batch":"x"}` + "\n" + `{"event":"sold","batch":"x"}` + "\n",
		"no file":       head + `{"event":"intent","batch":"x"}` + "\n" + `{"event":"uploaded","batch":"x"}` + "\n",
		"twice":         head + strings.Repeat(`{"event":"intent","batch":"x"}`+"\n", 2), "zeros": head + "\x00\x00\n",
	} {
		h := &llmtest.Handler{}
		r := newRunner(t, h)
		if err := os.WriteFile(r.Journal, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		err := r.Run(t.Context(), items(1), results{}.keep(t))
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), r.Journal) || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: error %v", name, err)
		}
		if after, _ := os.ReadFile(r.Journal); string(after) != content {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

// Cut at any byte, a journal is that of an earlier moment.
func TestJournalCutAnywhere(t *testing.T) {
	h := troubled()
	r := newRunner(t, h)
	r.maxRows = 3
	mustRun(t, r, items(killRows))
	whole, err := os.ReadFile(r.Journal)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n <= len(whole); n += 7 {
		path := filepath.Join(t.TempDir(), "cut")
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := openJournal(path)
		if err != nil {
			t.Fatalf("cut at byte %d: %v", n, err)
		}
		j.close()
		after, _ := os.ReadFile(path)
		if want := whole[:bytes.LastIndexByte(whole[:n], '\n')+1]; !bytes.Equal(after, want) {
			t.Fatalf("cut at byte %d: %d bytes are left, want %d", n, len(after), len(want))
		}
	}
}

func TestNoSecretInTheJournal(t *testing.T) {
	h := troubled()
	r := newRunner(t, h)
	h.Key = ""
	r.Client = newClient(t, h, func(cfg *llm.Config) {
		cfg.BaseURL, cfg.APIKey = "http://someone:secret-password@127.0.0.1:8000/v1?token=secret-token", ""
	})
	h.Key = ""
	mustRun(t, r, items(killRows))
	r2 := newRunner(t, h)
	h.Key = testKey
	mustRun(t, r2, items(3))
	for _, path := range []string{r.Journal, r2.Journal} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"someone", "secret", testKey, testKey[:10], "Say otherwise"} {
			if bytes.Contains(b, []byte(secret)) {
				t.Errorf("the journal has %q:\n%s", secret, b)
			}
		}
		if !bytes.Contains(b, []byte(idOf(promptOf(0)))) {
			t.Errorf("the journal does not name its rows:\n%s", b)
		}
	}
}

// What is not the key's account any more is not paid for again.
func TestServerForgot(t *testing.T) {
	for _, step := range []llmtest.BatchStep{llmtest.BatchGet, llmtest.BatchContent} {
		h := &llmtest.Handler{}
		h.Batch.Fail(step, llmtest.Status(404, "no such thing"))
		r := newRunner(t, h)
		err := r.Run(t.Context(), items(2), results{}.keep(t))
		if !errors.Is(err, llm.ErrNotFound) || !strings.Contains(err.Error(), r.Journal) {
			t.Errorf("error %v", err)
		}
		wantSubmitted(t, h, 2, nil)
	}
	// Nor where the server cannot tell whether a batch exists.
	h := &llmtest.Handler{}
	h.Batch.FailAfter(llmtest.BatchCreate, llmtest.Reset())
	h.Batch.Fail(llmtest.BatchList, llmtest.Status(404, "no list here"))
	r := newRunner(t, h)
	if err := r.Run(t.Context(), items(2), results{}.keep(t)); !errors.Is(err, llm.ErrNotFound) || !strings.Contains(err.Error(), `"file-1"`) {
		t.Errorf("error %v", err)
	}
	wantSubmitted(t, h, 2, nil)
}

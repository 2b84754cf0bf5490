package ask

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

const headLine = `{"refract_batch_journal":1,"server":"` + testURL + `","url":"/v1/chat/completions","model":"test-model"}` + "\n"

var testHead = journalHead{Server: testURL, URL: "/v1/chat/completions", Model: "test-model"}

// A journal belongs to one process, and to one server, endpoint and model.
func TestJournalOfAnotherRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j, err := openJournal(path, testHead, nil)
	require.NoError(t, err)
	_, err = openJournal(path, testHead, nil)
	assert.True(t, errors.Is(err, errLocked) && strings.Contains(err.Error(), path), "a second one: %v", err)
	j.f.Close()
	for _, change := range []func(*journalHead){
		func(h *journalHead) { h.Server = "http://elsewhere" }, func(h *journalHead) { h.URL = "/v1/completions" }, func(h *journalHead) { h.Model = "other" },
	} {
		head := testHead
		change(&head)
		_, err := openJournal(path, head, nil)
		assert.ErrorContains(t, err, `model "test-model"`, "%+v", head)
	}
}

func TestDamagedJournal(t *testing.T) {
	for name, content := range map[string]string{
		"another file": "one\ntwo\n", "another version": `{"refract_batch_journal":2}` + "\n", "JSON": "[]\n",
		"no event": headLine + "{}\n", "unknown batch": headLine + `{"event":"created","batch":"x","id":"y"}` + "\n",
		"unknown event": headLine + `{"event":"intent","batch":"x","rows":["1"]}` + "\n",
		"no file":       headLine + `{"event":"uploaded","batch":"x","rows":["1"]}` + "\n", "zeros": headLine + "\x00\x00\n",
	} {
		path := filepath.Join(t.TempDir(), "journal")
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		if _, err := openJournal(path, testHead, nil); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: error %v", name, err)
		}
		after, _ := os.ReadFile(path)
		assert.Equal(t, content, string(after), "%s: the file was changed", name)
	}
}

// A journal that is cut at any byte equals the journal of an earlier moment.
func TestCutJournal(t *testing.T) {
	whole := []byte(headLine + `{"event":"uploaded","batch":"a","rows":["1","2"],"file":"f1","time":"2026-11-01T10:00:00Z"}
{"event":"created","batch":"a","id":"b1"}
{"event":"uploaded","batch":"c","rows":["2"],"file":"f2","time":"2026-11-01T10:00:00Z"}
{"event":"dropped","batch":"c"}
`)
	path := filepath.Join(t.TempDir(), "cut")
	for n := len(whole); n >= 0; n -= 3 {
		require.NoError(t, os.WriteFile(path, whole[:n], 0o600))
		j, err := openJournal(path, testHead, nil)
		require.NoError(t, err, "cut at byte %d: %v", n, err)
		j.f.Close()
		want := whole[:bytes.LastIndexByte(whole[:n], '\n')+1]
		if len(want) == 0 {
			want = []byte(headLine)
		}
		after, _ := os.ReadFile(path)
		require.True(t, bytes.Equal(after, want), "cut at byte %d: %q is left, want %q", n, after, want)
		if n == len(whole) && (len(j.batches) != 1 || j.batches[0].id != "b1" || len(j.batches[0].rows) != 2) {
			t.Errorf("%+v", j.batches)
		}
	}
}

func TestNoSecretInTheJournal(t *testing.T) {
	h := troubled()
	b := newBatches(t, h)
	h.Key = ""
	var err error
	if b.Client, err = llm.New(llm.Config{BaseURL: "http://someone:secret-password@127.0.0.1:8000/v1?token=secret-token", Transport: h.Transport()}); err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	b.written = func(line []byte, done bool) { all.Write(line) }
	mustFill(t, b, prompts(3))
	b2 := newBatches(t, &llmtest.Handler{})
	b2.written = b.written
	mustFill(t, b2, prompts(3))
	for _, secret := range []string{"someone", "secret", testKey, testKey[:10], "Say otherwise"} {
		assert.False(t, bytes.Contains(all.Bytes(), []byte(secret)), "the journal has %q:\n%s", secret, &all)
	}
	assert.True(t, bytes.Contains(all.Bytes(), []byte(idOf(promptOf(0)))), "the journal does not name its rows:\n%s", &all)
}

package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/refract-eval/refract/internal/config"
)

func read(t *testing.T, text string) (*config.File, string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "some.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := config.Read(path)
	return f, filepath.Dir(path), err
}

func TestValues(t *testing.T) {
	f, dir, err := read(t, "base-url: [http://a/v1, http://b/v1]\nmax-cost: 0.5\nmax-calls: 7\ntimeout: 2m\ncache: c.sqlite\nprices:\n  m: {input: 1, output: 2}\n")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"base-url": {"http://a/v1", "http://b/v1"}, "max-cost": {"0.5"}, "max-calls": {"7"}, "timeout": {"2m"},
		"cache": {filepath.Join(dir, "c.sqlite")}, "prices": {`{"m":{"input":1,"output":2}}`},
	}
	if !reflect.DeepEqual(f.Values, want) {
		t.Errorf("%v, want %v", f.Values, want)
	}
}

func TestSecretField(t *testing.T) {
	for text, want := range map[string]string{
		`{"api_key":"hush"}`:                               "api_key",
		`{"headers":{"Authorization":"Bearer hush"}}`:      "Authorization",
		`{"a":[{"password":["hush"]}]}`:                    "password",
		`{"user":"sk-hush"}`:                               "user",
		`{"proxy":"http://u:hush@h"}`:                      "proxy",
		`{"seed":1,"skip_special_tokens":true,"user":"u"}`: "",
		`{"max_thinking_tokens":5,"stop_token_ids":[1,2]}`: "",
	} {
		var fields map[string]any
		if err := json.Unmarshal([]byte(text), &fields); err != nil {
			t.Fatal(err)
		}
		if got := config.SecretField(fields); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// Errors say the line, and never a value.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"model: m\nmodle: hush":        `:2: modle: unknown key "modle"; did you mean "model"?`,
		"api_key: hush":                ":1: api_key: a secret has no place",
		"base-url: http://u:hush@h/v1": ":1: base-url: a secret has no place",
		"cache: host=db password=hush": ":1: cache: a secret has no place",
		"model: sk-hush":               ":1: model: a secret has no place",
		"model: [hush]":                ":1: model: takes one value, not a list",
		"model: {hush: 1}":             ":1: model: takes one value, not a table",
		"model:":                       ":1: model: has no value",
		"model: a\nmodel: hush":        ":2: ",
		"- hush":                       ":1: ",
	} {
		_, _, err := read(t, text)
		if err == nil || !strings.Contains(err.Error(), "some.yaml"+want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := config.Read("none.yaml"); err == nil {
		t.Error("a named file must be there")
	}
}

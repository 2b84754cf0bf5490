package command

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/internal/redact"
)

func TestSecretField(t *testing.T) {
	for text, want := range map[string]string{
		`{"headers":{"Authorization":"Bearer hush"}}`:            "Authorization",
		`{"a":[{"password":["hush"]}]}`:                          "password",
		`{"user":"sk-hush"}`:                                     "user",
		`{"user":"sk-x"}`:                                        "user",
		`{"proxy":"http://u:hush@h"}`:                            "proxy",
		`{"user":"Bearer hush-hush-hush"}`:                       "user",
		`{"tags":["by hf_hushhushhushhushhushhush"]}`:            "tags",
		`{"note":"the bearer of bad news, basic as mask-large"}`: "",
		`{"seed":1,"skip_special_tokens":true,"user":"u"}`:       "",
	} {
		var fields map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &fields))
		assert.Equal(t, want, redact.SecretField("", fields), text)
	}
}

// Values are as flags take them, and errors say the line, and never a value.
func TestReadConfig(t *testing.T) {
	path := filepath.Join(t.TempDir(), "some.yaml")
	read := func(text string) (map[string][]string, error) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, values, err := readConfig(path, configKeys(testRoot(io.Discard).Commands()...))
		return values, err
	}
	values, err := read("base-url: [http://a/v1, http://b/v1]\nmax-cost: 0.5\ntimeout: 2m\ncache: c.sqlite\nprices:\n  m: {input: 1, output: 2}\n")
	want := map[string][]string{
		"base-url": {"http://a/v1", "http://b/v1"}, "max-cost": {"0.5"}, "timeout": {"2m"},
		"cache": {filepath.Join(filepath.Dir(path), "c.sqlite")}, "prices": {`{"m":{"input":1,"output":2}}`},
	}
	if err != nil || !reflect.DeepEqual(values, want) {
		t.Errorf("%v, %v, want %v", values, err, want)
	}
	for text, want := range map[string]string{
		"model: m\nmodle: hush":        `:2: modle: unknown key "modle"; did you mean "model"?`,
		"api_key: hush":                ":1: api_key: a secret has no place",
		"base-url: http://u:hush@h/v1": ":1: base-url: a secret has no place",
		"cache: host=db password=hush": ":1: cache: a secret has no place",
		"model: [hush]":                ":1: model: takes one value, not a list",
		"model:":                       ":1: model: takes one value",
		"model: a\nmodel: hush":        ":2: ",
	} {
		_, err := read(text)
		if err == nil || !strings.Contains(err.Error(), "some.yaml"+want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

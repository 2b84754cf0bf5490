package command

import (
	"encoding/json"
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
		`{"user":"glpat-hushhushhushhushhushhush"}`:              "user",
		`{"note":"the bearer of bad news, basic as mask-large"}`: "",
		`{"seed":1,"skip_special_tokens":true,"user":"u"}`:       "",
	} {
		var fields map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &fields))
		assert.Equal(t, want, redact.SecretField("", fields), text)
	}
}

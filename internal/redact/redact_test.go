package redact

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAddress(t *testing.T) {
	for _, test := range []struct{ arg, want string }{
		{"jsonl:data.jsonl", "jsonl:data.jsonl"},
		{"http://localhost:8000/v1", "http://localhost:8000/v1"},
		{"http://me:secret@host/v1", "http://USER@host/v1"},
		{"http://host/v1?key=secret", "http://host/v1?QUERY"},
		{"--base-url=https://me:secret@host/v1?key=secret", "--base-url=https://USER@host/v1?QUERY"},
		{"http://host/v1/secret", "http://host/v1/…"},
		{"https://host/secret/api/v1/chat/completions", "https://host/…/api/v1/chat/completions"},
		{"http://me:pw@host/secret?key=secret", "http://USER@host/…?QUERY"},
		{"postgres://me:a,b@host/db", "postgres://USER@host/db"},
		{"http://me:sec ret@ho st/", "ADDRESS"},
		{"tigerscore:task=mathqa,base-url=http://host/v1", "tigerscore:task=mathqa,base-url=http://host/v1"},
		{"tigerscore:task=mathqa,base-url=http://me:secret@host/v1,size=13B", "tigerscore:task=mathqa,base-url=http://USER@host/v1,size=13B"},
		{"tigerscore:base-url=http://host/v1?key=secret", "tigerscore:base-url=http://host/v1?QUERY"},
		{"--metric=mqm:sl=a,tl=b,base-url=http://me:secret@host/%zz,model=m", "--metric=mqm:sl=a,tl=b,base-url=ADDRESS,model=m"},
	} {
		assert.Equal(t, test.want, Address(test.arg), test.arg)
	}
}

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"oip:http://me:secret@host/model":                                      "oip:http://USER@host/model",
		"exec:score --url http://host/v1 --batch 4":                            "exec:score --url http://host/v1 --batch 4",
		"exec:score http://host/v1 http://me:secret@host/x --b":                "exec:score http://host/v1 http://USER@host/… --b",
		"oip:http://me:sec ret@host/model":                                     "oip:ADDRESS",
		"exec:score --api-key sesame --url http://host/v1":                     "exec:score --api-key SECRET --url http://host/v1",
		"exec:score 'key=se same' key=s,layer=3,token=s http://me:x@h":         "exec:score key=SECRET key=SECRET,layer=3,token=SECRET http://USER@h",
		"exec:score -H 'Authorization: Bearer sesame'":                         "exec:score -H 'Authorization: SECRET'",
		`exec:p "http://me:x@h/" 'http://h/?k=s' "Authorization: Bearer s" -b`: `exec:p http://USER@h/ 'http://h/?QUERY' 'Authorization: SECRET' -b`,
		`exec:p --url="http://me:x@h/v1" "a b"  c`:                             `exec:p --url=http://USER@h/v1 'a b' c`,
		`exec:p "a b"  --url http://h/v1`:                                      `exec:p "a b"  --url http://h/v1`,
		"exec:score -H Authorization: Bearer sesame --b":                       "exec:score -H Authorization: Bearer SECRET --b",
		"exec:score --password='se same' -n 3":                                 "exec:score --password=SECRET -n 3",
		"exec:score --password \"se same\" --sort x":                           "exec:score --password SECRET --sort x",
		"bleu:tokenize=intl":                                                   "bleu:tokenize=intl",
		"exec:score --max-tokens 7 --tokenizer=13a":                            "exec:score --max-tokens 7 --tokenizer=13a",
		"exec:env DB_PW=sesame score --pass:sesame --pass sesame -n 3":         "exec:env DB_PW=SECRET score --pass:SECRET --pass SECRET -n 3",
		"exec:score --token 'never closed sesame":                              "exec:score --token SECRET",
	} {
		assert.Equal(t, want, Text(text), text)
	}
}

func TestCommandLine(t *testing.T) {
	got := CommandLine([]string{"py", "--api-key", "sesame", "--hf_token=sesame", "--max-tokens", "7", "-m", "exec:p --token sesame -x"})
	assert.Equal(t, "py --api-key SECRET --hf_token=SECRET --max-tokens 7 -m 'exec:p --token SECRET -x'", got)
}

func TestMessage(t *testing.T) {
	for text, want := range map[string]string{
		`--extra: {"api_key": "quite-private"`:                 "--extra: {\"api_key\": \"…\"",
		`line 3: "{\"token\":\"quite-private\"" is no object`:  `line 3: "{\"token\":\"…\"" is no object`,
		`{'password': 'quite private'}`:                        `{'password': '…'}`,
		`401 from the server: bad key sk-abcdefgh12345, sorry`: `401 from the server: bad key …, sorry`,
		`bleu:tokenize=13a takes "tokenize": "13a"`:            `bleu:tokenize=13a takes "tokenize": "13a"`,
		`max_tokens: "12" at http://h/v1 is no number`:         `max_tokens: "12" at http://h/v1 is no number`,
	} {
		assert.Equal(t, want, Message(text), "Message(%s)", text)
	}
}

package redact

import (
	"encoding/json"
	"html"
	"net/url"
	"strings"
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
		"oip:http://me:secret@host/model":                                                          "oip:http://USER@host/model",
		"exec:score --url http://host/v1 --batch 4":                                                "exec:score --url http://host/v1 --batch 4",
		"exec:score http://host/v1 http://me:secret@host/x --b":                                    "exec:score http://host/v1 http://USER@host/… --b",
		"oip:http://me:sec ret@host/model":                                                         "oip:ADDRESS",
		"exec:score --api-key sesame --url http://host/v1":                                         "exec:score --api-key SECRET --url http://host/v1",
		"exec:score 'key=se same' key=s,layer=3,token=s http://me:x@h":                             "exec:score key=SECRET key=SECRET,layer=3,token=SECRET http://USER@h",
		"exec:score -H 'Authorization: Bearer sesame'":                                             "exec:score -H 'Authorization: SECRET'",
		`exec:p "http://me:x@h/" 'http://h/?k=s' "Authorization: Bearer s" -b`:                     `exec:p http://USER@h/ 'http://h/?QUERY' 'Authorization: SECRET' -b`,
		`exec:p --url="http://me:x@h/v1" "a b"  c`:                                                 `exec:p --url=http://USER@h/v1 'a b' c`,
		`exec:p "a b"  --url http://h/v1`:                                                          `exec:p "a b"  --url http://h/v1`,
		"exec:score -H Authorization: Bearer sesame --b":                                           "exec:score -H Authorization: Bearer SECRET --b",
		"exec:score --password='se same' -n 3":                                                     "exec:score --password=SECRET -n 3",
		"exec:score --password \"se same\" --sort x":                                               "exec:score --password SECRET --sort x",
		"bleu:tokenize=intl":                                                                       "bleu:tokenize=intl",
		"exec:score --sort-key name --group-key=lang -n 3":                                         "exec:score --sort-key name --group-key=lang -n 3",
		"exec:score --max-tokens 7 --tokenizer=13a":                                                "exec:score --max-tokens 7 --tokenizer=13a",
		"exec:env DB_PW=sesame score --pass:sesame --pass sesame -n 3":                             "exec:env DB_PW=SECRET score --pass:SECRET --pass SECRET -n 3",
		"exec:score --token 'never closed sesame":                                                  "exec:score --token SECRET",
		"exec:curl -u me:se:same -sb s=1 -b s=1 https://h/v1":                                      "exec:curl -u me:SECRET -sb SECRET -b SECRET https://h/v1",
		"exec:curl -sSu me:sesame -sSLume:sesame '-HAuthorization: Bearer sesame' -sSfx me:s@h:80": "exec:curl -sSu me:SECRET -sSLume:SECRET '-HAuthorization: Bearer SECRET' -sSfx me:SECRET@h:80",
		"exec:curl -ume:sesame --proxy-user=me:sesame --oauth2-bearer sesame":                      "exec:curl -ume:SECRET --proxy-user=me:SECRET --oauth2-bearer SECRET",
		"exec:curl --user me -x me:s@me@h:80 -E c.pem:sesame":                                      "exec:curl --user me -x me:SECRET@h:80 -E c.pem:SECRET",
		`exec:sh -c 'mysql -uroot -psesame -p db | curl -u "me:se same" h'`:                        `exec:sh -c 'mysql -uroot -pSECRET -p db '\''|'\'' curl -u me:SECRET h'`,
		`exec:sshpass -p sesame ssh -p 22 me@h`:                                                    `exec:sshpass -p SECRET ssh -p 22 me@h`,
		`exec:curl -d '{"api_key": "sesame"}' -H 'Cookie: a=sesame; b=1'`:                          `exec:curl -d '{"api_key": "SECRET"}' -H 'Cookie: SECRET'`,
		"exec:python3 -u -m pkg -x 1:2 -u http://h:80/v1 sk-0123456789abcdef":                      "exec:python3 -u -m pkg -x 1:2 -u http://h:80/v1 SECRET",
	} {
		assert.Equal(t, want, Text(text), text)
	}
}

func TestCommandLine(t *testing.T) {
	got := CommandLine([]string{"py", "--api-key", "sesame", "--hf_token=sesame", "--max-tokens", "7", "-m", "exec:p --token sesame -x"})
	assert.Equal(t, "py --api-key SECRET --hf_token=SECRET --max-tokens 7 -m 'exec:p --token SECRET -x'", got)
}

// Every echo of a secret is found, also in parts and escaped twice; what is next to it stays.
func TestKnown(t *testing.T) {
	const key = `sk-Proj/4f9a"77c21\be<0d3+x-ä`
	known := NewKnown([]string{key, "EMPTY", "", "basic-longer-pass"})
	js, _ := json.Marshal(key)
	again, _ := json.Marshal(string(js))
	for _, echo := range []string{
		key, strings.ToUpper(key[:20]), key[:20], key[4:21], key[:9], string(js[1 : len(js)-1]), string(again[3 : len(again)-3]),
		url.QueryEscape(key), url.PathEscape(key), url.QueryEscape(url.QueryEscape(key)), strings.ReplaceAll(key, "-", "%2d"),
		html.EscapeString(key), strings.ReplaceAll(key, "-", "&#x2d;"), strings.ReplaceAll(key, "-", `\u002D`),
	} {
		text := `Ü\n "100%" &amp; ` + echo + ` | é\u00e9 5%2B \`
		assert.Equal(t, strings.Replace(text, echo, "X", 1), known.Hide(text, "X"), echo)
		assert.Equal(t, len(echo) > 9, known.In(text), echo)
	}
	assert.Equal(t, "EMPTYING SECRET, (SECRET)", Values([]string{"EMPTY"})("EMPTYING EMPTY, (empty)"))
	assert.Equal(t, "", known.Hide("", "X"))

	large := strings.Repeat("a", most+450) + url.QueryEscape(key) + strings.Repeat("%41", most)
	assert.True(t, known.In(large), "at the edge of a piece")
	assert.False(t, known.In(strings.Repeat("%41\n", most)))
	assert.Len(t, known.Hide(large, "X"), most)
}

func TestMessage(t *testing.T) {
	for text, want := range map[string]string{
		`--extra: {"api_key": "quite-private"`:                          "--extra: {\"api_key\": \"…\"",
		`line 3: "{\"token\":\"quite-private\"" is no object`:           `line 3: "{\"token\":\"…\"" is no object`,
		`bad xoxb-1234567890-abc glpat-abcdefghij0123456789`:            `bad … …`,
		`AIza0123456789abcdefghijklmnopqrstuvwxy, ASIA0123456789ABCDEF`: `…, …`,
		`set 0123456789abcdef0123456789abcdef, id ghost_writer xoxo`:    `set 0123456789abcdef0123456789abcdef, id ghost_writer xoxo`,
		`{'password': 'quite private'}`:                                 `{'password': '…'}`,
		`401 from the server: bad key sk-abcdefgh12345, sorry`:          `401 from the server: bad key …, sorry`,
		`bleu:tokenize=13a takes "tokenize": "13a"`:                     `bleu:tokenize=13a takes "tokenize": "13a"`,
		`max_tokens: "12" at http://h/v1 is no number`:                  `max_tokens: "12" at http://h/v1 is no number`,
	} {
		assert.Equal(t, want, Message(text), "Message(%s)", text)
	}
}

package dataset

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const choosable = `{"id":"1","domain":"news","references":["r"],"hypotheses":{"a":"x","b":"y"},"human":{"own":{"a":1,"b":2,"c":3}}}
{"id":"2","domain":"web","references":["r"],"hypotheses":{"a":"x","b":null}}
{"id":"3","references":["r"],"hypotheses":{"b":"z"}}
`

// The result is written as "id:system system/judged judged".
func TestChosen(t *testing.T) {
	dir := folderOf(t, map[string]string{"data.jsonl": choosable})
	for _, c := range []struct {
		choice Choice
		want   string
	}{
		{Choice{}, "1:a b/a b c 2:a b/ 3:b/"},
		{Choice{Systems: []string{"b"}}, "1:b/b 2:b/ 3:b/"},
		{Choice{WithoutSystems: []string{"b"}}, "1:a/a c 2:a/ 3:/"},
		{Choice{Systems: []string{"a", "c"}, Domains: []string{"news"}}, "1:a/a c"},
		{Choice{Domains: []string{"web", "news"}}, "1:a b/a b c 2:a b/"},
		{Choice{Systems: []string{"other"}}, `no system "other"; there are "a", "b", "c"`},
		{Choice{WithoutSystems: []string{"A"}}, `no system "A" (did you mean "a"?)`},
		{Choice{Domains: []string{"new"}}, `no domain "new" (did you mean "news"?); there are "news", "web"`},
		{Choice{Systems: []string{"a"}, WithoutSystems: []string{"a"}}, `system "a" is both chosen and left out`},
		{Choice{WithoutSystems: []string{"a", "b", "c"}}, `every system is left out; keep one of "a", "b", "c"`},
	} {
		for _, twice := range []bool{true, false} { // whether names can be checked beforehand
			spec := "jsonl:" + filepath.Join(dir, "data.jsonl")
			if !twice {
				spec = "jsonl:-"
			}
			ds, err := Open(spec, Options{Stdin: strings.NewReader(choosable)})
			require.NoError(t, err)
			all, err := collect(Chosen(ds, c.choice))
			var got []string
			for _, s := range all {
				var systems, judged []string
				for _, h := range s.Hypotheses {
					systems = append(systems, h.System)
				}
				for _, j := range s.Judgements {
					judged = append(judged, j.System)
				}
				got = append(got, s.ID+":"+strings.Join(systems, " ")+"/"+strings.Join(judged, " "))
			}
			if text := strings.Join(got, " "); err == nil && text != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: %s, %v; want %s", c.choice, text, err, c.want)
			}
			assert.False(t, err != nil && twice && len(got) > 0, "%+v: %d segments before %v", c.choice, len(got), err)
		}
	}
}

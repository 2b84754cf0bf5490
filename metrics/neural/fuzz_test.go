package neural

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzAnswer reads arbitrary answers. An answer is complete and finite, or an error.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"id":"1","model_version":"1","outputs":[{"name":"score","shape":[2],"datatype":"FP32","data":[0.5,[1]]}]}`,
		`{"outputs":[{"name":"score","shape":[2,1],"datatype":"FP32","data":[1e999,null]}]}`,
		`{"error":{"code":5}}`,
		`{"outputs":[{"name":"score","shape":[2],"datatype":"FP32","data":[1,0]},{"name":"error_spans","shape":[2],"datatype":"BYTES","data":["[]","[]"]},` +
			`{"name":"facts","shape":[1],"datatype":"BYTES","data":["{\"name\":\"a\",\"version\":\"1\",\"direction\":\"lower\"}"]}]}`,
	} {
		f.Add([]byte(seed))
	}

	all := []scored{{row: row{"s", "a b", "r"}}, {row: row{"s", "c", "r"}}}
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := readAnswer(body)
		for _, form := range []*form{{}, {spans: true, facts: true}} {
			if err != nil {
				break
			}
			var r *result
			if r, err = a.check(form, "score", "1", all); err != nil {
				break
			}
			if len(r.scores) != len(all) || form.spans && len(r.reports) != len(all) || form.facts && r.facts == nil {
				t.Fatalf("an answer of a part: %+v", r)
			}
			for _, v := range r.scores {
				require.False(t, math.IsInf(v, 0), "the score %v", v)
			}
		}
	})
}

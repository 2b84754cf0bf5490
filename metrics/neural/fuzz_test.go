package neural

import (
	"math"
	"testing"
)

// FuzzAnswer reads what any server may send. An answer is whole and
// finite, or an error.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []struct {
		text, length string
	}{
		{`{"id":"1","model_version":"1","outputs":[{"name":"score","shape":[2],"datatype":"FP32","data":[0.5,[1]]}]}`, ""},
		{`{"outputs":[{"name":"score","shape":[2,1],"datatype":"FP32","data":[1e999,null]}]}`, ""},
		{`{"error":{"code":5}}`, ""},
		{`{"outputs":[{"name":"score","shape":[2],"datatype":"FP32","parameters":{"binary_data_size":8}},` +
			`{"name":"error_spans","shape":[2],"datatype":"BYTES","parameters":{"binary_data_size":12}},` +
			`{"name":"facts","shape":[1],"datatype":"BYTES","data":["{\"name\":\"a\",\"version\":\"1\",\"direction\":\"lower\"}"]}]}` +
			"\x00\x00\x80\x3f\x00\x00\x00\x00\x02\x00\x00\x00[]\x02\x00\x00\x00[]", "284"},
	} {
		f.Add([]byte(seed.text), seed.length)
	}
	all := []row{{"s", "a b", []string{"r"}}, {"s", "c", []string{"r"}}}
	f.Fuzz(func(t *testing.T, body []byte, length string) {
		a, err := readREST(length, body)
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
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("the score %v", v)
				}
			}
		}
	})
}

// TestSize has requests grow while they are short, shrink when they are long, and
// stay below what a server refused.
func TestSize(t *testing.T) {
	s := newSize(0)
	s.took(firstSize/4, 0)
	if s.now() != firstSize {
		t.Errorf("a small request changed the size to %d", s.now())
	}
	for range 20 {
		s.took(s.now(), shortTime/2)
	}
	if s.now() != mostSize {
		t.Errorf("short requests end at %d", s.now())
	}
	s.refused(300_000)
	for range 20 {
		s.took(s.now(), shortTime/2)
	}
	if s.now() != 150_000 {
		t.Errorf("after a refusal: %d", s.now())
	}
	for range 20 {
		s.took(s.now(), 2*longTime)
	}
	if s.now() != leastSize {
		t.Errorf("long requests end at %d", s.now())
	}
	fixed := newSize(5000)
	fixed.took(5000, 0)
	if fixed.now() != 5000 {
		t.Errorf("a fixed size became %d", fixed.now())
	}
}

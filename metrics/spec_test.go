package metrics

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// probe is a metric that only holds the options it was made with.
type probe struct {
	Metric
	flag  bool
	n     int
	x     float64
	word  string
	given bool
}

var errProbe = errors.New("n and x do not go together")

func probes() Registry {
	options := []Option{{Key: "flag", Signed: []string{"switch"}, Words: map[string]string{"on": "yes", "off": "no"}}, {Key: "count"}, {Key: "x"}, {Key: "word", Signed: []string{"w"}}}
	return Registry{
		{Name: "probe", Options: options, New: func(_ context.Context, v *Values) (Metric, error) {
			p := &probe{
				flag: v.Bool("flag", false), n: v.Int("count", 7, 1, 9), x: v.Float("x", 0.5, -1, 1e300),
				word: v.Enum("word", "red", "red", "green"), given: v.Has("flag"),
			}
			if p.n == 9 && p.x == 0.5 {
				return nil, errProbe
			}
			return p, nil
		}},
		{Name: "plain", New: func(context.Context, *Values) (Metric, error) { return &probe{word: "plain"}, nil }},
	}
}

func TestParse(t *testing.T) {
	for spec, want := range map[string]probe{
		"probe":                    {n: 7, x: 0.5, word: "red"},
		"probe:flag":               {n: 7, x: 0.5, word: "red", flag: true, given: true},
		"probe:flag=No":            {n: 7, x: 0.5, word: "red", given: true},
		"probe:flag=1,word=green":  {n: 7, x: 0.5, word: "green", flag: true, given: true},
		"probe:count=9,x=-1":       {n: 9, x: -1, word: "red"},
		"probe:x=1e300,flag=false": {n: 7, x: 1e300, word: "red", given: true},
		"plain":                    {word: "plain"},
		"Plain":                    {word: "plain"},
		"PROBE:w:green,switch:off": {n: 7, x: 0.5, word: "green", given: true}, // as in a signature
	} {
		m, err := probes().Parse(t.Context(), spec)
		if err != nil {
			t.Errorf("Parse(%q): %v", spec, err)
		} else if got := *m.(*probe); got != want {
			t.Errorf("Parse(%q) = %+v, want %+v", spec, got, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ spec, want string }{
		{"", `unknown metric ""`},
		{"prob", `did you mean "probe"? (known: probe, plain)`},
		{"quite-another", `unknown metric "quite-another" (known: probe, plain)`},
		{"probe:", `unknown option ""`},
		{"probe:flag,", `unknown option ""`},
		{"probe:coumt=3", `unknown option "coumt"; did you mean "count"?`},
		{"plain:flag", `unknown option "flag"`},
		{"probe:flag,flag=no", `option "flag" is given twice`},
		{"probe:flag,switch=off", `option "flag" is given twice`},
		{"probe:flag=off", "want yes or no"}, // this word is only valid with the name from signatures
		{"probe:flag=", "want yes or no"},
		{"probe:count=0", `option count="0": want a whole number from 1 to 9`},
		{"probe:count=10", "want a whole number from 1 to 9"},
		{"probe:count=1.0", "want a whole number"},
		{"probe:count=99999999999999999999", "want a whole number"},
		{"probe:x=NaN", `option x="NaN": want a number from -1 to 1e+300`},
		{"probe:x=inf", "want a number"},
		{"probe:x=-1.5", "want a number"},
		{"probe:word=gren", `unknown value for word "gren"; did you mean "green"? (known: red, green)`},
		{"probe:count=9", errProbe.Error()},
	} {
		m, err := probes().Parse(t.Context(), c.spec)
		var spec *SpecError
		if m != nil || !errors.As(err, &spec) || spec.Spec != c.spec {
			t.Errorf("Parse(%q) = %v, %v, want a SpecError", c.spec, m, err)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("Parse(%q): %v, want %q in it", c.spec, err, c.want)
		}
	}
	_, err := probes().Parse(t.Context(), "probe:count=9")
	assert.ErrorIs(t, err, errProbe, "the cause is lost")
	_, err = probes().Parse(t.Context(), "probe:flag=perhaps,count=many")
	if err == nil || !strings.Contains(err.Error(), `flag="perhaps"`) || !strings.Contains(err.Error(), `count="many"`) {
		t.Errorf("not all that is wrong is told: %v", err)
	}
	// x keeps its default because it cannot be read; that is not a second error.
	_, err = probes().Parse(t.Context(), "probe:count=9,x=a")
	if err == nil || errors.Is(err, errProbe) || !strings.Contains(err.Error(), `x="a"`) {
		t.Errorf("an error about a default: %v", err)
	}
}

// A factory with a tail gets it as written, and the context.
func TestTail(t *testing.T) {
	type key struct{}
	offered := Registry{{Name: "exec", Tail: "PROGRAM ARG…", New: func(ctx context.Context, v *Values) (Metric, error) {
		if v.Tail() == "" {
			return nil, v.Wrong(errors.New("no program is named"))
		}
		if v.Tail() == "none" {
			return nil, errProbe
		}
		return &probe{word: v.Tail() + ctx.Value(key{}).(string)}, nil
	}}}
	ctx := context.WithValue(t.Context(), key{}, "!")
	for _, tail := range []string{"score --lang=en,de x:y", "http://me:secret@host/v1,a=b"} {
		m, err := offered.Parse(ctx, "exec:"+tail)
		assert.True(t, err == nil && m.(*probe).word == tail+"!", "%q became %v, %v", tail, m, err)
	}
	_, err := offered.Parse(ctx, "exec")
	assert.True(t, errors.As(err, new(*SpecError)), "no tail: %v", err)
	_, err = offered.Parse(ctx, "exec:none")
	assert.True(t, err == errProbe, "the factory's own error: %v", err)
}

// An error shows a spec without its secrets.
func TestSpecErrorHidesPasswords(t *testing.T) {
	_, err := probes().Parse(t.Context(), "probe:url=http://me:secret@host/v1")
	if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "http://USER@host/v1") {
		t.Errorf("%v", err)
	}
}

type closing struct {
	probe
	err error
	n   *int
}

func (c closing) Close() error { *c.n++; return c.err }

// Close closes every io.Closer, also after an error.
func TestClose(t *testing.T) {
	n := 0
	err := Close(closing{n: &n, err: errProbe}, &probe{}, closing{n: &n})
	assert.True(t, n == 2 && errors.Is(err, errProbe), "%d closed, %v", n, err)
}

package neural

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/refract-eval/refract/metrics"
)

// spec says which model to ask, and what a server cannot tell about it.
type spec struct {
	urls      []string // of the servers, without the model
	model     string
	version   string // of the model; "" lets the server choose
	output    string // the tensor with the scores
	direction string // "" if not stated
	bytes     int    // maximum bytes of text in a request
}

const (
	defaultOutput = "score"
	defaultBytes  = 32 << 10
	example       = "oip:http://127.0.0.1:8000/comet"
)

// options are the options of a spec.
var options = []metrics.Option{
	{Key: "also", Values: "URL/MODEL", Doc: "another server of the same model (repeatable)"},
	{Key: "version", Values: "VERSION", Doc: "version of the model", Default: "the server's choice"},
	{Key: "output", Values: "NAME", Doc: "output that has the scores, such as precision", Default: defaultOutput},
	{Key: "direction", Values: "higher|lower", Doc: "which scores are better, of a model that does not say", Default: "higher"},
	{Key: "batch", Values: "BYTES", Doc: "bytes of text in a request", Default: "32768"},
}

// parseSpec reads the text after the colon: URL/MODEL[,OPTION=VALUE…]. Its errors do not
// quote addresses, which may contain secrets.
func parseSpec(v *metrics.Values) (spec, error) {
	var s spec
	if v.Tail() == "" {
		return s, fmt.Errorf("name a server and a model, such as %s", example)
	}
	address, rest, more := strings.Cut(v.Tail(), ",")
	err := s.address(address)
	if err == nil && more {
		err = metrics.EachOption(rest, func(key, value string, _ bool) error {
			if key == "also" {
				return s.address(value)
			}
			return v.Set(key, value, options)
		}, "also")
	}
	if err != nil {
		return s, err
	}
	for _, key := range []string{"version", "output"} {
		if v.Has(key) && v.String(key, "") == "" {
			return s, fmt.Errorf("option %s has no value", key)
		}
	}
	s.version, s.output = v.String("version", ""), v.String("output", defaultOutput)
	s.direction = v.Enum("direction", "", "higher", "lower")
	s.bytes = v.Int("batch", defaultBytes, 1, math.MaxInt32)
	return s, v.Err()
}

// address reads URL/MODEL.
func (s *spec) address(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Fragment != "" {
		return fmt.Errorf("this is not the address of a server; it should look like %s", example)
	}
	path := strings.TrimRight(u.Path, "/")
	at := strings.LastIndexByte(path, '/')
	model := path[at+1:]
	u.Path, u.RawPath = strings.TrimSuffix(path[:max(0, at)], "/v2/models"), ""
	switch {
	case at < 0 || model == "":
		return fmt.Errorf("the address names no model; it should look like %s", example)
	case s.model != "" && model != s.model:
		return fmt.Errorf("the servers of a metric must have the same model, not %q and %q", s.model, model)
	case slices.Contains(s.urls, u.String()):
		return fmt.Errorf("a server of %q is named twice", model)
	}
	s.model, s.urls = model, append(s.urls, u.String())
	return nil
}

// name is the metric's name. It omits the servers, because they do not change the scores.
func (s *spec) name() string {
	options := metrics.Canonical("", slices.Concat(metrics.Given("version", s.version, ""), metrics.Given("output", s.output, defaultOutput))...)
	return Name + ":" + s.model + strings.Replace(options, ":", ",", 1)
}

// info returns direction and bounds, from the facts or else from the spec.
func (s *spec) info(f *facts) (metrics.Info, error) {
	switch {
	case f == nil:
		return metrics.Declared(s.direction, nil, nil)
	case s.direction != "":
		return metrics.Info{}, errors.New("the model states its direction itself: leave out direction")
	}
	return f.info, nil
}

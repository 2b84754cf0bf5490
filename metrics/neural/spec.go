package neural

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
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
func parseSpec(text string) (spec, error) {
	s := spec{output: defaultOutput, bytes: defaultBytes}
	if text == "" {
		return s, fmt.Errorf("name a server and a model, such as %s", example)
	}
	address, rest, more := strings.Cut(text, ",")
	if err := s.address(address); err != nil || !more {
		return s, err
	}
	return s, metrics.EachOption(rest, s.set, "also")
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

func (s *spec) set(key, value string, _ bool) (err error) {
	switch key {
	case "also":
		return s.address(value)
	case "version":
		s.version = value
	case "output":
		s.output = value
	case "direction":
		s.direction = value
		if _, err := metrics.ParseDirection(value); err != nil {
			return fmt.Errorf("option direction=%q: want higher or lower", value)
		}
	case "batch":
		if s.bytes, err = strconv.Atoi(value); err != nil || s.bytes < 1 {
			return fmt.Errorf("option batch=%q: want a number of bytes", value)
		}
	default:
		return metrics.UnknownOption(key, options)
	}
	if value == "" {
		return fmt.Errorf("option %s has no value", key)
	}
	return nil
}

// name is the metric's name. It omits the servers, because they do not change the scores.
func (s *spec) name() string {
	name := Name + ":" + s.model
	if s.version != "" {
		name += ",version=" + s.version
	}
	if s.output != defaultOutput {
		name += ",output=" + s.output
	}
	return name
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

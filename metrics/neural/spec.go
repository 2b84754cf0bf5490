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

// spec says which model is asked, and what a server cannot say of it.
type spec struct {
	urls      []string // of the servers, without the model
	model     string
	version   string // of the model; "" leaves the choice to the server
	output    string // the tensor that has the scores
	direction string // "" where nothing is stated
	bytes     int    // of text in a request
}

const (
	defaultOutput = "score"
	defaultBytes  = 32 << 10
	example       = "oip:http://127.0.0.1:8000/comet"
)

// options are those of a spec.
var options = []metrics.Option{
	{Key: "also", Values: "URL/MODEL", Doc: "another server of the same model (repeatable)"},
	{Key: "version", Values: "VERSION", Doc: "version of the model", Default: "the server's choice"},
	{Key: "output", Values: "NAME", Doc: "output that has the scores, such as precision", Default: defaultOutput},
	{Key: "direction", Values: "higher|lower", Doc: "which scores are better, of a model that does not say", Default: "higher"},
	{Key: "batch", Values: "BYTES", Doc: "bytes of text in a request", Default: "32768"},
}

// parseSpec reads what stands behind the colon: URL/MODEL[,OPTION=VALUE…]. Its
// errors quote no address, which may hold a secret.
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

// address takes in URL/MODEL.
func (s *spec) address(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Fragment != "" {
		return fmt.Errorf("this is no address of a server; it should look like %s", example)
	}
	path := strings.TrimRight(u.Path, "/")
	at := strings.LastIndexByte(path, '/')
	model := path[at+1:]
	u.Path, u.RawPath = strings.TrimSuffix(path[:max(0, at)], "/v2/models"), ""
	switch {
	case at < 0 || model == "":
		return fmt.Errorf("the address names no model; it should look like %s", example)
	case s.model != "" && model != s.model:
		return fmt.Errorf("the servers of a metric have one model; %q and %q are two", s.model, model)
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

// name is the metric's: where the servers are does not change what they say.
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

// info has direction and bounds, by the facts and else by the spec.
func (s *spec) info(f *facts) (metrics.Info, error) {
	switch {
	case f == nil:
		return metrics.Declared(s.direction, nil, nil)
	case s.direction != "":
		return metrics.Info{}, errors.New("the model states its direction itself: leave out direction")
	}
	return f.info, nil
}

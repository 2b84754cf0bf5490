package neural

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract/metrics"
)

// Spec says which model is asked, and what a server cannot say of it.
type Spec struct {
	// URLs are the addresses of the servers, at least one, without the model. Their
	// scheme is http or https.
	URLs      []string
	Model     string
	Version   string            // of the model; "" leaves the choice to the server
	Output    string            // the tensor that has the scores
	Direction metrics.Direction // 0 where nothing is stated
	Bytes     int               // of text in a request; 0 for the default
}

const (
	defaultOutput = "score"
	example       = "oip:http://127.0.0.1:8000/comet"
)

// tail is what help shows behind the name.
const tail = "URL/MODEL[,OPTION=VALUE…]"

// options are those of a spec.
var options = []metrics.Option{
	{Key: "also", Values: "URL/MODEL", Doc: "another server of the same model (repeatable)"},
	{Key: "version", Values: "VERSION", Doc: "version of the model", Default: "the server's choice"},
	{Key: "output", Values: "NAME", Doc: "output that has the scores, such as precision", Default: defaultOutput},
	{Key: "direction", Values: "higher|lower", Doc: "which scores are better, of a model that does not say", Default: "higher"},
	{Key: "batch", Values: "BYTES", Doc: "bytes of text in a request", Default: "32768"},
}

// ParseSpec reads what stands behind the colon: URL/MODEL[,OPTION=VALUE…]. Its
// errors quote no address, which may hold a secret.
func ParseSpec(text string) (Spec, error) {
	s := Spec{Output: defaultOutput}
	if text == "" {
		return s, fmt.Errorf("name a server and a model, such as %s", example)
	}
	address, rest, more := strings.Cut(text, ",")
	if err := s.address(address); err != nil {
		return s, err
	}
	if more {
		if err := metrics.EachOption(rest, s.set, "also"); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (s *Spec) set(key, value string, _ bool) (err error) {
	switch key {
	case "also":
		return s.address(value)
	case "version":
		s.Version = value
	case "output":
		s.Output = value
	case "direction":
		if s.Direction, err = metrics.ParseDirection(value); err != nil {
			return fmt.Errorf("option direction=%q: want higher or lower", value)
		}
	case "batch":
		if s.Bytes, err = strconv.Atoi(value); err != nil || s.Bytes < 1 {
			return fmt.Errorf("option batch=%q: want a number of bytes", value)
		}
	default:
		return metrics.UnknownOption(key, options)
	}
	if value == "" {
		return fmt.Errorf("option %s has no value", key)
	}
	return err
}

// address takes in URL/MODEL.
func (s *Spec) address(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Fragment != "" {
		return fmt.Errorf("this is no address of a server; it should look like %s", example)
	}
	path := strings.TrimRight(u.Path, "/")
	at := strings.LastIndexByte(path, '/')
	model := path[at+1:]
	if at < 0 || model == "" {
		return fmt.Errorf("the address names no model; it should look like %s", example)
	}
	if s.Model != "" && model != s.Model {
		return fmt.Errorf("the servers of a metric have one model; %q and %q are two", s.Model, model)
	}
	s.Model = model
	u.Path, u.RawPath = strings.TrimSuffix(path[:at], "/v2/models"), ""
	if slices.Contains(s.URLs, u.String()) {
		return fmt.Errorf("a server of %q is named twice", model)
	}
	s.URLs = append(s.URLs, u.String())
	return nil
}

// name is the metric's: where the servers are does not change what they say.
func (s *Spec) name() string {
	name := Name + ":" + s.Model
	if s.Version != "" {
		name += ",version=" + s.Version
	}
	if s.Output != defaultOutput {
		name += ",output=" + s.Output
	}
	return name
}

// info has direction and bounds, by the facts and else by the spec.
func (s *Spec) info(f *facts) (metrics.Info, error) {
	switch {
	case f == nil:
		return metrics.Declared(cmp.Or(s.Direction, metrics.HigherIsBetter).String(), nil, nil), nil
	case s.Direction != 0:
		return metrics.Info{}, errors.New("the model states its direction itself: leave out direction")
	}
	return f.info(), nil
}

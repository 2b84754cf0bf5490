package command

import (
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/refract-eval/refract/internal/llmtest"
)

// cmdOIP starts a server of a neural metric at $OIP, or at $OIP2 with as=OIP2. Options: spans=yes, key=K, broken=yes, whose model
// refuses all but the first request, and down=yes, at which nobody listens.
func cmdOIP(ts *testscript.TestScript, args []string) {
	s, as, down := &llmtest.OIP{}, "OIP", false
	for _, a := range args {
		key, value, _ := strings.Cut(a, "=")
		switch key {
		case "spans":
			s.Spans = value == "yes"
		case "key":
			s.Key = value
		case "broken":
			s.Fault = func(n int, w http.ResponseWriter, _ *llmtest.OIPRequest) bool {
				if n > 1 {
					llmtest.OIPFail(w, http.StatusBadRequest, "the model says no")
				}
				return n > 1
			}
		case "as":
			as = value
		case "down":
			down = value == "yes"
		default:
			ts.Fatalf("oip has no option %q", key)
		}
	}
	h := httptest.NewServer(s)
	ts.Defer(h.Close)
	if down {
		h.Close()
	}
	ts.Setenv(as, h.URL)
}

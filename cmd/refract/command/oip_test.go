package command

import (
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/refract-eval/refract/internal/oiptest"
)

// cmdOIP starts a server of a neural metric at $OIP. Options: spans=yes, key=K, and broken=yes, whose model
// refuses all but the first request.
func cmdOIP(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, true, "oip [KEY=VALUE]…")
	s := &oiptest.Server{}
	for _, a := range args {
		key, value, _ := strings.Cut(a, "=")
		switch key {
		case "spans":
			s.Spans = value == "yes"
		case "key":
			s.Key = value
		case "broken":
			s.Fault = func(n int, w http.ResponseWriter, _ *oiptest.Request) bool {
				if n > 1 {
					oiptest.Fail(w, http.StatusBadRequest, "the model says no")
				}
				return n > 1
			}
		default:
			ts.Fatalf("oip has no option %q", key)
		}
	}
	h := httptest.NewServer(s)
	ts.Defer(h.Close)
	ts.Setenv("OIP", h.URL)
}

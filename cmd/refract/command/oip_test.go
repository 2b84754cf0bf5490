package command

import (
	"net/http/httptest"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/refract-eval/refract/metrics/neural/oiptest"
)

// cmdOIP starts a server of a neural metric at $OIP, or at $OIP2 with "as=OIP2".
// Options: flat=yes, spans=yes, key=K, delay=D, source=no, version=V, and down=yes,
// at which nobody listens.
func cmdOIP(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, true, "oip [KEY=VALUE]…")
	s, as, down := &oiptest.Server{}, "OIP", false
	for _, a := range args {
		key, value, _ := strings.Cut(a, "=")
		yes := value == "yes"
		switch key {
		case "flat":
			s.Flat, s.Counts = yes, yes
		case "spans":
			s.Spans = yes
		case "source":
			s.NoSource = !yes
		case "key":
			s.Key = value
		case "version":
			s.Version = value
		case "rows":
			n, err := strconv.Atoi(value)
			ts.Check(err)
			s.MaxRows = n
		case "delay":
			d, err := time.ParseDuration(value)
			ts.Check(err)
			s.Delay = d
		case "as":
			as = value
		case "down":
			down = yes
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

package command

import (
	"slices"
	"strings"

	"github.com/refract-eval/refract/internal/redact"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/judge"
	"github.com/refract-eval/refract/metrics/panel"
)

// check refuses metrics that requests may not name: stored ones, which no request has,
// and where others than the parent of the process send requests, those that start
// programs, read or write files, or ask servers that the request chooses.
func (s *service) check(specs []string) error {
	for _, spec := range specs {
		if isStored(spec) {
			return usagef("metric %.40q: stored scores are those of an mtme: dataset", spec)
		}
		if s.untrusted && !s.e.harmless(spec) {
			return usagef("metric %q starts a program, or names a file or a server: requests over HTTP may do so only with --trust-clients", redact.Text(spec))
		}
	}
	return nil
}

// harmless reports whether a metric does nothing but compute, and ask the servers that
// the command line names. A spec that cannot be read is told where it is made.
func (e *env) harmless(spec string) bool {
	ok := true
	panel.Rewrite(spec, func(member string) string {
		name, rest, _ := strings.Cut(member, ":")
		at := slices.IndexFunc(e.registry(), func(f metrics.Factory) bool { return f.Name == name })
		if at >= 0 {
			runs := e.registry()[at].Runs
			ok = ok && runs != metrics.Program && runs != metrics.Inference
		}
		for option := range strings.SplitSeq(rest, ",") {
			ok = ok && !strings.HasPrefix(option, judge.OptionServer+"=")
		}
		ok = ok && name != judge.FileMetric && !strings.Contains(rest, "://")
		return member
	})
	if ok {
		e.mapFiles(spec, func(path string, _ bool) string {
			ok = false
			return path
		})
	}
	return ok
}

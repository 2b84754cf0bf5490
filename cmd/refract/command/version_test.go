package command

import (
	"runtime/debug"
	"strings"
	"testing"
)

// What the build does not know is no line, and no empty one.
func TestBuildFacts(t *testing.T) {
	stamped := &debug.BuildInfo{GoVersion: "go1.99", Settings: []debug.BuildSetting{
		{Key: "-tags", Value: "lean"}, {Key: "vcs.revision", Value: "0123abcd"}, {Key: "vcs.modified", Value: "true"},
	}}
	for want, info := range map[string]*debug.BuildInfo{
		"\ncommit    0123abcd\nmodified  true\ntags      lean\ngo        go1.99\nplatform  ": stamped,
		"\nplatform  ": nil,
	} {
		if got := buildFacts(info); !strings.Contains(got, want) || strings.HasPrefix(got, "refract ") && info == nil && strings.Contains(got, "go  ") {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

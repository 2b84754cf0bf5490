package command

import (
	"bytes"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/refract-eval/refract"
)

// What the build does not know is no line, and no empty one.
func TestBuildFacts(t *testing.T) {
	stamped := &debug.BuildInfo{GoVersion: "go1.99", Settings: []debug.BuildSetting{
		{Key: "-tags", Value: "lean"}, {Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "0123abcd"},
		{Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "true"},
	}}
	head, end := "refract "+refract.Version+"\n", "platform  "+runtime.GOOS+"/"+runtime.GOARCH+"\n"
	for _, c := range []struct {
		name string
		info *debug.BuildInfo
		want string
	}{
		{"stamped", stamped, "commit    0123abcd\ndate      2026-01-02T03:04:05Z\nmodified  true\ntags      lean\ngo        go1.99\n"},
		{"outside a repository", &debug.BuildInfo{GoVersion: "go1.99"}, "go        go1.99\n"},
		{"nothing known", &debug.BuildInfo{}, ""},
	} {
		var out bytes.Buffer
		if err := tellBuild(&env{stdout: &out}, buildFacts(c.info)); err != nil {
			t.Fatal(err)
		}
		if want := head + c.want + end; out.String() != want {
			t.Errorf("%s: %q, want %q", c.name, out.String(), want)
		}
	}
}

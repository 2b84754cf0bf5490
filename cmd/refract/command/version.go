package command

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify/language"
)

func (e *env) versionCommand() *cobra.Command {
	return e.newCommand(&cobra.Command{
		Use:     "version",
		Short:   "Show the version, and what the program was built from",
		Example: "  refract version",
	}, cobra.NoArgs, func(_ context.Context, e *env, _ []string) error {
		info, _ := debug.ReadBuildInfo()
		_, err := fmt.Fprint(e.stdout, buildFacts(info))
		return err
	})
}

// buildFacts are the facts about the build, one a line, starting with the version as
// --version prints it.
func buildFacts(info *debug.BuildInfo) string {
	var out strings.Builder
	fmt.Fprintf(&out, "refract %s\n", refract.Version)
	add := func(name, value string) { fmt.Fprintf(&out, "%-9s %s\n", name, value) }
	if info != nil {
		add("go", info.GoVersion)
		names := map[string]string{"vcs.revision": "commit", "vcs.time": "date", "vcs.modified": "modified", "-tags": "tags"}
		for _, s := range info.Settings {
			if names[s.Key] != "" {
				add(names[s.Key], s.Value)
			}
		}
	}
	add("platform", runtime.GOOS+"/"+runtime.GOARCH)
	add("languages", cmp.Or(language.ModelsName, "scripts and frequent words of 27 languages; a program built without the tag lean has models for more"))
	return out.String()
}

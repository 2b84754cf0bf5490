package command

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify/language"
)

func (e *env) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Show the version, and what the program was built from",
		Example: "  refract version",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			info, _ := debug.ReadBuildInfo()
			_, err := fmt.Fprint(e.stdout, buildFacts(info))
			return err
		},
	}
}

// buildFacts are the facts about the build, one a line, starting with the version as
// --version prints it.
func buildFacts(info *debug.BuildInfo) string {
	facts := map[string]string{}
	if info != nil {
		facts["go"] = info.GoVersion
		for _, s := range info.Settings {
			facts[s.Key] = s.Value
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "refract %s\n", refract.Version)
	for _, f := range [][2]string{
		{"commit", facts["vcs.revision"]}, {"date", facts["vcs.time"]}, {"modified", facts["vcs.modified"]}, {"tags", facts["-tags"]},
		{"go", facts["go"]}, {"platform", runtime.GOOS + "/" + runtime.GOARCH},
		{"languages", cmp.Or(language.ModelsName, "scripts and frequent words of 27 languages; a program built without the tag lean has models for more")},
	} {
		if f[1] != "" {
			fmt.Fprintf(&out, "%-9s %s\n", f[0], f[1])
		}
	}
	return out.String()
}

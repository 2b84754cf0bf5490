package command

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify/language"
)

func (e *env) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version and the build",
		Long: `Show the version of the program, and what it was built from: the commit and its
time, whether files differed from the commit, the build tags, the version of Go,
the platform, and the models of the language check. What a program does not know of itself is left out: a build
outside a repository has no commit.`,
		Example: "  refract version",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			info, ok := debug.ReadBuildInfo()
			if !ok {
				info = &debug.BuildInfo{}
			}
			facts := buildFacts(info)
			languages := cmp.Or(language.ModelsName, "scripts and frequent words of 27 languages; a program built without the tag lean has models for more")
			facts = append(facts, buildFact{"languages", languages})
			return tellBuild(e, facts)
		},
	}
}

// buildFact is what a program knows of itself; its value is "" where it does not.
type buildFact struct{ name, value string }

func buildFacts(info *debug.BuildInfo) []buildFact {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	return []buildFact{
		{"version", refract.Version},
		{"commit", settings["vcs.revision"]},
		{"date", settings["vcs.time"]},
		{"modified", settings["vcs.modified"]},
		{"tags", settings["-tags"]},
		{"go", info.GoVersion},
		{"platform", runtime.GOOS + "/" + runtime.GOARCH},
	}
}

// tellBuild writes the facts as lines, the version as --version has it.
func tellBuild(e *env, facts []buildFact) error {
	for _, f := range facts {
		line := fmt.Sprintf("%-9s %s\n", f.name, f.value)
		switch {
		case f.name == "version":
			line = "refract " + f.value + "\n"
		case f.value == "":
			continue
		}
		if _, err := fmt.Fprint(e.stdout, line); err != nil {
			return err
		}
	}
	return nil
}

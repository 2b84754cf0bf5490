package command

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/correlate"
)

//go:embed topics/*.txt
var topicFiles embed.FS

// topics are the help texts that belong to no command: cobra commands with only a help
// text.
func topics() []*cobra.Command {
	var aggregators [][2]string
	for _, d := range aggregate.Docs() {
		aggregators = append(aggregators, [2]string{d.Spec, d.Text})
	}
	filled := strings.NewReplacer(
		"STATISTICS", strings.Join(correlate.StatisticNames(), ", "),
		"AGGREGATORS", strings.TrimRight(definitions(aggregators, 80), "\n"),
	)
	var all []*cobra.Command
	for _, t := range [][2]string{
		{"datasets", "what DATASET, --ref, --hyp and --references name"},
		{"aggregators", "how scores against many references become one"},
		{"statistics", "agreement with judgements, intervals and tests"},
		{"selection", "ways to choose among variants"},
		{"servers", "how models are called, and what that may cost"},
		{"configuration", "refract.yaml and REFRACT_*"},
	} {
		text, err := topicFiles.ReadFile("topics/" + t[0] + ".txt")
		if err != nil {
			panic(err) // a bug: each topic has a file
		}
		all = append(all, &cobra.Command{Use: t[0], Short: t[1], Long: filled.Replace(string(text))})
	}
	return all
}

// topicsOf are the topics that explain the flags of a command.
func topicsOf(cmd *cobra.Command) []string {
	var out []string
	for _, t := range [][2]string{
		{"hyp", "datasets"}, {"aggregate", "aggregators"}, {"group", "statistics"}, {"by", "selection"},
		{"judge-model", "metrics"}, {"base-url", "servers"},
	} {
		if cmd.Flags().Lookup(t[0]) != nil {
			out = append(out, t[1])
		}
	}
	return out
}

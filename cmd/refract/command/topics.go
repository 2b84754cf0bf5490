package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/correlate"
)

// topic is a help text that several commands share.
type topic struct{ name, short, text string }

// topics are all help texts that are no command's.
func topics() []topic {
	return []topic{
		{"datasets", "what DATASET, --ref, --hyp and --references name", datasetHelp},
		{"aggregators", "how scores against many references become one", aggregatorHelp()},
		{"statistics", "agreement with judgements, intervals and tests", statisticHelp()},
		{"selection", "ways to choose among variants", selectionHelp},
		{"servers", "how models are called, and what that may cost", serverHelp},
		{"configuration", "refract.yaml and REFRACT_*", configHelp},
	}
}

// topicsOf are the topics that a command's flags need.
func topicsOf(cmd *cobra.Command) []string {
	var out []string
	for _, t := range [][2]string{
		{"hyp", "datasets"}, {"aggregate", "aggregators"}, {"group", "statistics"}, {"by", "selection"},
		{"judge-model", "judges"}, {"base-url", "servers"},
	} {
		if cmd.Flags().Lookup(t[0]) != nil {
			out = append(out, t[1])
		}
	}
	return out
}

const datasetHelp = `
A DATASET names its format and its place:

  jsonl:FILE             a segment a line; jsonl:- is standard input
  mtme:DIR/TESTSET/LP    a language pair in a folder of mt-metrics-eval
  published:DIR          a folder that 'refract publish' wrote
  parquet:FILE           such a set as one file
  hf:FILE,source=COLUMN,references=COLUMN
                         any Parquet, with the names of its columns
  preferences:FILE  summeval:FILE  pascal50s:DIR  webnlg:DIR  bagel:FILE
  commongen:FILE         data as others release it

docs/formats.md lists their options. In place of a DATASET, --source, --ref and
--hyp name text files with a line a segment. --hyp may also add systems to a
DATASET.

--reference chooses among the named references of an mtme: folder. --references
adds expanded references after the originals:

  jsonl:FILE             what 'refract expand' wrote, or rows with "id" and
                         "references"
  div-ref:FILE           a released expansion, found by the reference's text
  div-ref-lines:FILE     the same, line by line`

func aggregatorHelp() string {
	var b strings.Builder
	b.WriteString("-a names how a system's scores against the references of a segment become one\n(repeatable, or separated by commas):\n\n")
	var lines [][2]string
	for _, d := range aggregate.Docs() {
		lines = append(lines, [2]string{d.Spec, d.Text})
	}
	var list strings.Builder
	definitions(&list, "", lines, 80)
	b.WriteString(strings.TrimPrefix(list.String(), "\n:\n"))
	b.WriteString(`
A score is missing where its output or reference is. --missing exclude leaves
it out, propagate makes the result missing, fail is an error.`)
	return b.String()
}

func statisticHelp() string {
	return `
Statistics follow mt-metrics-eval. Of segments: kendall is tau-b; kendall-c and
kendall-wmt20 are other forms of it; spearman and pearson are what they say,
and pearson-pairwise is that of the differences within vectors; 23 and acc23
count pairs, with ties calibrated by one threshold for all vectors
(23-uncalibrated and acc23-uncalibrated without). Of systems: accuracy is the
share of pairs of systems that are ordered as by the judgements, soft-accuracy
that of their p-values. All of them: ` + strings.Join(correlate.StatisticNames(), ", ") + `.

--level says what a score is of: a segment, or the mean over a document, a
domain or a system. --group says what correlations are averaged over: nothing
(all scores in one vector), segments or systems. Scores of metrics for which
lower is better are negated first.

Intervals are bootstrapped (--bootstrap, --confidence, --seed).

--significance tests settings against each other: perm-both exchanges scores of
the two, perm-pairs outcomes of pairs, randomization whole segments; bootstrap
draws segments; williams compares correlations. The rank of a setting is that
of its cluster: a new one begins with a setting that some member of the one
before beats with p up to --alpha.`
}

const selectionHelp = `
--by names a way to choose among the variants of a segment:

  order       as they stand
  random      in a random order, by --seed
  farthest    one after the other, the variant that is farthest from all chosen
  facility    the variant that brings all variants nearest to a chosen one

farthest and facility compare texts by --over: ngrams, the character n-grams of
chrF, or embeddings, vectors of the model that --embeddings names. The original
references count as chosen already.`

const serverHelp = `
A server is any that speaks OpenAI's protocol. --base-url or OPENAI_BASE_URL
names it, OPENAI_API_KEY holds the key. Several --base-url share the calls; one
that fails is left out until it answers again. The number of calls at a time
grows as far as the servers keep up, to --concurrency each.

Every answer is stored in --cache before it is used: a file, or a postgres://
address that several machines share. A second run makes no call for it, and a
run that was stopped goes on where it was. --offline makes no call at all, and
--dry-run prints the calls, tokens and cost that are still to come.

--max-cost, --max-calls and --max-time end a run before it takes more. A cost is
known by --prices, a YAML or JSON file with prices of a million tokens:

  some-model: {input: 0.15, output: 0.60, batch: 0.5}`

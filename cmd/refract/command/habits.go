package command

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refract-eval/refract/internal/files"
)

// What users of sacreBLEU and similar tools type.

// alias accepts sacreBLEU's names of flags.
func alias(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	switch name {
	case "metrics":
		name = "metric"
	case "input":
		name = "hyp"
	}
	return pflag.NormalizedName(name)
}

// rewriteArgs rewrites arguments as sacreBLEU takes them, "ref.txt -i out.txt -m bleu chrf",
// for pflag: --ref=ref.txt -i out.txt -m bleu -m chrf. Others stay as they are.
func (e *env) rewriteArgs(root *cobra.Command, args []string) []string {
	cmd, rest, err := root.Find(args)
	if err != nil || cmd.Flags().Lookup("hyp") == nil {
		return args
	}
	several := map[string]func(string) bool{"-i": isText, "--input": isText, "--hyp": isText}
	if cmd.Flags().Lookup("metric") != nil {
		several["-m"], several["--metric"], several["--metrics"] = e.isMetric, e.isMetric, e.isMetric
	}
	var words, flags []string
	for i := 0; i < len(rest); i++ {
		words = append(words, rest[i])
		if more := several[rest[i]]; more != nil && i+1 < len(rest) {
			flag := rest[i]
			i++
			for words = append(words, rest[i]); i+1 < len(rest) && more(rest[i+1]); i++ {
				words = append(words, flag, rest[i+1])
			}
		}
	}
	path := strings.Fields(cmd.CommandPath())[1:]
	cmd.InheritedFlags() // so that Flags includes them
	outputs := false
	err = cmd.Flags().ParseAll(words, func(f *pflag.Flag, value string) error {
		outputs = outputs || f.Name == "hyp"
		flags = append(flags, "--"+f.Name+"="+value)
		return nil
	})
	refs := cmd.Flags().Args()
	if err != nil || !outputs || len(refs) == 0 || slices.ContainsFunc(refs, func(s string) bool { return !isText(s) }) {
		return append(path, words...)
	}
	for _, ref := range refs {
		flags = append(flags, "--ref="+ref)
	}
	return append(path, flags...)
}

// isText reports whether a word names a file that can only be lines of text.
func isText(word string) bool {
	info, err := os.Stat(word)
	ext := strings.ToLower(filepath.Ext(files.Unpacked(word)))
	return err == nil && !info.IsDir() && !slices.Contains([]string{".jsonl", ".json", ".parquet", ".csv", ".tsv", ".xlsx", ".ods", ".yaml", ".yml"}, ext)
}

// isMetric reports whether a text begins with the name of a metric, and is not the name
// of a file.
func (e *env) isMetric(spec string) bool {
	name, _, _ := strings.Cut(ofSignature(spec), ":")
	_, known := e.registryWith(nil, nil).Find(name)
	_, err := os.Stat(spec)
	return err != nil && (known || howToRun(name) != "" || strings.EqualFold(name, allRouge))
}

const allRouge = "rouge" // stands for the four

// ofSignature is the spec of a signature as sacreBLEU prints it, such as
// "BLEU|nrefs:1|case:lc|tok:13a|version:2.3.1"; other texts stay as they are.
func ofSignature(spec string) string {
	name, rest, signed := strings.Cut(spec, "|")
	metric := map[string]string{"bleu": "bleu", "chrf2": "chrf", "chrf2++": "chrf++", "chrf": "chrf", "ter": "ter"}[strings.ToLower(name)]
	if !signed || metric == "" {
		return spec
	}
	var options []string
	for _, part := range strings.Split(rest, "|") {
		key, _, _ := strings.Cut(part, ":")
		switch {
		case slices.Contains([]string{"nrefs", "#", "version", "v", "bs", "seed", "rs", "ar", "lang", "l", "test"}, key):
		case metric == "bleu" && (part == "eff:no" || part == "e:no"), metric == "ter" && key == "tok": // as without
		default: // such as smooth:floor[0.10]
			options = append(options, strings.NewReplacer("[", ",smooth-value=", "]", "").Replace(part))
		}
	}
	return strings.TrimSuffix(metric+":"+strings.Join(options, ","), ":")
}

// specs are the metrics that were asked for, or else the default.
func (s *settingFlags) specs(def ...string) []string {
	if len(s.metrics) == 0 {
		return def
	}
	var out []string
	for _, spec := range s.metrics {
		spec = ofSignature(spec)
		if name, options, more := strings.Cut(spec, ":"); strings.EqualFold(name, allRouge) {
			for _, kind := range []string{"rouge1", "rouge2", "rougeL", "rougeLsum"} {
				if more {
					kind += ":" + options
				}
				out = append(out, kind)
			}
			continue
		}
		out = append(out, spec)
	}
	return out
}

// equivalentFlag maps flags of other programs, long and short, to what Refract has.
func equivalentFlag(flag string) string {
	return lookUp(flag, [][2]string{
		{"tokenize tok", "-m bleu:tokenize=NAME, as in -m bleu:tokenize=zh; -l zh lets each metric choose"},
		{"lowercase lc", "-m bleu:lowercase"},
		{"smooth-method smooth s", "-m bleu:smooth=floor"},
		{"smooth-value sv", "-m bleu:smooth=floor,smooth-value=0.1"},
		{"force", "nothing: no text is refused as tokenized"},
		{"paired-bs pbs", "'refract systems' with --test paired-bs"},
		{"paired-ar par", "'refract systems' with --test paired-ar"},
		{"paired-bs-n paired-ar-n n-bootstrap bootstrap", "--resamples"},
		{"chrf-word-order", "-m chrf:word-order=2, which is chrf++"},
		{"chrf-char-order", "-m chrf:char-order=6"},
		{"chrf-beta", "-m chrf:beta=2"},
		{"chrf-lowercase", "-m chrf:lowercase"},
		{"chrf-whitespace", "-m chrf:whitespace"},
		{"ter-normalized ter-asian-support ter-no-punct ter-case-sensitive", "-m ter:normalized,asian,no-punct,case-sensitive, or some of these"},
		{"sentence-level sl", "--per segment"},
		{"num-refs nr", "--ref FILE once for each reference"},
		{"predictions hypothesis hypotheses candidates system", "--hyp NAME=FILE"},
		{"test-set t", "mtme:DIR/TESTSET/LP, a folder of mt-metrics-eval: nothing is downloaded"},
		{"score-only b", "-f csv"},
		{"api-key key", "OPENAI_API_KEY in the environment"},
	})
}

// lookUp returns the second text of the row whose first has a word; "" for none.
func lookUp(word string, rows [][2]string) string {
	for _, row := range rows {
		if slices.Contains(strings.Fields(row[0]), word) {
			return row[1]
		}
	}
	return ""
}

// howToRun says how to run a well-known metric that Refract does not have by this
// name; "" for others.
func howToRun(name string) string {
	const server = " is a model on a server: docs/how-to/neural-servers.md says how to start one, and -m oip:http://HOST:8000/MODEL scores with it"
	const program = " runs as a program: -m 'exec:processes=1 python3 metrics/program/"
	name = strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name))
	return lookUp(name, [][2]string{
		{"sacrebleu", "sacreBLEU's metrics and numbers are -m bleu -m chrf -m ter"},
		{"chrf2", "sacreBLEU's chrF2 is -m chrf"},
		{"chrf2++", "sacreBLEU's chrF2++ is -m chrf++"},
		{"spbleu", "spBLEU is -m bleu:tokenize=flores200"},
		{"rougel rouge1 rouge2 rougelsum", "the names are rouge1, rouge2, rougeL and rougeLsum; rouge is all four"},
		{"meteor", "METEOR" + program + "meteor.py' (docs/how-to/programs.md)"},
		{"spice", "SPICE" + program + "spice.py' (docs/how-to/programs.md)"},
		{"comet22 wmt22cometda unbabelcomet cometda", "COMET" + server},
		{"comet23 cometkiwi22 cometkiwi23 wmt22cometkiwida xcometxl xcometxxl", "it" + server},
		{"bertscoref1 bertscorer bertscorep", "BERTScore" + server},
		{"metricx23 metricx24", "MetricX" + server},
		{"gemba", "GEMBA's prompts are the judges -m gemba-da and -m gemba-mqm (docs/reference/judges.md)"},
		{"geval nist wer cer bleurt20 ribes eed", "any program can be a metric: -m 'exec:PROGRAM ARG…' (docs/how-to/programs.md)"},
	})
}

// unknownMetric is the error about a metric that another program has; nil for other
// names.
func (e *env) unknownMetric(name string) error {
	if how := howToRun(name); how != "" {
		return fmt.Errorf("no metric here is called %q: %s", name, how)
	}
	return nil
}

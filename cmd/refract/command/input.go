package command

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/internal/files"
)

// input is the flags that name a dataset.
type input struct {
	source     string
	refs       []string
	hyps       []string
	reference  []string
	references []string
	human      []string // NAME=FILE, and NAME of those to compare with
}

func (in *input) register(cmd *cobra.Command) {
	flag := inputFlags.of(cmd)
	flag("source", plain(&in.source, ""), "text `FILE` of sources, one a line", shown, neutral, names(readsTexts))
	flag("ref", plain(&in.refs, nil), "text `FILE` of references, one a line (repeatable)", shown, neutral, names(readsTexts))
	flag("hyp,i", plain(&in.hyps, nil), "outputs of a system: `[NAME=]FILE` or FILE:COLUMN (repeatable)", shown, neutral, names(readsOutputs))
	flag("reference", listOf(&in.reference, "", asIs, strings.Clone), "references of an mtme: or mqm: dataset, or all (default the task's own, mostly refA)", neutral)
	flag("references", plain(&in.references, nil), "expanded references, as `FORMAT:FILE` (repeatable)", shown, neutral, names(readsDataset))
	flag("human", plain(&in.human, nil), "human scores of outputs, as `NAME[=FILE]`: rows id, system, score, and perhaps rater (repeatable); NAME chooses among several (default the only ones, or mqm)", names(readsTable))
}

// ratings are the files of human scores, and the name of those to compare with; "" for the
// usual ones.
func (in *input) ratings() (files []dataset.NamedFile, chosen string, err error) {
	var specs []string
	for _, v := range in.human {
		switch named := strings.Contains(v, "="); {
		case named:
			specs = append(specs, v)
		case chosen != "":
			return nil, "", usagef("--human %s and --human %s: choose one, or write NAME=FILE for a file of scores", chosen, v)
		default:
			chosen = v
		}
	}
	files, err = namedFiles("human", "ratings.csv", specs)
	if chosen == "" && len(files) == 1 {
		chosen = files[0].Name
	}
	return files, chosen, err
}

// choiceFlags select the systems of a dataset.
type choiceFlags struct {
	strs
	choice dataset.Choice
}

func (c *choiceFlags) register(cmd *cobra.Command) {
	inputFlags.of(cmd)("systems", c, "`NAME`s of the systems to look at, or !NAME to leave out (repeatable or comma-separated; \"NAME\" where it has a comma or begins with !; default all)", wholly)
}

// chosenName matches the first name of a list, perhaps in quotes.
var chosenName = regexp.MustCompile(`^(!?)(?:"((?:[^"]|"")+)"|([^",][^,]*))(?:,|$)`)

// Set implements pflag.Value.
func (c *choiceFlags) Set(list string) error {
	_ = c.strs.Set(list)
	for rest, more := list, true; more; {
		m := chosenName.FindStringSubmatch(rest)
		if m == nil {
			return &unwantedError{strconv.Quote(list), `names separated by commas, each in quotes where it has a comma, such as "A, B"`}
		}
		name := strings.ReplaceAll(m[2], `""`, `"`) + m[3]
		if m[1] == "" {
			c.choice.Systems = append(c.choice.Systems, name)
		} else {
			c.choice.WithoutSystems = append(c.choice.WithoutSystems, name)
		}
		rest, more = rest[len(m[0]):], strings.HasSuffix(m[0], ",")
	}
	return nil
}

func (e *env) datasetOptions() dataset.Options {
	return dataset.Options{Stdin: e.stdin, Sourceless: func() bool { return e.sourceless == nil || e.sourceless() }, Warn: func(w dataset.Warning) {
		if text := w.String(); !slices.Contains(e.oddities, text) { // a dataset may be read twice
			e.oddities = append(e.oddities, text)
			e.warn("%s", text)
		}
	}}
}

// dataset returns the dataset that the flags and arguments name.
func (in *input) dataset(e *env, args []string, judgements bool) (refract.Dataset, error) {
	if err := errors.Join(refuseJoined("ref", in.refs), refuseJoined("hyp", in.hyps)); err != nil {
		return nil, err
	}
	o := e.datasetOptions()
	o.References, o.NoJudgements = in.reference, !judgements
	hyps, err := namedFiles("hyp", "out.txt", in.hyps)
	if err != nil {
		return nil, err
	}
	ratings, _, err := in.ratings()
	if err != nil {
		return nil, err
	}
	open := in.openSpec
	if in.source != "" || len(in.refs) > 0 || len(args) == 0 && len(in.hyps) > 0 {
		open = in.openLines
	}
	ds, err := open(args, hyps, o)
	for _, spec := range in.references {
		if err == nil {
			ds, err = dataset.WithReferences(ds, spec, o)
		}
	}
	if err == nil && len(ratings) > 0 {
		ds, err = dataset.WithJudgements(ds, ratings, o)
	}
	return ds, err
}

// openLines opens text files.
func (in *input) openLines(args []string, hyps []dataset.NamedFile, o dataset.Options) (refract.Dataset, error) {
	switch {
	case len(args) > 0:
		return nil, usagef("give either a DATASET or text files (--source, --ref), not both")
	case len(in.reference) > 0:
		return nil, usagef("--reference chooses among the named references of an mtme: or mqm: dataset; for a text file it is --ref FILE")
	}
	return dataset.OpenLines(dataset.LinesSpec{Source: in.source, References: in.refs, Hypotheses: hyps}, o)
}

// openSpec opens the dataset that an argument names, with the outputs of more systems.
func (in *input) openSpec(args []string, hyps []dataset.NamedFile, o dataset.Options) (refract.Dataset, error) {
	switch {
	case len(args) == 0:
		return nil, usagef("no dataset: give jsonl:FILE, mtme:DIR/TESTSET/LP, parquet:FILE, published:DIR, or text files with --ref and --hyp")
	case len(in.reference) > 0 && !strings.HasPrefix(args[0], "mtme:") && !strings.HasPrefix(args[0], "mqm:"):
		return nil, usagef("--reference chooses among the named references of an mtme: or mqm: dataset; %s has none", args[0])
	case slices.Contains([]string{".xlsx", ".ods"}, strings.ToLower(filepath.Ext(args[0]))):
		return nil, usagef("%s is a spreadsheet: save it as CSV (UTF-8), and name it as table:FILE.csv with its columns", args[0])
	case len(hyps) == 0 && isText(args[0]) && len(dataset.Inputs(args[0])) > 0 && !strings.Contains(args[0], ":"):
		return nil, usagef("%s names no format; a text file of references is --ref %[1]s, and outputs are --hyp NAME=FILE, or -i - for standard input", args[0])
	}
	ds, err := dataset.Open(args[0], o)
	if err != nil {
		return nil, err
	}
	return dataset.WithHypotheses(ds, hyps, o)
}

// refuseJoined refuses files joined by commas: such a flag takes one file.
func refuseJoined(flag string, values []string) error {
	for _, v := range values {
		if _, err := os.Stat(dataset.TextsFile(v[strings.Index(v, "=")+1:])); err != nil && strings.Contains(v, ",") {
			return usagef("--%s %s is no file; give the flag once for each file: --%[1]s %[3]s", flag, v, strings.ReplaceAll(v, ",", " --"+flag+" "))
		}
	}
	return nil
}

// systemOf is the name of the system in a file of outputs.
func systemOf(file string) string {
	if file == "-" {
		return "stdin"
	}
	base := filepath.Base(files.Unpacked(file))
	return cmp.Or(strings.TrimSuffix(base, filepath.Ext(base)), base)
}

// namedFiles reads the values of a flag, each NAME=FILE; of --hyp also FILE.
func namedFiles(flag, example string, specs []string) ([]dataset.NamedFile, error) {
	var out []dataset.NamedFile
	for _, h := range specs {
		name, file, ok := strings.Cut(h, "=")
		if !ok && flag == "hyp" {
			name, file, ok = systemOf(dataset.TextsFile(h)), h, h != ""
		}
		if !ok || name == "" || file == "" {
			return nil, usagef("--%s %q: want NAME=FILE, such as --%s mine=%s", flag, h, flag, example)
		}
		out = append(out, dataset.NamedFile{Name: name, Path: file})
	}
	return out, nil
}

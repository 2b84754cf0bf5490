package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/diversify"
)

// input is the flags that name a dataset.
type input struct {
	source     string
	refs       []string
	hyps       []string
	reference  []string
	references []string
}

const datasetHelp = `
DATASET is jsonl:FILE (jsonl:- is standard input) or mtme:DIR/TESTSET/LP. In
its place --source, --ref and --hyp name line-aligned text files.
--references adds expanded references after the originals.`

func (in *input) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&in.source, "source", "", "text file of sources, a line a segment")
	f.StringArrayVar(&in.refs, "ref", nil, "text file of references, a line a segment (repeatable)")
	f.StringArrayVar(&in.hyps, "hyp", nil, "NAME=FILE: text file of a system's outputs (repeatable)")
	f.StringSliceVar(&in.reference, "reference", nil, "names of the references of an mtme: dataset (default refA)")
	f.StringArrayVar(&in.references, "references", nil, "div-ref:FILE or jsonl:FILE: expanded references (repeatable)")
}

// dataset returns the dataset that the flags and arguments name.
func (in *input) dataset(e *env, args []string, judgements bool, human []string) (refract.Dataset, error) {
	o := dataset.Options{
		References:     in.reference,
		Judgements:     judgements,
		JudgementNames: human,
		Warn:           func(w dataset.Warning) { e.warn("%s", w) },
		Stdin:          e.stdin,
	}
	lines := in.source != "" || len(in.refs) > 0 || len(in.hyps) > 0
	var ds refract.Dataset
	var err error
	switch {
	case lines && len(args) > 0:
		return nil, usagef("give either a DATASET or text files (--source, --ref, --hyp), not both")
	case lines:
		spec := dataset.LinesSpec{Source: in.source, References: in.refs}
		for _, h := range in.hyps {
			name, file, ok := strings.Cut(h, "=")
			if !ok || name == "" || file == "" {
				return nil, usagef("--hyp %q: want NAME=FILE, such as --hyp mine=out.txt", h)
			}
			spec.Hypotheses = append(spec.Hypotheses, dataset.NamedFile{Name: name, Path: file})
		}
		ds, err = dataset.OpenLines(spec, o)
	case len(args) == 0:
		return nil, usagef("no dataset: give jsonl:FILE, mtme:DIR/TESTSET/LP, or text files with --ref and --hyp")
	default:
		ds, err = dataset.Open(args[0], o)
	}
	for _, spec := range in.references {
		if err == nil {
			ds, err = dataset.WithReferences(ds, spec, o, promptNames())
		}
	}
	var unknown *dataset.SpecError
	if errors.As(err, &unknown) {
		return nil, usagef("%w", err)
	}
	return ds, err
}

// promptNames labels the columns of a Div-Ref file, which are in the order of
// the ten prompts.
func promptNames() []string {
	var names []string
	for _, p := range diversify.Ten() {
		names = append(names, p.Name)
	}
	return names
}

package command

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/publish"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/diversify/language"
)

// publishRun is one run of refract publish.
type publishRun struct {
	data      input
	decisions decisionFlag
	language  languageFlag
	options   publish.Options
	out       output // how the result is printed
	dir       string
	prompts   string
}

func (e *env) publishCommand() *cobra.Command {
	p := &publishRun{}
	cmd := e.newCommand(&cobra.Command{
		Use:   "publish [DATASET]",
		Short: "Publish the references as a folder",
		Long: `Write all references of a dataset to a new folder, with a dataset card and a
manifest against which 'refract check DIR' verifies it.

--to jsonl    references.jsonl, with all that is known of every reference
--to parquet  the same, as Hugging Face's datasets load it
--to csv      a row a segment and a column a reference, for spreadsheets
--to text     ref.0, ref.1 … and src, for sacreBLEU
--to mtme     references/PAIR.refA.txt … of the --language pair, for
              mt-metrics-eval
--to div-ref  ref.0 … and a Python list of the variants a line

A text that a format cannot hold, such as one with a line break in a text file,
is an error. System outputs and human judgements are left out.`,
		Example: `  refract publish jsonl:expanded.jsonl --to parquet -o set
  refract publish jsonl:expanded.jsonl --to jsonl --license cc-by-4.0 -o texts`,
	}, cobra.MaximumNArgs(1), p.run)
	p.data.register(cmd)
	p.decisions.register(cmd)
	flag, formats := resultFlags.of(cmd), strings.Join(dataset.Formats(), ", ")
	flag("to", plain(&p.options.Format, ""), formats, required("say the format, one of "+formats), shown, oneOf(dataset.Formats()...))
	flag("output,o", plain(&p.dir, ""), "`DIR` to write, which must be new or empty", required("name the folder to write"), shown, names(writesFile))
	p.out.registerFormat(cmd, "how the result is printed: ", "")
	flag = taskFlags.of(cmd)
	flag("license", valueOf(&p.options.Card.License, "", publish.License), "license of the set, for its card, as the Hub names it, such as cc-by-4.0", shown)
	flag("prompts", plain(&p.prompts, ""), "prompts that are not built in, as 'refract expand' takes them, for the card", names(readsPrompts), offersBy(promptWords))
	p.language.register(cmd, taskFlags, ", for the card", "")
	return cmd
}

func (p *publishRun) run(ctx context.Context, e *env, args []string) error {
	source, target := p.language.languages(args)
	if target != "" {
		p.options.Card.Languages = []string{target}
	}
	if source != target {
		p.options.Card.SourceLanguage = source
	}
	p.options.Detector = (&language.Config{Models: e.models}).Name()
	if p.options.Format == dataset.FormatMTME && source != "" {
		p.options.LanguagePair = source + "-" + target
	}
	p.options.Card.Name = filepath.Base(p.dir)
	if err := p.options.Check(); err != nil {
		return usagef("%w", err)
	}
	prompts := diversify.Prompts()
	if p.prompts != "" {
		more, err := diversify.ParsePrompts(p.prompts)
		if err != nil {
			return usagef("--prompts: %w", err)
		}
		prompts = append(more, prompts...) // the first of a name counts
	}
	for _, prompt := range prompts {
		p.options.Card.Prompts = append(p.options.Card.Prompts, publish.Prompt{Name: prompt.Name, Text: prompt.Text})
	}
	ds, err := p.data.dataset(e, args, true)
	if err == nil {
		ds, err = p.decisions.decided(ds)
	}
	if err != nil {
		return err
	}
	e.collectAt(100)
	res, err := publish.Publish(ctx, ds, p.dir, p.options)
	if err != nil {
		return err
	}
	p.decisions.note(e)
	p.noteLeftOut(e, res)
	if checked := &res.Stats.Checked; checked.Any() {
		e.note("%s", checked)
	} else if res.Stats.Variants > 0 {
		e.note("the meaning is not checked; 'refract expand --judge MODEL' does that, and measures the judge")
	}
	e.noteMeaning(res.Stats.Findings())
	e.suggestNext(p.dir, "score", "published:"+p.dir, "--hyp", "mine=out.txt", "-a", "single,max", "-o", "scores.csv")
	return p.out.show(e, publishedTable(res, p.dir))
}

// noteLeftOut reports what the folder leaves out, and what to do next.
func (p *publishRun) noteLeftOut(e *env, res *publish.Result) {
	s, m := res.Stats, &res.Manifest
	if s.Hypotheses+s.Judgements > 0 {
		e.note("left out: outputs of systems (%d) and human judgements (%d)", s.Hypotheses, s.Judgements)
	}
	if left := s.Rejected - m.Rejected; left > 0 {
		e.note("left out: rejected answers (%d), which only jsonl and parquet hold", left)
	}
	if s.Empty > 0 && m.Format == dataset.FormatText {
		e.warn("empty references: %d; sacreBLEU leaves out empty lines, so its scores differ there", s.Empty)
	}
	if p.options.Card.License == "" {
		e.note("the card has no license: add one to %s, or give --license", filepath.Join(p.dir, "README.md"))
	}
}

// publishedTable shows the contents of a published folder in a row.
func publishedTable(r *publish.Result, dir string) *report.NamedTable {
	t := &report.NamedTable{Columns: []report.Column{
		textColumn("folder"), textColumn("format"), countColumn("segments"), countColumn("references"), countColumn("variants"), countColumn("rejected"),
		countColumn("missing"), countColumn("empty"), countColumn("repeated"), countColumn("files"), countColumn("bytes"), textColumn("set"),
	}}
	bytes, m, s := 0, &r.Manifest, r.Stats
	for _, f := range m.Files {
		bytes += int(f.Bytes)
	}
	t.Add(dir, m.Format, m.Segments, m.References, m.Variants, m.Rejected, s.Missing, s.Empty, s.Repeated, len(m.Files), bytes, m.Set)
	return t
}

package command

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/publish"
	"github.com/refract-eval/refract/cmd/refract/internal/page"
	"github.com/refract-eval/refract/cmd/refract/internal/serve"
	"github.com/refract-eval/refract/diversify/review"
	"github.com/refract-eval/refract/internal/english"
)

// decisionFlag names a file of people's decisions.
type decisionFlag struct {
	decisions string
	read      *review.Decisions // nil for none
}

func (d *decisionFlag) register(cmd *cobra.Command) {
	taskFlags.of(cmd)("decisions", plain(&d.decisions, ""), "`FILE` of decisions by people, of 'refract review', to carry out", shown, names(readsFile))
}

// decided returns the dataset with the decisions applied.
func (d *decisionFlag) decided(ds refract.Dataset) (refract.Dataset, error) {
	if d.decisions == "" {
		return ds, nil
	}
	var err error
	if d.read, err = review.Read(d.decisions); err != nil {
		return nil, err
	}
	return d.read.Apply(ds), nil
}

// noteDecisions reports that all decisions were applied.
func (d *decisionFlag) noteDecisions(e *env) {
	if d.read == nil {
		return
	}
	accepted, rejected, edited := d.read.Count(review.Accept), d.read.Count(review.Reject), d.read.Count(review.Edit)
	e.note("carried out: %s by people (accepted %d, rejected %d, edited %d)", english.Thousands(accepted+rejected+edited, "decision"), accepted, rejected, edited)
	if n := d.read.Repeats(); n > 0 {
		e.warn("decisions for a text that the segment already has, which stay rejected as duplicate or copy: %d", n)
	}
}

// noteMeaning reports for each model how many of its variants keep the meaning, and
// what to do.
func (e *env) noteMeaning(findings []publish.Finding) {
	for _, f := range findings {
		from := ""
		if len(findings) > 1 {
			from = ", variants of " + cmp.Or(f.Model, "a model that is not named")
		}
		say := e.note
		if !f.Measured() || f.Share() < publish.LeastKept || f.Aside > 0 {
			say = e.warn
		}
		say("%s%s; %s", &f, from, f.Advice())
	}
}

// reviewRun is one run of refract review.
type reviewRun struct {
	input
	review.Wanted
	path   string // of the decisions, or of a page
	listen string
	seed   uint64
}

func (e *env) reviewCommand() *cobra.Command {
	r := &reviewRun{}
	cmd := &cobra.Command{
		Use:   "review [DATASET]",
		Short: "Decide by eye which answers serve as references",
		Long: `Show answers next to their reference on a page in the browser, and save what a
person decides: accept, reject, or another wording.

The page is served on this machine only, at an address that contains a secret,
until Ctrl+C; the next run continues. --decisions of 'refract check' and 'refract
publish' carries the decisions out.`,
		Example: `  refract review jsonl:expanded.jsonl -o decisions.jsonl
  refract review jsonl:expanded.jsonl -o review.html`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd.Context(), e, args) },
	}
	r.input.register(cmd)
	flag := resultFlags.of(cmd)
	flag("output,o", plain(&r.path, ""), "`FILE` to add decisions to; NAME.html writes the page instead of serving it", shown, names(writesFile))
	flag("listen", plain(&r.listen, "127.0.0.1:0"), "`ADDRESS` of this machine to serve the page at; port 0 takes a free one", shown)
	flag("show", valueOf(&r.Wanted, "50,50,3", parseShown), "`DRAWN,ALARMED,REJECTED`: how many accepted answers at random, more with most alarms, and rejected ones of each pattern", shown)
	flag("seed", plain(&r.seed, defaultSeed), "seed of the draw", shown)
	return cmd
}

// parseShown reads three numbers.
func parseShown(s string) (review.Wanted, error) {
	var n [3]int
	fields := strings.Split(s, ",")
	for i := range n {
		var err error
		if len(fields) == len(n) {
			n[i], err = strconv.Atoi(fields[i])
		}
		if err != nil || len(fields) != len(n) || n[i] < 0 || n[i] > 1000 {
			return review.Wanted{}, &unwantedError{strconv.Quote(s), "three numbers from 0 to 1000, such as 50,50,3"}
		}
	}
	return review.Wanted{Drawn: n[0], Alarmed: n[1], Rejected: n[2]}, nil
}

func (r *reviewRun) run(ctx context.Context, e *env, args []string) error {
	if r.path == "" {
		return usagef("-o is missing: name the file of decisions, or NAME.html for only the page")
	}
	r.Seed = r.seed
	asFile := filepath.Ext(r.path) == ".html"
	ds, err := r.dataset(e, args, false)
	if err != nil {
		return err
	}
	var decided *review.Decisions
	var file *os.File
	if !asFile {
		torn := false
		if file, decided, torn, err = review.Open(r.path); err != nil {
			return err
		}
		defer file.Close()
		if torn {
			e.warn("%s: the last line was incomplete, and is removed", r.path)
		}
	}
	_, r.Wanted.Language = (&languageFlag{}).languages(args)
	items, err := review.Pick(ctx, ds, r.Wanted, decided)
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return e.noVariant("decide about", args)
	}
	title := "Review"
	if len(args) > 0 {
		title = "Review of " + filepath.Base(args[0])
	}
	if asFile {
		out, err := e.create(r.path)
		if err != nil {
			return err
		}
		if err := page.WriteReview(out, page.Review{Title: title, Items: items}); err != nil {
			return err
		}
		e.note("%s in %s", english.Thousands(len(items), "answer"), r.path)
		e.suggestNext(r.path, e.words("check", args, "--decisions", "decisions.jsonl", "-o", "reviewed.jsonl")...)
		return e.commit()
	}
	return r.serve(ctx, e, title, items, file, args)
}

// serve shows the page until the user interrupts it, which is not a failure.
func (r *reviewRun) serve(ctx context.Context, e *env, title string, items []review.Item, file *os.File, args []string) error {
	var shown bytes.Buffer
	if err := page.WriteReview(&shown, page.Review{Title: title, Items: items, Served: true}); err != nil {
		return err
	}
	s := serve.NewReview(shown.Bytes(), items, file)
	l, url, err := s.Listen(r.listen)
	if err != nil {
		return usagef("--listen: %w", err)
	}
	fmt.Fprintln(e.stdout, url)
	e.note("%s to review; open the address in a browser on this machine, and end with Ctrl+C", english.Thousands(len(items), "answer"))
	if err := s.Serve(ctx, l); err != nil {
		return err
	}
	e.note("%s, in %s", english.Thousands(s.Count(), "new decision"), r.path)
	if s.Count() > 0 {
		e.suggestNext(r.path, e.words("check", args, "--decisions", r.path, "-o", "reviewed.jsonl")...)
	}
	return nil
}

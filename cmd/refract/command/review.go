package command

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

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

// note reports that all decisions were applied.
func (d *decisionFlag) note(e *env) {
	if d.read == nil {
		return
	}
	accepted, rejected, edited := d.read.Count(review.Accept), d.read.Count(review.Reject), d.read.Count(review.Edit)
	e.note("carried out: %s by people (accepted %d, rejected %d, edited %d)", english.Thousands(accepted+rejected+edited, "decision"), accepted, rejected, edited)
	e.warnOf(d.read.Repeats(), "decisions for a text that the segment already has, which stay rejected as duplicate or copy")
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
	data   input
	wanted review.Wanted
	path   string // of the decisions, or of a page
	listen string
}

func (e *env) reviewCommand() *cobra.Command {
	r := &reviewRun{}
	cmd := e.newCommand(&cobra.Command{
		Use:   "review [DATASET]",
		Short: "Decide by eye which answers serve as references",
		Long: `Show answers next to their reference on a page in the browser, and save what a
person decides: accept, reject, or another wording.

The page is served on this machine only, at an address that contains a secret,
until Ctrl+C; the next run continues. --decisions of 'refract check' and 'refract
publish' carries the decisions out.`,
		Example: `  refract review jsonl:expanded.jsonl -o decisions.jsonl
  refract review jsonl:expanded.jsonl -o review.html`,
	}, cobra.MaximumNArgs(1), r.run)
	r.data.register(cmd)
	flag := resultFlags.of(cmd)
	flag("output,o", plain(&r.path, ""), "`FILE` to add decisions to; NAME.html writes the page instead of serving it", required("name the file of decisions, or NAME.html for only the page"), shown, names(writesFile))
	flag("listen", plain(&r.listen, "127.0.0.1:0"), "`ADDRESS` of this machine to serve the page at; port 0 takes a free one", shown, isAddress)
	flag("show", valueOf(&r.wanted, "50,50,3", r.parseShown), "`DRAWN,ALARMED,REJECTED`: how many accepted answers at random, more with most alarms, and rejected ones of each pattern", shown)
	flag("seed", plain(&r.wanted.Seed, defaultSeed), "seed of the draw", shown)
	return cmd
}

// parseShown reads three numbers.
func (r *reviewRun) parseShown(s string) (review.Wanted, error) {
	w := r.wanted
	_, err := fmt.Sscanf(s, "%d,%d,%d", &w.Drawn, &w.Alarmed, &w.Rejected)
	if err != nil || fmt.Sprintf("%d,%d,%d", w.Drawn, w.Alarmed, w.Rejected) != s || min(w.Drawn, w.Alarmed, w.Rejected) < 0 || max(w.Drawn, w.Alarmed, w.Rejected) > 1000 {
		err = &unwantedError{strconv.Quote(s), "three numbers from 0 to 1000, such as 50,50,3"}
	}
	return w, err
}

func (r *reviewRun) run(ctx context.Context, e *env, args []string) error {
	ds, err := r.data.dataset(e, args, false)
	if err != nil {
		return err
	}
	served := filepath.Ext(r.path) != ".html"
	var decided *review.Decisions
	var file *os.File
	if served {
		torn := false
		if file, decided, torn, err = review.Open(r.path); err != nil {
			return err
		}
		defer file.Close()
		if torn {
			e.warn("%s: the last line was incomplete, and is removed", r.path)
		}
	}
	_, r.wanted.Language = (&languageFlag{}).languages(args)
	shown := page.Review{Title: "Review", Served: served}
	if shown.Items, err = review.Pick(ctx, ds, r.wanted, decided); err != nil {
		return err
	}
	if len(shown.Items) == 0 {
		return e.noVariant("decide about", args)
	}
	if len(args) > 0 {
		shown.Title = "Review of " + filepath.Base(args[0])
	}
	next, done := "decisions.jsonl", true
	if served {
		next = r.path
		done, err = r.serve(ctx, e, shown, file)
	} else {
		err = r.write(e, shown)
	}
	if done {
		e.suggestNext(r.path, e.words("check", args, "--decisions", next, "-o", "reviewed.jsonl")...)
	}
	return err
}

// write writes the page, which is only looked at.
func (r *reviewRun) write(e *env, shown page.Review) error {
	out, err := e.create(r.path)
	if err == nil {
		err = page.WriteReview(out, shown)
	}
	if err == nil {
		e.note("%s in %s", english.Thousands(len(shown.Items), "answer"), r.path)
	}
	return err
}

// serve shows the page until the user interrupts it, which is not a failure. It reports whether
// something was decided.
func (r *reviewRun) serve(ctx context.Context, e *env, shown page.Review, file *os.File) (decided bool, err error) {
	var html bytes.Buffer
	if err := page.WriteReview(&html, shown); err != nil {
		return false, err
	}
	s := serve.NewReview(html.Bytes(), shown.Items, file)
	l, url, err := s.Listen(r.listen)
	if err != nil {
		return false, usagef("--listen: %w", err)
	}
	fmt.Fprintln(e.stdout, url)
	e.note("%s to review; open the address in a browser on this machine, and end with Ctrl+C", english.Thousands(len(shown.Items), "answer"))
	if err := s.Serve(ctx, l); err != nil {
		return false, err
	}
	e.note("%s, in %s", english.Thousands(s.Count(), "new decision"), r.path)
	return s.Count() > 0, nil
}

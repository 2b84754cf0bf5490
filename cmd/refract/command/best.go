package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/report"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
)

// picker is one run of refract best: scores, and the best of each segment.
type picker struct {
	scorer
	mbr, includeHuman bool

	segments, candidates, missing, unscored, ties int
	none                                          []string // ids of segments of which nothing is chosen: the first few
	without                                       int
}

func (e *env) bestCommand() *cobra.Command {
	p := &picker{}
	cmd := &cobra.Command{
		Use:   "best [DATASET]",
		Short: "Pick the best of several outputs of each segment",
		Long: `Pick one output of each segment, the best of n. The systems of the dataset are
the candidates. One metric scores them, a judge or any other, against the
references of the segment, or with --mbr against each other: minimum Bayes risk
decoding takes the candidate with the best mean over all others as references.

A row a segment has the candidate, its text and score, the runner-up and the
margin to it. Of equal candidates the first of the dataset is taken; ties counts
the others. A segment without any scored candidate has a row without a choice,
and the command ends with exit code 1.`,
		Example: `  refract best --source src.txt --hyp 1=out1.txt --hyp 2=out2.txt -m chrf --mbr -o best.jsonl
  refract best jsonl:candidates.jsonl -m chrf -a max -f tsv
  refract best jsonl:candidates.jsonl -m gemba-da:sl=German,tl=English --judge-model my-model --dry-run`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return p.pick(cmd.Context(), e, args) },
	}
	p.into, p.shape, p.per, p.system, p.foretells = p.collect, p.among, "segment", "auto", true
	p.input.register(cmd)
	p.choiceFlags.register(cmd)
	p.settingFlags.register(e, cmd, "max; with --mbr mean")
	cmd.Flags().Lookup("metric").Usage = "`METRIC`: NAME[:OPTION=VALUE,…] (default chrf)"
	p.output.register(cmd)
	p.judgeFlags.register(cmd)
	p.judgeFlags.registerDryRun(cmd, "ask for no score: servers of oip say what they are, and programs are started")
	f := cmd.Flags()
	f.BoolVar(&p.mbr, "mbr", false, "score each candidate against all others, as references in place of the dataset's")
	f.BoolVar(&p.includeHuman, "include-references", false, "references scored as systems are candidates too")
	grouped(cmd, taskFlags, "mbr")
	return cmd
}

func (p *picker) pick(ctx context.Context, e *env, args []string) error {
	if len(p.metrics) == 0 {
		p.metrics = []string{"chrf"}
	}
	if len(p.metrics) > 1 || len(p.aggregators) > 1 {
		return usagef("the best is by one metric and one aggregator: give one -m and one -a, or a panel of metrics (panel:…)")
	}
	p.defaults = []aggregate.Aggregator{aggregate.Must("max")}
	if p.mbr {
		p.defaults = []aggregate.Aggregator{aggregate.Must("mean")}
		p.allowNone = true // a candidate alone in its segment is counted
		if len(p.aggregators) > 0 && p.aggregators[0].Single() {
			return usagef("--mbr scores against all other candidates; take another aggregator than single, such as mean")
		}
	}
	err := p.run(ctx, e, args)
	if none := (*refract.NoReferencesError)(nil); errors.As(err, &none) {
		err = &remediedError{err, "--mbr scores candidates against each other, and needs no references"}
	}
	if err != nil || p.dryRun {
		return err
	}
	e.note("%s: %s; %d missing, %d without a score; ties in %d", english.Thousands(p.segments, "segment"),
		english.Thousands(p.candidates, "candidate"), p.missing, p.unscored, p.ties)
	if p.without > 0 {
		more := ""
		if p.without > len(p.none) {
			more = ", …"
		}
		hint := ""
		if p.mbr && p.candidates == p.segments {
			hint = "; --mbr needs two candidates or more, such as --hyp 1=FILE --hyp 2=FILE"
		}
		return fmt.Errorf("%s without any scored candidate (ids %s%s): nothing is chosen of them%s", english.Count(p.without, "segment"), strings.Join(p.none, ", "), more, hint)
	}
	return nil
}

// among is the dataset of the candidates.
func (p *picker) among(ds refract.Dataset, settings []refract.Setting) (refract.Dataset, error) {
	if !p.includeHuman {
		ds = dataset.Map(ds, func(_ context.Context, s *refract.Segment) (*refract.Segment, error) {
			return withoutPeople(s, func(refract.Hypothesis) bool { return true }), nil
		})
	}
	if !p.mbr {
		return ds, nil
	}
	if m := settings[0].Metric.Info(); !m.NeedsReferences {
		return nil, usagef("%s needs no references, so that candidates are none to it: leave --mbr out", m.Name)
	}
	return refract.AgainstOthers(ds), nil
}

// withoutPeople is a segment less those outputs by people, which are references
// scored as systems, for which drop holds.
func withoutPeople(s *refract.Segment, drop func(refract.Hypothesis) bool) *refract.Segment {
	out := *s
	out.Hypotheses = nil
	for _, h := range s.Hypotheses {
		if !h.Human || !drop(h) {
			out.Hypotheses = append(out.Hypotheses, h)
		}
	}
	return &out
}

// collect is the sink of scores that are chosen by.
func (p *picker) collect(eng *refract.Engine, out io.Writer, id *refract.Identity) (*sink, error) {
	w, err := p.table(out, []report.Column{
		{Name: "id"}, {Name: "system"}, programColumn(textColumn("text")), numberColumn("score", 4),
		{Name: "runner_up", Header: "runner-up"}, numberColumn("margin", 4), countColumn("ties"), programColumn(textColumn("tied")),
		countColumn("candidates"), countColumn("missing"), countColumn("unscored"), {Name: "status", Hide: true},
		programColumn(textColumn("metric")), programColumn(textColumn("aggregate")), programColumn(textColumn("signature")),
	})
	if err != nil {
		return nil, err
	}
	picked := eng.Picker(0, func(b *refract.Best) error { return w.Row(p.row(b, eng.Settings()[0], id)...) })
	return &sink{picked.Add, func(context.Context, *refract.Incomplete) error {
		if err := picked.End(); err != nil {
			return err
		}
		return w.Close()
	}}, nil
}

// row shows a segment, and counts it.
func (p *picker) row(b *refract.Best, of refract.Setting, id *refract.Identity) []report.Value {
	missing, status := 0, metrics.MissingHypothesis
	for h := range b.Scores {
		if s := b.Scores[h].Status; s == metrics.MissingHypothesis {
			missing++
		} else if status == metrics.MissingHypothesis || s == metrics.Scored {
			status = s // of the first candidate that is there, or that there is a score
		}
	}
	candidates := len(b.Scores)
	unscored := candidates - missing - b.Scored
	p.segments, p.candidates, p.missing, p.unscored = p.segments+1, p.candidates+candidates, p.missing+missing, p.unscored+unscored
	chosen, score, runnerUp, margin, signature := []report.Value{report.Null(), report.Null()}, report.Null(), report.Null(), report.Null(), report.Null()
	var tied []string
	if b.Chosen >= 0 {
		h := &b.Segment.Hypotheses[b.Chosen]
		chosen, score = []report.Value{report.String(h.System), report.String(h.Text.Value)}, report.Float(b.Scores[b.Chosen].Value)
		sig := refract.SettingSignature(of, metrics.Sentence, strconv.Itoa(b.Scores[b.Chosen].References), id.Of(of.Aggregator))
		if p.mbr {
			sig = sig.With("refs", "others")
		}
		signature = report.String(sig.String())
	} else if p.without++; len(p.none) < 3 {
		p.none = append(p.none, text.Quote(b.Segment.ID))
	}
	if by, ok := b.Margin(); ok {
		runnerUp, margin = report.String(b.Segment.Hypotheses[b.RunnerUp].System), report.Float(by)
	}
	for _, h := range b.Tied {
		tied = append(tied, b.Segment.Hypotheses[h].System)
	}
	if len(tied) > 0 {
		p.ties++
	}
	return append([]report.Value{report.String(b.Segment.ID), chosen[0], chosen[1]}, score, runnerUp, margin,
		report.Int(len(tied)), report.StringOrNull(strings.Join(tied, ", ")), report.Int(candidates), report.Int(missing), report.Int(unscored),
		report.String(status.String()), report.String(of.Metric.Info().Name), report.StringOrNull(of.AggregatorName()), signature)
}

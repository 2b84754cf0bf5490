package experiment

import (
	"context"
	"fmt"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/metrics"
)

// prompts computes what each prompt of a dataset is worth.
func (r *run) prompts(ctx context.Context, d *data, _ []*setting, res *Result) error {
	if !r.p.Prompts || len(d.prompts) < 2 {
		return nil
	}
	for _, of := range d.series {
		if !of.info.NeedsReferences {
			continue
		}
		r.progress(d.Name, "prompts, %s", of.info.Name)
		if err := r.promptsOf(ctx, d, of, aggregate.Default("max")[0].For(of.higher()), res); err != nil {
			return fmt.Errorf("prompts: %s: %w", of.info.Name, err)
		}
	}
	return nil
}

// promptTables are the tables by which a prompt is judged.
type promptTables struct {
	name                  string
	texts                 int
	alone, added, without *table
}

func (r *run) promptsOf(ctx context.Context, d *data, of *series, best aggregate.Aggregator, res *Result) (err error) {
	over := func(set columnsOf) *table {
		var t *table
		if err == nil {
			t, err = r.values(d, &setting{series: of, aggregator: best, set: set})
		}
		return t
	}
	every := d.each(func(s *refract.Segment, _ int) []int { return everything(s) })
	single, all := over(every.first()), over(every)
	var tables []promptTables
	for i, p := range append([]string{originalName}, d.prompts...) {
		t := promptTables{name: p}
		if i == 0 {
			originals := over(d.withPrompts(nil))
			t.alone, t.added, t.without = originals, originals, over(d.variantsOnly(every))
		} else {
			with := d.withPrompts([]string{p})
			others := slices.DeleteFunc(slices.Clone(d.prompts), func(o string) bool { return o == p })
			t.alone, t.added, t.without = over(d.variantsOnly(with)), over(with), over(d.withPrompts(others))
		}
		if err != nil {
			return err
		}
		for _, s := range d.segments {
			for k, text := range s.AllReferences(nil) {
				if text.Valid && d.owner(s, k) == i {
					t.texts++
				}
			}
		}
		tables = append(tables, t)
	}
	decided := d.decides(of.cells, of.info, all)
	for _, st := range r.p.Statistics {
		out := PromptAnalysis{About: d.about(st), Metric: of.info.Name, Aggregator: best.Name()}
		judged, scored := all.judged()
		out.Cells, out.Missing, out.Unscored = scored, all.missing(), judged-scored
		first, err := r.estimate(ctx, single, st, r.p.Bootstrap.Resamples)
		if err != nil {
			return err
		}
		whole, err := r.estimate(ctx, all, st, r.p.Bootstrap.Resamples)
		if err != nil {
			return err
		}
		out.Single, out.All = first.Value, whole.Value
		for i := range tables {
			t := &tables[i]
			effect := PromptEffect{Prompt: t.name, References: t.texts, Decides: decided[i].share, Only: decided[i].only}
			est, err := r.estimate(ctx, t.alone, st, 0)
			if err != nil {
				return err
			}
			effect.Alone = est.Value
			added, err := r.paired(ctx, t.added, single, st, r.p.Bootstrap.Resamples)
			if err != nil {
				return err
			}
			lost, err := r.paired(ctx, all, t.without, st, r.p.Bootstrap.Resamples)
			if err != nil {
				return err
			}
			effect.Added, effect.AddedGain, effect.AddedInterval = added.a.Value, added.value(), r.interval(added.resamples())
			effect.Without, effect.Effect, effect.EffectInterval = lost.b.Value, lost.value(), r.interval(lost.resamples())
			corrected := intervalOf(lost.resamples(), 1-(1-r.p.Bootstrap.Confidence)/float64(len(tables)))
			effect.Needed = corrected != nil && corrected.Low > 0
			out.Prompts = append(out.Prompts, effect)
		}
		res.Prompts = append(res.Prompts, out)
	}
	return nil
}

// owner is the prompt that made a reference of a segment, by its number from 1; 0 for an original.
func (d *data) owner(s *refract.Segment, column int) int {
	if column < len(s.References) {
		return 0
	}
	return 1 + slices.Index(d.prompts, s.Variants[column-len(s.References)].Prompt)
}

// decision is how often a prompt's text has the best score.
type decision struct{ share, only Number }

// decides counts, over the cells of a table, whose text has the best score: first the
// originals, then each prompt.
func (d *data) decides(cells []*refract.MetricScores, info metrics.Info, t *table) []decision {
	n := len(d.prompts) + 1
	share, only := make([]float64, n), make([]float64, n)
	total := 0.0
	part := make([]int, n)
	for i, s := range d.segments {
		owner := make([]int, s.NumReferences())
		for c := range owner {
			owner[c] = d.owner(s, c)
		}
		for h, k := range d.at[i] {
			if k < 0 || len(owner) == 0 || !t.GoldOK[k] || !t.MetricOK[k] {
				continue
			}
			row := cells[i].Values[h*cells[i].Columns : (h+1)*cells[i].Columns]
			status := cells[i].Status[h*cells[i].Columns : (h+1)*cells[i].Columns]
			clear(part)
			best, ties := 0.0, 0
			for c, v := range row {
				if status[c] != metrics.Scored {
					continue
				}
				v *= float64(info.Direction)
				if ties == 0 || v > best {
					best, ties = v, 0
					clear(part)
				}
				if v == best {
					part[owner[c]]++
					ties++
				}
			}
			if ties == 0 {
				continue
			}
			total++
			for p, count := range part {
				share[p] += float64(count) / float64(ties)
				if count == ties {
					only[p]++
				}
			}
		}
	}
	out := make([]decision, n)
	for p := range out {
		out[p] = decision{Number(share[p] / total), Number(only[p] / total)}
	}
	return out
}

package dataset

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
)

// openBAGEL reads the rated outputs of Novikova et al. ("Why We Need New
// Evaluation Metrics for NLG", EMNLP 2017) for the meaning representations of
// BAGEL, or of another of their sets.
func openBAGEL(place string, o Options) (*set, error) {
	path, options, err := splitSpec("bagel", place, []string{"references", "dataset"}, nil)
	if err != nil {
		return nil, err
	}
	set := options.get("dataset")
	if set == "" {
		set = "BAGEL"
	}
	return openHeld(path, o, func(warn func(Warning)) ([]*refract.Segment, error) {
		t, err := readTable(path, warn)
		if err != nil {
			return nil, err
		}
		b := bagel{table: t, set: set, references: map[string][]refract.Text{}}
		if file := options.get("references"); file != "" {
			refs, err := readTable(file, warn)
			if err == nil {
				err = b.addReferences(refs)
			}
			if err != nil {
				return nil, err
			}
		}
		return b.read(warn)
	})
}

type bagel struct {
	table      *table
	set        string
	references map[string][]refract.Text // by meaning representation
}

// bagelAspects are the columns of scores, from 1 to 6.
var bagelAspects = []string{"informativeness", "naturalness", "quality"}

// separator parts the references in a field.
const separator = "<|>"

// addReferences adds those of a table with the columns mr and orig_ref, which
// may repeat a meaning representation. A reference that is there is not added
// again.
func (b *bagel) addReferences(t *table) error {
	c, err := t.need("mr", "orig_ref")
	if err != nil {
		return err
	}
	for _, row := range t.rows {
		mr := row[c[0]]
		for _, text := range strings.Split(row[c[1]], separator) {
			r := refract.NewText(strings.TrimSpace(text))
			if r.Value != "" && !slices.Contains(b.references[mr], r) {
				b.references[mr] = append(b.references[mr], r)
			}
		}
	}
	return nil
}

// ratedSegment is a segment with the ratings of its outputs so far.
type ratedSegment struct {
	*refract.Segment
	judges [][]string // of each hypothesis
	scores []average  // of each hypothesis
}

// place finds the output that a row rates, or adds it. It is -1 where the
// system has another output, or the judge has rated this one.
func (r *ratedSegment) place(system string, output refract.Text, judge string) int {
	for i := range r.Hypotheses {
		if r.Hypotheses[i].System != system {
			continue
		}
		if r.Hypotheses[i].Text != output || slices.Contains(r.judges[i], judge) {
			return -1
		}
		return i
	}
	r.Hypotheses = append(r.Hypotheses, refract.Hypothesis{System: system, Text: output})
	r.judges = append(r.judges, nil)
	r.scores = append(r.scores, average{})
	return len(r.Hypotheses) - 1
}

// read groups the rows by meaning representation. A system with several
// outputs for one makes several segments of it.
func (b *bagel) read(warn func(Warning)) ([]*refract.Segment, error) {
	t := b.table
	if t.column("orig_ref") >= 0 {
		if err := b.addReferences(t); err != nil {
			return nil, err
		}
	}
	output := "sys_ref"
	if t.column(output) < 0 && t.column("system_ref") >= 0 {
		output = "system_ref"
	}
	c, err := t.need("mr", "system", output)
	if err != nil {
		return nil, err
	}
	set, judge := t.column("dataset"), t.column("judge")
	var sets []string
	var all []*ratedSegment
	byMR := map[string][]*ratedSegment{}
	for i, row := range t.rows {
		if set >= 0 && row[set] != b.set {
			if !slices.Contains(sets, row[set]) {
				sets = append(sets, row[set])
			}
			continue
		}
		who := ""
		if judge >= 0 {
			who = row[judge]
		}
		mr, system, output := row[c[0]], row[c[1]], refract.NewText(row[c[2]])
		if system == "" {
			return nil, failAt(t.pos(i), 0, "the row names no system")
		}
		var r *ratedSegment
		h := -1
		for _, r = range byMR[mr] {
			if h = r.place(system, output, who); h >= 0 {
				break
			}
		}
		if h < 0 {
			r = &ratedSegment{Segment: &refract.Segment{ID: ordinal(len(all)), Source: refract.NewText(mr), References: slices.Clone(b.references[mr]), Pos: t.pos(i)}}
			all = append(all, r)
			byMR[mr] = append(byMR[mr], r)
			h = r.place(system, output, who)
		}
		r.judges[h] = append(r.judges[h], who)
		if err := b.rate(&r.scores[h], i); err != nil {
			return nil, err
		}
	}
	if len(all) == 0 && len(sets) > 0 {
		return nil, failFile(t.file, "has no row of the dataset %s%s; it has %s", text.Quote(b.set), didYouMean(b.set, sets), quotedNames(sets))
	}
	segments := make([]*refract.Segment, len(all))
	for i, r := range all {
		segments[i] = r.Segment
		for h := range r.scores {
			r.Judgements = r.scores[h].judgements(r.Judgements, "", r.Hypotheses[h].System, median)
		}
	}
	warnNoReferences(t.file, segments, "name a table of them with references=FILE", warn)
	return segments, nil
}

func (b *bagel) rate(a *average, row int) error {
	for _, name := range bagelAspects {
		i := b.table.column(name)
		if i < 0 {
			continue
		}
		v, ok, err := b.table.number(row, i)
		if err != nil {
			return err
		}
		a.add(name, v, ok)
	}
	return nil
}

// warnNoReferences tells of segments without a reference.
func warnNoReferences(file string, segments []*refract.Segment, hint string, warn func(Warning)) {
	var without examples
	for _, s := range segments {
		if len(s.References) == 0 {
			without.add(text.Quote(s.ID))
		}
	}
	if n := without.n; n > 0 {
		warn(Warning{refract.Position{File: file}, fmt.Sprintf("%s of %d without a reference (ids %s); %s", english.Count(n, "segment"), len(segments), &without, hint)})
	}
}

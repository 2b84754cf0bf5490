package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/dataset"
)

// data is a dataset in memory, because rank statistics need all of it.
type data struct {
	Dataset
	read     []*refract.Segment // the whole dataset
	segments []*refract.Segment // the chosen part
	kept     []int              // their indices in read
	names    dataset.Census
	places   []correlate.Place
	counts   []int // of references, by segment
	judgements
	raters  *raters      // nil unless outputs have several
	series  []*series    // scores of its metrics
	ordered [][]*ordered // of each curve

	drawn    string          // name of what resamples draw
	units    correlate.Units // the units drawn
	unitsKey memoKey         // of units
	drawable int             // their number

	prompts  []string // of the variants, in order of appearance
	variants bool     // whether any segment has one
}

// judgements are the human scores with which a dataset is compared.
type judgements struct {
	human    string             // their name; "" if there are none
	systems  []string           // compared, in the dataset's order
	leftOut  []string           // because people wrote their texts
	unjudged []string           // because no segment has a score
	column   map[string]int     // of each compared system
	gold     *correlate.Pairs   // without metric scores
	at       [][]int            // for each segment and hypothesis: its cell, -1 for none
	ratings  [][]refract.Rating // of each cell
}

// load reads a dataset. A dataset without human scores is an error, unless scoresOnly says that
// only scores are wanted.
func load(ctx context.Context, d Dataset, ds refract.Dataset, scoresOnly bool) (*data, error) {
	out := &data{Dataset: d}
	hypotheses, judged := 0, false
	for s, err := range ds.Segments(ctx) {
		if err != nil {
			return nil, err
		}
		out.names.Add(s)
		out.read = append(out.read, s)
		if !d.Choice.All() {
			if s = d.Choice.Of(s); s == nil {
				continue
			}
		}
		out.segments, out.kept = append(out.segments, s), append(out.kept, len(out.read)-1)
		out.places = append(out.places, correlate.Place{Segment: s.ID, Document: s.Document, Domain: s.Domain})
		out.counts = append(out.counts, s.NumReferences())
		hypotheses += len(s.Hypotheses)
		judged = judged || slices.ContainsFunc(s.Judgements, func(j refract.Judgement) bool { return j.Valid })
		for i := range s.Variants {
			out.variants = true
			if p := s.Variants[i].Prompt; !slices.Contains(out.prompts, p) {
				out.prompts = append(out.prompts, p)
			}
		}
	}
	if err := out.names.Check(&d.Choice); err != nil {
		return nil, err
	}
	if hypotheses == 0 {
		return nil, errNoSystem
	}
	var err error
	if judged || !scoresOnly {
		out.judgements, err = judge(out.segments, d)
	} else if d.Human != "" {
		err = fmt.Errorf("the dataset has no human scores named %q", d.Human)
	}
	return out, err
}

// errNoSystem says that there is nothing to score.
var errNoSystem = errors.New("there is no system to score")

// ErrNoJudgements says that no output was judged by people.
var ErrNoJudgements = errors.New("the dataset has no human scores, so there is nothing to compare with")

// judge arranges the human scores with that name, or the only or usual ones, as a table.
// References scored as systems are left out unless requested; those that the segments have
// as references are always left out. Scores of which the lower are better are negated.
func judge(segments []*refract.Segment, d Dataset) (judgements, error) {
	var names, all []string
	index, people := map[string]int{}, []bool{}
	system := func(name string) int {
		if _, ok := index[name]; !ok {
			index[name] = len(all)
			all, people = append(all, name), append(people, false)
		}
		return index[name]
	}
	for _, s := range segments {
		for h := range s.Hypotheses {
			k := system(s.Hypotheses[h].System)
			people[k] = people[k] || s.Hypotheses[h].Human
		}
		for _, j := range s.Judgements {
			if !slices.Contains(names, j.Name) {
				names = append(names, j.Name)
			}
			if j.Valid { // a system may be judged without a hypothesis
				system(j.System)
			}
		}
	}
	out := judgements{column: map[string]int{}}
	var err error
	if out.human, err = chooseHuman(d.Human, names); err != nil {
		return out, err
	}
	judged := make([]bool, len(all))
	for _, s := range segments {
		for _, j := range s.Judgements {
			if j.Name == out.human && j.Valid {
				judged[index[j.System]] = true
			}
		}
	}
	for k, name := range all {
		switch {
		case people[k] && (!d.IncludeReferences || isReference(segments, name)):
			out.leftOut = append(out.leftOut, name)
		case !judged[k]:
			out.unjudged = append(out.unjudged, name)
		default:
			out.column[name] = len(out.systems)
			out.systems = append(out.systems, name)
		}
	}
	if len(out.systems) == 0 {
		return out, fmt.Errorf("no system that is compared has %s scores", out.human)
	}
	out.gold = correlate.NewPairs(len(segments), len(out.systems))
	out.ratings = make([][]refract.Rating, len(out.gold.Gold))
	for i, s := range segments {
		at := make([]int, len(s.Hypotheses))
		for h := range at {
			at[h] = -1
			if k, compared := out.column[s.Hypotheses[h].System]; compared {
				at[h] = out.gold.Index(i, k)
			}
		}
		out.at = append(out.at, at)
		for _, j := range s.Judgements {
			if k, compared := out.column[j.System]; compared && j.Name == out.human && j.Valid {
				at := out.gold.Index(i, k)
				out.gold.Gold[at], out.gold.GoldOK[at] = d.turned(j.Score), true
				out.ratings[at] = j.Ratings
			}
		}
	}
	return out, nil
}

// judgedUnits is how many of the units that a resample draws have a judgement.
func (d *data) judgedUnits() int {
	if d.gold == nil {
		return len(d.places)
	}
	p := *d.gold
	p.Metric, p.MetricOK = p.Gold, p.GoldOK
	n, _ := d.units.Drawn(&p) // there is a unit for each segment
	return n
}

// turned is a human score, or its mean, as one of which the higher is better, and the other way round.
func (d *Dataset) turned(score float64) float64 {
	if d.HumanLowerIsBetter {
		return 0 - score // not -0
	}
	return score
}

// silent returns the compared systems without an output for any segment.
func (d *data) silent() []string {
	return slices.DeleteFunc(slices.Clone(d.systems), func(name string) bool {
		return slices.ContainsFunc(d.segments, func(s *refract.Segment) bool {
			return slices.ContainsFunc(s.Hypotheses, func(h refract.Hypothesis) bool { return h.System == name && h.Text.Valid })
		})
	})
}

// isReference reports whether a system is one of the references that the others are scored
// against: whether it equals one of the references wherever both have a text. It would be
// scored against itself.
func isReference(segments []*refract.Segment, system string) bool {
	const differs = -1
	var equal []int // for each reference: number of segments with the same text, or different ones
	for _, s := range segments {
		h := slices.IndexFunc(s.Hypotheses, func(h refract.Hypothesis) bool { return h.System == system })
		if h < 0 || !s.Hypotheses[h].Text.Valid {
			continue
		}
		for k, r := range s.References {
			if k == len(equal) {
				equal = append(equal, 0)
			}
			switch {
			case !r.Valid || equal[k] == differs:
			case r == s.Hypotheses[h].Text:
				equal[k]++
			default:
				equal[k] = differs
			}
		}
	}
	return len(equal) > 0 && slices.Max(equal) > 0
}

// chooseHuman chooses the human scores: the wanted ones if they exist; by default the only
// kind, or else "mqm".
func chooseHuman(wanted string, names []string) (string, error) {
	const usual = "mqm"
	list := strings.Join(names, ", ")
	switch {
	case len(names) == 0:
		return "", ErrNoJudgements
	case wanted != "" && slices.Contains(names, wanted):
		return wanted, nil
	case wanted != "":
		return "", fmt.Errorf("the dataset has no human scores named %q; it has %s", wanted, list)
	case len(names) == 1:
		return names[0], nil
	case slices.Contains(names, usual):
		return usual, nil
	}
	return "", fmt.Errorf("the dataset has several kinds of human scores (%s); choose one with --human", list)
}

// info describes a dataset.
func (d *data) info() DatasetInfo {
	out := DatasetInfo{
		Name: d.Name, Human: d.human, Segments: len(d.segments), Systems: orEmpty(d.systems),
		ResampledBy: d.drawn, LeftOut: orEmpty(d.leftOut), Unjudged: orEmpty(d.unjudged), Prompts: orEmpty(d.prompts), Set: d.setName(nil),
	}
	if !d.Choice.All() {
		out.NotChosen, out.Domains, out.all = d.names.Without(&d.Choice), d.Domains, len(d.read)
	}
	if d.raters != nil {
		out.Agreement = &d.raters.Agreement
	}
	out.groups = map[correlate.Level]int{}
	for _, level := range []correlate.Level{correlate.DocumentLevel, correlate.DomainLevel} {
		if _, n, err := level.Groups(d.places); err == nil {
			out.groups[level] = n
		}
	}
	if d.gold != nil {
		for _, ok := range d.gold.GoldOK {
			if ok {
				out.Cells++
			}
		}
	}
	return out
}

// release lets go of the texts of a segment.
func (d *data) release(i int) { d.read, d.segments[i] = nil, nil }

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// setName names a choice of references, nil for all, as signatures state it.
func (d *data) setName(set columnsOf) string {
	id := refract.NewIdentity()
	for i, s := range d.segments {
		if set != nil {
			s = only(s, set[i])
		}
		id.Add(s)
	}
	return id.Name()
}

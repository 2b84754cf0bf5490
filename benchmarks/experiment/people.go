package experiment

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/numeric"
)

// People is how well raters agree under a statistic: that of each with the mean of the others, on
// the outputs that both rated, averaged over raters. It is a ceiling for one protocol and its
// raters: a metric that predicts a mean well can be above it.
type People struct {
	About
	Value    Number  `json:"value"`
	Interval *Range  `json:"interval"`
	Raters   []Rater `json:"raters"`
}

// Rater is one rater against the mean of the others.
type Rater struct {
	Name  string `json:"name"`
	Value Number `json:"value"`
	N     int    `json:"n"`
}

// AgainstPeople is a setting next to [People]: its agreement with the same means of all raters but
// one, on the same outputs, averaged over raters in the same way.
type AgainstPeople struct {
	Value    Number `json:"value"`
	Interval *Range `json:"interval"`
	// Above is the paired difference to people, over the outputs that the setting scores.
	Above         Number `json:"above"`
	AboveInterval *Range `json:"above_interval"`
}

// Agreement says who rated a dataset, and how well the ratings of an output agree.
type Agreement struct {
	Raters  []string `json:"raters"`
	Outputs int      `json:"outputs"` // with several ratings
	Ratings int      `json:"ratings"` // of these
	Alpha   []Alpha  `json:"alpha"`

	crowd bool // raters stand for the order of an output's ratings
}

// Alpha is Krippendorff's, on an interval or an ordinal scale.
type Alpha struct {
	Scale    string `json:"scale"`
	Value    Number `json:"value"`
	Interval *Range `json:"interval"`
}

// mostRaters is how many raters are compared as such. More are a crowd, of whom each rates little:
// then the first ratings of outputs count as those of one rater, and so on.
const mostRaters = 20

// raters are the ratings of the outputs that have several.
type raters struct {
	Agreement
	ratings *correlate.Ratings
	tables  []*table // of each rater: the means of the others, with his own scores
}

// rate arranges the ratings of a dataset, if outputs have several, and computes their agreement.
func (r *run) rate(ctx context.Context, d *data) error {
	defer func() { d.ratings = nil }() // which nothing else needs
	if !slices.ContainsFunc(d.ratings, func(of []refract.Rating) bool { return len(of) > 1 }) {
		return nil
	}
	d.raters = d.newRaters()
	for scale, name := range []string{correlate.IntervalScale: "interval", correlate.OrdinalScale: "ordinal"} {
		a := Alpha{Scale: name, Value: Number(d.raters.ratings.Alpha(correlate.Scale(scale)))}
		if b := r.p.Bootstrap; b.Resamples > 0 {
			of := correlate.Bootstrap{Resamples: b.Resamples, Seed: b.Seed, Units: d.units}
			_, resamples, err := of.Alpha(ctx, d.raters.ratings, correlate.Scale(scale))
			if err != nil {
				return err
			}
			a.Interval = r.interval(resamples)
		}
		d.raters.Alpha = append(d.raters.Alpha, a)
	}
	return nil
}

func (d *data) newRaters() *raters {
	r, of := &raters{ratings: &correlate.Ratings{Segments: d.gold.Segments, Systems: d.gold.Systems, Of: make([][]float64, len(d.ratings))}}, d.ratings
	several := correlate.NewPairs(d.gold.Segments, d.gold.Systems)
	for i, ratings := range of {
		if several.GoldOK[i] = len(ratings) > 1; several.GoldOK[i] {
			r.Outputs, r.Agreement.Ratings = r.Outputs+1, r.Agreement.Ratings+len(ratings)
		}
		for _, rating := range ratings {
			r.ratings.Of[i] = append(r.ratings.Of[i], d.turned(rating.Score))
			if !slices.Contains(r.Raters, rating.Rater) {
				r.Raters = append(r.Raters, rating.Rater)
			}
		}
	}
	several.MetricOK = several.GoldOK
	if r.crowd = len(r.Raters) > mostRaters; r.crowd {
		r.Raters = nil
		for k := range slices.MaxFunc(of, func(a, b []refract.Rating) int { return len(a) - len(b) }) {
			r.Raters = append(r.Raters, strconv.Itoa(k+1))
		}
	}
	for k, name := range r.Raters {
		p := correlate.NewPairs(d.gold.Segments, d.gold.Systems)
		for i, scores := range r.ratings.Of {
			own := k
			if !r.crowd {
				own = slices.IndexFunc(of[i], func(rating refract.Rating) bool { return rating.Rater == name })
			}
			if own >= 0 && own < len(scores) && len(scores) > 1 {
				p.Metric[i], p.Gold[i] = scores[own], numeric.Mean(slices.Delete(slices.Clone(scores), own, own+1))
				p.MetricOK[i], p.GoldOK[i] = true, true
			}
		}
		t := d.newTable(p, 0, 0)
		t.from = several
		r.tables = append(r.tables, t)
	}
	return r
}

// people computes for each statistic how well raters agree, and how well settings do with the
// same means; the latter by setting and statistic.
func (r *run) people(ctx context.Context, d *data, settings []*setting, res *Result) ([]*AgainstPeople, error) {
	beside := make([]*AgainstPeople, len(settings)*len(r.p.Statistics))
	if d.raters == nil {
		return beside, nil
	}
	all := make([]People, len(r.p.Statistics))
	err := parallel(ctx, len(all), func(ctx context.Context, i int) error {
		st := r.p.Statistics[i]
		all[i].About = d.about(st)
		var each []*estimate
		for k, t := range d.raters.tables {
			e, err := r.estimate(ctx, t, st, r.p.Bootstrap.Resamples)
			if err != nil {
				return fmt.Errorf("rater %s: %w", d.raters.Raters[k], err)
			}
			each = append(each, e)
			all[i].Raters = append(all[i].Raters, Rater{d.raters.Raters[k], e.Value, e.N})
		}
		all[i].Value, all[i].Interval = r.meanOf(each)
		return nil
	})
	if err != nil {
		return nil, err
	}
	res.People = append(res.People, all...)
	err = parallel(ctx, len(beside), func(ctx context.Context, i int) (err error) {
		s, st := settings[i/len(all)], r.p.Statistics[i%len(all)]
		if beside[i], err = r.againstPeople(ctx, d, s, st); err != nil {
			err = fmt.Errorf("%s: %w", s.name, err)
		}
		return err
	})
	return beside, err
}

func (r *run) againstPeople(ctx context.Context, d *data, s *setting, st Statistic) (*AgainstPeople, error) {
	var each, above []*estimate
	for _, rater := range d.raters.tables {
		own := *rater.Pairs
		own.Metric, own.MetricOK = s.table.Metric, s.table.MetricOK
		t := d.newTable(&own, s.table.minRefs, s.table.maxRefs)
		t.from = rater.from
		p, err := r.paired(ctx, t, rater, st, r.p.Bootstrap.Resamples)
		if err != nil {
			return nil, err
		}
		each = append(each, p.a)
		above = append(above, &estimate{Value: p.value(), Resamples: p.resamples()})
	}
	out := &AgainstPeople{}
	out.Value, out.Interval = r.meanOf(each)
	out.Above, out.AboveInterval = r.meanOf(above)
	return out, nil
}

// meanOf is the mean over raters whose estimate is defined, with its interval.
func (r *run) meanOf(each []*estimate) (Number, *Range) {
	var values []float64
	var resamples []correlate.Resamples
	for _, e := range each {
		if e.Value.Defined() {
			values, resamples = append(values, float64(e.Value)), append(resamples, e.Resamples)
		}
	}
	if len(values) == 0 {
		return None(), nil
	}
	return Number(numeric.Mean(values)), r.interval(correlate.Mean(resamples))
}

// Ceiling says what the agreement of people is and is not.
const Ceiling = "people: each rater against the mean of the others, averaged over raters, and settings against the same means. It is a ceiling for this protocol, not for people: metrics have been above some sets of human scores (arXiv 2506.19571), and raters who saw the other systems' outputs agree for that reason, too"

// tellPeople says who rated, and what is above people.
func (r *run) tellPeople(d *data, res *Result) {
	if d.raters == nil {
		return
	}
	who := english.Count(len(d.raters.Raters), "rater")
	if d.raters.crowd {
		who = fmt.Sprintf("more than %d raters, taken by the order of an output's ratings", mostRaters)
	}
	var alphas []string
	for _, a := range d.raters.Alpha {
		if !a.Value.Defined() { // all ratings are equal
			alphas = append(alphas, fmt.Sprintf("%s –", a.Scale))
			continue
		}
		text := fmt.Sprintf("%s %.3f", a.Scale, float64(a.Value))
		if a.Interval != nil {
			text += fmt.Sprintf(" [%.3f, %.3f]", float64(a.Interval.Low), float64(a.Interval.High))
		}
		alphas = append(alphas, text)
	}
	r.note("%s: %s of %s; %d of %s judged have several ratings; Krippendorff's alpha: %s", d.Name, who, d.human, d.raters.Outputs, english.Count(res.Datasets[len(res.Datasets)-1].Cells, "output"), strings.Join(alphas, ", "))
	r.note("%s", Ceiling)
	var higher []string
	for _, row := range res.Rows {
		if row.Dataset == d.Name && row.People != nil && row.People.AboveInterval != nil && row.People.AboveInterval.Low > 0 {
			higher = append(higher, fmt.Sprintf("%s (%s)", row.Setting, row.Statistic))
		}
	}
	if len(higher) > 0 {
		r.note("above people: %s: closer to the mean of the raters than a single rater, whose score also has his own noise; that is not to judge better than people", strings.Join(higher, ", "))
	}
}

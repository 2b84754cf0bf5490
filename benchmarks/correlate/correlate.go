package correlate

import (
	"fmt"
	"math"
)

// Result is a statistic of a table and what it stands on. The counts of
// correlations add up: N + DroppedPairs + MissingGold + MissingMetric, and the
// cells with neither score, are all cells of the table.
type Result struct {
	Value float64 // NaN if undefined
	// N is the number of score pairs that the value stands on; for accuracy,
	// the number of pairs of systems.
	N int
	// MissingMetric counts the cells with a gold score but no metric score,
	// MissingGold those with a metric score but no gold score. Both kinds are
	// left out.
	MissingMetric, MissingGold int
	// Groups is the number of vectors averaged (1 without grouping); for
	// accuracy, the number of systems compared.
	Groups int
	// Dropped is the number of vectors left out because they have fewer than
	// two pairs or the statistic is not defined for them, as of constant
	// vectors; DroppedPairs is the number of score pairs in them. For
	// accuracy, Dropped counts systems without a pair of scores.
	Dropped, DroppedPairs int
}

// Correlate returns a statistic of the table under a grouping.
//
// The rules are those of mt-metrics-eval: cells without a gold score are left
// out, vectors of fewer than two cells and vectors for which the statistic is
// undefined are left out of the mean, and the mean over groups is not
// weighted. Two rules are stricter: cells without a metric score are left out
// and counted, and a mean over no vectors is NaN, not 0.
//
// Accuracy compares systems by their [SystemMeans] and takes the grouping
// None only. An error says what is wrong with the table or the choice.
func Correlate(p *Pairs, s Statistic, g Grouping) (Result, error) {
	if err := check(p, s, g); err != nil {
		return Result{}, err
	}
	res := Result{Value: math.NaN()}
	for i := range p.Gold {
		switch gold, metric := present(p.GoldOK, i), present(p.MetricOK, i); {
		case gold && !metric:
			res.MissingMetric++
		case metric && !gold:
			res.MissingGold++
		}
	}
	if s == StatAccuracy {
		res.accuracy(p)
		return res, nil
	}
	var v vectors
	var sum float64
	for r := range p.groups(g) {
		p.gather(&v, g, r)
		value := s.of(v.gold, v.metric)
		if math.IsNaN(value) {
			res.Dropped++
			res.DroppedPairs += len(v.gold)
			continue
		}
		sum += value
		res.Groups++
		res.N += len(v.gold)
	}
	if res.Groups > 0 {
		res.Value = sum / float64(res.Groups)
	}
	return res, nil
}

func (r *Result) accuracy(p *Pairs) {
	gold, metric, cells := SystemMeans(p)
	n := 0
	for i, c := range cells {
		if c > 0 {
			gold[n], metric[n] = gold[i], metric[i]
			n++
		}
	}
	r.Value, r.N = PairwiseAccuracy(gold[:n], metric[:n])
	r.Groups, r.Dropped = n, p.Systems-n
}

// check returns an error where a statistic cannot be taken of the table.
func check(p *Pairs, s Statistic, g Grouping) error {
	switch {
	case int(s) >= len(statisticNames):
		return fmt.Errorf("unknown statistic %v", s)
	case int(g) >= len(groupingNames):
		return fmt.Errorf("unknown grouping %v", g)
	case s == StatAccuracy && g != None:
		return fmt.Errorf("%v compares whole systems and cannot be grouped by %v: use grouping %v", s, g, None)
	}
	if err := p.check(); err != nil {
		return fmt.Errorf("%v: %w", s, err)
	}
	return nil
}

// of applies a correlation to two vectors.
func (s Statistic) of(x, y []float64) float64 {
	switch s {
	case StatKendall:
		return Kendall(x, y)
	case StatSpearman:
		return Spearman(x, y)
	default:
		return Pearson(x, y)
	}
}

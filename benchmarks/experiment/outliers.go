package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

// Outlier is a system whose mean score lies far from those of the others: a
// correlation of systems may stand on it alone (Mathur et al., 2020, "Tangled up
// in BLEU").
type Outlier struct {
	System string `json:"system"`
	By     string `json:"by"` // the human scores, or a setting
	// Z is the distance from the median, in robust standard deviations.
	Z Number `json:"z"`
}

const (
	farOut        = 2.5   // the distance that makes an outlier
	robust        = 1.483 // times the median absolute deviation is a normal one's standard deviation
	leastToJudge  = 5     // systems, of which one can be far from the others
	shownOutliers = 3     // scores by which an outlier is one, in a note
)

// outliers names those of a dataset, where a statistic is of systems.
func (r *run) outliers(d *data, settings []*setting, info *DatasetInfo) {
	if !slices.ContainsFunc(r.p.Statistics, func(s Statistic) bool { return s.Level == correlate.SystemLevel }) {
		return
	}
	gold := *d.gold
	gold.Metric, gold.MetricOK = gold.Gold, gold.GoldOK
	info.Outliers = outliersOf(d.systems, &gold, d.human)
	for _, s := range settings {
		name := s.name
		if len(r.p.Sets) == 1 {
			name.References = "" // it tells nothing apart
		}
		if s.as == nil {
			info.Outliers = append(info.Outliers, outliersOf(d.systems, s.table.Pairs, name.String())...)
		}
	}
	if text := info.FarOut(); text != "" {
		r.note("%s: %s", d.Name, text)
	}
}

// outliersOf are the systems whose mean of a table's metric is far out.
func outliersOf(systems []string, p *correlate.Pairs, by string) (out []Outlier) {
	var values []float64
	var names []string
	_, means, cells := correlate.SystemMeans(p)
	for i, name := range systems {
		if cells[i] > 0 {
			values, names = append(values, means[i]), append(names, name)
		}
	}
	for i, z := range distances(values) {
		if math.Abs(z) > farOut {
			out = append(out, Outlier{names[i], by, Number(z)})
		}
	}
	return out
}

// distances from the median, in robust standard deviations; none of too few
// values, or of those that are mostly equal.
func distances(values []float64) []float64 {
	if len(values) < leastToJudge {
		return nil
	}
	middle := median(values)
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Abs(v - middle)
	}
	deviation := robust * median(out)
	if deviation == 0 {
		return nil
	}
	for i, v := range values {
		out[i] = (v - middle) / deviation
	}
	return out
}

func median(values []float64) float64 {
	return correlate.Quantile(slices.Sorted(slices.Values(values)), 0.5)
}

// FarOut names the outliers, and by which scores they are; "" where there is none.
func (d *DatasetInfo) FarOut() string {
	var out []string
	for _, of := range groupsOf(pointers(d.Outliers), func(o *Outlier) (string, bool) { return o.System, true }) {
		var by []string
		for i, o := range of {
			if i == shownOutliers {
				by = append(by, fmt.Sprintf("%d more", len(of)-i))
				break
			}
			by = append(by, fmt.Sprintf("%s %.1f", o.By, float64(o.Z)))
		}
		out = append(out, of[0].System+" ("+strings.Join(by, ", ")+")")
	}
	if len(out) == 0 {
		return ""
	}
	return fmt.Sprintf("outliers among systems, over %g deviations (%g·MAD) from the median: %s", farOut, robust, strings.Join(out, "; "))
}

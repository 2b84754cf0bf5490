package correlate

import "math"

// LikeThreshold is the usual threshold of StatKendallLike, for gold scores from
// 0 to 100.
const LikeThreshold = 25

func likeValue(concordant, pairs int64) float64 {
	if pairs == 0 {
		return math.NaN()
	}
	return float64(2*concordant-pairs) / float64(pairs)
}

// likeRow holds two vectors in ascending order of the gold scores, for the
// Kendall-like statistic of WMT20 (Mathur et al., 2020, "Results of the WMT20
// Metrics Shared Task"). A pair of elements counts where the gold scores are at
// least threshold apart. It is concordant where the metric orders it as the
// gold scores do, and else, also where the metric ties it, discordant; the
// statistic is their difference over their sum, in [-1, 1].
type likeRow struct {
	unit      []int32
	gold      []float64
	metric    []int32 // rank of each element, from 1
	ranks     int     // number of distinct metric values
	threshold float64
}

func newLikeRow(row Row, threshold float64) *likeRow {
	r := &likeRow{threshold: threshold}
	ranks, distinct := denseRanks(row.Metric)
	r.ranks = distinct
	for _, i := range ascending(row.Gold) {
		r.unit = append(r.unit, row.unit[i])
		r.gold = append(r.gold, row.Gold[i])
		r.metric = append(r.metric, ranks[i]+1)
	}
	return r
}

// count returns the numbers of concordant pairs and of all that are far enough
// apart, where each element of unit u is present weights[u] times.
func (r *likeRow) count(weights []int32, s *scratch) (out likePairs) {
	tree := s.integers(r.ranks + 1)
	var inserted int64
	k := 0
	for j, v := range r.gold {
		w := int64(weights[r.unit[j]])
		if w == 0 {
			continue
		}
		for ; v-r.gold[k] >= r.threshold; k++ {
			u := int64(weights[r.unit[k]])
			inserted += u
			for i := int(r.metric[k]); i < len(tree); i += i & -i {
				tree[i] += u
			}
		}
		for i := int(r.metric[j]) - 1; i > 0; i &= i - 1 {
			out.concordant += w * tree[i]
		}
		out.all += w * inserted
	}
	return out
}

// likeRows pools the pairs of several vectors.
type likeRows []*likeRow

func (rows likeRows) weighted(weights []int32, s *scratch) float64 {
	var concordant, pairs int64
	for _, r := range rows {
		p := r.count(weights, s)
		concordant += p.concordant
		pairs += p.all
	}
	return likeValue(concordant, pairs)
}

// wholeLike pools the pairs of vectors that are drawn whole.
type wholeLike []wholeRow[likePairs]

// likePairs are the pairs of a vector that are far enough apart.
type likePairs struct{ concordant, all int64 }

func (all wholeLike) weighted(weights []int32, _ *scratch) float64 {
	var concordant, pairs int64
	for _, r := range all {
		concordant += int64(weights[r.unit]) * r.of.concordant
		pairs += int64(weights[r.unit]) * r.of.all
	}
	return likeValue(concordant, pairs)
}

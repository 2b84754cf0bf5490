package correlate

// LikeThreshold is the usual threshold of StatKendallLike, for gold scores from
// 0 to 100.
const LikeThreshold = 25

// likeValue is the statistic of the numbers of concordant pairs and of all.
func likeValue(s sums) float64 { return (2*s[0] - s[1]) / s[1] }

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
func (r *likeRow) count(weights []int32, s *scratch) sums {
	var concordant, pairs int64
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
			concordant += w * tree[i]
		}
		pairs += w * inserted
	}
	return sums{float64(concordant), float64(pairs)}
}

// likeRows pools the pairs of several vectors.
type likeRows []*likeRow

func (rows likeRows) weighted(weights []int32, s *scratch) float64 {
	var all sums
	for _, r := range rows {
		all.add(r.count(weights, s), 1)
	}
	return likeValue(all)
}

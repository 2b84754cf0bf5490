package correlate

import (
	"fmt"
	"math"
)

// Measure is a statistic with everything that determines its value.
type Measure struct {
	Statistic Statistic
	Grouping  Grouping
	// ZeroUndefined counts a vector of two or more elements with an undefined statistic, such
	// as a constant one, as 0 in the mean over vectors instead of leaving it out.
	ZeroUndefined bool
}

// String is the statistic and its grouping.
func (m Measure) String() string {
	if m.Grouping == None {
		return m.Statistic.String()
	}
	return fmt.Sprintf("%v by %v", m.Statistic, m.Grouping)
}

// Check returns an error if the measure does not apply to the table, or the table
// contradicts itself.
func (m Measure) Check(p *Pairs) error {
	switch {
	case !m.Statistic.known():
		return fmt.Errorf("unknown statistic %v", m.Statistic)
	case int(m.Grouping) >= len(groupingNames):
		return fmt.Errorf("unknown grouping %v", m.Grouping)
	case m.Statistic.OfSystems() && m.Grouping != None:
		return fmt.Errorf("%v compares whole systems and cannot be grouped by %v: use grouping %v", m.Statistic, m.Grouping, None)
	}
	err := p.check()
	if err == nil && m.Statistic.Calibrated() {
		err = fewPairs(m.Rows(p), calibratedPairs)
	}
	if err != nil {
		return fmt.Errorf("%v: %w", m.Statistic, err)
	}
	return nil
}

// Of returns the measure of a table.
//
// The rules are those of mt-metrics-eval: cells without a gold score, vectors of fewer than
// two cells and vectors with an undefined statistic are left out, and the mean over groups
// is not weighted. StatAcc23 chooses one threshold for all groups. Two rules are stricter:
// cells without a metric score are left out, and a mean over no vectors is NaN, not 0.
//
// StatAccuracy compares systems by their [SystemMeans], StatSoftAccuracy and StatLabelsSaved by
// their segments; they take only the grouping None. An error says what is wrong with the table or the
// choice.
func (m Measure) Of(p *Pairs) (Result, error) {
	if err := m.Check(p); err != nil {
		return Result{}, err
	}
	return m.unchecked(p), nil
}

// unchecked is Of without checks.
func (m Measure) unchecked(p *Pairs) Result { return m.of(p, m.Rows(p)) }

// of returns the measure of a table whose vectors are known.
func (m Measure) of(p *Pairs, rows []Row) Result {
	res := m.Over(rows)
	if m.Statistic.OfSystems() {
		res.Dropped = p.Systems - res.Groups
	}
	return res
}

// Rows returns the vectors that the measure compares: those of its grouping; one of all
// [SystemMeans] for StatAccuracy; and one per system for StatLabelsSaved, and for
// StatSoftAccuracy, there with the segments that have both scores of all systems that have any.
func (m Measure) Rows(p *Pairs) []Row {
	if rows := statistics[m.Statistic].rows; rows != nil {
		return rows(p)
	}
	return p.rows(m.Grouping)
}

// Over returns the measure of vectors such as those of [Measure.Rows]. It ignores the
// grouping.
func (m Measure) Over(rows []Row) Result {
	var res Result
	if of := statistics[m.Statistic].vector; of != nil {
		res.mean(rows, func(row int) float64 { return of(rows[row].Gold, rows[row].Metric) }, m.ZeroUndefined)
		return res
	}
	return statistics[m.Statistic].over(rows)
}

func calibratedOver(rows []Row) Result { return calibratedResult(rows, Calibrate(rows)) }

func calibratedResult(rows []Row, c Calibration) Result {
	res := Result{Value: c.Acc23, Epsilon: c.Epsilon}
	for _, r := range rows {
		if len(r.Gold) >= 2 {
			res.Groups++
			res.N += len(r.Gold)
		} else {
			res.Dropped++
		}
	}
	return res
}

func accuracyOver(rows []Row) Result {
	res := Result{Value: math.NaN()}
	if len(rows) == 1 {
		res.Groups = len(rows[0].Gold)
		res.Value, res.N = PairwiseAccuracy(rows[0].Gold, rows[0].Metric)
	}
	return res
}

func softOver(rows []Row) Result {
	return Result{Groups: len(rows), N: len(rows) * (len(rows) - 1) / 2, Value: softAccuracy(rows)}
}

// mean sets the mean of a statistic over vectors, and returns its values, NaN for those that
// are left out.
func (r *Result) mean(rows []Row, of func(row int) float64, zero bool) []float64 {
	values := make([]float64, len(rows))
	var sum float64
	for i, row := range rows {
		value := math.NaN()
		if len(row.Gold) >= 2 {
			value = of(i)
			if math.IsNaN(value) && zero {
				value = 0
			}
		}
		if values[i] = value; math.IsNaN(value) {
			r.Dropped++
			continue
		}
		sum += value
		r.Groups++
		r.N += len(row.Gold)
	}
	r.Value = sum / float64(r.Groups) // NaN without vectors
	return values
}

package refract

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/refract-eval/refract/internal/numeric"
	"github.com/refract-eval/refract/metrics"
)

// systemsState is the stored form of Systems, without the set of references. A sum is
// stored as numbers that add up to it exactly.
type systemsState struct {
	Segments int           `json:"segments"`
	Systems  []systemState `json:"systems"`
}

type systemState struct {
	Name  string     `json:"name"`
	Human bool       `json:"human,omitempty"`
	Sums  []sumState `json:"sums"` // by setting
}

type sumState struct {
	N                 int         `json:"n"`
	Sum               [][]float64 `json:"sum"`
	Status            string      `json:"status"`
	Ended             bool        `json:"ended,omitempty"`
	MinReferences     int         `json:"min_references"`
	MaxReferences     int         `json:"max_references"`
	MissingReferences int         `json:"missing_references"`
}

// MarshalJSON writes the exact sums, for an accumulator of an engine with the same
// settings to read. It does not write the rows that Keep remembers.
func (s *Systems) MarshalJSON() ([]byte, error) {
	state := systemsState{Segments: s.segments, Systems: []systemState{}}
	for i, name := range s.names {
		one := systemState{Name: name, Human: s.human[i]}
		for k := range s.sums {
			sum := &s.sums[k][i]
			to := sumState{sum.n, make([][]float64, len(sum.sum)), sum.status.String(), sum.ended, sum.minRefs, sum.maxRefs, sum.missingReferences}
			for j := range sum.sum {
				to.Sum[j] = sum.sum[j].Parts()
			}
			one.Sums = append(one.Sums, to)
		}
		state.Systems = append(state.Systems, one)
	}
	return json.Marshal(state)
}

// UnmarshalJSON reads what MarshalJSON wrote into a new accumulator of Engine.Systems.
// The set of references must then be given by Identify.
func (s *Systems) UnmarshalJSON(b []byte) error {
	var state systemsState
	if err := json.Unmarshal(b, &state); err != nil {
		return err
	}
	if s.engine == nil || s.segments > 0 {
		return errors.New("systems are read into a new accumulator of an engine")
	}
	s.segments, s.identity = state.Segments, nil
	for _, one := range state.Systems {
		if _, twice := s.index[one.Name]; twice || len(one.Sums) != len(s.sums) {
			return fmt.Errorf("system %q is repeated, or has sums for %d settings instead of %d", one.Name, len(one.Sums), len(s.sums))
		}
		at := s.system(one.Name, one.Human)
		for k, from := range one.Sums {
			sum, err := from.sum()
			if err != nil {
				return fmt.Errorf("system %q: %w", one.Name, err)
			}
			s.sums[k][at] = sum
		}
	}
	return nil
}

func (from *sumState) sum() (systemSum, error) {
	status, err := metrics.ParseStatus(from.Status)
	if err == nil && (from.N < 0 || (from.N == 0) != (len(from.Sum) == 0)) {
		err = fmt.Errorf("%d sums of %d segments", len(from.Sum), from.N)
	}
	to := systemSum{
		n: from.N, status: status, ended: from.Ended,
		minRefs: from.MinReferences, maxRefs: from.MaxReferences, missingReferences: from.MissingReferences,
	}
	for _, parts := range from.Sum {
		if slices.ContainsFunc(parts, func(x float64) bool { return math.IsInf(x, 0) || math.IsNaN(x) }) {
			return to, errors.New("a sum is not a number")
		}
		to.sum = append(to.sum, numeric.Of(parts))
	}
	return to, err
}

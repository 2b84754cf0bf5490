package refract

import (
	"encoding/json"
	"errors"
	"fmt"
)

// systemsState is the stored form of Systems, without the set of references.
type systemsState struct {
	Segments int           `json:"segments"`
	Systems  []systemState `json:"systems"`
}

type systemState struct {
	Name  string      `json:"name"`
	Human bool        `json:"human,omitempty"`
	Sums  []systemSum `json:"sums"` // by setting
}

// MarshalJSON writes the exact sums, for an accumulator of an engine with the same
// settings to read. It does not write the rows that Keep remembers.
func (s *Systems) MarshalJSON() ([]byte, error) {
	state := systemsState{Segments: s.segments, Systems: []systemState{}}
	for i, name := range s.names {
		one := systemState{Name: name, Human: s.human[i]}
		for k := range s.sums {
			one.Sums = append(one.Sums, s.sums[k][i])
		}
		state.Systems = append(state.Systems, one)
	}
	return json.Marshal(state)
}

// UnmarshalJSON adds what MarshalJSON wrote about the segments that follow. The scores are
// then equal, to the last bit, to those of one accumulator that was given all segments.
// Content hashes cannot be merged, so the set of all references must be given by Identify.
func (s *Systems) UnmarshalJSON(b []byte) error {
	var state systemsState
	if err := json.Unmarshal(b, &state); err != nil {
		return err
	}
	if s.engine == nil {
		return errors.New("systems are read into an accumulator of an engine")
	}
	s.segments += state.Segments
	s.identity = nil
	for _, one := range state.Systems {
		if len(one.Sums) != len(s.sums) {
			return fmt.Errorf("system %q has sums for %d settings instead of %d", one.Name, len(one.Sums), len(s.sums))
		}
		to := s.system(one.Name, one.Human)
		for k := range one.Sums {
			from, sum := &one.Sums[k], &s.sums[k][to]
			if from.N < 0 || (from.N == 0) != (len(from.Sum) == 0) || sum.N > 0 && from.N > 0 && len(from.Sum) != len(sum.Sum) {
				return fmt.Errorf("system %q has %d sums of %d segments", one.Name, len(from.Sum), from.N)
			}
			sum.merge(from)
		}
	}
	return nil
}

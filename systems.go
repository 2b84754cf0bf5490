package refract

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/refract-eval/refract/internal/numeric"
	"github.com/refract-eval/refract/metrics"
)

// Scope says how the score of a system is computed.
type Scope uint8

// The scopes.
const (
	// Auto is Pooled for a metric if all its settings have a corpus score as papers
	// define it: single and native of BLEU, chrF and TER. Otherwise it is Averaged for
	// all settings of the metric, so that numbers next to each other are comparable.
	Auto Scope = iota
	// Averaged is the mean of the system's segment scores.
	Averaged
	// Pooled sums the statistics of all segments and scores the sum.
	Pooled
)

// pools reports for each setting whether system scores pool statistics.
func (s Scope) pools(settings []Setting) ([]bool, error) {
	out := make([]bool, len(settings))
	for k, set := range settings {
		if out[k] = s != Averaged && set.poolable(); s == Pooled && !out[k] {
			return nil, fmt.Errorf("%s with the aggregator %s has no corpus score: only single and native of metrics that define one do",
				set.Metric.Info().Name, set.Aggregator.Name())
		}
	}
	for _, set := range settings {
		for k := range settings {
			out[k] = out[k] && (set.Metric != settings[k].Metric || set.poolable() || set.Aggregator.Name() == "") // "" wants only cells
		}
	}
	return out, nil
}

// poolable reports whether the setting has a corpus score.
func (s *Setting) poolable() bool {
	_, corpus := s.Metric.(metrics.CorpusMetric)
	return corpus && (s.Aggregator.Native() || s.Aggregator.Single())
}

// SystemScore is the score of one system under one setting.
type SystemScore struct {
	System        string
	Human         bool           // a reference scored as a system
	Setting       int            // index of the setting
	Value         float64        // in the metric's units; 0 unless OK
	OK            bool           // whether any segment entered
	Status        metrics.Status // Scored if OK; otherwise the status of the first segment
	Pooled        bool           // a corpus score, not a mean of segment scores
	Segments      int            // number of segments used
	Missing       int            // number of the dataset's other segments
	MinReferences int            // fewest and most references of a used segment
	MaxReferences int
	// MissingReferences counts the references without a score over all used
	// segments.
	MissingReferences int
	// Statistics is the sum from which a corpus score is computed; nil for a mean.
	Statistics []float64
}

// Systems accumulates segment scores into system scores. It holds one entry
// per system and setting, whatever the number of segments, unless Keep is
// called.
type Systems struct {
	engine   *Engine
	reducer  *Reducer
	names    []string
	index    map[string]int
	human    []bool
	sums     [][]systemSum // [setting][system]
	segments int
	keep     bool
	one      [1]float64
	identity *Identity
}

// systemSum is what a system has under one setting; its exported fields are its stored form.
type systemSum struct {
	N                 int            `json:"n"`
	Sum               []numeric.Sum  `json:"sum,omitempty"`   // of pooled statistics, or one sum of segment scores
	Status            metrics.Status `json:"status"`          // of the first segment without a score
	Ended             bool           `json:"ended,omitempty"` // the metric failed before the last segment
	MinRefs           int            `json:"min_references"`
	MaxRefs           int            `json:"max_references"`
	MissingReferences int            `json:"missing_references"`

	kept    [][]float64 // what each segment added, if Keep was called
	entered []int       // numbers of these segments
}

// Systems returns an accumulator for the engine's scores.
func (e *Engine) Systems() *Systems {
	return &Systems{engine: e, reducer: e.Reducer(), index: map[string]int{}, sums: make([][]systemSum, len(e.settings)), identity: NewIdentity()}
}

// Keep makes Add remember what every segment adds, for Samples. Call it before Add.
func (s *Systems) Keep() { s.keep = true }

// Samples returns what each segment used in a score added to it, and a function that
// turns the sum of as many rows into a score. With them segments can be resampled.
// Without Keep there are no rows.
func (s *Systems) Samples(score *SystemScore) (rows [][]float64, value func(sum []float64) float64) {
	sum := &s.sums[score.Setting][s.index[score.System]]
	return sum.kept, func(total []float64) float64 { return s.Value(score.Setting, total, sum.N) }
}

// BySegment returns the rows of Samples by segment, with nil for one that is not used in the
// score; nil without Keep.
func (s *Systems) BySegment(score *SystemScore) (rows [][]float64) {
	if !s.keep {
		return nil
	}
	sum := &s.sums[score.Setting][s.index[score.System]]
	rows = make([][]float64, s.segments)
	for i, segment := range sum.entered {
		rows[segment] = sum.kept[i]
	}
	return rows
}

// Value returns the score of n segments whose rows of Samples add up to sum.
func (s *Systems) Value(setting int, sum []float64, n int) float64 {
	if !s.engine.pooled[setting] {
		return sum[0] / float64(n)
	}
	return s.engine.settings[setting].Metric.(metrics.CorpusMetric).CorpusScore(sum)
}

// Add adds the next segment. Errors name the segment and the system; under the policy
// Fail a missing score is an aggregate.ErrMissing.
func (s *Systems) Add(seg *SegmentScores) error {
	s.segments++
	if s.identity != nil {
		s.identity.Add(seg.Segment)
	}
	for h := range seg.Segment.Hypotheses {
		hyp := &seg.Segment.Hypotheses[h]
		sys := s.system(hyp.System, hyp.Human)
		for k := range s.sums {
			red, err := s.reducer.Reduce(seg, k, h)
			if err != nil {
				return fmt.Errorf("segment %q, system %q: %w", seg.Segment.ID, hyp.System, err)
			}
			sum := &s.sums[k][sys]
			switch {
			case red.Status == metrics.Ended:
				sum.Ended = true
			case red.Status == metrics.Scored:
				row := s.row(k, seg, h)
				if row == nil {
					s.one[0] = red.Value
					row = s.one[:]
				}
				sum.add(red, row)
				if s.keep {
					sum.kept = append(sum.kept, slices.Clone(row))
					sum.entered = append(sum.entered, s.segments-1)
				}
			case sum.Status == metrics.Scored:
				sum.Status = red.Status
			}
		}
	}
	return nil
}

// row returns the statistics of hypothesis h that setting k pools, nil if it pools none.
func (s *Systems) row(k int, seg *SegmentScores, h int) []float64 {
	if !s.engine.pooled[k] {
		return nil
	}
	ms := &seg.Metrics[s.engine.metric[k]]
	all := ms.All
	if s.engine.settings[k].Aggregator.Single() {
		all = ms.First
	}
	width := len(all) / len(seg.Segment.Hypotheses)
	return all[h*width : (h+1)*width]
}

func (sum *systemSum) add(red Reduced, row []float64) {
	if sum.N == 0 {
		sum.MinRefs = red.References
		sum.Sum = make([]numeric.Sum, len(row))
	}
	sum.N++
	sum.MinRefs = min(sum.MinRefs, red.References)
	sum.MaxRefs = max(sum.MaxRefs, red.References)
	sum.MissingReferences += red.Missing
	for i, v := range row {
		sum.Sum[i].Add(v)
	}
}

// totals returns the sums as float64.
func (sum *systemSum) totals() []float64 {
	out := make([]float64, len(sum.Sum))
	for i := range out {
		out[i] = sum.Sum[i].Value()
	}
	return out
}

// Identify sets the identity of the segments' references.
func (s *Systems) Identify(id *Identity) { s.identity = id }

// merge adds the sum of the segments that follow.
func (sum *systemSum) merge(o *systemSum) {
	if sum.Status == metrics.Scored {
		sum.Status = o.Status
	}
	sum.Ended = sum.Ended || o.Ended
	if o.N == 0 {
		return
	}
	if sum.N == 0 {
		sum.MinRefs, sum.Sum = o.MinRefs, make([]numeric.Sum, len(o.Sum))
	}
	sum.N += o.N
	sum.MinRefs, sum.MaxRefs = min(sum.MinRefs, o.MinRefs), max(sum.MaxRefs, o.MaxRefs)
	sum.MissingReferences += o.MissingReferences
	for i := range o.Sum {
		sum.Sum[i].AddSum(&o.Sum[i])
	}
}

// system returns the index of a system, and adds the system if it is new.
func (s *Systems) system(name string, human bool) int {
	i, known := s.index[name]
	if !known {
		i = len(s.names)
		s.index[name] = i
		s.names, s.human = append(s.names, name), append(s.human, human)
		for k := range s.sums {
			s.sums[k] = append(s.sums[k], systemSum{})
		}
	}
	return i
}

// Scores returns the score of every system under every setting, by setting
// and then in the order in which the systems appeared.
func (s *Systems) Scores() []SystemScore {
	var out []SystemScore
	for k := range s.engine.settings {
		for i, name := range s.names {
			sum := &s.sums[k][i]
			score := SystemScore{
				System: name, Human: s.human[i], Setting: k, Pooled: s.engine.pooled[k],
				OK: sum.N > 0 && !sum.Ended, Segments: sum.N, Missing: s.segments - sum.N,
				MinReferences: sum.MinRefs, MaxReferences: sum.MaxRefs,
				MissingReferences: sum.MissingReferences,
			}
			switch {
			case sum.Ended: // the mean of some segments is not the system's score
				score.Status = metrics.Ended
			case sum.N == 0:
				score.Status = sum.Status
			default:
				if score.Value = sum.Sum[0].Mean(sum.N); score.Pooled {
					score.Statistics = sum.totals()
					score.Value = s.Value(k, score.Statistics, sum.N)
				}
			}
			out = append(out, score)
		}
	}
	return out
}

// Set returns the name of the added segments' set of references, as signatures state
// it.
func (s *Systems) Set() string {
	if s.identity == nil {
		return ""
	}
	return s.identity.Name()
}

// Signature returns the full signature of a system score, which states after the aggregator
// whether the score pools statistics ("system:corpus") or is a mean ("system:mean"). It names
// the references of the segments added so far, so call it after the last one.
func (s *Systems) Signature(score *SystemScore) metrics.Signature {
	set := s.engine.settings[score.Setting]
	level, made := metrics.Sentence, "mean"
	if score.Pooled {
		level, made = metrics.Corpus, "corpus"
	}
	sig := SettingSignature(set, level, ReferenceCount(score.MinReferences, score.MaxReferences), s.identity.Of(set.Aggregator))
	end := slices.IndexFunc(sig, func(s metrics.Setting) bool { return s.Key == "set" || s.Key == "version" })
	return slices.Insert(sig, end, metrics.Setting{Key: "system", Value: made})
}

// SettingSignature returns the full signature of a score under a setting. references
// is their number as ReferenceCount gives it, and set the name of their set, "" if
// unknown. The signature of a metric that needs no references states neither an
// aggregator nor a set.
func SettingSignature(setting Setting, level metrics.Level, references, set string) metrics.Signature {
	of := Scored{References: references, Aggregator: setting.Aggregator.Name(), Set: set}
	if !setting.Metric.Info().NeedsReferences {
		of.Aggregator, of.Set = "", ""
	}
	// A metric with stored scores knows the version of the program that computed them.
	if s, ok := setting.Metric.(interface {
		Signed(Scored) metrics.Signature
	}); ok {
		return s.Signed(of)
	}
	return FullSignature(setting.Metric.Signature(level), of)
}

// ReferenceCount returns the number of references as a signature states it: "var" if
// it differs between segments.
func ReferenceCount(lo, hi int) string {
	if lo != hi {
		return "var"
	}
	return strconv.Itoa(hi)
}

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

package refract

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/refract-eval/refract/internal/exact"
	"github.com/refract-eval/refract/metrics"
)

// Scope says how the score of a system comes about.
type Scope uint8

// The scopes.
const (
	// Auto pools statistics (Pooled) of a metric where all of its settings can, as
	// papers define the score of a corpus: single and native of BLEU, chrF and TER.
	// Otherwise all settings of the metric are Averaged, so that numbers next to
	// each other are one quantity.
	Auto Scope = iota
	// Averaged is the mean of the system's segment scores.
	Averaged
	// Pooled sums the statistics of all segments and scores the sum.
	Pooled
)

// pools reports for each setting whether the scores of systems are of pooled statistics.
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
			out[k] = out[k] && (set.Metric != settings[k].Metric || set.poolable() || set.Aggregator.Name() == "") // which is of cells only
		}
	}
	return out, nil
}

// poolable reports whether there is a corpus score under the setting.
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
	Status        metrics.Status // Scored if OK; else that of the first segment
	Pooled        bool           // a corpus score, not a mean of segment scores
	Segments      int            // that entered the number
	Missing       int            // segments of the dataset that did not
	MinReferences int            // fewest and most references of a segment that entered
	MaxReferences int
	// MissingReferences counts the references without a score, over all
	// segments that entered.
	MissingReferences int
	// Statistics is the sum that a corpus score is computed of, and nil for a
	// mean.
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

type systemSum struct {
	sum               []exact.Sum // of statistics that are pooled, or of the segment scores alone
	kept              [][]float64 // what each segment added to it, if asked for
	entered           []int       // numbers of these segments
	n                 int
	status            metrics.Status // of the first segment without a score
	ended             bool           // the metric failed before the last segment
	minRefs, maxRefs  int
	missingReferences int
}

// Systems returns an accumulator for the engine's scores.
func (e *Engine) Systems() *Systems {
	return &Systems{engine: e, reducer: e.Reducer(), index: map[string]int{}, sums: make([][]systemSum, len(e.settings)), identity: NewIdentity()}
}

// Keep holds on to what every segment adds, for Samples. Call it before Add.
func (s *Systems) Keep() { s.keep = true }

// Samples returns what each segment that entered a score of Scores added to it,
// and what turns the sum of as many rows into a score, so that segments can be
// drawn anew. There are none without Keep.
func (s *Systems) Samples(score *SystemScore) (rows [][]float64, value func(sum []float64) float64) {
	sum := &s.sums[score.Setting][s.index[score.System]]
	return sum.kept, func(total []float64) float64 { return s.Value(score.Setting, total, sum.n) }
}

// Entered returns the numbers, from 0, of the segments that Samples has the rows
// of.
func (s *Systems) Entered(score *SystemScore) []int {
	return s.sums[score.Setting][s.index[score.System]].entered
}

// Value is the score of n segments whose rows of Samples add up to sum.
func (s *Systems) Value(setting int, sum []float64, n int) float64 {
	if !s.engine.pooled[setting] {
		return sum[0] / float64(n)
	}
	return s.engine.settings[setting].Metric.(metrics.CorpusMetric).CorpusScore(sum)
}

// Add takes in the next segment. An error names the segment and the system;
// under the policy Fail it is an aggregate.ErrMissing where a score is
// missing.
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
				sum.ended = true
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
			case sum.status == metrics.Scored:
				sum.status = red.Status
			}
		}
	}
	return nil
}

// row is the statistics of hypothesis h that setting k pools, if it does.
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
	if sum.n == 0 {
		sum.minRefs = red.References
		sum.sum = make([]exact.Sum, len(row))
	}
	sum.n++
	sum.minRefs = min(sum.minRefs, red.References)
	sum.maxRefs = max(sum.maxRefs, red.References)
	sum.missingReferences += red.Missing
	for i, v := range row {
		sum.sum[i].Add(v)
	}
}

// totals are the sums as numbers.
func (sum *systemSum) totals() []float64 {
	out := make([]float64, len(sum.sum))
	for i := range out {
		out[i] = sum.sum[i].Value()
	}
	return out
}

// Merge takes in what another accumulator of the same engine has, as of the
// segments that follow: the scores are then those of one accumulator that was
// given all segments, to the last bit. The set of references of the whole is not
// known, as a content hash cannot be merged: give it by Identify. Nor is there what
// Keep holds on to.
func (s *Systems) Merge(o *Systems) {
	s.segments += o.segments
	s.identity = nil
	for from, name := range o.names {
		to := s.system(name, o.human[from])
		for k := range s.sums {
			s.sums[k][to].merge(&o.sums[k][from])
		}
	}
}

// Identify says which set of references the segments have.
func (s *Systems) Identify(id *Identity) { s.identity = id }

// merge takes in the sum of segments that follow.
func (sum *systemSum) merge(o *systemSum) {
	if sum.status == metrics.Scored {
		sum.status = o.status
	}
	sum.ended = sum.ended || o.ended
	if o.n == 0 {
		return
	}
	if sum.n == 0 {
		sum.minRefs, sum.sum = o.minRefs, make([]exact.Sum, len(o.sum))
	}
	sum.n += o.n
	sum.minRefs, sum.maxRefs = min(sum.minRefs, o.minRefs), max(sum.maxRefs, o.maxRefs)
	sum.missingReferences += o.missingReferences
	for i := range o.sum {
		sum.sum[i].AddSum(&o.sum[i])
	}
}

// system is the index of a system, which is added if it is new.
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

// Segments is how many segments were added.
func (s *Systems) Segments() int { return s.segments }

// Scores returns the score of every system under every setting, by setting
// and then in the order in which the systems appeared.
func (s *Systems) Scores() []SystemScore {
	var out []SystemScore
	for k := range s.engine.settings {
		for i, name := range s.names {
			sum := &s.sums[k][i]
			score := SystemScore{
				System: name, Human: s.human[i], Setting: k, Pooled: s.engine.pooled[k],
				OK: sum.n > 0 && !sum.ended, Segments: sum.n, Missing: s.segments - sum.n,
				MinReferences: sum.minRefs, MaxReferences: sum.maxRefs,
				MissingReferences: sum.missingReferences,
			}
			switch {
			case sum.ended: // a mean of some segments is not the system's score
				score.Status = metrics.Ended
			case sum.n == 0:
				score.Status = sum.status
			default:
				if score.Value = sum.sum[0].Mean(sum.n); score.Pooled {
					score.Statistics = sum.totals()
					score.Value = s.Value(k, score.Statistics, sum.n)
				}
			}
			out = append(out, score)
		}
	}
	return out
}

// Set is the name of the set of references that the added segments make, as
// signatures state it.
func (s *Systems) Set() string {
	if s.identity == nil {
		return ""
	}
	return s.identity.Name()
}

// Signature is the full signature of a system score. It names the references
// that its aggregator uses of the segments so far, so ask once all are in.
func (s *Systems) Signature(score *SystemScore) metrics.Signature {
	set := s.engine.settings[score.Setting]
	level := metrics.Sentence
	if score.Pooled {
		level = metrics.Corpus
	}
	return SettingSignature(set, level, ReferenceCount(score.MinReferences, score.MaxReferences), s.identity.Of(set.Aggregator))
}

// SettingSignature is the full signature of a score under a setting, of a
// number of references as ReferenceCount gives it and of a set of references
// ("" where it is unknown). A metric that needs no references has neither an
// aggregator nor a set to state.
func SettingSignature(setting Setting, level metrics.Level, references, set string) metrics.Signature {
	of := Scored{References: references, Aggregator: setting.Aggregator.Name(), Set: set}
	if !setting.Metric.Info().NeedsReferences {
		of.Aggregator, of.Set = "", ""
	}
	// A metric whose scores another version of the program stored knows it.
	if s, ok := setting.Metric.(interface {
		Signed(Scored) metrics.Signature
	}); ok {
		return s.Signed(of)
	}
	return FullSignature(setting.Metric.Signature(level), of)
}

// ReferenceCount is the number of references as a signature states it: "var"
// where it differs between segments.
func ReferenceCount(lo, hi int) string {
	if lo != hi {
		return "var"
	}
	return strconv.Itoa(hi)
}

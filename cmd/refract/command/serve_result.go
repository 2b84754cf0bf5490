package command

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/matrix"
	"github.com/refract-eval/refract/metrics"
)

// scored is the result of a request for scores.
type scored struct {
	asked []string // what a score is of, or else what each segment adds to those of systems
	*demand
	engine   *refract.Engine
	scores   []*refract.SegmentScores
	ended    *refract.Incomplete // nil where all metrics scored all
	warnings []string

	id   *refract.Identity
	rows [][]int // of each segment: the place of each system's hypothesis, -1 for none
}

// The parts of an answer: see docs/reference/protocols.md.
type (
	scoredAll struct {
		Settings []scoredSetting   `json:"settings"`
		Cells    []scoredCells     `json:"cells,omitempty"`
		Ended    map[string]string `json:"ended,omitempty"`
		Warnings []string          `json:"warnings,omitempty"`
	}
	scoredSetting struct {
		Metric           string                  `json:"metric"`
		Aggregator       *string                 `json:"aggregator"`
		Signature        string                  `json:"signature"`
		SegmentSignature string                  `json:"segment_signature,omitzero"`
		Direction        string                  `json:"direction"`
		Systems          perSystem[scoredSystem] `json:"systems,omitzero"`
		Segments         perSystem[[]maybe]      `json:"segments,omitzero"`
		Status           perSystem[[]string]     `json:"status,omitzero"`
	}
	scoredSystem struct {
		Score     maybe  `json:"score"`
		Method    string `json:"method"`
		Segments  int    `json:"segments"`
		Scored    int    `json:"scored"`
		Status    string `json:"status,omitzero"`
		Signature string `json:"signature,omitzero"`

		Statistics [][]float64 `json:"statistics,omitempty"` // of each segment; null without a score
	}
	scoredCells struct {
		Metric    string                `json:"metric"`
		Signature string                `json:"signature"`
		Scores    perSystem[[][]maybe]  `json:"scores"`
		Status    perSystem[[][]string] `json:"status,omitzero"`
	}
)

// maybe is a score; NaN means none and is written as null.
type maybe float64

// MarshalJSONTo implements json.MarshalerTo.
func (m maybe) MarshalJSONTo(enc *jsontext.Encoder) error {
	if math.IsNaN(float64(m)) {
		return enc.WriteToken(jsontext.Null)
	}
	return enc.WriteToken(jsontext.Float(float64(m)))
}

// perSystem is an object with a value for each system, in order; nil is absent.
type perSystem[T any] struct {
	names []string
	of    []T
}

// IsZero reports whether there is none.
func (p perSystem[T]) IsZero() bool { return p.of == nil }

// MarshalJSONTo implements json.MarshalerTo.
func (p perSystem[T]) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for i := range p.of {
		if err := enc.WriteToken(jsontext.String(p.names[i])); err != nil {
			return err
		}
		if err := json.MarshalEncode(enc, &p.of[i]); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

// grid has the scores of all systems and segments, and why some are missing, unless
// none is. one returns the score of a segment and a hypothesis, which is -1 if there is
// none.
func grid[T, S any](v *scored, one func(segment, h int) (T, S, bool)) (scores perSystem[[]T], status perSystem[[]S]) {
	scores, status = perSystem[[]T]{v.systems, make([][]T, len(v.systems))}, perSystem[[]S]{v.systems, make([][]S, len(v.systems))}
	whole := true
	for sys := range v.systems {
		for i := range v.scores {
			score, why, ok := one(i, v.rows[i][sys])
			scores.of[sys], status.of[sys] = append(scores.of[sys], score), append(status.of[sys], why)
			whole = whole && ok
		}
	}
	if whole {
		status.of = nil
	}
	return scores, status
}

// per reports whether some scores are asked for. Those of systems go with their statistics.
func (v *scored) per(what string) bool {
	return slices.Contains(v.asked, what) || what == "system" && v.per(perStatistics)
}

// marshal writes all as JSON.
func (v *scored) marshal() ([]byte, error) {
	v.id = refract.NewIdentity()
	for _, s := range v.segments {
		v.id.Add(s)
	}
	if v.per("segment") || v.per("cell") { // only then was memory for it reserved
		for _, s := range v.segments {
			row := slices.Repeat([]int{-1}, len(v.systems))
			for h := range s.Hypotheses {
				row[v.index[s.Hypotheses[h].System]] = h
			}
			v.rows = append(v.rows, row)
		}
	}
	all := scoredAll{Settings: []scoredSetting{}, Ended: v.ended.Reasons(), Warnings: v.warnings}
	acc := v.engine.Systems()
	var whole []refract.SystemScore
	if v.per("system") {
		acc.Identify(nil) // hash the references only once
		if v.per(perStatistics) {
			acc.Keep()
		}
		for _, s := range v.scores {
			if err := acc.Add(s); err != nil {
				return nil, err
			}
		}
		acc.Identify(v.id)
		whole = acc.Scores()
	}
	for k, set := range v.engine.Settings() {
		out := scoredSetting{Metric: set.Metric.Info().Name, Direction: set.Metric.Info().Direction.String()}
		if name := set.AggregatorName(); name != "" {
			out.Aggregator = &name
		}
		if v.per("segment") {
			if err := v.ofSegments(&out, k); err != nil {
				return nil, err
			}
		}
		if v.per("system") {
			v.ofSystems(&out, acc, whole[k*len(v.systems):][:len(v.systems)])
		}
		if out.Signature == "" || out.SegmentSignature == out.Signature {
			out.Signature, out.SegmentSignature = max(out.Signature, out.SegmentSignature), ""
		}
		all.Settings = append(all.Settings, out)
	}
	if v.per("cell") {
		for k, m := range v.engine.Metrics() {
			all.Cells = append(all.Cells, v.ofCells(k, m))
		}
	}
	return json.Marshal(all)
}

// span is the range of the numbers of references.
type span struct {
	least, most int
	some        bool
}

func (s *span) add(least, most int) {
	if !s.some {
		*s = span{least, most, true}
	}
	s.least, s.most = min(s.least, least), max(s.most, most)
}

// ofSystems adds the scores of systems under a setting. A score has its own signature
// if its number of references differs.
func (v *scored) ofSystems(out *scoredSetting, acc *refract.Systems, scores []refract.SystemScore) {
	all, refs := refract.SystemScore{Setting: scores[0].Setting, Pooled: v.engine.Pools(scores[0].Setting)}, span{}
	for i := range scores {
		if sc := &scores[i]; sc.Segments > 0 {
			refs.add(sc.MinReferences, sc.MaxReferences)
		}
	}
	all.MinReferences, all.MaxReferences = refs.least, refs.most
	out.Signature = acc.Signature(&all).String()
	out.Systems = perSystem[scoredSystem]{names: v.systems}
	for i := range scores {
		sc := &scores[i]
		one := scoredSystem{Score: maybe(sc.Value), Method: "mean", Segments: sc.Segments + sc.Missing, Scored: sc.Segments}
		if sc.Pooled {
			one.Method = "corpus"
		}
		if !sc.OK {
			one.Score, one.Status = maybe(math.NaN()), sc.Status.String()
		}
		if own := acc.Signature(sc).String(); own != out.Signature {
			one.Signature = own
		}
		if sc.OK {
			one.Statistics = acc.BySegment(sc)
		}
		out.Systems.of = append(out.Systems.of, one)
	}
}

// ofSegments adds the scores of segments under a setting.
func (v *scored) ofSegments(out *scoredSetting, k int) (err error) {
	set, reducer, refs := v.engine.Settings()[k], v.engine.Reducer(), span{}
	out.Segments, out.Status = grid(v, func(i, h int) (maybe, string, bool) {
		red := refract.Reduced{Status: metrics.MissingHypothesis}
		if h >= 0 {
			var failed error
			if red, failed = reducer.Reduce(v.scores[i], k, h); failed != nil {
				err = fmt.Errorf("segment %q, system %q: %w", v.segments[i].ID, v.segments[i].Hypotheses[h].System, failed)
			}
		}
		if red.Status != metrics.Scored {
			return maybe(math.NaN()), red.Status.String(), false
		}
		refs.add(red.References, red.References)
		return maybe(red.Value), "", true
	})
	out.SegmentSignature = refract.SettingSignature(set, metrics.Sentence, refract.ReferenceCount(refs.least, refs.most), v.id.Of(set.Aggregator)).String()
	return err
}

// ofCells are the cells of a metric.
func (v *scored) ofCells(k int, m metrics.Metric) scoredCells {
	info := matrix.InfoOf(m, false, v.id.Name(), v.id.Of(aggregate.Single))
	out := scoredCells{Metric: info.Name, Signature: info.CellSignature}
	out.Scores, out.Status = grid(v, func(i, h int) (row []maybe, why []string, whole bool) {
		ms := &v.scores[i].Metrics[k]
		row, why, whole = []maybe{}, []string{}, true
		for c := range ms.Columns {
			value, status := math.NaN(), metrics.MissingHypothesis
			if h >= 0 {
				status = ms.Status[h*ms.Columns+c]
			}
			text := status.String()
			if status == metrics.Scored {
				value, text = ms.Values[h*ms.Columns+c], ""
			}
			row, why, whole = append(row, maybe(value)), append(why, text), whole && status == metrics.Scored
		}
		return row, why, whole
	})
	return out
}

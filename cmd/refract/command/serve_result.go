package command

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/internal/matrix"
	"github.com/refract-eval/refract/metrics"
)

// scored is what a request for scores gets.
type scored struct {
	bySystem, bySegment, byCell bool // what is asked for

	segments []*refract.Segment
	engine   *refract.Engine
	scores   []*refract.SegmentScores
	ended    *refract.Incomplete // nil where all metrics scored all
	warnings []string

	id    *refract.Identity
	names []string // of the systems, as they appear
	rows  [][]int  // of each segment: the place of each system's hypothesis, -1 for none
}

// What stands in the answer: see docs/serve.md.
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
	}
	scoredCells struct {
		Metric    string                `json:"metric"`
		Signature string                `json:"signature"`
		Scores    perSystem[[][]maybe]  `json:"scores"`
		Status    perSystem[[][]string] `json:"status,omitzero"`
	}
)

// maybe is a score; NaN is none, and written as null.
type maybe float64

// MarshalJSONTo implements json.MarshalerTo.
func (m maybe) MarshalJSONTo(enc *jsontext.Encoder) error {
	if math.IsNaN(float64(m)) {
		return enc.WriteToken(jsontext.Null)
	}
	return enc.WriteToken(jsontext.Float(float64(m)))
}

// perSystem is an object with a value for each system, in their order; none for nil.
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

// eachSystem makes a value for each segment of each system, none where make says that
// nothing is worth a value.
func eachSystem[T any](v *scored, of func(segment, system int) T) perSystem[[]T] {
	out := perSystem[[]T]{v.names, make([][]T, len(v.names))}
	for sys := range v.names {
		for i := range v.scores {
			out.of[sys] = append(out.of[sys], of(i, sys))
		}
	}
	return out
}

// marshal writes all as JSON.
func (v *scored) marshal() ([]byte, error) {
	index := map[string]int{}
	v.id = refract.NewIdentity()
	for _, s := range v.segments {
		v.id.Add(s)
		for h := range s.Hypotheses {
			name := s.Hypotheses[h].System
			if _, ok := index[name]; !ok {
				index[name], v.names = len(v.names), append(v.names, name)
			}
		}
	}
	if v.bySegment || v.byCell { // for which alone there is room
		for _, s := range v.segments {
			row := slices.Repeat([]int{-1}, len(v.names))
			for h := range s.Hypotheses {
				row[index[s.Hypotheses[h].System]] = h
			}
			v.rows = append(v.rows, row)
		}
	}
	all := scoredAll{Settings: []scoredSetting{}, Ended: v.ended.Reasons(), Warnings: v.warnings}
	acc := v.engine.Systems()
	var whole []refract.SystemScore
	if v.bySystem {
		acc.Identify(nil) // it is hashed once
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
		if v.bySegment {
			if err := v.ofSegments(&out, k); err != nil {
				return nil, err
			}
		}
		if v.bySystem {
			v.ofSystems(&out, acc, whole[k*len(v.names):][:len(v.names)])
		}
		if out.Signature == "" || out.SegmentSignature == out.Signature {
			out.Signature, out.SegmentSignature = max(out.Signature, out.SegmentSignature), ""
		}
		all.Settings = append(all.Settings, out)
	}
	if v.byCell {
		for k, m := range v.engine.Metrics() {
			all.Cells = append(all.Cells, v.ofCells(k, m))
		}
	}
	return json.Marshal(all)
}

// span is the numbers of references that scores have.
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

// ofSystems adds the scores of systems by a setting. One has its signature where it
// has another number of references than all have.
func (v *scored) ofSystems(out *scoredSetting, acc *refract.Systems, scores []refract.SystemScore) {
	all, refs := refract.SystemScore{Setting: scores[0].Setting, Pooled: v.engine.Pools(scores[0].Setting)}, span{}
	for i := range scores {
		if sc := &scores[i]; sc.Segments > 0 {
			refs.add(sc.MinReferences, sc.MaxReferences)
		}
	}
	all.MinReferences, all.MaxReferences = refs.least, refs.most
	out.Signature = acc.Signature(&all).String()
	out.Systems = perSystem[scoredSystem]{names: v.names}
	for i := range scores {
		sc := &scores[i]
		one := scoredSystem{Score: maybe(sc.Value), Method: "mean", Segments: sc.Segments + sc.Missing, Scored: sc.Segments}
		if sc.Pooled {
			one.Method = "corpus"
		}
		if !sc.OK {
			one.Score, one.Status = maybe(math.NaN()), statusText(sc.Status)
		}
		if own := acc.Signature(sc).String(); own != out.Signature {
			one.Signature = own
		}
		out.Systems.of = append(out.Systems.of, one)
	}
}

// statusText says why there is no score; "" where there is one.
func statusText(s metrics.Status) string {
	if s == metrics.Scored {
		return ""
	}
	return s.String()
}

// ofSegments adds the scores of segments by a setting.
func (v *scored) ofSegments(out *scoredSetting, k int) error {
	set, reducer, refs, missing := v.engine.Settings()[k], v.engine.Reducer(), span{}, false
	var failed error
	reduced := make([]refract.Reduced, len(v.scores)*len(v.names))
	for i, s := range v.scores {
		for sys := range v.names {
			red := refract.Reduced{Status: metrics.MissingHypothesis}
			if h := v.rows[i][sys]; h >= 0 {
				if red, failed = reducer.Reduce(s, k, h); failed != nil {
					return fmt.Errorf("segment %q, system %q: %w", s.Segment.ID, v.names[sys], failed)
				}
			}
			if red.Status == metrics.Scored {
				refs.add(red.References, red.References)
			} else {
				red.Value, missing = math.NaN(), true
			}
			reduced[i*len(v.names)+sys] = red
		}
	}
	out.SegmentSignature = refract.SettingSignature(set, metrics.Sentence, refract.ReferenceCount(refs.least, refs.most), v.id.Of(set.Aggregator)).String()
	out.Segments = eachSystem(v, func(i, sys int) maybe { return maybe(reduced[i*len(v.names)+sys].Value) })
	if missing {
		out.Status = eachSystem(v, func(i, sys int) string { return statusText(reduced[i*len(v.names)+sys].Status) })
	}
	return nil
}

// ofCells are the cells of a metric.
func (v *scored) ofCells(k int, m metrics.Metric) scoredCells {
	info := matrix.InfoOf(m, false, v.id.Name(), v.id.Of(aggregate.Must("single")))
	out, missing := scoredCells{Metric: info.Name, Signature: info.CellSignature}, false
	each := func(i, sys int, one func(value float64, status metrics.Status)) {
		ms, h := &v.scores[i].Metrics[k], v.rows[i][sys]
		for c := range ms.Columns {
			value, status := math.NaN(), metrics.MissingHypothesis
			if h >= 0 {
				if status = ms.Status[h*ms.Columns+c]; status == metrics.Scored {
					value = ms.Values[h*ms.Columns+c]
				}
			}
			missing = missing || status != metrics.Scored
			one(value, status)
		}
	}
	out.Scores = eachSystem(v, func(i, sys int) []maybe {
		row := []maybe{}
		each(i, sys, func(value float64, _ metrics.Status) { row = append(row, maybe(value)) })
		return row
	})
	if missing {
		out.Status = eachSystem(v, func(i, sys int) []string {
			row := []string{}
			each(i, sys, func(_ float64, status metrics.Status) { row = append(row, statusText(status)) })
			return row
		})
	}
	return out
}

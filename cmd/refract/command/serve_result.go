package command

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/matrix"
	"github.com/refract-eval/refract/metrics"
)

// scored writes the scores of a request as JSON.
type scored struct {
	*scoreRequest
	Engine   *refract.Engine
	Segments []*refract.SegmentScores
	Ended    *refract.Incomplete // nil where all metrics scored all
	Warnings []string

	settings []refract.Setting
	names    []string // of the systems, as they appear
	rows     [][]int  // of each segment: the place of each system's hypothesis, -1 for none
	id       *refract.Identity
	whole    []refract.SystemScore // by setting and then system; nil where they are not asked for
	acc      *refract.Systems
	reduced  [][]refract.Reduced // by setting and then segment × system; nil likewise
}

// reduce makes scores of systems and segments of those of cells.
func (v *scored) reduce() error {
	q := v.scoreRequest
	v.settings, v.id = v.Engine.Settings(), refract.NewIdentity()
	index, below := map[string]int{}, q.perSegment || q.cells
	for _, s := range q.segments {
		v.id.Add(s)
		var row []int // which only scores below those of systems need
		if below {
			row = slices.Repeat([]int{-1}, len(v.names))
		}
		for h := range s.Hypotheses {
			name := s.Hypotheses[h].System
			i, ok := index[name]
			if !ok {
				i = len(v.names)
				index[name], v.names = i, append(v.names, name)
				if below {
					row = append(row, -1)
				}
			}
			if below {
				row[i] = h
			}
		}
		v.rows = append(v.rows, row)
	}
	if q.systems {
		v.acc = v.Engine.Systems()
		v.acc.Identify(nil) // it is hashed once
		for _, s := range v.Segments {
			if err := v.acc.Add(s); err != nil {
				return err
			}
		}
		v.acc.Identify(v.id)
		v.whole = v.acc.Scores()
	}
	if !q.perSegment {
		return nil
	}
	reducer := v.Engine.Reducer()
	v.reduced = make([][]refract.Reduced, len(v.settings))
	for k := range v.settings {
		v.reduced[k] = make([]refract.Reduced, 0, len(v.Segments)*len(v.names))
		for i, s := range v.Segments {
			for sys := range v.names {
				red := refract.Reduced{Status: metrics.MissingHypothesis}
				if h := v.hypothesis(i, sys); h >= 0 {
					var err error
					if red, err = reducer.Reduce(s, k, h); err != nil {
						return fmt.Errorf("segment %q, system %q: %w", s.Segment.ID, v.names[sys], err)
					}
				}
				v.reduced[k] = append(v.reduced[k], red)
			}
		}
	}
	return nil
}

// hypothesis is the place of a system's hypothesis in a segment, or -1.
func (v *scored) hypothesis(segment, system int) int {
	if row := v.rows[segment]; system < len(row) {
		return row[system]
	}
	return -1
}

func (v *scored) appendTo(b []byte) []byte {
	b = append(b, `{"settings":[`...)
	for k := range v.settings {
		b = v.setting(comma(b, k), k)
	}
	b = append(b, ']')
	if v.cells {
		b = append(b, `,"cells":[`...)
		for k := range v.Engine.Metrics() {
			b = v.matrix(comma(b, k), k)
		}
		b = append(b, ']')
	}
	if reasons := v.Ended.Reasons(); len(reasons) > 0 {
		b = append(b, `,"ended":{`...)
		for i, name := range slices.Sorted(maps.Keys(reasons)) {
			b = jsonline.AppendString(append(jsonline.AppendString(comma(b, i), name), ':'), reasons[name])
		}
		b = append(b, '}')
	}
	if len(v.Warnings) > 0 {
		b = append(b, `,"warnings":[`...)
		for i, w := range v.Warnings {
			b = jsonline.AppendString(comma(b, i), w)
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

// comma parts an element from the one before.
func comma(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return b
}

// appendScore appends a score, or null where there is none.
func appendScore(b []byte, value float64, ok bool) []byte {
	if !ok {
		return append(b, "null"...)
	}
	return jsonline.AppendFloat(b, value)
}

func (v *scored) setting(b []byte, k int) []byte {
	set := v.settings[k]
	b = jsonline.AppendString(append(b, `{"metric":`...), set.Metric.Info().Name)
	b = append(b, `,"aggregator":`...)
	if name := set.AggregatorName(); name != "" {
		b = jsonline.AppendString(b, name)
	} else {
		b = append(b, "null"...)
	}
	signature, ofSegments := v.signatures(k)
	b = jsonline.AppendString(append(b, `,"signature":`...), signature)
	if ofSegments != signature {
		b = jsonline.AppendString(append(b, `,"segment_signature":`...), ofSegments)
	}
	b = append(b, `,"direction":"`+set.Metric.Info().Direction.String()+`"`...)
	if v.whole != nil {
		b = append(b, `,"systems":{`...)
		for i := range v.names {
			b = v.system(comma(b, i), &v.whole[k*len(v.names)+i], signature)
		}
		b = append(b, '}')
	}
	if v.reduced == nil {
		return append(b, '}')
	}
	of := v.reduced[k]
	at := func(system, segment int) *refract.Reduced { return &of[segment*len(v.names)+system] }
	b = v.bySystem(append(b, `,"segments":`...), func(b []byte, system, segment int) []byte {
		red := at(system, segment)
		return appendScore(b, red.Value, red.Status == metrics.Scored)
	})
	if slices.ContainsFunc(of, func(r refract.Reduced) bool { return r.Status != metrics.Scored }) {
		b = v.bySystem(append(b, `,"status":`...), func(b []byte, system, segment int) []byte {
			return appendStatus(b, at(system, segment).Status)
		})
	}
	return append(b, '}')
}

// appendStatus appends why there is no score, "" for one that is there.
func appendStatus(b []byte, s metrics.Status) []byte {
	if s == metrics.Scored {
		return append(b, `""`...)
	}
	return append(append(append(b, '"'), s.String()...), '"')
}

// signatures are those of a setting's scores of systems and of segments. Where one of
// them is not asked for it is the other.
func (v *scored) signatures(k int) (systems, segments string) {
	set := v.settings[k]
	if v.reduced != nil {
		lo, hi, some := 0, 0, false
		for i := range v.reduced[k] {
			if red := &v.reduced[k][i]; red.Status == metrics.Scored && !some {
				lo, hi, some = red.References, red.References, true
			} else if red.Status == metrics.Scored {
				lo, hi = min(lo, red.References), max(hi, red.References)
			}
		}
		segments = refract.SettingSignature(set, metrics.Sentence, refract.ReferenceCount(lo, hi), v.id.Of(set.Aggregator)).String()
	}
	if v.whole == nil {
		return segments, segments
	}
	all := refract.SystemScore{Setting: k, Pooled: v.Engine.Pools(k)}
	some := false
	for i := range v.names {
		if sc := &v.whole[k*len(v.names)+i]; sc.Segments > 0 && !some {
			all.MinReferences, all.MaxReferences, some = sc.MinReferences, sc.MaxReferences, true
		} else if sc.Segments > 0 {
			all.MinReferences, all.MaxReferences = min(all.MinReferences, sc.MinReferences), max(all.MaxReferences, sc.MaxReferences)
		}
	}
	systems = v.acc.Signature(&all).String()
	if v.reduced == nil {
		segments = systems
	}
	return systems, segments
}

// system writes the score of a system, with its signature where it has another number
// of references than all have.
func (v *scored) system(b []byte, sc *refract.SystemScore, signature string) []byte {
	b = jsonline.AppendString(b, sc.System)
	b = appendScore(append(b, `:{"score":`...), sc.Value, sc.OK)
	if b = append(b, `,"method":"mean"`...); sc.Pooled {
		b = append(b[:len(b)-len(`mean"`)], `corpus"`...)
	}
	b = strconv.AppendInt(append(b, `,"segments":`...), int64(sc.Segments+sc.Missing), 10)
	b = strconv.AppendInt(append(b, `,"scored":`...), int64(sc.Segments), 10)
	if !sc.OK {
		b = appendStatus(append(b, `,"status":`...), sc.Status)
	}
	if own := v.acc.Signature(sc).String(); own != signature {
		b = jsonline.AppendString(append(b, `,"signature":`...), own)
	}
	return append(b, '}')
}

// bySystem writes a list by segment for each system.
func (v *scored) bySystem(b []byte, cell func(b []byte, system, segment int) []byte) []byte {
	b = append(b, '{')
	for sys, name := range v.names {
		b = append(jsonline.AppendString(comma(b, sys), name), ":["...)
		for i := range v.Segments {
			b = cell(comma(b, i), sys, i)
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

// matrix writes the cells of a metric.
func (v *scored) matrix(b []byte, k int) []byte {
	m := v.Engine.Metrics()[k]
	info := matrix.InfoOf(m, false, v.id.Name(), v.id.Of(aggregate.Must("single")))
	b = jsonline.AppendString(append(b, `{"metric":`...), info.Name)
	b = jsonline.AppendString(append(b, `,"signature":`...), info.CellSignature)
	row := func(one func(b []byte, ms *refract.MetricScores, i int) []byte) func([]byte, int, int) []byte {
		return func(b []byte, system, segment int) []byte {
			ms, h := &v.Segments[segment].Metrics[k], v.hypothesis(segment, system)
			b = append(b, '[')
			for c := range ms.Columns {
				at := -1
				if h >= 0 {
					at = h*ms.Columns + c
				}
				b = one(comma(b, c), ms, at)
			}
			return append(b, ']')
		}
	}
	status := func(ms *refract.MetricScores, i int) metrics.Status {
		if i < 0 {
			return metrics.MissingHypothesis
		}
		return ms.Status[i]
	}
	missing := false
	b = v.bySystem(append(b, `,"scores":`...), row(func(b []byte, ms *refract.MetricScores, i int) []byte {
		ok := status(ms, i) == metrics.Scored
		if missing = missing || !ok; !ok {
			return append(b, "null"...)
		}
		return jsonline.AppendFloat(b, ms.Values[i])
	}))
	if missing {
		b = v.bySystem(append(b, `,"status":`...), row(func(b []byte, ms *refract.MetricScores, i int) []byte { return appendStatus(b, status(ms, i)) }))
	}
	return append(b, '}')
}

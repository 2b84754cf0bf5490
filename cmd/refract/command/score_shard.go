package command

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/internal/matrix"
	"github.com/refract-eval/refract/internal/redact"
	"github.com/refract-eval/refract/metrics"
)

// scoreDetails are what a merge knows of the metrics of a run.
type scoreDetails struct {
	Per      string         `json:"per"`
	Metrics  []metricDetail `json:"metrics"`
	Settings []setDetail    `json:"settings"`

	Worst       int     `json:"worst"` // of earlier versions
	MaxUnparsed float64 `json:"max_unparsed"`
	Reports     bool    `json:"reports"` // stand beside
}

// metricDetail is a metric, with the signature of a cell, without any set of
// references.
type metricDetail struct {
	Name            string            `json:"name"`
	Direction       metrics.Direction `json:"direction"`
	NeedsReferences bool              `json:"needs_references"`
	Native          bool              `json:"native"`
	Signature       string            `json:"signature"`
	Explains        bool              `json:"explains,omitempty"`
	// Spec makes the metric anew where it scores pooled statistics.
	Spec string `json:"spec,omitempty"`
}

type setDetail struct {
	Metric     int    `json:"metric"`
	Aggregator string `json:"aggregator"`
	Pooled     bool   `json:"pooled,omitempty"`
}

// scoreShard scores a part of a dataset.
func (s *scorer) scoreShard(ctx context.Context, e *env, whole, part refract.Dataset, settings []refract.Setting) error {
	if done, err := s.begin(ctx, e); done || err != nil {
		return err
	}
	eng, err := s.engine(ctx, whole, settings) // which is fitted to the whole
	if err != nil {
		return err
	}
	to := shardSink(eng, s.writer, s.per)
	var refs []byte
	err = s.runEngine(ctx, e, eng, part, nil, func(seg *refract.SegmentScores) error {
		refs = refract.AppendReferences(refs[:0], seg.Segment)
		if err := s.index(seg.Segment.ID, refs); err != nil {
			return err
		}
		return to.add(seg)
	})
	if err == nil && s.incomplete != nil {
		err = s.incomplete // a shard is done or is not there
	}
	if err == nil {
		err = to.end(ctx, nil)
	}
	if err == nil {
		err = s.writer.Totals(s.gather)
	}
	if err != nil {
		return err
	}
	return s.end(e, s.details(eng))
}

// shardSink writes scores into a shard.
func shardSink(eng *refract.Engine, w io.Writer, per string) *sink {
	enc := json.NewEncoder(w)
	switch per {
	case "segment":
		add := segmentRows(eng, func(row *segmentRow) error {
			if row.Of.Status != metrics.Scored {
				row.Of.Value = 0 // as it means nothing
			}
			return enc.Encode(row)
		})
		return &sink{add, func(context.Context, *refract.Incomplete) error { return nil }}
	case "cell":
		cells, infos := matrix.NewJSONLWriter(w), matrixInfos(eng, nil)
		add := func(seg *refract.SegmentScores) error { return cells.WriteSegment(seg, infos) }
		return &sink{add, func(context.Context, *refract.Incomplete) error { return cells.Close() }}
	}
	acc := eng.Systems()
	acc.Identify(nil)
	return &sink{acc.Add, func(context.Context, *refract.Incomplete) error { return enc.Encode(acc) }}
}

func (s *scorer) details(eng *refract.Engine) scoreDetails {
	d, ms := scoreDetails{Per: s.per, MaxUnparsed: s.maxUnparsed, Reports: s.reports != ""}, eng.Metrics()
	infos := matrixInfos(eng, nil)
	for i := range ms {
		info := &infos[i]
		d.Metrics = append(d.Metrics, metricDetail{
			Name: info.Name, Direction: info.Direction, NeedsReferences: info.NeedsReferences, Native: info.HasNative(), Signature: info.CellSignature,
			Explains: slices.Contains(s.gather.Metrics(), ms[i]),
		})
	}
	for k, set := range eng.Settings() {
		of := slices.Index(ms, set.Metric)
		pooled := s.per == "system" && eng.Pools(k)
		if pooled {
			d.Metrics[of].Spec = redact.Text(s.specs[set.Metric.Info().Name])
		}
		d.Settings = append(d.Settings, setDetail{of, set.Aggregator.Name(), pooled})
	}
	return d
}

// engine makes the settings of the shards anew, whose references id names. Their
// metrics score nothing, but for statistics that were pooled.
func (d *scoreDetails) engine(ctx context.Context, e *env, id *refract.Identity) (*refract.Engine, error) {
	var ms, pools []metrics.Metric
	for _, detail := range d.Metrics {
		info, err := detail.info(id)
		if err != nil {
			return nil, err
		}
		m, err := matrix.NewMetric(info)
		if err != nil {
			return nil, err
		}
		var pool metrics.Metric
		if detail.Spec != "" {
			if pool, err = e.registryWith(nil, nil).Parse(ctx, detail.Spec); err != nil {
				return nil, err
			}
			if again := matrix.InfoOf(pool, false, "", ""); again.CellSignature != detail.Signature {
				return nil, errors.New("the shards were scored by another " + detail.Name + ": merge them with the program that scored them")
			}
		}
		ms, pools = append(ms, m), append(pools, pool)
	}
	settings := []refract.Setting{}
	for _, set := range d.Settings {
		a, err := aggregate.Parse(set.Aggregator)
		if err != nil {
			return nil, err
		}
		m := ms[set.Metric]
		if set.Pooled {
			m = pools[set.Metric]
		}
		settings = append(settings, refract.Setting{Metric: m, Aggregator: a})
	}
	return refract.NewEngine(settings, refract.Options{Scope: refract.Auto})
}

// info is that of the matrix whose references id names.
func (d *metricDetail) info(id *refract.Identity) (matrix.Info, error) {
	out := matrix.Info{Name: d.Name, Direction: d.Direction, NeedsReferences: d.NeedsReferences}
	var err error
	out.CellSignature, err = d.sign(id, false, d.Signature)
	return out, err
}

// sign puts the set of references into the signature of a cell or of a native
// score.
func (d *metricDetail) sign(id *refract.Identity, native bool, signature string) (string, error) {
	sig, err := metrics.ParseSignature(signature)
	if err != nil || !d.NeedsReferences || id == nil {
		return signature, err
	}
	last := len(sig) - 1 // the version
	out := sig[:last:last].With("set", id.Of(aggregate.Aggregator{}))
	if !native {
		out = out.With("first", id.Of(aggregate.Must("single")))
	}
	return append(out, sig[last]).String(), nil
}

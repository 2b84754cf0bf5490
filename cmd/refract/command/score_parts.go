package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"reflect"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/matrix"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/redact"
	"github.com/refract-eval/refract/metrics"
)

// scoreDetails tell a merge about the metrics of a run.
type scoreDetails struct {
	Per      string         `json:"per"`
	Metrics  []metricDetail `json:"metrics"`
	Settings []setDetail    `json:"settings"`
}

// metricDetail is a metric, with the signature of a cell without the hash of
// references.
type metricDetail struct {
	Name            string            `json:"name"`
	Direction       metrics.Direction `json:"direction"`
	NeedsReferences bool              `json:"needs_references"`
	Signature       string            `json:"signature"`
	Explains        bool              `json:"explains,omitempty"`
	// Spec and the language make the metric again where its statistics are pooled.
	Spec     string `json:"spec,omitempty"`
	Language string `json:"language,omitempty"`
}

type setDetail struct {
	Metric     int    `json:"metric"`
	Aggregator string `json:"aggregator"`
	Pooled     bool   `json:"pooled,omitempty"`
}

// shardSink writes scores into the shard.
func (s *scorer) shardSink(eng *refract.Engine) *sink {
	acc, infos := eng.Systems(), matrixInfos(eng, nil)
	acc.Identify(nil)
	add, end := acc.Add, func() error { return json.NewEncoder(s.writer).Encode(acc) }
	if s.per == "cell" {
		cells := matrix.NewJSONLWriter(s.writer)
		add, end = func(seg *refract.SegmentScores) error { return cells.WriteSegment(seg, infos) }, cells.Close
	}
	var refs []byte
	return &sink{func(seg *refract.SegmentScores) error {
		refs = refract.AppendReferences(refs[:0], seg.Segment)
		if err := s.index(seg.Segment.ID, refs); err != nil {
			return err
		}
		return add(seg)
	}, func(context.Context, *refract.Incomplete) error { return end() }}
}

func (s *scorer) details(eng *refract.Engine) scoreDetails {
	d, ms := scoreDetails{Per: s.per}, eng.Metrics()
	for i, info := range matrixInfos(eng, nil) {
		d.Metrics = append(d.Metrics, metricDetail{
			Name: info.Name, Direction: info.Direction, NeedsReferences: info.NeedsReferences, Signature: info.CellSignature,
			Explains: slices.Contains(s.gather.Metrics(), ms[i]),
		})
	}
	for k, set := range eng.Settings() {
		of := slices.Index(ms, set.Metric)
		pooled := s.per == "system" && eng.Pools(k)
		if pooled {
			d.Metrics[of].Language = s.target
			d.Metrics[of].Spec = redact.Text(s.parsed[set.Metric.Info().Name])
		}
		d.Settings = append(d.Settings, setDetail{of, set.Aggregator.Name(), pooled})
	}
	return d
}

// engine makes the settings of the parts again. Their references have the hash id; the
// metrics score nothing.
func (d *scoreDetails) engine(ctx context.Context, e *env, id *refract.Identity) (eng *refract.Engine, ms []metrics.Metric, err error) {
	for _, detail := range d.Metrics {
		info := matrix.Info{Name: detail.Name, Direction: detail.Direction, NeedsReferences: detail.NeedsReferences}
		if info.CellSignature, err = detail.sign(id, false, detail.Signature); err != nil {
			return nil, nil, err
		}
		m, err := matrix.NewMetric(info)
		if err != nil {
			return nil, nil, err
		}
		ms = append(ms, m)
	}
	var settings []refract.Setting
	pools := make([]metrics.Metric, len(ms))
	for _, set := range d.Settings {
		a, err := aggregate.Parse(set.Aggregator)
		if err != nil {
			return nil, nil, err
		}
		of := set.Metric
		m := ms[of]
		if set.Pooled && pools[of] == nil {
			if pools[of], err = e.registryWith(nil, nil).Parse(ctx, d.Metrics[of].Spec); err != nil {
				return nil, nil, err
			}
			pools[of] = metrics.InLanguage(pools[of], d.Metrics[of].Language)
			if again := matrix.InfoOf(pools[of], false, "", ""); again.CellSignature != d.Metrics[of].Signature {
				return nil, nil, errors.New("the parts were scored by another " + again.Name + ": merge them with the program that scored them")
			}
		}
		if set.Pooled {
			m = pools[of]
		}
		settings = append(settings, refract.Setting{Metric: m, Aggregator: a})
	}
	eng, err = refract.NewEngine(settings, refract.Options{Scope: refract.Auto})
	return eng, ms, err
}

// sign adds the hash of references to the signature of a cell or of a native score.
func (d *metricDetail) sign(id *refract.Identity, native bool, signature string) (string, error) {
	sig, err := metrics.ParseSignature(signature)
	if err != nil || !d.NeedsReferences || id == nil {
		return signature, err
	}
	last := len(sig) - 1 // the version
	out := sig[:last:last].With("set", id.Of(aggregate.Aggregator{}))
	if !native {
		out = out.With("first", id.Of(aggregate.Single))
	}
	return append(out, sig[last]).String(), nil
}

// perStatistics is the value of --per for lines of statistics.
const perStatistics = "statistics"

// statistics is a line of --per statistics.
type statistics struct {
	Form     string              `json:"refract"`
	Version  string              `json:"version"`
	Settings map[string][]string `json:"settings"` // all that changes results, by flag
	Details  scoreDetails        `json:"details"`
	Systems  json.RawMessage     `json:"systems"`
	IDs      string              `json:"ids"`    // SHA-256 of the segments' ids
	SHA256   string              `json:"sha256"` // of the line with "" in its place
}

const statisticsForm = "statistics 4"

// digest is the SHA256 of a line.
func (s statistics) digest() string {
	s.SHA256 = ""
	line, _ := json.Marshal(s) // cannot fail: the line was read, or is about to be written
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}

// addable is the sink of --per statistics.
func (s *scorer) addable(eng *refract.Engine, out io.Writer) (*sink, error) {
	acc, ids := eng.Systems(), sha256.New()
	acc.Identify(nil)
	return &sink{func(seg *refract.SegmentScores) error {
		writeID(ids, seg.Segment.ID)
		return acc.Add(seg)
	}, func(context.Context, *refract.Incomplete) error {
		systems, err := acc.MarshalJSON()
		if err != nil {
			return err
		}
		line := statistics{statisticsForm, refract.Version, s.shardFlag.settings(), s.details(eng), jsonline.Escape(systems), hex.EncodeToString(ids.Sum(nil)), ""}
		line.SHA256 = line.digest()
		return json.NewEncoder(jsonline.Escaping{To: out}).Encode(line)
	}}, nil
}

func writeID(h hash.Hash, id string) { fmt.Fprintf(h, "%d:%s", len(id), id) }

// addUp reads lines of statistics and adds them up; nil if there are none.
func (e *env) addUp(ctx context.Context) (all *refract.Systems, eng *refract.Engine, err error) {
	parts, first, lines := map[string]int{}, statistics{}, json.NewDecoder(e.stdin)
	for n := 1; ; n++ {
		var line statistics
		err := lines.Decode(&line)
		again, digest := parts[line.SHA256], line.SHA256
		switch {
		case err == io.EOF:
			return all, eng, ctx.Err()
		case err != nil:
			err = fmt.Errorf("is not whole: %w; the command that wrote it did not end well: run it again", err)
		case line.Form != statisticsForm:
			err = errors.New("has no statistics: they are what 'refract score --per statistics' writes")
		case line.Version != refract.Version:
			err = fmt.Errorf("is of refract %s, and this is refract %s: merge it with that", line.Version, refract.Version)
		case digest != line.digest():
			err = errors.New("is damaged: run the command that wrote it again")
		case again > 0:
			err = fmt.Errorf("is part %d once more: give each once", again)
		}
		parts[digest] = n
		systems := line.Systems
		if line.Systems, line.IDs, line.SHA256 = nil, "", ""; n == 1 && err == nil {
			if eng, _, err = line.Details.engine(ctx, e, nil); err == nil {
				first, all = line, eng.Systems()
			}
		}
		if err == nil && !reflect.DeepEqual(line, first) {
			err = errors.New("was scored with other metrics or flags than part 1")
		}
		if err == nil {
			one := eng.Systems()
			if err = one.UnmarshalJSON(systems); err == nil {
				all.Merge(one)
			}
		}
		if err != nil {
			return nil, nil, fmt.Errorf("part %d of standard input %w", n, err)
		}
	}
}

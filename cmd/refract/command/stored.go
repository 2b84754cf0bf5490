package command

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/matrix"
	"github.com/refract-eval/refract/metrics"
)

// matrixMetric stands for a metric whose scores were stored.
type matrixMetric struct {
	info      matrix.Info
	signature metrics.Signature // of a cell: nrefs first, version last
}

func newMatrixMetric(info matrix.Info) (*matrixMetric, error) {
	sig, err := metrics.ParseSignature(info.CellSignature)
	if err != nil {
		return nil, fmt.Errorf("metric %q of the matrix: %w", info.Name, err)
	}
	return &matrixMetric{info, sig}, nil
}

// Info has what a matrix holds; bounds are not part of it.
func (m *matrixMetric) Info() metrics.Info {
	return metrics.Info{Name: m.info.Name, Direction: m.info.Direction, NeedsReferences: m.info.NeedsReferences}
}

func (m *matrixMetric) Signature(metrics.Level) metrics.Signature { return m.signature }

// Signed puts the references and the aggregator into the stored signature,
// which keeps its set and its version.
func (m *matrixMetric) Signed(of refract.Scored) metrics.Signature {
	var out metrics.Signature
	aggregator := of.Aggregator
	for _, s := range m.signature {
		switch s.Key {
		case "nrefs":
			s.Value = of.References
		case "set", "version":
			if aggregator != "" {
				out = out.With("agg", aggregator)
				aggregator = ""
			}
		}
		out = append(out, s)
	}
	return out
}

func (m *matrixMetric) Score(context.Context, []metrics.Block) ([]metrics.Scores, error) {
	return nil, errors.New("a stored matrix cannot score")
}

// matrixInfo describes a metric for storing its cells, which are of a set of
// references.
func matrixInfo(m metrics.Metric, native bool, set string) matrix.Info {
	info := m.Info()
	sig := m.Signature(metrics.Sentence)
	of := refract.Scored{References: "1", Set: set}
	if !info.NeedsReferences {
		of = refract.Scored{References: "0"}
	}
	out := matrix.Info{
		Name: info.Name, Direction: info.Direction, NeedsReferences: info.NeedsReferences,
		CellSignature: refract.FullSignature(sig, of).String(),
	}
	if native && metrics.HasNative(m) {
		out.NativeSignature = func(n int) string {
			of := refract.Scored{References: strconv.Itoa(n), Aggregator: matrix.Native, Set: of.Set}
			return refract.FullSignature(sig, of).String()
		}
	}
	return out
}

// storedSettings crosses the metrics of a matrix with aggregators.
func storedSettings(infos []matrix.Info, aggs []aggregate.Aggregator, asked bool) ([]refract.Setting, error) {
	var order []metrics.Metric
	for _, info := range infos {
		m, err := newMatrixMetric(info)
		if err != nil {
			return nil, err
		}
		order = append(order, m)
	}
	return cross(order, aggs, asked, storesNative)
}

// storesNative is cross's native for metrics of a matrix.
func storesNative(m metrics.Metric) error {
	if info := m.(*matrixMetric).info; !info.HasNative() {
		return fmt.Errorf("the matrix has no native scores of %s; they are stored by 'refract score --per cell -a native'", info.Name)
	}
	return nil
}

// addMatrix opens a matrix for a comparison. Its metrics are known once its
// first segment is read.
func (r *compareRun) addMatrix(ctx context.Context, path string, aggs []aggregate.Aggregator, asked bool) error {
	in, err := matrix.Open(path)
	if err != nil {
		return err
	}
	segments, stop := pull(ctx, in)
	first, err := segments()
	if err != nil {
		stop()
		return err
	}
	settings, err := storedSettings(in.Metrics(), aggs, asked)
	if err != nil {
		stop()
		return err
	}
	r.matrix = &storedScores{first: first, next: segments, stop: stop, path: path}
	return r.addSettings(settings, refract.Options{Missing: r.policy})
}

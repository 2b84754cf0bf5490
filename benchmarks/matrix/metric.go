package matrix

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/metrics"
)

// Metric represents a metric whose scores were stored. It has the properties that a matrix
// states, and cannot score.
type Metric struct {
	Stored    Info
	signature metrics.Signature // of a cell: begins with nrefs, ends with version
}

// NewMetric returns the metric that a matrix describes.
func NewMetric(info Info) (*Metric, error) {
	sig, err := metrics.ParseSignature(info.CellSignature)
	if err != nil {
		return nil, fmt.Errorf("metric %q of the matrix: %w", info.Name, err)
	}
	return &Metric{info, sig}, nil
}

// Info returns what a matrix stores about the metric; bounds are not stored.
func (m *Metric) Info() metrics.Info {
	return metrics.Info{Name: m.Stored.Name, Direction: m.Stored.Direction, NeedsReferences: m.Stored.NeedsReferences}
}

// Signature returns the signature of a stored cell.
func (m *Metric) Signature(metrics.Level) metrics.Signature { return m.signature }

// Signed returns the stored signature with these references and this aggregator. The version
// and the set that the aggregator uses are kept.
func (m *Metric) Signed(of refract.Scored) metrics.Signature {
	var out metrics.Signature
	aggregator, single := of.Aggregator, of.Aggregator == "single"
	for _, s := range m.signature {
		switch {
		case s.Key == "nrefs":
			s.Value = of.References
		case s.Key == "set" && single, s.Key == "first" && !single:
			continue
		case s.Key == "set", s.Key == "first", s.Key == "version":
			if s.Key == "first" {
				s.Key = "set"
			}
			if aggregator != "" {
				out = out.With("agg", aggregator)
				aggregator = ""
			}
		}
		out = append(out, s)
	}
	return out
}

// Score returns an error, because a stored matrix cannot score.
func (m *Metric) Score(context.Context, []metrics.Block) ([]metrics.Scores, error) {
	return nil, errors.New("a stored matrix cannot score")
}

// InfoOf describes a metric for storing its cells, with or without native scores. set is the
// name of their set of references, and first that of the set of first references; "" if
// unknown.
func InfoOf(m metrics.Metric, native bool, set, first string) Info {
	info := m.Info()
	sig := m.Signature(metrics.Sentence)
	of := refract.Scored{References: "1", Set: set, First: first}
	if !info.NeedsReferences {
		of = refract.Scored{References: "0"}
	}
	out := Info{
		Name: info.Name, Direction: info.Direction, NeedsReferences: info.NeedsReferences,
		CellSignature: refract.FullSignature(sig, of).String(),
	}
	if native && metrics.HasNative(m) {
		out.NativeSignature = func(n int) string {
			of := refract.Scored{References: strconv.Itoa(n), Aggregator: Native, Set: of.Set}
			return refract.FullSignature(sig, of).String()
		}
	}
	return out
}

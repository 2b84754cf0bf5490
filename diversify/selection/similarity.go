package selection

import (
	"context"
	"fmt"

	"github.com/refract-eval/refract/embeddings"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/chrf"
)

// Similarity compares the texts of segments.
type Similarity interface {
	// Name is short, such as "ngrams".
	Name() string
	// Matrices returns one matrix per segment, over its texts. No text may be empty.
	Matrices(ctx context.Context, segments [][]string) ([]Matrix, error)
}

// NGrams compares texts by their character n-grams of orders 1 to 6, as chrF does, but
// with equal weights for precision and recall, which makes it symmetric. It needs no
// server.
func NGrams() Similarity {
	o := chrf.Defaults()
	o.Beta = 1
	m, err := chrf.New(o)
	if err != nil {
		panic(err) // the options are constants
	}
	return ngrams{m}
}

type ngrams struct{ chrf *chrf.Metric }

func (ngrams) Name() string { return "ngrams" }

func (n ngrams) Matrices(ctx context.Context, segments [][]string) ([]Matrix, error) {
	w := n.chrf.NewWorkspace()
	var cells []float64
	out := make([]Matrix, len(segments))
	for k, texts := range segments {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w.Load(metrics.Block{Hypotheses: texts, References: texts})
		cells = w.Cells(cells[:0])
		out[k] = NewMatrix(len(texts), func(i, j int) float64 { return min(1, cells[i*len(texts)+j]/100) })
	}
	return out, nil
}

// Vectors compares texts by the cosine of their vectors, mapped from [-1, 1] to [0, 1].
// The mapping changes no selection.
func Vectors(e embeddings.Embedder) Similarity { return vectors{e} }

type vectors struct{ embedder embeddings.Embedder }

func (vectors) Name() string { return "embeddings" }

func (v vectors) Matrices(ctx context.Context, segments [][]string) ([]Matrix, error) {
	var all []string
	for _, texts := range segments {
		all = append(all, texts...)
	}
	vs, err := v.embedder.Embed(ctx, all)
	if err != nil {
		return nil, err
	}
	out := make([]Matrix, len(segments))
	for k, texts := range segments {
		n := len(texts)
		d, err := embeddings.Distances(vs[:n])
		if err != nil {
			return nil, fmt.Errorf("segment %d: %w", k, err)
		}
		out[k] = NewMatrix(n, func(i, j int) float64 { return 1 - d[i*n+j]/2 })
		vs = vs[n:]
	}
	return out, nil
}

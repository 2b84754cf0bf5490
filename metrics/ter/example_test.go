package ter_test

import (
	"context"
	"fmt"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/ter"
)

func Example() {
	m := ter.New(ter.Options{Normalized: true})
	scores, err := m.Score(context.Background(), []metrics.Block{{
		Hypotheses: []string{"Yesterday we saw a heron.", "We saw yesterday heron"},
		References: []string{"We saw a heron yesterday."},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Info().Name)
	fmt.Println(m.Signature(metrics.Sentence))
	fmt.Printf("%.2f\n", scores[0].Values)
	// Output:
	// ter:normalized=yes
	// case:lc|tok:tercom|norm:yes|punct:yes|asian:no
	// [16.67 50.00]
}

package chrf_test

import (
	"fmt"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/chrf"
)

// A workspace reads each text once and then answers for every pair, and for all references
// together.
func Example() {
	m, err := chrf.New(chrf.Defaults())
	if err != nil {
		fmt.Println(err)
		return
	}
	w := m.NewWorkspace().(metrics.NativeWorkspace)
	w.Load(metrics.Block{
		Hypotheses: []string{"The bridge is closed on Monday.", "Bridge Monday closed."},
		References: []string{"The bridge is closed on Mondays.", "On Monday, the bridge is closed."},
	})
	fmt.Printf("pairs  %.2f\n", w.Cells(nil))
	fmt.Printf("native %.2f\n", w.Native(nil))
	// Output:
	// pairs  [93.18 74.07 40.69 44.43]
	// native [93.18 44.43]
}

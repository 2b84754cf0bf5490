package aggregate_test

import (
	"fmt"

	"github.com/refract-eval/refract/aggregate"
)

func ExampleAggregator_Apply() {
	a, err := aggregate.Parse("best:k=2")
	if err != nil {
		fmt.Println(err)
		return
	}
	// Four references; the third has no score.
	res, err := a.Apply([]float64{20, 60, 0, 40}, []bool{true, true, false, true}, true, aggregate.Exclude, nil)
	fmt.Printf("%s = %v from %d scores, %d missing, error %v\n", a.Name(), res.Value, res.Used, res.Missing, err)
	// Output: best:k=2 = 50 from 3 scores, 1 missing, error <nil>
}

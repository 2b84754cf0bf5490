// Command go scores a text file of outputs against files of references, line by line,
// and takes the best reference of each line:
//
//	refract demo -o demo
//	go run ./examples/go demo/a.txt demo/ref.txt demo/ref2.txt
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/chrf"
)

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: go run ./examples/go OUTPUTS REFERENCES…")
	}
	if err := score(os.Args[1], os.Args[2:]); err != nil {
		log.Fatal(err)
	}
}

func score(outputs string, references []string) error {
	lines, err := dataset.OpenLines(dataset.LinesSpec{
		References: references,
		Hypotheses: []dataset.NamedFile{{Name: "mine", Path: outputs}},
	}, dataset.Options{})
	if err != nil {
		return err
	}
	metric, err := chrf.New(chrf.Defaults())
	if err != nil {
		return err
	}
	engine, err := refract.NewEngine([]refract.Setting{
		{Metric: metric, Aggregator: aggregate.Single}, // the first reference only
		{Metric: metric, Aggregator: aggregate.Max},    // the best one
	}, refract.Options{})
	if err != nil {
		return err
	}

	reducer, systems := engine.Reducer(), engine.Systems()
	err = engine.Run(context.Background(), lines, func(s *refract.SegmentScores) error {
		best, err := reducer.Reduce(s, 1, 0)
		if err != nil {
			return err
		}
		if best.Status == metrics.Scored { // a missing output has no score, and is not 0
			fmt.Printf("line %s: %.1f\n", s.Segment.ID, best.Value)
		}
		return systems.Add(s)
	})
	if err != nil {
		return err
	}
	for _, total := range systems.Scores() {
		fmt.Printf("%s: %.1f (%s)\n", engine.Settings()[total.Setting], total.Value, systems.Signature(&total))
	}
	return nil
}

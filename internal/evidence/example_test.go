package evidence_test

import (
	"context"
	"fmt"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/internal/evidence"
	"github.com/refract-eval/refract/metrics/chrf"
)

func ExampleHeld_Explorer() {
	m, err := chrf.New(chrf.Defaults())
	if err != nil {
		fmt.Println(err)
		return
	}
	most, err := aggregate.Parse("max")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	segments := list{{
		ID: "7", References: []refract.Text{refract.NewText("It is raining.")},
		Variants:   []refract.Variant{{Prompt: "synonyms", Text: refract.NewText("Rain is falling.")}},
		Hypotheses: []refract.Hypothesis{{System: "A", Text: refract.NewText("Rain falls.")}},
	}}

	engine, err := refract.NewEngine([]refract.Setting{{Metric: m, Aggregator: most}}, refract.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	held := evidence.Hold(engine)
	if err := engine.Run(ctx, segments, held.Add); err != nil {
		fmt.Println(err)
		return
	}
	explorer := held.Explorer(ctx) // the part of a page.Document that shows texts
	for s, err := range explorer.Segments {
		if err != nil {
			fmt.Println(err)
			return
		}
		by := s.References[s.Outputs[0].Scores[0].Decided-1]
		fmt.Printf("%s: %q decides, by the prompt %s\n", explorer.Settings[0].Name, by.Text.Value, explorer.Prompts[by.Prompt])
	}
	// Output: chrF max: "Rain is falling." decides, by the prompt synonyms
}

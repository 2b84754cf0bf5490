package diversify_test

import (
	"context"
	"fmt"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
)

// rewriter is a model that rewrites little; an llm.Client asks a real one.
type rewriter struct{}

func (rewriter) Complete(_ context.Context, r llm.Request) (llm.Response, error) {
	how := []string{"warmly", "loudly", "at once", "politely", "again", "in public", "with a smile"}
	text := "The cook praised the soup " + how[len(r.Prompt)%len(how)] + "."
	return llm.Response{Text: text, HasText: true, FinishReason: "stop"}, nil
}

func Example() {
	prompts, err := diversify.ParsePrompts("voice,informal")
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := diversify.New(diversify.Config{
		Prompts:     prompts,
		Model:       "some-model",
		Temperature: diversify.PaperTemperature,
		TopP:        diversify.PaperTopP,
		Config: ask.Config{
			Store:  cache.NewMemory(), // use a file for answers that cost money
			Client: rewriter{},        // an llm.Client for a real server
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ds := segments{{ID: "1", References: []refract.Text{refract.NewText("The chef praised the soup.")}}}
	for range 2 {
		summary, err := x.Expand(context.Background(), ds, func(s *refract.Segment) error {
			for _, v := range s.Variants {
				fmt.Printf("%s %s: %s\n", s.ID, v.Prompt, v.Text.Value)
			}
			return nil
		})
		fmt.Println(summary.Calls, "calls,", summary.Cached, "from the cache,", "error:", err)
	}
	// Output:
	// 1 voice: The cook praised the soup in public.
	// 1 informal: The cook praised the soup again.
	// 2 calls, 0 from the cache, error: <nil>
	// 1 voice: The cook praised the soup in public.
	// 1 informal: The cook praised the soup again.
	// 0 calls, 2 from the cache, error: <nil>
}

// A reference is rewritten in the ten ways of the paper.
func ExampleExpand() {
	segments := refract.InMemory{{ID: "1", References: refract.Texts("The chef praised the soup.")}}
	expanded, summary, err := diversify.Expand(context.Background(), segments, "some-model", rewriter{}, cache.NewMemory())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(expanded[0].Variants), "variants,", len(expanded[0].Rejected), "rejected,", summary.Calls, "calls")
	for _, v := range expanded[0].Variants {
		fmt.Println(v.Prompt, v.Text.Value)
	}
	// Output:
	// 5 variants, 10 rejected, 15 calls
	// order The cook praised the soup in public.
	// structure The cook praised the soup at once.
	// tone The cook praised the soup politely.
	// style The cook praised the soup again.
	// synonyms The cook praised the soup with a smile.
}

func ExampleParsePrompts() {
	prompts, err := diversify.ParsePrompts("order,plain@de")
	for _, p := range prompts {
		fmt.Println(p.Render("It rains.", ""))
	}
	fmt.Println(err)
	// Output:
	// Change the order of the sentences: It rains.
	// Paraphrasiere die Sätze: It rains.
	// <nil>
}

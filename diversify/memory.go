package diversify

import (
	"context"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/llm/ask"
)

// Expand has a model rewrite the references of all segments in the ten ways of the paper, with
// its sampling, and returns the segments with their variants. Checks that need no detector of
// languages reject answers that are not rewritings. Answers that are in the store are not asked
// for again. The segments are those before an error. An [Expander] does more.
func Expand(ctx context.Context, ds refract.Dataset, model string, client ask.Completer, store cache.Store) (refract.InMemory, Summary, error) {
	checker, err := check.New(check.Config{})
	if err != nil {
		return nil, Summary{}, err
	}
	x, err := New(Config{
		Prompts: Ten(), Model: model, Temperature: PaperTemperature, TopP: PaperTopP, Check: checker, Resample: 1,
		Config: ask.Config{Client: client, Store: store},
	})
	if err != nil {
		return nil, Summary{}, err
	}
	var out refract.InMemory
	summary, err := x.Expand(ctx, ds, func(s *refract.Segment) error {
		out = append(out, s)
		return nil
	})
	return out, summary, err
}

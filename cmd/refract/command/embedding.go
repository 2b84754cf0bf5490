package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/embeddings"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics/similarity"
)

// embeddingFlags name a model of embeddings, and the servers that have it.
type embeddingFlags struct {
	serverFlags
	embeddings string
}

func (f *embeddingFlags) register(cmd *cobra.Command, does string) {
	modelFlags.of(cmd)("embeddings", plain(&f.embeddings, ""), "`MODEL[,OPTION=VALUE…]` whose vectors "+does+"; options are those of the metric embedding", shown, fromConfig)
	f.serverFlags.register(cmd, "vector")
}

// open returns the model and the run that asks it; both are nil without --embeddings.
// Close the run.
func (f *embeddingFlags) open(ctx context.Context, e *env) (*judging, *embeddings.Model, error) {
	if f.embeddings == "" {
		return nil, nil, nil
	}
	run := (&judgeFlags{calls: callFlags{serverFlags: f.serverFlags}}).run(e)
	if _, err := run.metric(ctx, similarity.Name+":model="+f.embeddings); err != nil {
		run.close()
		return nil, nil, err
	}
	return run, run.vectors[0].model, nil
}

// embedding connects a metric that compares vectors to the cache and the servers of the
// run.
func (j *judging) embedding(ctx context.Context, m *embeddings.Model, server string) error {
	if j == nil {
		return usagef("%s asks a server for vectors: score with it", similarity.Name)
	}
	if err := j.open(ctx); err != nil {
		return err
	}
	m.Store, m.Concurrency = j.store, j.calls.atOnce(j.e)
	v := &vectors{model: m, spend: j.spend}
	j.vectors = append(j.vectors, v)
	client, err := j.calls.asked(j.e, "", server)
	if client == nil {
		return err
	}
	v.client, v.progress = client, j.showProgress("embed", "texts")
	m.Client, m.Refused = v, j.refusedText
	return nil
}

// refusedText counts a text for which the server gives no vector, and warns about the
// first.
func (j *judging) refusedText(text string, err error) bool {
	tolerated := j.tolerates(err)
	if tolerated {
		j.refusal.Do(func() {
			j.e.warn("the server refuses the text %.60q, so its cells have no score (--tolerate %d bounds such failures): %v", text, j.calls.tolerate, err)
		})
	}
	return tolerated
}

// vectors asks for the vectors of a metric, within the budget of the run.
type vectors struct {
	client   embeddings.Client
	model    *embeddings.Model
	spend    *ask.Budget
	progress *report.Progress
}

// Embed implements embeddings.Client.
func (v *vectors) Embed(ctx context.Context, r llm.EmbedRequest) (llm.EmbedResponse, error) {
	bill := llm.Request{Model: r.Model}
	for _, t := range r.Texts {
		bill.Messages = append(bill.Messages, llm.Message{Content: t})
	}
	if err := v.spend.Take(ctx, bill); err != nil {
		return llm.EmbedResponse{}, err
	}
	out, err := v.client.Embed(ctx, r)
	v.spend.Settle(bill, llm.Response{PromptTokens: out.PromptTokens}, err)
	v.progress.Add(len(out.Vectors))
	return out, err
}

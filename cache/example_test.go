package cache_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/refract-eval/refract/cache"
)

// An answer is asked for once. The stored answer is used, so that a later run uses the
// same one.
func Example() {
	dir, err := os.MkdirTemp("", "cache")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	store, err := cache.Open(ctx, filepath.Join(dir, "answers.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	answers := cache.NewAnswers(store)

	params, err := cache.NewParams(map[string]any{"temperature": 1.0, "top_p": 0.9, "max_tokens": 256})
	if err != nil {
		fmt.Println(err)
		return
	}
	request := cache.Request{Kind: "chat", Model: "model-a", Prompt: "Reword: It rains.", Params: params}
	for range 2 {
		stored, found, err := answers.Get(ctx, []cache.Key{request.Key()})
		if err == nil && !found[0] {
			fmt.Println("asking the model")
			stored, err = answers.Put(ctx, cache.Entry{
				Request: request,
				Answer:  cache.Answer{Text: "Rain is falling.", HasText: true, FinishReason: "stop"},
			})
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(stored[0].Text)
	}
	// Output:
	// asking the model
	// Rain is falling.
	// Rain is falling.
}

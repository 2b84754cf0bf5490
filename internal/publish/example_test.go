package publish_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/internal/publish"
)

func ExamplePublish() {
	parent, err := os.MkdirTemp("", "refract")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(parent)
	dir := filepath.Join(parent, "enriched")

	set := memory{{
		ID: "1", References: []refract.Text{refract.NewText("It is closed.")},
		Variants: []refract.Variant{{Prompt: "tone", Model: "some-model", Text: refract.NewText("It's shut.")}},
	}}
	res, err := publish.Publish(context.Background(), set, dir, publish.Options{Format: dataset.FormatText})
	if err != nil {
		panic(err)
	}
	for _, f := range res.Manifest.Files {
		fmt.Println(f.Path, f.Role)
	}
	fmt.Println("set:" + refract.SetName(res.Manifest.Set))

	again, err := collect(dataset.Open("published:"+dir, dataset.Options{}))
	if err != nil {
		panic(err)
	}
	fmt.Println(len(again[0].References), "references")
	// Output:
	// ref.0 reference
	// ref.1 reference
	// set:f37de1682cf7
	// 2 references
}

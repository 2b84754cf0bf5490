package demo_test

import (
	"context"
	"fmt"

	"github.com/refract-eval/refract/internal/demo"
)

func ExampleExpand() {
	segments, _, err := demo.Expand(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	variants := 0
	for _, s := range segments {
		variants += len(s.Variants)
	}
	fmt.Println(len(segments), "segments,", variants, "variants")
	// Output: 44 segments, 440 variants
}

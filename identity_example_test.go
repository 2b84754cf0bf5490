package refract_test

import (
	"fmt"

	"github.com/refract-eval/refract"
)

func ExampleIdentity() {
	text := refract.NewText
	expanded := &refract.Segment{ID: "1", References: []refract.Text{text("It is closed.")}, Variants: []refract.Variant{{Prompt: "tone", Text: text("It's shut.")}}}
	// A text file states neither ids nor which references are variants.
	lines := &refract.Segment{ID: "line 1", References: []refract.Text{text("It is closed."), text("It's shut.")}}

	for _, s := range []*refract.Segment{expanded, lines} {
		id := refract.NewIdentity()
		id.Add(s)
		fmt.Println(id.Name())
	}
	// Output:
	// f37de1682cf7
	// f37de1682cf7
}

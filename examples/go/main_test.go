package main

import (
	"fmt"
	"path/filepath"
)

func Example() {
	texts := filepath.FromSlash("../../cmd/refract/command/sample/texts/")
	if err := score(texts+"a.txt", []string{texts + "ref.txt", texts + "ref2.txt"}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// line 1: 85.5
	// line 2: 100.0
	// line 3: 76.6
	// line 4: 100.0
	// line 5: 75.4
	// chrf single: 73.1 (nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|agg:single|system:mean|set:9533dbd09586|version:0.1.0)
	// chrf max: 87.5 (nrefs:2|case:mixed|eff:yes|nc:6|nw:0|space:no|agg:max|system:mean|set:1185f7c606d6|version:0.1.0)
}

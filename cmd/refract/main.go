// Command refract evaluates generated text against many references: it
// expands references with a language model, scores systems against all of
// them, aggregates, and compares the result with human judgements.
package main

import (
	"os"

	// Packages are compiled in the order of imports. SQLite, which takes longest,
	// comes early through this one, so that no processor waits for it at the end.
	_ "github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/cmd/refract/command"
)

func main() { os.Exit(command.Main()) }

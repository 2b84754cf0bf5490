// Command refract evaluates generated text against many references: it
// expands references with a language model, scores systems against all of
// them, aggregates, and compares the result with human judgements.
package main

import (
	"os"

	"github.com/refract-eval/refract/cmd/refract/command"
)

func main() { os.Exit(command.Main()) }

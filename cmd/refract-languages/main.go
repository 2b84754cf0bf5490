// Command refract-languages tells refract how probable languages are for texts. It
// has the language models that refract lacks: refract starts it where its language
// check needs them, and speaks with it over standard input and output.
package main

import (
	"fmt"
	"os"
	"os/signal"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify/language/lingua"
	"github.com/refract-eval/refract/diversify/language/served"
)

const usage = `refract-languages has the models by which refract tells languages of one script
apart. refract starts it: put it beside refract or on the PATH, or name it in
$` + served.Variable + `.
`

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	models := lingua.New()
	if len(args) > 0 {
		switch args[0] {
		case "--version":
			fmt.Printf("refract-languages %s, models %s\n", refract.Version, models.Name())
			return 0
		case "--help", "-h":
			fmt.Print(usage)
			return 0
		}
		fmt.Fprintf(os.Stderr, "error: unknown argument %q\n\n%s", args[0], usage)
		return 2
	}
	signal.Ignore(os.Interrupt) // which is refract's to deal with
	if err := served.Serve(os.Stdin, os.Stdout, models); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 1
	}
	return 0
}

// Command pages writes what stands beside the programs in a release to a folder: man
// pages, completions, and the licences of the modules that are linked. It is run in
// the repository's root: pages DIR [TAG]. A tag that is not of the program's version
// is an error.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cmd/refract/command"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) < 1 || len(args) > 2:
		return fmt.Errorf("name a folder to write, and the tag of a release: pages DIR [TAG]")
	case len(args) == 2 && args[1] != "v"+refract.Version:
		return fmt.Errorf("the tag %s is not of version %s, which version.go states", args[1], refract.Version)
	}
	if err := command.Pages(args[0]); err != nil {
		return err
	}
	texts, err := licences()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(args[0], "LICENSES.txt"), texts, 0o666)
}

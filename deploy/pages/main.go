// Command pages writes the files that accompany the programs in a release to a folder: man pages,
// completions, and the licences of the linked modules. Run it in the repository's root: pages DIR
// [TAG]. A tag that differs from the program's version is an error.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra/doc"

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
	if err := pages(args[0]); err != nil {
		return err
	}
	texts, err := licences()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(args[0], "LICENSES.txt"), texts, 0o666)
}

// pages writes a man page for each command into man, and a script for each shell into completions.
func pages(dir string) error {
	root := command.Root()
	completions := filepath.Join(dir, "completions")
	if err := errors.Join(os.MkdirAll(completions, 0o777), os.MkdirAll(filepath.Join(dir, "man"), 0o777)); err != nil {
		return err
	}
	shell, _, err := root.Find([]string{"completion"})
	if err != nil {
		return err
	}
	file := func(name string) string { return filepath.Join(completions, name) }
	err = errors.Join(root.GenBashCompletionFileV2(file("refract.bash"), true), root.GenZshCompletionFile(file("_refract")),
		root.GenFishCompletionFile(file("refract.fish"), true), root.GenPowerShellCompletionFileWithDesc(file("refract.ps1")))
	root.RemoveCommand(shell) // documents itself
	return errors.Join(err, doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "refract " + refract.Version, Date: &time.Time{}}, filepath.Join(dir, "man")))
}

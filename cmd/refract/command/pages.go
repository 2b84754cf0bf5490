package command

import (
	"bytes"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/helptext"
)

// Pages writes what a package of the program holds beside it to the folder dir:
// in man a page for each command, and in completions a script for each shell.
func Pages(dir string) error {
	e := &env{stdin: bytes.NewReader(nil), stdout: io.Discard, stderr: io.Discard, getenv: func(string) string { return "" }}
	root := e.rootCommand()
	files := map[string][]byte{}
	manPages(root, files)
	for name, generate := range map[string]func(io.Writer) error{
		"refract.bash": func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"_refract":     root.GenZshCompletion,
		"refract.fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
		"refract.ps1":  root.GenPowerShellCompletionWithDesc,
	} {
		var b bytes.Buffer
		if err := generate(&b); err != nil {
			return err
		}
		files["completions/"+name] = b.Bytes()
	}
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// manWidth leaves room for the margin of man.
const manWidth = 72

// manPages adds the pages of a command and of those below it. Completion and
// help speak for themselves, and topics are no commands.
func manPages(cmd *cobra.Command, files map[string][]byte) {
	if !cmd.IsAvailableCommand() && cmd.HasParent() || cmd.Name() == "help" || cmd.Name() == "completion" {
		return
	}
	page := helpPage(cmd, manWidth, true)
	files["man/"+helptext.ManName(cmd)+".1"] = []byte(page.Man(cmd, "refract "+refract.Version))
	for _, sub := range cmd.Commands() {
		manPages(sub, files)
	}
}

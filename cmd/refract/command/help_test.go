package command

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// commands lists a command and all below it.
func commands(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, sub := range cmd.Commands() {
		all = append(all, commands(sub)...)
	}
	return all
}

func testRoot(out io.Writer) *cobra.Command {
	e := &env{stdin: strings.NewReader(""), stdout: out, stderr: out, getenv: func(string) string { return "" }}
	return e.rootCommand()
}

// Every command has help with an example, in lines that fit a terminal.
func TestHelp(t *testing.T) {
	for _, cmd := range commands(testRoot(io.Discard)) {
		t.Run(cmd.CommandPath(), func(t *testing.T) {
			var out bytes.Buffer
			root := testRoot(&out)
			root.SetArgs(append(strings.Fields(cmd.CommandPath())[1:], "--help"))
			if err := root.ExecuteContext(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), "\nExamples:\n") {
				t.Errorf("no examples in the help:\n%s", &out)
			}
			if cmd.Short == "" {
				t.Error("no short description")
			}
			for line := range strings.Lines(cmd.Long) {
				if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 && !strings.HasPrefix(cmd.CommandPath(), "refract completion") {
					t.Errorf("%d characters: %s", n, line)
				}
			}
		})
	}
}

// An example is a command line that the program takes: its command, flags and
// number of arguments exist.
func TestExamples(t *testing.T) {
	for _, cmd := range commands(testRoot(io.Discard)) {
		for line := range strings.Lines(cmd.Example) {
			line, ok := strings.CutPrefix(strings.TrimSpace(line), "refract ")
			if !ok {
				continue
			}
			t.Run(line, func(t *testing.T) {
				checkCommandLine(t, strings.Fields(line))
			})
		}
	}
}

func checkCommandLine(t *testing.T, args []string) {
	t.Helper()
	cmd, rest, err := testRoot(io.Discard).Find(args)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.ParseFlags(rest); err != nil {
		t.Fatal(err)
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		t.Fatal(err)
	}
}

package command

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// commands lists a command and all below it, without topics of help.
func commands(cmd *cobra.Command) []*cobra.Command {
	if cmd.IsAdditionalHelpTopicCommand() {
		return nil
	}
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
			require.NoError(t, root.ExecuteContext(t.Context()))
			most := 50
			if !cmd.HasParent() {
				most = 40
			}
			n := strings.Count(out.String(), "\n")
			assert.True(t, n <= most, "%d lines where %d fit:\n%s", n, most, &out)
			assert.Contains(t, out.String(), "\nExamples:\n", "no examples in the help:\n%s", &out)
			assert.NotEqual(t, "", cmd.Short, "no short description")
			shown := helpFlags(out.String())
			if strings.HasPrefix(cmd.CommandPath(), "refract completion") {
				return // whose text is cobra's
			}
			fitsTerminal(t, out.String())
			cmd.Flags().VisitAll(func(f *pflag.Flag) {
				if strings.Contains(f.Usage, "(required)") && !slices.Contains(shown, f.Name) {
					t.Errorf("--%s is required, but only --help all shows it", f.Name)
				}
			})
			out.Reset()
			root.SetArgs(append(strings.Fields(cmd.CommandPath())[1:], "--help", "all"))
			require.NoError(t, root.ExecuteContext(t.Context()))
			cmd.Flags().VisitAll(func(f *pflag.Flag) {
				assert.Contains(t, helpFlags(out.String()), f.Name)
			})
		})
	}
}

var helpFlag = regexp.MustCompile(`(?m)^  (?:    |-., )--([a-z-]+)`)

// helpFlags are the flags that a help shows.
func helpFlags(help string) []string {
	var names []string
	for section := range strings.SplitSeq(help, "\n\n") {
		if strings.HasPrefix(section, "Examples:") {
			continue // where a command line may go on with a flag
		}
		for _, m := range helpFlag.FindAllStringSubmatch(section, -1) {
			names = append(names, m[1])
		}
	}
	return names
}

// A topic fits a terminal too.
func TestTopics(t *testing.T) {
	for _, topic := range topics() {
		fitsTerminal(t, reflow(topic.Long, 80))
	}
}

func fitsTerminal(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		n := len([]rune(strings.TrimRight(line, "\n")))
		assert.True(t, n <= 80, "%d characters: %s", n, line)
	}
}

// The examples of all commands run in a folder with the sample, those of refract
// first, which make what others read.
func TestHelpExamplesRun(t *testing.T) {
	atLength(t)
	t.Parallel()
	f := prepareFolder(t, false)
	answer := `{"output": "The model-generated output contains no errors."}` + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(f.dir, "outputs.jsonl"), []byte(answer), 0o644))
	few := "id,system,score\n"
	for i, id := range []string{"de-en-01", "de-en-02", "de-en-03"} {
		few += fmt.Sprintf("%s,general,%d\n%s,small,%d\n", id, 80+i*i, id, 70-3*i)
	}
	require.NoError(t, os.WriteFile(filepath.Join(f.dir, "few.csv"), []byte(few), 0o644))
	for _, cmd := range commands(testRoot(io.Discard)) {
		for line := range strings.Lines(cmd.Example) {
			if line = strings.TrimSpace(line); !strings.HasPrefix(line, "refract ") {
				continue
			}
			served := strings.HasPrefix(line, "refract review ") && !strings.HasSuffix(line, ".html") || strings.Contains(line, "--listen") // until Ctrl+C
			plan := strings.HasPrefix(line, "refract build ")                                                                               // which the sample does not have
			demo := strings.HasPrefix(line, "refract demo")                                                                                 // which scripts run
			f.run(t, shellLine{line, !served && !plan && !demo})
		}
	}
}

// checkCommandLine wants that the command, the flags and the number of arguments exist.
func checkCommandLine(t *testing.T, args []string) {
	t.Helper()
	if shell := slices.IndexFunc(args, func(w string) bool { return w == "<" || w == ">" || w == "|" }); shell >= 0 {
		args = args[:shell]
	}
	cmd, rest, err := testRoot(io.Discard).Find(args)
	require.NoError(t, err)
	require.NoError(t, cmd.ParseFlags(rest))
	require.NoError(t, cmd.ValidateArgs(cmd.Flags().Args()))
}

package command

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/internal/llmtest"
)

// repository is the root of the module, seen from this package.
const repository = "../../.."

// TestDocuments executes what README.md and the pages of docs tell the reader to type:
// every line of a block marked "sh" that begins with "refract ", "go " or a tool that
// reads files. A block marked "sh no-test" is only checked for commands and flags that
// exist. A Python block with a title is a file of that name.
//
// What a command prints is checked in README.md and the tutorials.
//
// The lines of a document run in order, in a folder of their own that holds what
// 'refract demo -o' saves (a quarter of its segments, unless the output is checked),
// and in data the real data, where it is present,
// with a model server at OPENAI_BASE_URL. Lines with mtme: or =data/ are left out
// where the real data is not present.
func TestDocuments(t *testing.T) {
	atLength(t)
	t.Parallel()
	files, err := filepath.Glob(repository + "/docs/*/*.md")
	require.NoError(t, err)
	for _, file := range append([]string{repository + "/README.md"}, files...) {
		text, err := os.ReadFile(file)
		if os.IsNotExist(err) {
			t.Skipf("no %s", file)
		}
		require.NoError(t, err)
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			shows := filepath.Dir(file) == repository || filepath.Base(filepath.Dir(file)) == "tutorials"
			f := prepareFolder(t, shows)
			for _, program := range titledBlock.FindAllStringSubmatch(string(text), -1) {
				if _, err := exec.LookPath("python3"); err != nil {
					t.Skip(err)
				}
				require.NoError(t, os.WriteFile(filepath.Join(f.dir, program[1]), []byte(program[2]), 0o644))
			}
			for _, l := range shellLines(string(text)) {
				f.run(t, l)
			}
			f.checkFigures(t, string(text))
			if shows {
				f.checkOutput(t, string(text))
			}
		})
	}
}

var (
	titledBlock = regexp.MustCompile("(?s)```python title=\"([^\"]+)\"\n(.*?)```")
	documented  = regexp.MustCompile(`^(refract|go|head|tail|cat|grep) `)
)

// shellLine is a command that a document shows.
type shellLine struct {
	text    string
	execute bool
}

// shellLines finds the commands of the fenced blocks. A backslash at the end
// of a line continues it.
func shellLines(text string) []shellLine {
	var out []shellLine
	block, execute := false, false
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		line = strings.TrimSpace(line)
		if info, ok := strings.CutPrefix(line, "```"); ok {
			words := strings.Fields(info)
			block = len(words) > 0 && words[0] == "sh"
			execute = len(words) == 1
			continue
		}
		if block && documented.MatchString(line) {
			out = append(out, shellLine{line, execute})
		}
	}
	return out
}

// folder is where the commands of a document run.
type folder struct {
	dir      string
	whole    bool // the sample is all there
	env      []string
	realData bool
	stdout   strings.Builder // of all commands
	stderr   strings.Builder
}

func prepareFolder(t *testing.T, whole bool) *folder {
	t.Helper()
	f := &folder{dir: t.TempDir(), whole: whole}
	must := func(err error) {
		t.Helper()
		require.NoError(t, err)
	}
	must(saveSample(f.dir))
	if !whole {
		quarter(t, filepath.Join(f.dir, "sample.jsonl"))
	}
	must(os.Mkdir(filepath.Join(f.dir, "data"), 0o755))
	var links []string
	for _, pattern := range []string{"mt-metrics-eval-v2/wmt22", "div-ref/*.diversified", "dialsummeval/*"} {
		found, err := filepath.Glob(filepath.Join(dataFolder(t), pattern))
		must(err)
		links = append(links, found...)
	}
	for _, target := range links {
		must(os.Symlink(target, filepath.Join(f.dir, "data", filepath.Base(target))))
	}
	f.realData = len(links) > 1
	answer, err := rewriter()
	must(err)
	_, url, stop, err := startServer(map[string]string{"key": "sk-documents"}, answer, &atomic.Int64{})
	must(err)
	t.Cleanup(stop)
	programs, err := filepath.Abs(repository + "/metrics/program") // with refract_metric.py
	must(err)
	f.env = append(os.Environ(), "GORACE="+raceOptions, "OPENAI_BASE_URL="+url, "OPENAI_API_KEY=sk-documents", "PYTHONPATH="+programs)
	return f
}

// quarter keeps every fourth line of a file.
func quarter(t *testing.T, file string) {
	t.Helper()
	var some []string
	for i, line := range linesOf(t, file) {
		if i%4 == 0 {
			some = append(some, line)
		}
	}
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(some, "")), 0o644))
}

// documentAnswer is what the model of the documents says: as a judge it finds
// nothing wrong, and else it is any model.
func documentAnswer(r *llmtest.Request) string {
	if text, _, asked := llmtest.BuilderAnswer(r, 0); asked {
		return text
	}
	switch {
	case strings.HasPrefix(r.Prompt, "You are evaluating errors in a model-generated output"):
		return " The model-generated output contains no errors."
	case strings.HasPrefix(r.Prompt, "You are evaluating "):
		return "Your Translation contains no error."
	}
	return llmtest.Answer(r.Model, r.Prompt, r.Sample)
}

// rewriter is documentAnswer, which also rewrites the references of the sample.
func rewriter() (func(r *llmtest.Request) string, error) {
	text, err := os.ReadFile(repository + "/cmd/refract/command/sample/answers.jsonl")
	if err != nil {
		return nil, err
	}
	rewritings := map[string][]string{} // by reference
	for line := range strings.Lines(string(text)) {
		var row struct {
			Request struct{ Prompt string }
			Text    string
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			return nil, err
		}
		_, reference, _ := strings.Cut(row.Request.Prompt, ": ")
		rewritings[reference] = append(rewritings[reference], row.Text)
	}
	return func(r *llmtest.Request) string {
		if _, reference, ok := strings.Cut(r.Prompt, ": "); ok && len(rewritings[reference]) > 0 {
			texts := rewritings[reference]
			return texts[(len(r.Prompt)+r.Sample)%len(texts)]
		}
		return documentAnswer(r)
	}, nil
}

// dataFolder is $REFRACT_DATA, or shared/data next to the repository.
func dataFolder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(dataDirectory())
	require.NoError(t, err)
	return dir
}

// run executes a line, and fails the test unless it succeeds.
func (f *folder) run(t *testing.T, l shellLine) {
	t.Helper()
	line := strings.Replace(strings.Replace(l.text, "go run -v ", "go run ", 1), "go run ./cmd/refract ", "refract ", 1)
	switch {
	case strings.HasPrefix(line, "go test "):
		checkTestCommand(t, line)
		return
	case strings.HasPrefix(line, "go "):
		t.Errorf("%s: only go run ./cmd/refract and go test are known here; mark the block sh no-test", l.text)
		return
	case !l.execute && !strings.HasPrefix(line, "refract "):
		return
	case !l.execute:
		checkCommandLine(t, shellWord.FindAllString(strings.TrimPrefix(line, "refract "), -1))
		return
	case (strings.Contains(line, "mtme:") || strings.Contains(line, "=data/")) && !f.realData:
		t.Logf("left out, as there is no real data in %s: %s", dataFolder(t), l.text)
		return
	case line == "refract demo -o .":
		return // it is written
	case strings.HasPrefix(line, "refract compare ") && !f.whole && !strings.Contains(line, "--resamples"):
		line += " --resamples 20"
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir, cmd.Env = f.dir, f.env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	assert.NoError(t, err, "%s\n%s", l.text, &stderr)
	f.stdout.Write(stdout.Bytes())
	f.stderr.Write(stderr.Bytes())
}

// shellWord is a word, which may have a part in quotes.
var shellWord = regexp.MustCompile(`('[^']*'|"[^"]*"|[^\s'"])+`)

// checkTestCommand wants that CI runs the same tests, maybe with more flags.
func checkTestCommand(t *testing.T, line string) {
	t.Helper()
	ci, err := os.ReadFile(repository + "/.ci/run")
	require.NoError(t, err)
	for l := range strings.Lines(string(ci)) {
		words := strings.Fields(l)
		if len(words) > 2 && words[0] == "go" && words[1] == "test" && "go test "+words[len(words)-1] == line {
			return
		}
	}
	t.Errorf("%s is not what .ci/run does", line)
}

// checkOutput wants that the commands print each line of the blocks that have no language.
func (f *folder) checkOutput(t *testing.T, text string) {
	t.Helper()
	printed, shown := f.stdout.String()+f.stderr.String(), 0
	for i, block := range strings.Split(text, "```") {
		if lines, plain := strings.CutPrefix(block, "\n"); plain && i%2 == 1 {
			for line := range strings.Lines(lines) {
				if shown++; !strings.Contains(printed, strings.TrimSpace(line)) {
					t.Errorf("no command prints %q", line)
				}
			}
		}
	}
	assert.NotEqual(t, 0, shown, "no output is shown")
}

var statedFigure = regexp.MustCompile(`\| (0\.[0-9]{3})\b[^.]`)

// checkFigures wants that what a document states in a table with three decimals
// is what its commands print.
func (f *folder) checkFigures(t *testing.T, text string) {
	t.Helper()
	if !f.realData {
		return
	}
	for _, figure := range statedFigure.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(f.stdout.String(), " "+figure[1]) {
			t.Errorf("%s is printed by no command of the document", figure[1])
		}
	}
}

package load_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// building is a recipe of refract build.
type building struct {
	name string
	args []string // without -o and other arguments that differ between runs
}

// buildings returns all recipes, with the same number of items each, in a folder with their
// inputs.
func buildings(t *testing.T, dir string, items int) []building {
	t.Helper()
	const systems, samples = 4, 4
	writeOutputs(t, filepath.Join(dir, "outputs.jsonl"), items, systems)
	var all []building
	for name, plan := range map[string]string{
		"instructscore": fmt.Sprintf("{dataset: 'jsonl:outputs.jsonl', task: mt_zh-en, items: %d,", items),
		"metricinstruct": fmt.Sprintf("{mix: [{dataset: 'jsonl:outputs.jsonl', task: translation, options: {sl: German, tl: English}, metric: chrf, real: %d, shares: [1, 1, 2], synthetic: %d}],",
			items*3/4, items/4),
		"refine": fmt.Sprintf("{dataset: 'jsonl:outputs.jsonl', judge: 'instructscore:task=mt_zh-en', samples: %d, items: %d,", samples, items/samples),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(plan+" recipe: "+name+", validation: 0.1}"), 0o600))
		all = append(all, building{name, []string{"build", name + ".yaml"}})
	}
	return all
}

// writeOutputs writes segments with distinct outputs of systems.
func writeOutputs(t *testing.T, path string, segments, systems int) {
	t.Helper()
	var b bytes.Buffer
	rng := rand.New(rand.NewPCG(2, 2))
	pick := func(words []string) string { return words[rng.IntN(len(words))] }
	for i := range segments {
		text := fmt.Sprintf("The %s %s the %s in year %d.", pick(nouns), pick(links), pick(nouns), i)
		row := map[string]any{"id": fmt.Sprint("s", i), "source": fmt.Sprintf("Quelle %d über %s.", i, text), "references": []string{text}}
		outputs := map[string]string{}
		for s := range systems {
			outputs[fmt.Sprint("system", s)] = fmt.Sprintf("A %s %s its %s in year %d%s", pick(nouns), pick(links), pick(nouns), i, strings.Repeat(" indeed", s))
		}
		row["hypotheses"] = outputs
		require.NoError(t, json.NewEncoder(&b).Encode(row))
	}
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
}

// start begins the command with its own cache.
func (b *building) start(t *testing.T, dir, url, name string, more ...string) *run {
	t.Helper()
	args := append(slices.Clone(b.args), "-o", name, "--cache", name+".sqlite", "--model", "m", "--base-url", url,
		"--concurrency", strconv.Itoa(killing), "--timeout", "1s", "--retries", "12", "--prices", "{m: {input: 1, output: 2}, xu1998hz/InstructScore: {input: 1, output: 1}}", "-q")
	return startIn(t, dir, append(args, more...)...)
}

// files returns the content of a file, or of all files in a folder.
func files(t *testing.T, path string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		rel, _ := filepath.Rel(path, name)
		all[rel] = string(b)
		return err
	})
	require.NoError(t, err)
	return all
}

// Every builder is interrupted and killed at random moments and restarted, while the
// server's answers and connections have all faults. At most the answers in flight are lost,
// and the result has the same bytes as that of an undisturbed run.
func TestBuilders(t *testing.T) {
	items, kills, dir := 120, 3, os.Getenv("REFRACT_BUILT")
	switch {
	case dir == "":
		dir = t.TempDir()
	case !testing.Short():
		items, kills = 2000, 8
	}
	for _, b := range buildings(t, dir, items) {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel() // most of the time is spent on connections that hang
			b.test(t, dir, kills)
		})
	}
}

func (b *building) test(t *testing.T, dir string, kills int) {
	flags := []string{"-builders", "0.25", "-faults", "0.03", "-storm", "1500", "-storming", "200ms", "-latency", "3ms"}
	calm := startServer(t, flags...)
	whole := b.start(t, dir, calm.url, b.name).wait(t)
	undisturbed := files(t, filepath.Join(dir, b.name))
	assert.Contains(t, undisturbed["train.jsonl"], "\n", "no item is an example:\n%s", whole.stderr.String())

	srv := startServer(t, flags...)
	rng := rand.New(rand.NewPCG(3, uint64(len(b.name))))
	ended := 0
	for finished := false; !finished; ended++ {
		called := srv.stats(t).Calls
		r := b.start(t, dir, srv.url, b.name+"-again")
		signal := []os.Signal{os.Kill, os.Interrupt}[ended%2]
		if ended < kills {
			select {
			case err := <-r.ended:
				r.ended <- err
			case <-time.After(time.Duration(rng.Int64N(int64(whole.wall) / int64(kills)))):
				_ = r.cmd.Process.Signal(signal)
			}
		}
		err := <-r.ended
		var exit *exec.ExitError
		switch {
		case err == nil:
			finished = true // perhaps before the signal
		case ended == kills, !errors.As(err, &exit):
			t.Fatalf("%v\n%s", err, tail(r.stderr.String()))
		case signal == os.Interrupt && exit.ExitCode() != 130 && (exit.ExitCode() >= 0 || srv.stats(t).Calls != called): // or it was signalled before it listened
			t.Fatalf("%v\n%s", err, tail(r.stderr.String()))
		}
	}
	if lost, most := srv.stats(t).Answered-calm.stats(t).Answered, kills*2*killing; lost > most {
		t.Errorf("%d answers were given twice, by %d kills; at most %d can be", lost, kills, most)
	}
	disturbed := files(t, filepath.Join(dir, b.name+"-again"))
	for _, name := range slices.Sorted(maps.Keys(undisturbed)) {
		assert.Equal(t, undisturbed[name], disturbed[name], "%s is another one after kills", name)
	}
	assert.Len(t, disturbed, len(undisturbed))
	s := srv.stats(t)
	t.Logf("%v; %d calls, of which %d failed %v, in %d runs", whole.wall.Round(time.Millisecond), s.Calls, s.failures(), s.Injected, ended)
}

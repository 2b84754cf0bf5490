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

	"github.com/refract-eval/refract/internal/build"
)

// building is a recipe of refract build.
type building struct {
	name  string
	items int
	args  []string // -o and others of each run apart
	// steps are those of the server's replies of which each is one item.
	steps []string
}

// buildings are all recipes, with the same number of items each, in a folder that has
// what they read.
func buildings(t *testing.T, dir string, items int) []building {
	t.Helper()
	const systems, samples = 4, 4
	writeOutputs(t, filepath.Join(dir, "outputs.jsonl"), items, systems)
	mix := fmt.Sprintf("mix:\n  - {dataset: 'jsonl:outputs.jsonl', task: translation, options: {sl: German, tl: English}, metric: chrf, real: %d, shares: [1, 1, 2], synthetic: %d}\n",
		items*3/4, items/4)
	if err := os.WriteFile(filepath.Join(dir, "mix.yaml"), []byte(mix), 0o600); err != nil {
		t.Fatal(err)
	}
	return []building{
		{"instructscore", items, []string{"build", "instructscore", "jsonl:outputs.jsonl", "--task", "mt_zh-en", "--items", strconv.Itoa(items), "--validation", "0.1"},
			[]string{"errors"}},
		{"metricinstruct", items, []string{"build", "metricinstruct", "mix.yaml", "--validation", "0.1"}, []string{"real", "synthetic"}},
		{"refine", items, []string{"build", "refine", "jsonl:outputs.jsonl", "-m", "instructscore:task=mt_zh-en", "--samples", strconv.Itoa(samples), "--items", strconv.Itoa(items / samples), "--validation", "0.1"},
			[]string{"samples"}},
	}
}

// writeOutputs writes segments with outputs of systems, all of them different.
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
		if err := json.NewEncoder(&b).Encode(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// start begins the command with a cache of its own.
func (b *building) start(t *testing.T, dir, url, name string, more ...string) *run {
	t.Helper()
	args := append(slices.Clone(b.args), "-o", name, "--cache", name+".sqlite", "--model", "m", "--base-url", url,
		"--concurrency", strconv.Itoa(killing), "--timeout", "1s", "--retries", "12", "--prices", "{m: {input: 1, output: 2}, xu1998hz/InstructScore: {input: 1, output: 1}}", "-q")
	return startIn(t, dir, append(args, more...)...)
}

// files are the contents of a file, or of all files of a folder.
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
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// counts are how many items each rule left out; "" for none.
func (b *building) counts(t *testing.T, made map[string]string) map[string]int {
	t.Helper()
	out := map[string]int{}
	for line := range strings.Lines(made["items.jsonl"]) {
		var row struct{ Rule string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		out[row.Rule]++
	}
	return out
}

// summed wants the card's counts to be those of the items, and to add up.
func (b *building) summed(t *testing.T, made map[string]string, counts map[string]int) {
	t.Helper()
	var sum build.Summary
	if err := json.Unmarshal([]byte(made["build.json"]), &sum); err != nil {
		t.Fatal(err)
	}
	all := sum.Examples
	for rule, n := range sum.LeftOut {
		if all += n; counts[rule] != n {
			t.Errorf("the card says that %d items are left out by %s, and %d are", n, rule, counts[rule])
		}
	}
	rows := strings.Count(made["train.jsonl"], "\n") + strings.Count(made["validation.jsonl"], "\n")
	if all != sum.Items || sum.Examples != counts[""] || rows != sum.Examples || sum.Train+sum.Validation != sum.Examples {
		t.Errorf("the counts of the card do not add up, or are not those of the files: %d rows, %+v", rows, sum)
	}
}

// Every builder is interrupted and killed at random moments and started again,
// against a server whose answers and connections have all faults. No answer that
// was stored is asked for again, the result is byte for byte that of an
// undisturbed run, and the counts by rule are those that follow from what the
// server said.
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
			t.Parallel() // most of the time is that of connections that hang
			b.test(t, dir, kills)
		})
	}
}

func (b *building) test(t *testing.T, dir string, kills int) {
	flags := []string{"-builders", "0.25", "-log", "-faults", "0.03", "-storm", "1500", "-storming", "200ms", "-latency", "3ms"}
	calm := startServer(t, flags...)
	whole := b.start(t, dir, calm.url, b.name).wait(t)
	undisturbed := files(t, filepath.Join(dir, b.name))

	// What the server said is what became of the items.
	replies := map[string]reply{}
	calm.get(t, "/replies", &replies)
	want, faults := map[string]int{}, map[string]int{}
	for _, r := range replies {
		if r.Times != 1 && r.Fault != tooLong {
			t.Errorf("a request was answered %d times", r.Times)
		}
		if r.Fault != "" {
			faults[r.Fault]++
		}
		if slices.Contains(b.steps, r.Step) && r.Rule != "" {
			want[r.Rule]++
		}
	}
	requests := len(replies)
	got, all := b.counts(t, undisturbed), 0
	for rule, n := range got {
		all += n
		switch rule {
		case "", build.RuleNotBest, build.RuleRepeat: // of no answer
		case build.RuleFeedback: // the feedback on equal reports is asked once
		default:
			if want[rule] != n {
				t.Errorf("%d items are left out by %s, and the server gave %d such answers", n, rule, want[rule])
			}
		}
	}
	if all != b.items {
		t.Errorf("%d items, want %d: %v", all, b.items, got)
	}
	b.summed(t, undisturbed, got)
	if got[""] == 0 {
		t.Errorf("no item is an example: %v\n%s", got, whole.stderr.String())
	}

	srv := startServer(t, flags...)
	rng := rand.New(rand.NewPCG(3, uint64(len(b.name))))
	lost, killed, interrupted := 0, 0, 0
	for finished := false; !finished; {
		known, called := b.stored(t, dir, "again"), len(srv.calls(t))
		r := b.start(t, dir, srv.url, b.name+"-again")
		signal := os.Interrupt
		if (killed+interrupted)%2 == 0 {
			signal = os.Kill
		}
		if killed+interrupted == kills {
			signal = nil
		}
		select {
		case err := <-r.ended:
			if err != nil {
				t.Fatalf("%v\n%s", err, tail(r.stderr.String()))
			}
			finished = true
		case <-after(signal != nil, time.Duration(rng.Int64N(int64(whole.wall)/int64(kills)))):
			_ = r.cmd.Process.Signal(signal)
			err := <-r.ended
			exit := (*exec.ExitError)(nil)
			switch {
			case err == nil:
				finished = true // before the signal
			case signal == os.Kill:
				killed++
			case errors.As(err, &exit) && (exit.ExitCode() == 130 || exit.ExitCode() < 0 && len(srv.calls(t)) == called): // or before it listened
				interrupted++
			default:
				t.Fatalf("%v\n%s", err, tail(r.stderr.String()))
			}
		}
		for _, request := range srv.calls(t)[called:] {
			if known[request] {
				t.Errorf("an answer that was stored is asked for again: %.200q", request)
			}
		}
	}
	srv.get(t, "/replies", &replies)
	for _, r := range replies {
		if r.Fault != tooLong {
			lost += r.Times - 1
		}
	}
	if most := killed * 2 * killing; lost > most {
		t.Errorf("%d answers were given and not stored, by %d kills; at most %d can be", lost, killed, most)
	}
	disturbed := files(t, filepath.Join(dir, b.name+"-again"))
	for _, name := range slices.Sorted(maps.Keys(undisturbed)) {
		if disturbed[name] != undisturbed[name] {
			t.Errorf("%s is another one after kills", name)
		}
	}
	if len(disturbed) != len(undisturbed) {
		t.Errorf("%d files, want %d", len(disturbed), len(undisturbed))
	}
	s := srv.stats(t)
	t.Logf("%d items of %d requests in %v; by rule %v; bad answers %v", all, requests, whole.wall.Round(time.Millisecond), got, faults)
	t.Logf("%d SIGKILL, %d SIGINT: %d calls, of which %d failed %v; %d answers given twice, all in flight at a kill; %d files equal",
		killed, interrupted, s.Calls, s.failures(), s.Injected, lost, len(undisturbed))
}

// stored are the requests of which the answer is stored.
func (b *building) stored(t *testing.T, dir, name string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for r := range storedRequests(t, filepath.Join(dir, b.name+"-"+name+".sqlite")) {
		out[askedBy(r)] = true
	}
	return out
}

// after is a channel that never gives a time where there is none.
func after(is bool, d time.Duration) <-chan time.Time {
	if !is {
		return nil
	}
	return time.After(d)
}

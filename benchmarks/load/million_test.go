//go:build unix

package load_test

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
)

// What a segment of the large dataset has.
const (
	millionSystems    = 20
	millionReferences = 11
	millionShards     = 8
)

// TestMillion measures chrF max of one process and of shards on datasets that are
// made of WMT22 zh-en, of as many segments as $REFRACT_SEGMENTS lists. They are
// written to $REFRACT_MILLION, or a temporary folder.
func TestMillion(t *testing.T) {
	sizes := strings.Fields(os.Getenv("REFRACT_SEGMENTS"))
	if len(sizes) == 0 {
		t.Skip("benchmarks/servers/million.sh runs it")
	}
	base := wmt22(t)
	dir := cmp.Or(os.Getenv("REFRACT_MILLION"), t.TempDir())
	for _, size := range sizes {
		n, err := strconv.Atoi(size)
		if err != nil {
			t.Fatal(err)
		}
		data := filepath.Join(dir, "million."+size+".jsonl")
		bytes := writeMillion(t, data, base, n)
		t.Logf("%d segments × %d systems × %d references, %.2f GB, %d cores", n, millionSystems, millionReferences, float64(bytes)/1e9, runtime.NumCPU())
		one, all := filepath.Join(dir, "one.jsonl"), filepath.Join(dir, "all.jsonl")
		whole := measure(t, "score", data, "-m", "chrf", "-a", "max", "-o", one)
		t.Logf("  one process: %v", whole)
		var shards cost
		var files []string
		for i := range millionShards {
			shard := fmt.Sprintf("%d/%d", i+1, millionShards)
			shards.add(measure(t, "score", data, "-m", "chrf", "-a", "max", "--shard", shard, "-o", all))
			files = append(files, fmt.Sprintf("%s.%d-of-%d.shard", all, i+1, millionShards))
		}
		merge := measure(t, append([]string{"merge", "-o", all}, files...)...)
		t.Logf("  %d shards: %v; merge: %v", millionShards, shards, merge)
		shards.add(merge)
		t.Logf("  shards and merge take %+.1f %% of the time and %+.1f %% of the processor of one process", 100*(shards.wall.Seconds()/whole.wall.Seconds()-1), 100*(shards.cpu.Seconds()/whole.cpu.Seconds()-1))
		sameFiles(t, one, all)
		for _, file := range append(files, one, all, data) {
			os.Remove(file)
		}
	}
}

// wmt22 reads the segments that larger datasets are made of.
func wmt22(t *testing.T) []*refract.Segment {
	t.Helper()
	root := cmp.Or(os.Getenv("REFRACT_DATA"), filepath.Join("..", "..", "..", "shared", "data"))
	ds, err := dataset.Open("mtme:"+filepath.Join(root, "mt-metrics-eval-v2", "wmt22", "zh-en"), dataset.Options{NoJudgements: true})
	if err != nil {
		t.Skipf("no WMT22: %v", err)
	}
	ds, err = dataset.WithReferences(ds, "div-ref-lines:"+filepath.Join(root, "div-ref", "wmt22.zh-en.refA.diversified"), dataset.Options{})
	if err != nil {
		t.Skipf("no references: %v", err)
	}
	var out []*refract.Segment
	for s, err := range ds.Segments(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

// writeMillion writes segments with the texts of some, of each of which a few
// words are those of others, and returns their size.
func writeMillion(t *testing.T, path string, base []*refract.Segment, n int) int64 {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, rng := bufio.NewWriterSize(f, 1<<20), rand.New(rand.NewPCG(22, 11))
	enc := dataset.NewEncoder(w)
	vary := func(text refract.Text, others []string) refract.Text {
		words := strings.Fields(text.Value)
		for k := range words {
			if rng.IntN(10) == 0 && len(others) > 0 {
				words[k] = others[rng.IntN(len(others))]
			}
		}
		return refract.NewText(strings.Join(words, " "))
	}
	for i := range n {
		from, other := base[rng.IntN(len(base))], base[rng.IntN(len(base))]
		others := strings.Fields(other.References[0].Value)
		s := &refract.Segment{ID: fmt.Sprintf("million:%d", i), Source: from.Source}
		texts := slices.DeleteFunc(from.AllReferences(nil), func(t refract.Text) bool { return !t.Valid })
		for k := range millionReferences {
			s.References = append(s.References, vary(texts[k%len(texts)], others))
		}
		for k := range millionSystems {
			s.Hypotheses = append(s.Hypotheses, refract.Hypothesis{System: fmt.Sprintf("system%02d", k+1), Text: vary(from.Hypotheses[k%len(from.Hypotheses)].Text, others)})
		}
		if err := enc.Encode(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// cost is what a run takes.
type cost struct {
	wall, cpu time.Duration
	memory    int64 // at most, in bytes
}

func (c cost) String() string {
	return fmt.Sprintf("%.1f s, %.1f s of processor, at most %d MB", c.wall.Seconds(), c.cpu.Seconds(), c.memory/1e6)
}

func (c *cost) add(o cost) {
	c.wall, c.cpu, c.memory = c.wall+o.wall, c.cpu+o.cpu, max(c.memory, o.memory)
}

// measure runs the program.
func measure(t *testing.T, args ...string) cost {
	t.Helper()
	cmd := refractCommand(t, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, tail(stderr.String()))
	}
	out := cost{wall: time.Since(begin), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		if out.memory = int64(u.Maxrss); runtime.GOOS == "linux" {
			out.memory <<= 10
		}
	}
	return out
}

func sameFiles(t testing.TB, a, b string) {
	t.Helper()
	if out, err := exec.Command("cmp", a, b).CombinedOutput(); err != nil {
		t.Errorf("%s", out)
	}
}

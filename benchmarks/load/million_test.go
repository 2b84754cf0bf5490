//go:build unix

package load_test

import (
	"bufio"
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
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
)

// Size of a segment of the large dataset.
const (
	millionSystems    = 20
	millionReferences = 11
)

// TestMillion measures chrF max on datasets made from WMT22 zh-en, with the numbers of
// segments in $REFRACT_SEGMENTS, by one process and by eight shards, one after the other.
// Everything is written to $REFRACT_MILLION or a temporary folder.
func TestMillion(t *testing.T) {
	sizes := strings.Fields(os.Getenv("REFRACT_SEGMENTS"))
	if len(sizes) == 0 {
		t.Skip("benchmarks/servers/million.sh runs it")
	}
	base := wmt22(t)
	dir := cmp.Or(os.Getenv("REFRACT_MILLION"), t.TempDir())
	for _, size := range sizes {
		n, err := strconv.Atoi(size)
		require.NoError(t, err)
		data, out, all := filepath.Join(dir, "million."+size+".jsonl"), filepath.Join(dir, "out.jsonl"), filepath.Join(dir, "all.jsonl")
		bytes := writeMillion(t, data, base, n)
		args := []string{"score", data, "-m", "chrf", "-a", "max", "-o"}
		r := startRun(t, append(args, out)...).wait(t)
		t.Logf("%d segments × %d systems × %d references, %.2f GB, %d cores: %v, %v of processor, at most %.0f MB",
			n, millionSystems, millionReferences, float64(bytes)/1e9, runtime.NumCPU(), r.wall, r.cpu(), r.peak())
		var cpu time.Duration
		var peak float64
		for i := range killedShards {
			s := startRun(t, append(args, all, "--shard", shardOf(i))...).wait(t)
			cpu, peak = cpu+s.cpu(), max(peak, s.peak())
		}
		m := merge(t, all)
		t.Logf("the same in %d shards: %v of processor, at most %.0f MB; merged in %v, %.0f MB", killedShards, cpu, peak, m.cpu(), m.peak())
		sameFiles(t, out, all)
		shards, _ := filepath.Glob(all + ".*.jsonl")
		for _, file := range append(shards, data, out, all) {
			os.Remove(file)
		}
	}
}

// wmt22 reads the segments from which larger datasets are made.
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
		require.NoError(t, err)
		out = append(out, s)
	}
	return out
}

// writeMillion writes segments made from the base segments by exchanging a few words in
// each text, and returns their size.
func writeMillion(t *testing.T, path string, base []*refract.Segment, n int) int64 {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
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
		require.NoError(t, enc.Encode(s))
	}
	require.NoError(t, w.Flush())
	info, err := f.Stat()
	require.NoError(t, err)
	return info.Size()
}

func sameFiles(t testing.TB, a, b string) {
	t.Helper()
	out, err := exec.Command("cmp", a, b).CombinedOutput()
	assert.NoError(t, err, "%s", out)
}

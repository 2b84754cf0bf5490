package cider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/internal/metricstest"
	"github.com/refract-eval/refract/metrics"
)

func drawOptions() *rapid.Generator[options] {
	return rapid.Custom(func(t *rapid.T) options {
		return options{Plain: rapid.Bool().Draw(t, "plain"), Split: rapid.SampledFrom(append([]string{penn}, tokenizers()...)).Draw(t, "tokenize")}
	})
}

func TestEqualsPlainComputation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawOptions().Draw(t, "options")
		blocks := rapid.SliceOfN(metricstest.Block(), 1, 4).Draw(t, "segments")
		var segments [][]string
		for i, b := range blocks {
			if i > 0 && rapid.IntRange(0, 3).Draw(t, "left out") == 0 {
				continue // frequencies of other references
			}
			segments = append(segments, b.References)
		}
		m := mustFit(o, segments)
		df := plainFrequencies(o.Split, segments)
		w := m.NewWorkspace().(*workspace)
		for _, b := range blocks {
			w.Load(b)
			cells, native := w.Cells(nil), w.Native(nil)
			for h, hyp := range b.Hypotheses {
				for r, ref := range b.References {
					got, want := cells[h*len(b.References)+r], plainScore(o, df, float64(len(segments)), hyp, []string{ref})
					require.True(t, near(got, want), "%+v: %q against %q: %v, want %v", o, hyp, ref, got, want)
				}
				if want := plainScore(o, df, float64(len(segments)), hyp, b.References); !near(native[h], want) {
					t.Fatalf("%+v: %q against %q: %v, want %v", o, hyp, b.References, native[h], want)
				}
			}
			for _, v := range append(cells, native...) {
				require.True(t, v >= 0 && v <= 10+1e-9, "%+v: %v is out of bounds", o, v)
			}
		}
	})
}

// A file keeps all frequencies, and its hash.
func TestFiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawOptions().Draw(t, "options")
		segments := rapid.SliceOfN(rapid.SliceOfN(metricstest.Text(), 1, 3), 1, 4).Draw(t, "segments")
		m := mustFit(o, segments)
		content := m.opt.Frequencies.file()
		f, err := readFrequencies(bytes.NewReader(content))
		require.NoError(t, err)
		o.Frequencies = f
		back, err := newMetric(o)
		require.NoError(t, err)
		b := metricstest.Block().Draw(t, "block")
		for i, v := range loaded(back, b).Cells(nil) {
			require.Equal(t, loaded(m, b).Cells(nil)[i], v)
		}
		require.Equal(t, string(content), string(f.file()), "written again")
	})
	for _, c := range []struct{ file, want string }{
		{"", "the file is empty"},
		{"a\t1\n", "line 1 is not"},
		{header + "\t0\tptb\n", "line 1 is not"},
		{header + "\t2\twhite\n", "line 1 is not"},
		{header + "\t2\tptb\na\t3\n", "line 2: want an n-gram, a tab"},
		{header + "\t2\tptb\na\t0\n", "line 2: want an n-gram, a tab"},
		{header + "\t2\tptb\na\n", "line 2: want an n-gram, a tab"},
		{header + "\t2\tptb\na\t1\na\t1\n", "line 3: want an n-gram that is on no other line"},
		{header + "\t2\tptb\na  b\t1\n", "single spaces"},
		{header + "\t2\tptb\na b c d e\t1\n", "1 to 4 words"},
	} {
		_, err := readFrequencies(strings.NewReader(c.file))
		assert.ErrorContains(t, err, c.want, c.file)
	}
}

func TestFit(t *testing.T) {
	m, err := newMetric(options{})
	require.NoError(t, err)
	b := metrics.Block{Hypotheses: []string{"a b"}, References: []string{"a b"}}
	_, err = m.Score(t.Context(), []metrics.Block{b})
	assert.ErrorContains(t, err, "not fitted", "an unfitted metric scores")
	if !metrics.HasNative(m) || m.Fitted() {
		t.Errorf("an unfitted metric has native %v, fitted %v", metrics.HasNative(m), m.Fitted())
	}
	_, err = m.Fit(t.Context(), each([][]string{nil}))
	assert.Error(t, err, "fitted to nothing")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = m.Fit(ctx, each([][]string{{"a"}}))
	assert.ErrorIs(t, err, context.Canceled)
	broken := errors.New("broken")
	_, err = m.Fit(t.Context(), func(yield func([]string, error) bool) { yield(nil, broken) })
	assert.ErrorIs(t, err, broken, "a dataset that cannot be read")
	one, two := mustFit(options{}, [][]string{{"a b"}, {"c"}}), mustFit(options{}, [][]string{{"a b"}, {"c", "d"}})
	for _, c := range []struct {
		m    *metric
		want string
	}{
		{m, "kind:cider-d|case:lc|tok:ptb|docs:0|df:none"},
		{one, "kind:cider-d|case:lc|tok:ptb|docs:2|df:" + one.opt.Frequencies.name},
	} {
		if got := c.m.Signature(metrics.Sentence).String(); got != c.want || c.m.Info().Name != "cider-d" {
			t.Errorf("%s: signature %s, want %s", c.m.Info().Name, got, c.want)
		}
	}
	assert.NotEqual(t, two.opt.Frequencies.name, one.opt.Frequencies.name, "other references have the same hash")
	// Two references of a segment are one document, so every n-gram is in one of two segments
	// and weighs log 2.
	if got := loaded(one, b).Cells(nil)[0]; !near(got, 5) { // there are no trigrams
		t.Errorf("equal texts of two words score %v, want 5", got)
	}
	metricstest.Promises(t, two, metrics.Block{Hypotheses: []string{"a b c d", "", "C"}, References: []string{"a b c d", "c d", ""}})
}

func TestSpecs(t *testing.T) {
	offered := metrics.Registry(Factories())
	path := filepath.Join(t.TempDir(), "df.tsv")
	m, err := offered.Parse(t.Context(), "cider:save="+path)
	require.NoError(t, err)
	for _, segments := range [][][]string{{{"a b"}, {"b"}}, {{"a b"}, {"b"}}} { // the same file twice
		_, err := m.(metrics.Fitter).Fit(t.Context(), each(segments))
		require.NoError(t, err)
	}
	_, err = m.(metrics.Fitter).Fit(t.Context(), each([][]string{{"c"}}))
	assert.ErrorContains(t, err, "exists", "a file is overwritten")
	file, err := os.ReadFile(path)
	want := header + "\t2\tptb\na\t1\na b\t1\nb\t2\n"
	assert.True(t, err == nil && string(file) == want, "file %q, %v, want %q", file, err, want)
	m, err = offered.Parse(t.Context(), "cider-d:df="+path)
	assert.True(t, err == nil && m.(*metric).Fitted() && m.Info().Name == "cider-d:df="+path, "%v, %v", m, err)
	for spec, want := range map[string]string{
		"cider-d:df=" + path + ",save=x":      "give only one of them",
		"cider-d:df=" + path + ",tokenize=zh": "with tokenizer ptb, not zh",
		"cider-d:df=" + path + "x":            "no such file",
	} {
		if _, err := offered.Parse(t.Context(), spec); !errors.As(err, new(*metrics.SpecError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want a SpecError with %q", spec, err, want)
		}
	}
}

// TestOfficialScores compares with scores that pycocoevalcap computed.
func TestOfficialScores(t *testing.T) {
	data := os.Getenv("REFRACT_DATA")
	if data == "" {
		data = "../../../shared/data"
	}
	raw, err := os.ReadFile(filepath.Join(data, "neural/cider.json"))
	if err != nil {
		t.Skipf("no figures of pycocoevalcap: %v", err)
	}
	type figures map[string]struct {
		System   float64
		Segments []float64
	}
	var file struct {
		Cider  figures
		Plain  figures `json:"cider_plain_own"`
		Inputs []struct {
			Hyp  string
			Refs []string
			RefB string
		}
	}
	require.NoError(t, json.Unmarshal(raw, &file))
	for name, refsOf := range map[string]func(i int) []string{
		"1ref": func(i int) []string { return file.Inputs[i].Refs[:1] },
		"3ref": func(i int) []string {
			in := file.Inputs[i]
			return []string{in.Refs[0], in.RefB, in.Refs[1]}
		},
	} {
		for plain, want := range map[bool]figures{false: file.Cider, true: file.Plain} {
			var segments [][]string
			for i := range file.Inputs {
				segments = append(segments, refsOf(i))
			}
			w := mustFit(options{Plain: plain}, segments).NewWorkspace().(*workspace)
			sum := 0.0
			for i, in := range file.Inputs {
				w.Load(metrics.Block{Hypotheses: []string{in.Hyp}, References: segments[i]})
				got := w.Native(nil)[0]
				sum += got
				if !near(got, want[name].Segments[i]) {
					t.Errorf("%s, plain %v, segment %d: %v, pycocoevalcap has %v", name, plain, i, got, want[name].Segments[i])
				}
			}
			if mean := sum / float64(len(segments)); math.Abs(mean-want[name].System) > 1e-9 {
				t.Errorf("%s, plain %v: %v, pycocoevalcap has %v", name, plain, mean, want[name].System)
			}
		}
	}
}

package rouge

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/internal/metricstest"
	"github.com/refract-eval/refract/metrics"
)

func join(v []float64) string { return fmt.Sprint(v) }

func TestKnownScores(t *testing.T) {
	for _, c := range []struct {
		o        options
		hyp, ref string
		want     float64
	}{
		{options{}, "the cat", "the cat", 1},
		{options{}, "", "", 0},
		{options{}, "", "a", 0},
		{options{}, "The CAT, sat!", "the cat sat", 1},
		{options{}, "a a a b", "a c", 2 * .25 * .5 / .75},
		{options{Part: precision}, "a a a b", "a c", .25},
		{options{Part: recall}, "a a a b", "a c", .5},
		{options{}, "don't", "don t", 1},
		{options{}, "naïve", "na ve", 1},
		{options{}, "\u212a", "k", 1}, // the kelvin sign
		{options{}, "中文", "中文", 0},
		{options{Split: "zh"}, "中文", "中国", .5},
		{options{Split: "char"}, "Ab", "aB", 1},
		{options{}, "running dogs", "run dog", 0},
		{options{Stemmer: true}, "running dogs", "run dog", 1},
		{options{Stemmer: true}, "dos", "do", 0}, // too short for a stem
		{options{Kind: rouge2}, "a b c", "b c d", .5},
		{options{Kind: rouge2}, "a", "a", 0},
		{options{Kind: rougeL}, "police killed the gunman", "police kill the gunman", .75},
		{options{Kind: rougeL}, "the gunman kill police", "police kill the gunman", .5},
		// The example of section 3.2 of the paper.
		{options{Kind: rougeLsum, Part: recall}, "w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", "w1 w2 w3 w4 w5", .8},
		{options{Kind: rougeLsum}, "a b\nc d", "c d\na b", 1},
		{options{Kind: rougeL}, "a b\nc d", "c d\na b", .5},
		{options{Kind: rougeLsum}, "a\n\n", "\na", 1},
	} {
		got := loaded(newMetric(c.o), metrics.Block{Hypotheses: []string{c.hyp}, References: []string{c.ref}}).Cells(nil)
		if len(got) != 1 || math.Abs(got[0]-c.want) > 1e-12 {
			t.Errorf("%+v: ROUGE of %q against %q = %v, want %v", c.o, c.hyp, c.ref, got, c.want)
		}
	}
}

func TestEqualsPlainComputation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawOptions().Draw(t, "options")
		w := newMetric(o).NewWorkspace().(*workspace) // reused for every block
		for range rapid.IntRange(1, 3).Draw(t, "segments") {
			b := metricstest.Block().Draw(t, "block")
			require.Equal(t, "", check(o, w, b), "%+v of %q", o, b)
		}
	})
}

// TestLengths goes beyond several machine words, with and without lines.
func TestLengths(t *testing.T) {
	few := rapid.SampledFrom(strings.Fields("a b c d e"))
	rapid.Check(t, func(t *rapid.T) {
		long := func(label string) string {
			n := rapid.SampledFrom([]int{0, 1, 30, 63, 64, 65, 127, 128, 129, 300}).Draw(t, label)
			words := rapid.SliceOfN(few, n, n).Draw(t, label)
			for i := 40; i < len(words); i += rapid.IntRange(20, 200).Draw(t, label) {
				words[i] += "\n"
			}
			return strings.Join(words, " ")
		}
		o := options{Kind: rapid.SampledFrom([]kind{rouge1, rouge2, rougeL, rougeLsum}).Draw(t, "kind")}
		b := metrics.Block{Hypotheses: []string{long("hypothesis"), long("hypothesis")}, References: []string{long("reference"), long("reference")}}
		require.Equal(t, "", check(o, newMetric(o).NewWorkspace().(*workspace), b), "%+v of %q", o, b)
	})
}

func TestRemark(t *testing.T) {
	for _, c := range []struct {
		o        options
		language string
		texts    []string
		want     string
	}{
		{options{}, "", []string{"Париж выиграл 3 матча в 2024", "Лион проиграл 3 матча в 2024"}, "ignores 100 % of the letters of these texts; to have all read, take tokenize=intl"},
		{options{}, "", []string{"Париж Paris"}, "ignores 50 % of"},
		{options{Kind: rougeLsum}, "", []string{"你好\n", "abcd"}, "ignores 33.3 % of the letters of these texts; to have all read, name their language, as in -l zh"},
		{options{}, "de", []string{"Die Straße ist lang, und das Haus am Ende der langen Straße ist klein und alt."}, ""},
		{options{}, "", []string{"", "…!", "7"}, ""},
		{options{}, "zh", []string{"今天的天气非常好。"}, ""},
		{options{}, "th", []string{"วันนี้อากาศดีมาก"}, ""},
		{options{Split: "zh"}, "", []string{"今天的天气非常好。"}, ""},
		{options{Split: "13a"}, "zh", []string{"今天的天气非常好。"}, "1 of 1 text looked at without spaces between words, taken for one word or a few: take tokenize=zh"},
	} {
		got := metrics.InLanguage(newMetric(c.o), c.language).(*metric).Remark(c.texts)
		if !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%+v %s: %q of %q, want %q", c.o, c.language, got, c.texts, c.want)
		}
	}
}

// TestOfficialScores compares with scores that rouge-score computed.
func TestOfficialScores(t *testing.T) {
	data := os.Getenv("REFRACT_DATA")
	if data == "" {
		data = "../../../shared/data"
	}
	raw, err := os.ReadFile(filepath.Join(data, "neural/rouge.json"))
	if err != nil {
		t.Skipf("no figures of rouge-score: %v", err)
	}
	type scores map[string][3]float64 // precision, recall, F1 of each kind
	type figures struct{ Single, Multi scores }
	var file struct {
		Rows []struct {
			Hyp          string
			Refs         []string
			Nostem, Stem figures
		}
	}
	require.NoError(t, json.Unmarshal(raw, &file))
	compared := 0
	for _, stemmer := range []bool{false, true} {
		for p, name := range []part{precision, recall, fMeasure} {
			for _, k := range []kind{rouge1, rouge2, rougeL, rougeLsum} {
				w := newMetric(options{Kind: k, Stemmer: stemmer, Part: name}).NewWorkspace().(*workspace)
				for i, row := range file.Rows {
					want := row.Nostem
					if stemmer {
						want = row.Stem
					}
					w.Load(metrics.Block{Hypotheses: []string{row.Hyp}, References: row.Refs})
					for _, c := range []struct{ got, want float64 }{
						{w.Cells(nil)[0], want.Single[string(k)][p]},
						{w.Native(nil)[0], want.Multi[string(k)][p]},
					} {
						if compared++; math.Abs(c.got-c.want) > 1e-9 {
							t.Errorf("row %d, %s: %v, rouge-score has %v", i, w.m.Info().Name, c.got, c.want)
						}
					}
				}
			}
		}
	}
	t.Logf("%d figures compared", compared)
}

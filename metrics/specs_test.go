package metrics_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/internal/metricstest"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/bleu"
	"github.com/refract-eval/refract/metrics/chrf"
	"github.com/refract-eval/refract/metrics/cider"
	"github.com/refract-eval/refract/metrics/rouge"
	"github.com/refract-eval/refract/metrics/sari"
	"github.com/refract-eval/refract/metrics/ter"
)

// lexical returns the metrics of words and characters.
func lexical() metrics.Registry {
	one := metrics.Registry{bleu.Factory(), chrf.Factory(), chrf.PlusPlusFactory(), ter.Factory(), sari.Factory()}
	return slices.Concat(one, rouge.Factories(), cider.Factories())
}

func TestNamesAndSignatures(t *testing.T) {
	for spec, want := range map[string]string{
		"bleu":                                  "bleu case:mixed|eff:yes|tok:13a|smooth:exp",
		"bleu:tokenize=13a,smooth=exp":          "bleu case:mixed|eff:yes|tok:13a|smooth:exp",
		"bleu:lowercase,tok:zh,order=2":         "bleu:tokenize=zh,lowercase=yes,order=2 case:lc|eff:yes|tok:zh|smooth:exp|order:2",
		"bleu:smooth-value=0.50,smooth=floor":   "bleu:smooth=floor,smooth-value=0.5 case:mixed|eff:yes|tok:13a|smooth:floor[0.50]",
		"bleu:smooth=floor,smooth-value=0":      "bleu:smooth=floor,smooth-value=0 case:mixed|eff:yes|tok:13a|smooth:floor[0.00]",
		"bleu:smooth=add-k,smooth-value=1":      "bleu:smooth=add-k case:mixed|eff:yes|tok:13a|smooth:add-k[1.00]",
		"bleu:smooth=add-k,smooth-value=0.125":  "bleu:smooth=add-k,smooth-value=0.125 case:mixed|eff:yes|tok:13a|smooth:add-k[0.125]",
		"bleu:smooth=floor,smooth-value=1e-300": "bleu:smooth=floor,smooth-value=1e-300 case:mixed|eff:yes|tok:13a|smooth:floor[1e-300]",
		"bleu:effective-order=no":               "bleu:effective-order=no case:mixed|eff:no|tok:13a|smooth:exp",

		"chrf":                               "chrf case:mixed|eff:yes|nc:6|nw:0|space:no",
		"chrf:word-order=2":                  "chrf++ case:mixed|eff:yes|nc:6|nw:2|space:no",
		"chrf++:word-order=0":                "chrf case:mixed|eff:yes|nc:6|nw:0|space:no",
		"chrf++:word-order=1,eps":            "chrf:word-order=1,eps=yes case:mixed|eff:no|nc:6|nw:1|space:no",
		"chrf:lowercase,whitespace,beta=0.5": "chrf:beta=0.5,whitespace=yes,lowercase=yes case:lc|eff:yes|nc:6|nw:0|space:yes|beta:0.5",

		"ter":                  "ter case:lc|tok:tercom|norm:no|punct:yes|asian:no",
		"ter:normalized,asian": "ter:normalized=yes,asian=yes case:lc|tok:tercom|norm:yes|punct:yes|asian:yes",
		"ter:case-sensitive,asian,no-punct,normalized": "ter:normalized=yes,no-punct=yes,asian=yes,case-sensitive=yes case:mixed|tok:tercom|norm:yes|punct:no|asian:yes",

		"sari":                                   "sari case:lc|tok:13a|rules:easse|del:f",
		"sari:deletion=f,tok=13a,case=lc":        "sari case:lc|tok:13a|rules:easse|del:f",
		"sari:rules=paper,deletion=p,case=mixed": "sari:rules=paper,deletion=p,lowercase=no case:mixed|tok:13a|rules:paper|del:p",
		"sari:rules=hf,del=p":                    "sari:rules=hf case:lc|tok:13a|rules:hf|del:p",
		"sari:rules=original":                    "sari:rules=original case:lc|tok:none|rules:original|del:p",
		"sari:rules=original,tokenize=13a":       "sari:rules=original,tokenize=13a case:lc|tok:13a|rules:original|del:p",

		"rouge1":                               "rouge1 kind:rouge1|case:lc|tok:rouge|stem:no|part:f",
		"rougeLsum:part=r,stemmer,tokenize=zh": "rougeLsum:stemmer=yes,part=r,tokenize=zh kind:rougeLsum|case:lc|tok:zh|stem:yes|part:r",
		"rouge2:tokenize=rouge,part=f":         "rouge2 kind:rouge2|case:lc|tok:rouge|stem:no|part:f",

		"cider:tokenize=13a": "cider:tokenize=13a kind:cider|case:lc|tok:13a|docs:0|df:none",
	} {
		m, err := lexical().Parse(t.Context(), spec)
		require.NoError(t, err)
		got := m.Signature(metrics.Sentence).String()
		assert.Equal(t, want, m.Info().Name+" "+got, spec)
		if spec == "bleu" { // the only metric whose levels differ
			got = strings.Replace(got, "eff:yes", "eff:no", 1)
		}
		if !strings.HasPrefix(spec, "bleu:") {
			assert.Equal(t, got, m.Signature(metrics.Corpus).String(), spec)
		}
	}
}

func TestWrongSpecs(t *testing.T) {
	for spec, want := range map[string]string{
		"bleu:tokenise=intl": `did you mean "tokenize"`, "bleu:tokenize=13b": `did you mean "13a"`, "bleu:smooth=flor": `did you mean "floor"`,
		"bleu:smooth-value=1": `"exp" takes no value`, "bleu:smooth=floor,smooth-value=-1": "want a number", "bleu:order=0": "want a whole number from 1 to 64",
		"chrf+": `did you mean "chrf`, "chrf:char-order=0": "both 0", "chrf:char-order=-1": "want a whole number from 0 to 64", "chrf:beta=0": "want a number",
		"chrf++:eps=perhaps": "want yes or no", "ter:asian=perhaps": "want yes or no",
		"sari:rules=f1": "unknown value for rules", "sari:rules=hf,deletion=f": "leave deletion=f out", "sari:tokenize=moses": "unknown value for tokenize",
		"rouge3": "did you mean", "rougeL:part=f1": "unknown value for part", "rougeL:tokenize=ptb": "unknown value for tokenize", "rougeL:stemmer=snow": "want yes or no",
		"cider:tokenize=porter": "unknown value for tokenize", "ciderd": `did you mean "cider`,
	} {
		_, err := lexical().Parse(t.Context(), spec)
		assert.ErrorAs(t, err, new(*metrics.SpecError), spec)
		assert.ErrorContains(t, err, want, spec)
	}
	_, err := lexical().Parse(t.Context(), "bleu:smooth=flor,smooth-value=1")
	assert.NotContains(t, err.Error(), "takes no value", "an unknown smoothing is taken for the default")
}

// drawMetric draws a metric with any options that go together.
func drawMetric(t *rapid.T, label string) metrics.Metric {
	for {
		f := rapid.SampledFrom(lexical()).Draw(t, label)
		var set []string
		for _, o := range f.Options {
			if o.File || o.Saves || rapid.Bool().Draw(t, o.Key) {
				continue
			}
			value := rapid.SampledFrom([]string{"0", "0.1", "0.125", "1", "2.5", "1e-9", "0.30000000000000004", "1e20"})
			if lo, hi, ok := strings.Cut(o.Values, "-"); strings.Contains(o.Values, "|") {
				value = rapid.SampledFrom(strings.Split(o.Values, "|"))
			} else if ok {
				least, _ := strconv.Atoi(lo)
				most, _ := strconv.Atoi(hi)
				value = rapid.Map(rapid.IntRange(least, min(most, 6)), strconv.Itoa)
			}
			set = append(set, o.Key+"="+value.Draw(t, o.Key))
		}
		spec := strings.TrimSuffix(f.Name+":"+strings.Join(set, ","), ":")
		if m, err := lexical().Parse(t.Context(), spec); err == nil {
			return m
		}
	}
}

// A name holds all options, and a signature all that changes the numbers: metrics with equal
// signatures score equally.
func TestNamesAndSignaturesHoldAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawMetric(t, "a"), drawMetric(t, "b")
		if rapid.Bool().Draw(t, "equal") {
			var err error
			b, err = lexical().Parse(t.Context(), a.Info().Name)
			require.NoError(t, err)
			require.Equal(t, a.Info(), b.Info(), "read from its name")
			require.Equal(t, a.Signature(metrics.Sentence), b.Signature(metrics.Sentence), a.Info().Name)
			require.Equal(t, a.Signature(metrics.Corpus), b.Signature(metrics.Corpus), a.Info().Name)
		}
		family := func(m metrics.Metric) string { return m.Info().Rule } // its signature need not name it
		if f, ok := a.(metrics.Fitter); ok && !f.Fitted() || family(a) != family(b) {
			return
		}
		block := metricstest.Block().Draw(t, "block")
		load := func(m metrics.Metric) metrics.NativeWorkspace {
			w := m.(metrics.Preparer).NewWorkspace().(metrics.NativeWorkspace)
			w.Load(block)
			return w
		}
		wa, wb := load(a), load(b)
		if a.Signature(metrics.Sentence).String() == b.Signature(metrics.Sentence).String() {
			require.Equal(t, wa.Native(wa.Cells(nil)), wb.Native(wb.Cells(nil)), "%s and %s", a.Info().Name, b.Info().Name)
		}
		ca, pooled := a.(metrics.CorpusMetric)
		if cb, ok := b.(metrics.CorpusMetric); ok && pooled && a.Signature(metrics.Corpus).String() == b.Signature(metrics.Corpus).String() {
			statistics := func(w metrics.Workspace) []float64 { return w.(metrics.StatisticsWorkspace).NativeStatistics(nil, 0) }
			require.Equal(t, ca.CorpusScore(statistics(wa)), cb.CorpusScore(statistics(wb)), "%s and %s", a.Info().Name, b.Info().Name)
		}
	})
}

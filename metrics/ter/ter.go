package ter

import (
	"context"
	"math"
	"slices"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/internal/token"
)

// Options are the settings of TER. The zero Options are sacreBLEU's defaults: lower-cased
// text, split at white space.
type Options struct {
	// Normalized separates punctuation from words by Tercom's rules for Western scripts, and
	// decodes the entities &quot; &amp; &lt; &gt;.
	Normalized bool
	// NoPunct removes the characters . , ? : ; ! " ( ).
	NoPunct bool
	// Asian extends the other two options to East Asian text: with Normalized each ideograph
	// and punctuation mark becomes a word, with NoPunct East Asian and full-width punctuation
	// is removed. Without them it does nothing.
	Asian bool
	// CaseSensitive keeps upper case.
	CaseSensitive bool
}

// Metric is TER. Scores are percentages from 0, without an upper bound; lower is better.
// Identical texts score 0, except for rare ones with Normalized, such as "'s's's":
// sacreBLEU tokenizes references twice, and so does this package.
//
// The search for moves has sacreBLEU's limits: a beam of 25 words on each side of the
// diagonal, moved runs of at most 10 words, at most 50 words between the two places of a
// run, and the search ends in the round that reaches the thousandth candidate.
//
// A Metric is immutable and safe for concurrent use.
type Metric struct {
	options Options
	name    string
	chosen  bool // whether an option set how East Asian texts are split
}

var (
	_ metrics.CorpusMetric        = (*Metric)(nil)
	_ metrics.Localized           = (*Metric)(nil)
	_ metrics.Remarker            = (*Metric)(nil)
	_ metrics.NativeWorkspace     = (*workspace)(nil)
	_ metrics.StatisticsWorkspace = (*workspace)(nil)
)

// New returns TER with the given options.
func New(o Options) *Metric {
	return &Metric{options: o, name: o.spec(), chosen: o.Normalized || o.NoPunct || o.Asian}
}

// Info implements [metrics.Metric]. The name is "ter", followed by the options that are not
// at their defaults, in the order of [Options].
func (m *Metric) Info() metrics.Info {
	return metrics.Info{
		Name:            m.name,
		NeedsReferences: true,
		Direction:       metrics.LowerIsBetter,
		Lower:           0,
		Upper:           math.Inf(1),
		Rule:            "the fewest edits to any reference over the mean length",
	}
}

func (o Options) spec() string {
	return metrics.Canonical("ter", slices.Concat(
		metrics.Given("normalized", o.Normalized, false),
		metrics.Given("no-punct", o.NoPunct, false),
		metrics.Given("asian", o.Asian, false),
		metrics.Given("case-sensitive", o.CaseSensitive, false),
	)...)
}

// Signature implements [metrics.Metric] with sacreBLEU's order and words. It is the same at
// both levels.
func (m *Metric) Signature(metrics.Level) metrics.Signature {
	return metrics.Signature{
		metrics.Case(!m.options.CaseSensitive),
		{Key: "tok", Value: "tercom"},
		{Key: "norm", Value: metrics.YesNo(m.options.Normalized)},
		{Key: "punct", Value: metrics.YesNo(!m.options.NoPunct)},
		{Key: "asian", Value: metrics.YesNo(m.options.Asian)},
	}
}

// Score implements [metrics.Metric].
func (m *Metric) Score(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	return metrics.ScoreBlocks(ctx, m, blocks)
}

// CorpusScore implements [metrics.CorpusMetric]: sum holds the edits and the
// reference lengths of all segments. By convention, edits against an empty reference are 100.
func (m *Metric) CorpusScore(sum []float64) float64 {
	switch edits, length := sum[0], sum[1]; {
	case length > 0:
		return 100 * (edits / length)
	case edits > 0:
		return 100
	}
	return 0
}

// Factory makes TER from a spec.
func Factory() metrics.Factory {
	return metrics.Factory{
		Name:    "ter",
		Summary: "TER of sentences and corpora, as sacreBLEU 2.6.0; lower is better",
		Source:  "Snover et al. (2006), A Study of Translation Edit Rate with Targeted Human Annotation",
		Licence: "MIT",
		Options: []metrics.Option{
			{Key: "normalized", Default: "no, yes for zh and ja", Values: "yes|no", Signed: []string{"norm", "nr"}, Doc: "decode entities and set punctuation apart"},
			{Key: "no-punct", Default: "no", Values: "yes|no", Signed: []string{"punct", "pn"}, Words: map[string]string{"yes": "no", "no": "yes"}, Doc: "leave punctuation out"},
			{Key: "asian", Default: "no, yes for zh and ja", Values: "yes|no", Signed: []string{"as"}, Doc: "also for Asian characters, with normalized or no-punct"},
			{Key: "case-sensitive", Default: "no", Values: "yes|no", Signed: []string{"case", "c"}, Words: map[string]string{"mixed": "yes", "lc": "no"}, Doc: "keep case"},
		},
		New: func(_ context.Context, v *metrics.Values) (metrics.Metric, error) {
			m := New(Options{
				Normalized:    v.Bool("normalized", false),
				NoPunct:       v.Bool("no-punct", false),
				Asian:         v.Bool("asian", false),
				CaseSensitive: v.Bool("case-sensitive", false),
			})
			m.chosen = v.Has("normalized") || v.Has("no-punct") || v.Has("asian")
			return m, nil
		},
	}
}

// eastAsian are the languages whose characters Tercom's rules separate.
var eastAsian = map[string]bool{"zh": true, "ja": true}

// InLanguage implements metrics.Localized: Asian takes effect with Normalized.
func (m *Metric) InLanguage(code string) metrics.Metric {
	if m.chosen || !eastAsian[code] {
		return m
	}
	out := *m
	out.options.Normalized, out.options.Asian = true, true
	return &out
}

// Remark implements metrics.Remarker.
func (m *Metric) Remark(texts []string) string {
	t := &tokenizer{Options: m.options}
	code, said := token.Unsplit(texts, func(s string, yield func([]byte)) { t.words(s, false, yield) })
	switch {
	case said == "":
		return ""
	case eastAsian[code]:
		return said + token.Advice(code, "normalized=yes,asian=yes", m.chosen)
	}
	return said + "chrf compares their characters"
}

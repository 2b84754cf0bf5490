package ter

import (
	"context"

	"github.com/refract-eval/refract/metrics"
)

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

package neural

import (
	"context"
	"fmt"
	"math"

	"github.com/refract-eval/refract/metrics"
)

// Unserved makes a metric for each name for which there is a server in
// metrics/neural/server. It says how to start one. A served model states its own needs and
// bounds, which take precedence.
func Unserved() (out []metrics.Factory) {
	const higher, lower = metrics.HigherIsBetter, metrics.LowerIsBetter
	inf := math.Inf(1)
	known := func(name string, source, reference bool, d metrics.Direction, least, most float64, summary, paper, licence string) {
		info := metrics.Info{Name: name, NeedsSource: source, NeedsReferences: reference, Direction: d, Lower: least, Upper: most}
		out = append(out, metrics.Factory{
			Name: name, Summary: summary, Tail: "…", Unlisted: true,
			Runs: "OIP server", Source: paper, Licence: licence, Info: &info,
			New: func(_ context.Context, v *metrics.Values) (metrics.Metric, error) {
				return nil, v.Wrong(fmt.Errorf("it is a model on a server: docs/how-to/neural-servers.md says how to start one, and -m %s:http://HOST:8000/%s scores with it", Name, name))
			},
		})
	}
	// As published, with the usual checkpoint. The licence is that of code and checkpoint, ""
	// if the authors state none.
	known("bertscore", false, true, higher, -1, 1, "similarity of tokens in context, greedily matched", "https://arxiv.org/abs/1904.09675", "MIT")
	known("moverscore", false, true, higher, -inf, 1, "cost of moving the tokens of one text to those of another", "https://arxiv.org/abs/1909.02622", "MIT")
	known("bartscore", false, true, higher, -inf, 0, "likelihood of a text given another", "https://arxiv.org/abs/2106.11520", "Apache-2.0")
	known("bleurt", false, true, higher, -inf, inf, "regression on ratings of translations", "https://arxiv.org/abs/2004.04696", "Apache-2.0")
	known("comet", true, true, higher, -inf, inf, "regression on ratings of translations, with the source", "https://aclanthology.org/2022.wmt-1.52", "Apache-2.0")
	known("cometkiwi", true, false, higher, -inf, inf, "the same without references", "https://aclanthology.org/2022.wmt-1.60", "CC-BY-NC-SA-4.0")
	known("xcomet", true, true, higher, 0, 1, "a score with spans of errors", "https://arxiv.org/abs/2310.10482", "CC-BY-NC-SA-4.0")
	known("metricx", true, true, lower, 0, 25, "errors of translations, from 0 to 25", "https://aclanthology.org/2024.wmt-1.35", "Apache-2.0")
	known("sescore2", false, true, higher, -inf, inf, "regression on synthetic errors", "https://arxiv.org/abs/2212.09305", "")
	known("unieval", false, true, higher, 0, 1, "answers to questions about a dimension, such as relevance", "https://arxiv.org/abs/2210.07197", "MIT")
	return out
}

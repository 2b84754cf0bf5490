package metrics_test

import (
	"context"
	"fmt"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/bleu"
	"github.com/refract-eval/refract/metrics/chrf"
)

// A program lists the metrics that it offers, and its users name one with
// options.
func ExampleRegistry_Parse() {
	offered := metrics.Registry{bleu.Factory(), chrf.Factory()}
	for _, spec := range []string{"bleu:order=4,smooth=floor,tokenize=intl", "chrf:whitespace", "bleu:tokenise=intl", "bleurt"} {
		m, err := offered.Parse(context.Background(), spec)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(m.Info().Name, m.Signature(metrics.Sentence))
	}
	// Output:
	// bleu:tokenize=intl,smooth=floor case:mixed|eff:yes|tok:intl|smooth:floor[0.10]
	// chrf:whitespace=yes case:mixed|eff:yes|nc:6|nw:0|space:yes
	// metric "bleu:tokenise=intl": unknown option "tokenise"; did you mean "tokenize"? (known: tokenize, sp-model, smooth, smooth-value, lowercase, order, effective-order)
	// unknown metric "bleurt"; did you mean "bleu"? (known: bleu, chrf)
}

// The characters that separate settings are encoded in values.
func ExampleSignature() {
	s := metrics.Signature{{Key: "case", Value: "mixed"}, {Key: "model", Value: "a|b"}}.With("agg", "max")
	fmt.Println(s)
	back, err := metrics.ParseSignature(s.String())
	fmt.Println(back[1].Value, err)
	// Output:
	// case:mixed|model:a%7Cb|agg:max
	// a|b <nil>
}

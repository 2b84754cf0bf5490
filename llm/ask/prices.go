package ask

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/yamlfile"
)

// Price is the price of a model, in any currency.
type Price struct {
	Input  float64 // per million prompt tokens
	Output float64 // per million completion tokens
	// Batch is the factor for calls through the Batch API, such as 0.5; 0
	// means 1.
	Batch float64
}

// Cost returns the price of these tokens.
func (p Price) Cost(prompt, completion int) float64 {
	return (float64(prompt)*p.Input + float64(completion)*p.Output) / 1e6
}

// Batched returns the prices of calls through the Batch API.
func (p Prices) Batched() Prices {
	if p == nil {
		return nil
	}
	out := make(Prices, len(p))
	for model, price := range p {
		factor := cmp.Or(price.Batch, 1)
		out[model] = Price{Input: price.Input * factor, Output: price.Output * factor}
	}
	return out
}

// Prices holds the prices of models by name. All must be in the same currency.
type Prices map[string]Price

// ReadPrices reads a table of prices, YAML or JSON:
//
//	some-model: {input: 0.15, output: 0.60, batch: 0.5}
//
// Errors name the file, and the line if it is known.
func ReadPrices(name string, r io.Reader) (Prices, error) {
	var raw map[string]*struct {
		Input  *float64 `yaml:"input"`
		Output *float64 `yaml:"output"`
		Batch  *float64 `yaml:"batch"`
	}
	f, err := yamlfile.Read(name, r)
	if err == nil {
		err = f.Decode(&raw, `state prices in lines such as "some-model: {input: 0.15, output: 0.60}"`)
	}
	if err != nil {
		return nil, fmt.Errorf("no table of prices: %w", err)
	}
	prices := Prices{}
	for _, model := range slices.Sorted(maps.Keys(raw)) {
		p := raw[model]
		if p == nil || p.Input == nil || p.Output == nil {
			return nil, fmt.Errorf("%s: model %q needs input and output, the prices of a million tokens", name, model)
		}
		price := Price{Input: *p.Input, Output: *p.Output, Batch: 1}
		if p.Batch != nil {
			price.Batch = *p.Batch
		}
		for field, v := range map[string]float64{"input": price.Input, "output": price.Output, "batch": price.Batch} {
			if v < 0 || math.IsNaN(v) || math.IsInf(v, 0) || field == "batch" && (v == 0 || v > 1) {
				return nil, f.At(yamlfile.Wrong(model+"."+field, "%v; want a number of at least 0 (batch, a factor such as 0.5: above 0, at most 1)", v))
			}
		}
		prices[model] = price
	}
	if len(prices) == 0 {
		return nil, fmt.Errorf("%s: no model has a price; want lines such as \"some-model: {input: 0.15, output: 0.60}\"", name)
	}
	return prices, nil
}

// For returns the price of a model; the error names the models that have one.
func (p Prices) For(model string) (Price, error) {
	price, ok := p[model]
	if !ok {
		return Price{}, english.Unknown("price of model", model, slices.Sorted(maps.Keys(p)))
	}
	return price, nil
}

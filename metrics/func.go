package metrics

import "context"

// Func makes a metric of a function that scores a hypothesis against a reference, which is
// "" if the Info needs none. The signature states only the name, so a function that changes
// needs another name.
func Func(info Info, score func(hypothesis, reference string) float64) Metric {
	return &function{info, score}
}

type function struct {
	info  Info
	score func(hypothesis, reference string) float64
}

func (f *function) Info() Info { return f.info }

func (f *function) Signature(Level) Signature {
	return Signature{{Key: "metric", Value: f.info.Name}}
}

func (f *function) Score(ctx context.Context, blocks []Block) ([]Scores, error) {
	out := make([]Scores, len(blocks))
	for i, b := range blocks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, h := range b.Hypotheses {
			for c := range b.Columns() {
				ref := ""
				if len(b.References) > 0 {
					ref = b.References[c]
				}
				out[i].Values = append(out[i].Values, f.score(h, ref))
			}
		}
	}
	return out, nil
}

// Made is a Factory of a metric that has no options.
func Made(m Metric) Factory {
	return Factory{Name: m.Info().Name, New: func(context.Context, *Values) (Metric, error) { return m, nil }}
}

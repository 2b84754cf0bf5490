package neural

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/refract-eval/refract/metrics"
)

// idf says in how many of some texts each token of a model's is: the number of texts,
// then tokens, in ascending order, each with its count. It is a tensor of requests
// to a model that weighs tokens so; a number of 0 asks for the idf of the request's
// references.
type idf []int32

// idfTexts bounds the bytes of references in a request that counts.
const idfTexts = 64 << 10

// Fitted implements metrics.Fitter.
func (m *Metric) Fitted() bool { return !m.form.weighs || m.idf != nil }

// Fit implements metrics.Fitter: the model says in how many of the references each of
// its tokens is. Equal references of several segments count several times.
func (m *Metric) Fit(ctx context.Context, references iter.Seq2[[]string, error]) (metrics.Metric, error) {
	counts, texts, hash := map[int32]int64{}, int64(0), sha256.New()
	var part []string
	bytes := 0
	count := func() error {
		if len(part) == 0 {
			return nil
		}
		found, err := m.countTokens(ctx, part)
		if err != nil {
			return err
		}
		for i := 1; i < len(found); i += 2 {
			counts[found[i]] += int64(found[i+1])
		}
		texts += int64(len(part))
		part, bytes = part[:0], 0
		return nil
	}
	for of, err := range references {
		if err != nil {
			return nil, err
		}
		for _, t := range of {
			fmt.Fprintf(hash, "%d %s", len(t), t)
			part, bytes = append(part, t), bytes+len(t)+rowBytes
		}
		if bytes > idfTexts {
			if err := count(); err != nil {
				return nil, err
			}
		}
	}
	if err := count(); err != nil {
		return nil, err
	}
	if texts == 0 || texts > math.MaxInt32 {
		return nil, fmt.Errorf("there are %d references to weigh tokens by", texts)
	}
	out := &Metric{
		spec: m.spec, client: m.client, budget: m.budget, wire: m.wire, form: m.form, info: m.info, first: m.first, at: m.at,
		size: m.size, calls: m.calls, most: m.most, idf: idf{int32(texts)},
	}
	for _, token := range slices.Sorted(maps.Keys(counts)) {
		out.idf = append(out.idf, token, int32(counts[token]))
	}
	out.sig = m.sig.With("idf-references", strconv.FormatInt(texts, 10)).With("idf-set", hex.EncodeToString(hash.Sum(nil)[:6]))
	return out, nil
}

// countTokens asks for the idf of references.
func (m *Metric) countTokens(ctx context.Context, references []string) (out idf, err error) {
	id := strconv.FormatInt(m.ids.Add(1), 10)
	inputs := m.form.inputs([]row{{"", "", references[:1]}}, idf{0})
	for i := range inputs {
		if inputs[i].name == inReference { // equal ones count, too
			inputs[i].texts, inputs[i].shape = references, []int{len(references)}
		}
	}
	if err := valid(inputs); err != nil {
		return nil, err
	}
	call, err := m.wire.infer(id, inputs, []string{inIDF, outFacts}, func(_ string, a *answer) error {
		if err := m.ofModel(a); err != nil {
			return err
		}
		out, err = a.idf(id, len(references))
		return err
	})
	if err != nil {
		return nil, err
	}
	bytes := 0
	for _, r := range references {
		bytes += len(r)
	}
	call.Most = 64<<10 + 64*int64(bytes+len(references)) // each byte may be a token of its own
	return out, m.call(ctx, call)
}

// idf reads the answer to a request of n references.
func (a *answer) idf(id string, n int) (idf, error) {
	if a.id != "" && a.id != id {
		return nil, fmt.Errorf("gave an answer to another request: its id is %.60q in place of %q", a.id, id)
	}
	for _, t := range a.tensors {
		if t.name != inIDF {
			continue
		}
		if t.datatype != int32Type || len(t.numbers)%2 != 1 || t.numbers[0] != float64(n) {
			return nil, fmt.Errorf("gave %q that does not begin with the number of references, %d, or holds something else than pairs of INT32 behind it", inIDF, n)
		}
		out := make(idf, len(t.numbers))
		for i, v := range t.numbers {
			if out[i] = int32(v); float64(out[i]) != v || v < 0 || i > 0 && i%2 == 0 && (v < 1 || int(v) > n) {
				return nil, fmt.Errorf("gave %v as value %d of %q", v, i+1, inIDF)
			}
		}
		return out, nil
	}
	return nil, fmt.Errorf("gave no output %q", inIDF)
}

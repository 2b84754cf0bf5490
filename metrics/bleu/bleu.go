// Package bleu computes BLEU (Papineni et al., 2002) of sentences and corpora, with the
// numbers of sacreBLEU 2.6.0.
//
// Sentences use the effective order: orders for which the hypothesis has no n-grams are
// left out of the geometric mean. Corpora do not. With several references, an n-gram counts
// up to its largest count in any of them, and the brevity penalty uses the length of the
// closest reference, the shorter of two equally close ones.
package bleu

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/internal/ngram"
	"github.com/refract-eval/refract/metrics/internal/token"
)

// The smoothing methods say what to do with an order that has no match (Chen and
// Cherry, 2014).
const (
	none  = "none"
	floor = "floor" // a small count instead of 0; method 1
	addK  = "add-k" // k added to counts and totals beyond unigrams; method 2
	exp   = "exp"   // 1/2, 1/4, … of a count instead of 0; method 3
)

// usual are the default values of the methods that take one.
var usual = map[string]float64{floor: 0.1, addK: 1}

// Options of the metric. The zero value of a field stands for its default.
type Options struct {
	Tokenize    string   // none, 13a (default), intl, zh, char, or one of those by SentencePiece models: flores101, flores200, spBLEU-1K, spm
	ModelFile   string   // path of the SentencePiece model; "" for where sacreBLEU keeps it
	Smooth      string   // none, floor, add-k or exp (default)
	SmoothValue *float64 // of floor (default 0.1) and add-k (default 1)
	Lowercase   bool     // ignore case
	MaxOrder    int      // longest n-gram, default 4, at most 64
	// Effective says whether orders longer than the hypothesis are left out: "yes", or "no",
	// which gives a short text 0. The default "" is yes for sentences and no for corpora.
	Effective string
}

// Metric is BLEU with its options fixed. It is safe for concurrent use.
type Metric struct {
	opt    Options
	smooth float64 // the value of floor and add-k
	info   metrics.Info

	chosen   bool   // whether an option set the tokenizer; otherwise a language may
	language string // language that set it

	pieces *spModel // nil if texts are split by rules
	model  string   // start of its SHA-256
}

var (
	_ metrics.CorpusMetric        = (*Metric)(nil)
	_ metrics.Localized           = (*Metric)(nil)
	_ metrics.Remarker            = (*Metric)(nil)
	_ metrics.StatisticsWorkspace = (*workspace)(nil)
	_ metrics.NativeWorkspace     = (*workspace)(nil)
)

// New returns the metric, or an error that names the option at fault.
func New(o Options) (*Metric, error) {
	m := &Metric{chosen: o.Tokenize != ""}
	o.Tokenize = cmp.Or(o.Tokenize, default13a)
	switch {
	case byPieces(o.Tokenize):
		if err := m.readModel(o); err != nil {
			return nil, fmt.Errorf("bleu: tokenizer %s: %w", o.Tokenize, err)
		}
	case slices.Contains(byMeCab, o.Tokenize):
		return nil, fmt.Errorf("bleu: tokenizer %s needs MeCab and its dictionary, which are not part of this program: let sacreBLEU score as a program, 'exec:python3 sacrebleu_metric.py %[1]s' (see docs/reference/lexical.md)", o.Tokenize)
	case o.ModelFile != "":
		return nil, fmt.Errorf("bleu: tokenizer %s takes no model; %s do", o.Tokenize, strings.Join(byPiecesNames(), ", "))
	case token.New(o.Tokenize, false) == nil:
		return nil, fmt.Errorf("bleu: unknown tokenizer %q", o.Tokenize)
	}
	if o.Smooth == "" {
		o.Smooth = exp
	}
	switch o.Smooth {
	case floor, addK:
		if m.smooth = usual[o.Smooth]; o.SmoothValue != nil {
			m.smooth, o.SmoothValue = *o.SmoothValue, nil
		}
		if !(m.smooth >= 0) || math.IsInf(100*m.smooth, 0) {
			return nil, fmt.Errorf("bleu: smoothing value %v is not between 0 and 1e306", m.smooth)
		}
	case none, exp:
		if o.SmoothValue != nil {
			return nil, fmt.Errorf("bleu: smoothing %q takes no value; floor and add-k do", o.Smooth)
		}
	default:
		return nil, fmt.Errorf("bleu: unknown smoothing %q", o.Smooth)
	}
	if o.MaxOrder == 0 {
		o.MaxOrder = 4
	}
	if o.MaxOrder < 1 || o.MaxOrder > ngram.MaxOrder {
		return nil, fmt.Errorf("bleu: order %d is not between 1 and %d", o.MaxOrder, ngram.MaxOrder)
	}
	if o.Effective != "" && o.Effective != "yes" && o.Effective != "no" {
		return nil, fmt.Errorf("bleu: effective order %q: want yes or no", o.Effective)
	}
	// A large smoothing value makes an order without matches score more than a perfect one.
	upper := 100.0
	if o.Smooth == floor {
		upper *= max(1, m.smooth)
	}
	m.opt = o
	m.info = metrics.Info{
		Name:            m.name(),
		NeedsReferences: true,
		Direction:       metrics.HigherIsBetter,
		Lower:           0,
		Upper:           upper,
		Rule:            "n-grams of all references count, each as often as the reference that has it most, and the nearest length",
	}
	return m, nil
}

// Factory makes the metric from a spec.
func Factory() metrics.Factory {
	return metrics.Factory{
		Name:    "bleu",
		Summary: "BLEU of sentences and corpora, as sacreBLEU 2.6.0",
		Source:  "Papineni et al. (2002), BLEU: a Method for Automatic Evaluation of Machine Translation",
		Licence: "MIT",
		Options: []metrics.Option{
			{Key: "tokenize", Default: "by language, else 13a", Values: "none|13a|intl|zh|char", Signed: []string{"tok", "t"}, Doc: "how texts are split into words; or flores101, flores200, spBLEU-1K, spm: into pieces by a model"},
			{Key: "sp-model", Default: "sacreBLEU's file", Values: "FILE", Doc: "SentencePiece model of the latter", File: true},
			{Key: "smooth", Default: "exp", Values: "none|floor|add-k|exp", Signed: []string{"s"}, Doc: "what to do with an order without matches"},
			{Key: "smooth-value", Default: "0.1 for floor, 1 for add-k", Values: "number", Doc: "the value of floor and add-k"},
			{Key: "lowercase", Default: "no", Values: "yes|no", Signed: []string{"case", "c"}, Words: map[string]string{"lc": "yes", "mixed": "no"}, Doc: "ignore case"},
			{Key: "order", Default: "4", Values: "1-64", Doc: "longest n-gram"},
			{Key: "effective-order", Default: "yes for sentences, no for corpora", Values: "yes|no", Signed: []string{"eff", "e"}, Doc: "leave out orders longer than the hypothesis"},
		},
		New: func(_ context.Context, v *metrics.Values) (metrics.Metric, error) {
			tokenizer := v.String("tokenize", "")
			if !slices.Contains(byMeCab, tokenizer) { // MeCab's tokenizers have their own error
				tokenizer = v.Enum("tokenize", "", append(token.Names(), byPiecesNames()...)...)
			}
			o := Options{
				Tokenize:  tokenizer,
				ModelFile: v.String("sp-model", ""),
				Smooth:    v.Enum("smooth", "exp", "none", "floor", "add-k", "exp"),
				Lowercase: v.Bool("lowercase", false),
				MaxOrder:  v.Int("order", 4, 1, ngram.MaxOrder),
			}
			if v.Has("smooth-value") {
				o.SmoothValue = new(v.Float("smooth-value", 1, 0, math.MaxFloat64))
			}
			if v.Has("effective-order") {
				o.Effective = metrics.YesNo(v.Bool("effective-order", false))
			}
			return New(o)
		},
	}
}

func (m *Metric) name() string {
	o := m.opt
	return metrics.Canonical("bleu", slices.Concat(
		metrics.Given("tokenize", o.Tokenize, default13a),
		metrics.Given("sp-model", o.ModelFile, ""),
		metrics.Given("smooth", o.Smooth, exp),
		metrics.Given("smooth-value", m.smooth, usual[o.Smooth]),
		metrics.Given("lowercase", o.Lowercase, false),
		metrics.Given("order", o.MaxOrder, 4),
		metrics.Given("effective-order", o.Effective, ""),
	)...)
}

// Info describes the metric: needs references, higher is better, 0 to 100 (or more if
// floor's value is above 1).
func (m *Metric) Info() metrics.Info { return m.info }

// Signature has sacreBLEU's settings, the longest n-gram if it is not 4, and the start of
// the SHA-256 of a SentencePiece model.
func (m *Metric) Signature(l metrics.Level) metrics.Signature {
	o := m.opt
	smooth := o.Smooth
	if o.Smooth == floor || o.Smooth == addK {
		v := strconv.FormatFloat(m.smooth, 'f', 2, 64)
		if f, _ := strconv.ParseFloat(v, 64); f != m.smooth {
			v = strconv.FormatFloat(m.smooth, 'g', -1, 64)
		}
		smooth += "[" + v + "]"
	}
	return metrics.Signature{
		metrics.Case(o.Lowercase),
		{Key: "eff", Value: metrics.YesNo(m.effective(l))},
		{Key: "tok", Value: o.Tokenize},
		{Key: "smooth", Value: smooth},
	}.With(slices.Concat(metrics.Given("order", o.MaxOrder, 4), metrics.Given("spm", m.model, ""))...)
}

func (m *Metric) effective(l metrics.Level) bool {
	return m.opt.Effective == "yes" || m.opt.Effective == "" && l == metrics.Sentence
}

// Score returns sentence BLEU of every pair of every block.
func (m *Metric) Score(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	return metrics.ScoreBlocks(ctx, m, blocks)
}

// CorpusScore returns corpus BLEU of summed statistics: hypothesis length, reference
// length, then matches and totals of each order.
func (m *Metric) CorpusScore(sum []float64) float64 {
	return m.compute(sum, m.effective(metrics.Corpus))
}

// compute is the formula of BLEU. The logarithms are summed in sacreBLEU's order, because
// ties between scores, and so rank correlations, depend on the last bit.
func (m *Metric) compute(statistics []float64, effective bool) float64 {
	hypLen, refLen, matches, totals := m.parts(statistics)
	if !anyMatch(matches) || hypLen == 0 {
		return 0
	}
	logs, halves := 0.0, 1.0
	orders := 0
	for i := range matches {
		p, ok := m.precision(i, matches[i], totals[i], &halves)
		if !ok {
			break
		}
		if p == 0 {
			return 0
		}
		logs += math.Log(p)
		orders++
	}
	if orders < len(matches) && !effective {
		return 0 // the orders beyond the hypothesis have precision 0
	}
	return brevity(hypLen, refLen) * math.Exp(logs/float64(orders))
}

// parts splits statistics. Matches and totals have one entry per order.
func (m *Metric) parts(s []float64) (hypLen, refLen float64, matches, totals []float64) {
	n := m.opt.MaxOrder
	return s[0], s[1], s[2 : 2+n], s[2+n : 2+2*n]
}

func anyMatch(matches []float64) bool {
	return slices.ContainsFunc(matches, func(n float64) bool { return n != 0 })
}

// precision is the smoothed precision of n-grams of order i+1, in percent. ok is false if
// the hypothesis has none. halves must be 1 before the first order.
func (m *Metric) precision(i int, match, total float64, halves *float64) (p float64, ok bool) {
	if m.opt.Smooth == addK && i > 0 {
		match += m.smooth
		total += m.smooth
	}
	switch {
	case total == 0:
		return 0, false
	case match != 0:
		return 100 * match / total, true
	case m.opt.Smooth == exp:
		*halves *= 2
		return 100 / (*halves * total), true
	case m.opt.Smooth == floor:
		return 100 * m.smooth / total, true
	}
	return 0, true
}

// brevity is the penalty of a hypothesis that is shorter than its reference.
func brevity(hypLen, refLen float64) float64 {
	switch {
	case hypLen >= refLen:
		return 1
	case hypLen == 0:
		return 0
	}
	return math.Exp(1 - refLen/hypLen)
}

// CorpusDetail returns the precisions, the brevity penalty and the lengths, like
// sacreBLEU's verbose score.
func (m *Metric) CorpusDetail(sum []float64) string {
	hypLen, refLen, matches, totals := m.parts(sum)
	precisions := make([]string, len(matches))
	halves, more := 1.0, anyMatch(matches)
	for i := range precisions {
		p := 0.0
		if more {
			p, more = m.precision(i, matches[i], totals[i], &halves)
		}
		precisions[i] = strconv.FormatFloat(p, 'f', 1, 64)
	}
	ratio := 0.0
	if refLen > 0 {
		ratio = hypLen / refLen
	}
	return fmt.Sprintf("%s (BP = %.3f ratio = %.3f hyp_len = %.0f ref_len = %.0f)",
		strings.Join(precisions, "/"), brevity(hypLen, refLen), ratio, hypLen, refLen)
}

// default13a is the tokenizer if neither an option nor a language sets one.
const default13a = "13a"

// ofLanguage maps a language to the tokenizer that sacreBLEU uses for its references, and
// to ours. MeCab is not part of this program, so single characters are used instead; and
// for scripts without spaces, in which sacreBLEU's default finds no words.
var ofLanguage = map[string]struct{ sacreBLEU, here string }{
	"zh": {"zh", "zh"},
	"ja": {byMeCab[0], "char"},
	"ko": {byMeCab[1], "char"},
	"th": {default13a, "char"}, "lo": {default13a, "char"}, "km": {default13a, "char"}, "my": {default13a, "char"},
}

// InLanguage implements metrics.Localized, as sacreBLEU's -l does.
func (m *Metric) InLanguage(code string) metrics.Metric {
	own, ok := ofLanguage[code]
	if m.chosen || !ok {
		return m
	}
	out := *m
	out.opt.Tokenize, out.language = own.here, code
	return &out
}

// Remark implements metrics.Remarker.
func (m *Metric) Remark(texts []string) string {
	switch own := ofLanguage[m.language]; own.sacreBLEU {
	case own.here:
	case default13a:
		return fmt.Sprintf("sacreBLEU finds no words in texts in %s, which have no spaces between words: here each character is a word (tok:%s); for sacreBLEU's own scores use bleu:tokenize=%s", m.language, own.here, default13a)
	default:
		return fmt.Sprintf("sacreBLEU splits texts in %s by %s, which needs a dictionary that Refract does not have: here each character is a word (tok:%s); for sacreBLEU's own scores use 'exec:python3 sacrebleu_metric.py %s' (docs/reference/lexical.md)",
			m.language, own.sacreBLEU, own.here, own.sacreBLEU)
	}
	if m.opt.Tokenize != none && token.LookTokenized(texts) {
		return "most texts look tokenized already (words such as . , n't or @-@ stand apart), which changes the scores: give plain texts, or take tokenize=none"
	}
	return token.Remark(texts, m.splitter().Split, func(code string) bool {
		_, byLanguage := ofLanguage[code]
		return m.chosen || !byLanguage
	})
}

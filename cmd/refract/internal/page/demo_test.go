package page_test

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cmd/refract/internal/figure"
	"github.com/refract-eval/refract/cmd/refract/internal/page"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
)

// Sentences for the segments, one language each: the original and some rewordings, which
// serve as outputs too.
var sentences = []struct {
	domain, source string
	texts          []string
}{
	{"news", "Der Fluss stieg in der Nacht um fast zwei Meter, und die Brücke am Markt blieb gesperrt.", []string{
		"The river rose by almost two metres overnight, and the bridge at the market stayed closed.",
		"Overnight the river climbed nearly two metres; the market bridge remained shut.",
		"During the night the water level went up by close to two metres, so the bridge by the market was kept closed.",
		"The stream sank two metres in the night and the bridge on the market opened.",
	}},
	{"chat", "电池只够用半天，请问可以换一块新的吗？", []string{
		"The battery only lasts half a day. Could you replace it with a new one?",
		"My battery is empty after half a day – may I have it exchanged?",
		"The battery lasts for just half a day; is it possible to get a new one?",
		"The cell is enough half day, please change a new?",
	}},
	{"shop", "Two cups of flour, a pinch of salt and patience.", []string{
		"كوبان من الطحين ورشة ملح وقليل من الصبر.",
		"كأسان من الدقيق مع رشة من الملح والصبر.",
		"تحتاج إلى كوبين من الطحين ورشة ملح، ثم إلى الصبر (ABC 12).",
		"فنجان من السكر ورشة فلفل.",
	}},
	{"news", "The lighthouse keeper counted the ships twice.", []string{
		"שומר המגדלור ספר את הספינות פעמיים.",
		"פעמיים ספר שומר המגדלור את הספינות.",
		"השומר של המגדלור מנה את האוניות פעמיים.",
		"המגדלור ספר ספינה.",
	}},
	{"chat", "She says the trains run late whenever it snows.", []string{
		"雪が降るといつも電車が遅れると彼女は言う。",
		"彼女によれば、雪の日は必ず電車が遅れるそうだ。",
		"雪になると電車は決まって遅れる、と彼女は言っている。",
		"彼女は電車で雪を見た。",
	}},
	{"shop", "Une table ronde en chêne, à peine rayée, à venir chercher sur place.", []string{
		"बलूत की गोल मेज़, बहुत हल्की खरोंच, स्वयं आकर ले जाएँ।",
		"ओक की एक गोल मेज़, मुश्किल से कोई खरोंच, आकर ले जानी होगी।",
		"गोल मेज़, ओक की लकड़ी, लगभग बिना खरोंच, खुद ले जाएँ।",
		"चौकोर कुर्सी, मुफ़्त।",
	}},
}

var (
	demoSystems  = []string{"Aurora", "Basalt-7B", "Cinder", "Dune/constrained-submission_contrastive-2_ensemble-of-eight-transformers_reranked-by-quality-estimation (constrained)", "Ember", "human-B"}
	demoPrompts  = []string{"reorder", "synonyms", "formal", "plain"}
	demoSettings = []page.Measure{
		{Name: "bleu, original", Metric: 0, Digits: 1},
		{Name: "bleu, max of 5", Metric: 0, Digits: 1},
		{Name: "bleu, mean of 5", Metric: 0, Digits: 1},
		{Name: "chrf, max of 5", Metric: 1, Digits: 1},
		{Name: "ter, best of 5", Metric: 2, Digits: 2, LowerIsBetter: true},
	}
)

var text = refract.NewText

// demoExplorer shows the sentences over and over, and then the texts that are
// meant to break the page.
func demoExplorer(rounds int) *page.Explorer {
	e := &page.Explorer{Systems: demoSystems, Humans: []string{"mqm"}, Prompts: demoPrompts, Settings: demoSettings,
		Metrics: []page.Measure{{Name: "bleu", Digits: 1}, {Name: "chrf", Digits: 1}, {Name: "ter", Digits: 2, LowerIsBetter: true}}}
	e.Segments = func(yield func(*page.Segment, error) bool) {
		r := rand.New(rand.NewPCG(1, 2))
		for n := range rounds * len(sentences) {
			s := sentences[n%len(sentences)]
			seg := &page.Segment{ID: fmt.Sprintf("%s-%03d", s.domain, n+1), Document: fmt.Sprintf("%s-%d", s.domain, n/12), Domain: s.domain, Source: text(s.source)}
			for k := range 5 {
				ref := page.Reference{Text: text(s.texts[k%3]), Prompt: k - 1, Detail: "a-model, sample 0"}
				if k == 0 {
					ref.Detail = ""
				}
				seg.References = append(seg.References, ref)
			}
			for k := range demoSystems {
				seg.Outputs = append(seg.Outputs, demoOutput(r, e, seg, k, s.texts[(k+n/6)%len(s.texts)]))
			}
			if !yield(seg, nil) {
				return
			}
		}
		for _, seg := range hostileSegments(e) {
			if !yield(seg, nil) {
				return
			}
		}
	}
	return e
}

func demoOutput(r *rand.Rand, e *page.Explorer, seg *page.Segment, system int, s string) page.Output {
	o := page.Output{System: system, Text: text(s), Human: []float64{math.Round(-10 * r.Float64())}}
	for range e.Metrics {
		row := make([]float64, len(seg.References))
		for i := range row {
			row[i] = 60 * r.Float64()
		}
		o.Cells = append(o.Cells, row)
	}
	best := 0
	for i, f := range o.Cells[0] {
		if f > o.Cells[0][best] {
			best = i
		}
	}
	o.Scores = []page.Score{page.DecidedBy(0, o.Cells[0][0]), page.DecidedBy(best, o.Cells[0][best]), {Value: 30 * r.Float64()},
		page.DecidedBy(1, o.Cells[1][1]), page.DecidedBy(2, o.Cells[2][2]/60)}
	if system == 5 {
		o.Human[0] = math.NaN()
	}
	runes := []rune(s)
	word := func(from, to int) [2]int { // whole words, but for scripts without spaces
		start, end := len(runes)*from/10, len(runes)*to/10
		for start > 0 && strings.ContainsRune(s, ' ') && runes[start-1] != ' ' {
			start--
		}
		for end > start && end < len(runes) && strings.ContainsRune(s, ' ') && runes[end] != ' ' {
			end++
		}
		return [2]int{start, end}
	}
	one, two, three := word(3, 5), word(4, 7), word(0, 1)
	quoted := func(w [2]int) string { return string(runes[w[0]:w[1]]) }
	switch system % 3 {
	case 0:
		o.Reports = []page.Report{{Judge: "tigerscore", Outcome: "no-error", Score: 0}}
	case 1:
		o.Reports = []page.Report{{Judge: "tigerscore", Outcome: "scored", Score: -6, Errors: []page.Error{
			{Span: one, Location: quoted(one), Type: "Mistranslation",
				Severity: "major", Explanation: "The source speaks of something else here; the output changes what is said.", Penalty: 4},
			{Span: two, Location: quoted(two), Type: "Fluency", Severity: "minor",
				Explanation: "The words stand in an order that nobody would use.", Penalty: 2},
		}, Notes: []string{"The answer states 3 errors and lists 2."}}}
	case 2:
		o.Reports = []page.Report{{Judge: "mqm", Outcome: "scored", Score: -9.5, Errors: []page.Error{
			{Span: three, Location: quoted(three), Type: "Omission", Severity: "critical", Explanation: "A part is missing.", Penalty: 5},
			{Location: "a phrase that is nowhere", Type: "Addition", Severity: "minor", Explanation: "It quotes what the output does not have.", Penalty: page.Number(math.NaN())},
		}}, {Judge: "gemba-da", Outcome: "unparseable", Score: page.Number(math.NaN()), Notes: []string{"The answer holds no number."}}}
	}
	return o
}

// hostileTexts try to leave their place, to run, or to break the layout.
var hostileTexts = []string{
	`</script><script>window.broken = 1</script>`,
	`<img src=x onerror="window.broken = 1">`,
	"</p></article></main><!-- <style>*{display:none}</style> --><svg onload=alert(1)>",
	"left \u202eto the right\u202c and \u2066isolated\u2069, \u200bunseen \x00\x1b[31m\u2028\u2029\ufeff end",
	strings.Repeat("WithoutAnySpace", 4000),
	"bad\xffutf8 \xe4\xb8 e\u0301 👩\u200d👩\u200d👧 𝔘nicode \U000e0041",
	"{{.}} ${1+1} `x` javascript:alert(1) &lt;b&gt; \" ' \\u003c",
	"\n\n\n line one\n\n\n\t line two",
	strings.Repeat("z\u0310\u0311\u0312\u0313\u0314\u0315\u0316\u0317", 200),
	"",
}

func hostileSegments(e *page.Explorer) []*page.Segment {
	var out []*page.Segment
	for i, h := range hostileTexts {
		seg := &page.Segment{ID: "hostile-" + fmt.Sprint(i+1) + " " + h[:min(30, len(h))], Document: h[:min(200, len(h))], Domain: "hostile", Source: text(h),
			References: []page.Reference{{Text: text(h), Prompt: -1}, {Prompt: 2, Detail: h[:min(40, len(h))]}}}
		for k := range 2 {
			o := page.Output{System: k, Text: text(h), Human: []float64{float64(k)}, Cells: []page.Numbers{{100, math.NaN()}, nil, nil}}
			for range e.Settings {
				o.Scores = append(o.Scores, page.DecidedBy(0, float64(10*i+k)))
			}
			o.Reports = []page.Report{{Judge: h[:min(20, len(h))], Outcome: "scored", Score: page.Number(math.Inf(-1)), Notes: []string{h}, Errors: []page.Error{
				{Span: [2]int{0, min(3, len([]rune(h)))}, Location: h, Type: h[:min(20, len(h))], Severity: "<b>", Explanation: h, Penalty: 1}}}}
			seg.Outputs = append(seg.Outputs, o)
		}
		out = append(out, seg)
	}
	missing := &page.Segment{ID: "nothing at all", Domain: "hostile"}
	return append(out, missing)
}

// largeExplorer has texts of the length of news, made of invented words.
func largeExplorer(segments, systems, references int) *page.Explorer {
	e := &page.Explorer{Humans: []string{"mqm"}, Prompts: demoPrompts, Settings: demoSettings[:4],
		Metrics: []page.Measure{{Name: "bleu", Digits: 1}, {Name: "chrf", Digits: 1}}}
	for k := range systems {
		e.Systems = append(e.Systems, fmt.Sprintf("system-%02d", k+1))
	}
	e.Segments = func(yield func(*page.Segment, error) bool) {
		r := rand.New(rand.NewPCG(3, 4))
		words := make([]string, 8000)
		for i := range words {
			for range 1 + r.IntN(4) {
				words[i] += string("bdfgklmnprstvz"[r.IntN(14)]) + string("aeiou"[r.IntN(5)])
			}
		}
		for n := range segments {
			base := make([]string, 12+r.IntN(25))
			for i := range base {
				base[i] = words[int(8000*math.Pow(r.Float64(), 3))]
			}
			reworded := func(share float64) refract.Text {
				out := append([]string(nil), base...)
				for i := range out {
					if r.Float64() < share {
						out[i] = words[r.IntN(len(words))]
					}
				}
				return text(strings.Join(out, " ") + ".")
			}
			seg := &page.Segment{ID: fmt.Sprint(n + 1), Document: fmt.Sprintf("doc-%d", n/10), Domain: []string{"news", "chat", "shop", "social"}[n%4], Source: reworded(1)}
			for k := range references {
				seg.References = append(seg.References, page.Reference{Text: reworded(0.3), Prompt: k%(len(demoPrompts)+1) - 1})
			}
			for k := range systems {
				o := page.Output{System: k, Text: reworded(0.2), Human: []float64{-float64(r.IntN(25))}}
				for range e.Metrics {
					row := make([]float64, references)
					for i := range row {
						row[i] = 100 * r.Float64()
					}
					o.Cells = append(o.Cells, row)
				}
				for range e.Settings {
					d := r.IntN(references)
					o.Scores = append(o.Scores, page.DecidedBy(d, o.Cells[0][d]))
				}
				seg.Outputs = append(seg.Outputs, o)
			}
			if !yield(seg, nil) {
				return
			}
		}
	}
	return e
}

func demoDocument(t *testing.T, e *page.Explorer) *page.Document {
	t.Helper()
	columns := []report.Column{
		{Name: "metric"}, {Name: "aggregate", Header: "aggregation"}, {Name: "n", Header: "references", Kind: report.KindInt},
		{Name: "pearson", Kind: report.KindFloat, Digits: 3}, {Name: "ci", Header: "95% interval", Kind: report.KindInterval, Digits: 3},
		{Name: "p", Header: "p against single", Kind: report.KindFloat, Digits: 3}, {Name: "signature", Hide: true},
	}
	var rows [][]report.Value
	for i, m := range []string{"bleu", "chrf", "ter", `<img src=x onerror="window.broken = 1">`} {
		for k, a := range []string{"single", "mean", "max", "native"} {
			v := 0.18 + 0.03*float64(i) + 0.012*float64(k)
			if i == 3 {
				v = 0.01 * float64(k-2)
			}
			p := report.Float(0.2 / math.Pow(8, float64(k)))
			if k == 0 {
				p = report.Null()
			}
			rows = append(rows, []report.Value{report.String(m), report.String(a), report.Int(1 + 9*min(k, 1)), report.Float(v), report.Interval(v-0.011, v+0.011), p, report.String("nrefs:10|case:mixed")})
		}
	}
	long := &report.NamedTable{Name: "all-settings", Title: "Every setting", Coverage: "29,958 of 30,000 cells have a score",
		Columns: []report.Column{{Name: "setting"}, {Name: "kendall", Kind: report.KindFloat, Digits: 4}, {Name: "pairs", Kind: report.KindInt}}}
	for i := range 300 {
		long.Rows = append(long.Rows, []report.Value{report.String(fmt.Sprintf("subset %d of prompts", i+1)), report.Float(math.Sin(float64(i))), report.Int(i * 17)})
	}
	ranking := &report.NamedTable{Name: "ranking-1", Title: "WMT-like test set", Columns: []report.Column{{Name: "system"}}}
	for k, name := range []string{"human (mqm)", "bleu, original", "bleu, max of 5", "bertscore-of-a-model-with-a-long-name, max of 5"} {
		ranking.Columns = append(ranking.Columns, report.Column{Name: fmt.Sprint("rank ", k), Header: name + ": rank", Kind: report.KindFloat},
			report.Column{Name: fmt.Sprint("score ", k), Header: name + ": score", Kind: report.KindFloat, Digits: 3, Secondary: k > 0})
	}
	for i, s := range demoSystems {
		n := len(demoSystems)
		ranking.Add(s, float64(i+1), -float64(i)*0.8, float64((i+3)%n+1), float64(31-(i+3)%n), float64((i+1)%n+1), float64(44-i), float64(i+1), 0.9442-0.0007*float64(i))
	}
	copy(ranking.Rows[5][1:], []report.Value{{}, {}})
	return &page.Document{
		Title: "More references for BLEU, chrF and TER",
		Claim: "Use the maximum over 10 references",
		Evidence: []string{"Against one reference, Kendall’s τ with mqm changes by +0.048 [0.042, 0.054] for BLEU (p < 0.001) and +0.028 [0.022, 0.034] for TER (p < 0.001).",
			"30,000 outputs of 1,875 segments by 6 systems have mqm scores, and every setting scores all of them."},
		Method: "Intervals: 95% bootstrap over segments. p-values: perm-both, corrected by Holm over 6 differences.",
		Terms:  report.Explanations(), Forests: []page.Figure{demoForest()}, Findings: []string{"Worse than one reference: −0.041 [−0.053, −0.029] for BLEU mean (p < 0.001)."},
		Facts: []report.Fact{{Name: "data", Value: "an invented test set, 6 systems, mqm"}, {Name: "bleu", Value: "nrefs:var|case:mixed|eff:no|tok:13a|smooth:exp|version:1.0"},
			{Name: "intervals", Value: "95%, bootstrap over segments, 1,000 samples, seed 7"}, {Name: "hostile", Value: `</script><script>window.broken = 1</script>`}},
		Figures:  []page.Figure{demoFigure()},
		Tables:   []*report.NamedTable{{Name: "correlations", Title: "Agreement with people", Columns: columns, Rows: rows, Coverage: "30,000 of 30,000 cells have a score", Notes: []string{"Segment level, averaged by item."}}, long, wideTable()},
		Rankings: []*report.NamedTable{ranking}, Explorer: e,
	}
}

// wideTable has more columns than are shown at once.
func wideTable() *report.NamedTable {
	t := &report.NamedTable{Name: "wide", Title: "What each part gains", Notes: []string{"nrefs:10|case:mixed|" + strings.Repeat("set:0123456789ab|", 6)}}
	for i := range 12 {
		c := report.Column{Name: fmt.Sprintf("column_%d", i+1), Header: fmt.Sprintf("value %d", i+1), Kind: report.KindFloat, Digits: 3, Secondary: i == 2}
		if i == 0 {
			c = report.Column{Name: "part", Kind: report.KindString}
		}
		t.Columns = append(t.Columns, c)
	}
	for i := range 4 {
		row := []report.Value{report.String(fmt.Sprintf("part %d", i+1))}
		for k := range 11 {
			row = append(row, report.Float(float64(k-5)/float64(i+3)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// demoForest has settings that gain, that lose, that gain only by another grouping, that
// are unclear, and that have no interval.
func demoForest() page.Figure {
	dots := &figure.Bars{Value: "difference in Kendall’s τ with mqm", Dots: true}
	f := page.Figure{ID: "forest-1", Title: "Every setting over 10 references, against one reference", Alt: "Forest plot: " + dots.Value, Panels: []figure.Panel{dots},
		Data: &report.NamedTable{Name: "forest-1", Notes: []string{"chrF: native and max are the same"}, Columns: []report.Column{{Name: "setting"}, {Name: "grouping"},
			{Name: "difference", Kind: report.KindFloat, Digits: 3}, {Name: "interval", Kind: report.KindInterval, Digits: 3}, {Name: "p", Kind: report.KindFloat, Digits: 3}}}}
	row := func(setting, grouping string, d, half float64) {
		f.Data.Add(setting, grouping, d, report.Interval(d-half, d+half), 0.0001)
		dots.Bars = append(dots.Bars, figure.Bar{Name: setting + ", " + grouping, Value: d, Low: d - half, High: d + half, Muted: d < half && d > -half, Worse: d < -half})
	}
	for i, metric := range []string{"BLEU", "chrF", "TER"} {
		by := float64(i) / 100
		row(metric+" max", "flattened", 0.048-by, 0.006)
		row(metric+" max", "by segment", 0.03-by, 0.012)
		row(metric+" mean", "flattened", -0.041+by, 0.012)
		row(metric+" mean", "by segment", 0.024, 0.01)
		row(metric+" native", "flattened", 0.004, 0.01)
		f.Data.Add(metric+" native", "by segment", -0.0002, nil, nil)
	}
	return f
}

func demoFigure() page.Figure {
	var panels []figure.Panel
	data := report.NamedTable{Title: "Pearson by number of references", Columns: []report.Column{{Name: "metric"}, {Name: "references", Kind: report.KindInt},
		{Name: "pearson", Kind: report.KindFloat, Digits: 3}, {Name: "interval", Kind: report.KindInterval, Digits: 3}}}
	for i, metric := range []string{"bleu", "chrf"} {
		line := figure.Series{Name: "max"}
		for k := range 11 {
			y := 0.25 + 0.03*float64(i) + 0.05*(1-math.Exp(-float64(k)/3))
			line.Points = append(line.Points, figure.Point{X: float64(k), Y: y, Low: y - 0.008, High: y + 0.008})
			data.Rows = append(data.Rows, []report.Value{report.String(metric), report.Int(k), report.Float(y), report.Interval(y-0.008, y+0.008)})
		}
		panels = append(panels, &figure.Lines{Title: metric, X: "variants added to the original", Y: "Pearson with mqm", Series: []figure.Series{line}})
	}
	return page.Figure{ID: "curve", Title: "Agreement by number of references", Panels: panels, Data: &data,
		Alt: "Two line charts. Pearson rises from 0.25 to 0.30 for bleu and from 0.28 to 0.33 for chrf, and flattens after seven variants.", Notes: []string{"Bands: 95% intervals."}, Findings: []string{"8 of 11 are enough: -0.001 [-0.002, 0.000] against all"}}
}

// collect keeps the segments of an explorer.
func collect(t *testing.T, segments iter.Seq2[*page.Segment, error]) []*page.Segment {
	t.Helper()
	var out []*page.Segment
	for s, err := range segments {
		require.NoError(t, err)
		out = append(out, s)
	}
	return out
}

package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/metrics"
)

// One question has one answer, whichever command is asked, and the library
// called by hand gives it too. A question is a statistic at a level, by a
// group, of a metric with an aggregator over a set of references.
type question struct{ metric, set, aggregate, level, group, statistic string }

// found is what a command says. A command that does not tell a count leaves
// it at untold.
type found struct {
	value                                float64
	n, missing, systems, groups, dropped int
}

const untold = -1

// reply is what came of asking one command a family of questions.
type reply struct {
	by      string
	exit    int
	answers map[question]found
	stderr  string
}

// family is what one run of each command answers.
type family struct {
	data         string // file of a dataset with variants
	level, group string
	metrics      []string
	aggregates   []string
	statistics   []string
	flags        []string // of all commands
}

// askHere runs a command in this process.
func askHere(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	e := &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, getenv: func(string) string { return "" }}
	code = e.run(context.Background(), args)
	return code, out.String(), errs.String()
}

// told is a row of any command's table.
type told struct {
	Metric, Aggregate, Level, Group, Statistic string
	Set, By                                    string
	K                                          int
	Value                                      *float64
	N, Missing                                 int
	Systems, Groups, Dropped                   *int
}

func rowsOf(t *testing.T, what, text string) []told {
	t.Helper()
	if strings.TrimSpace(text) == "" {
		return nil
	}
	var table struct{ Rows []told }
	err := json.Unmarshal([]byte(text), &table.Rows)
	require.NoError(t, err, "%s\n%s", what, text)
	return table.Rows
}

func (t *told) found() found {
	a := found{value: math.NaN(), n: t.N, missing: t.Missing, systems: untold, groups: untold, dropped: untold}
	if t.Value != nil {
		a.value = *t.Value
	}
	for to, from := range map[*int]*int{&a.systems: t.Systems, &a.groups: t.Groups, &a.dropped: t.Dropped} {
		if from != nil {
			*to = *from
		}
	}
	return a
}

// bare is the name of a statistic without what else a label says.
func bare(label string) string {
	label, _, _ = strings.Cut(label, ",")
	label, _, _ = strings.Cut(label, " by ")
	return label
}

func (f *family) common() []string {
	args := append([]string{"--per", f.level, "--group", f.group, "--resamples", "0"}, f.flags...)
	for _, m := range f.metrics {
		args = append(args, "-m", m)
	}
	return append(args, "-a", strings.Join(f.aggregates, ","))
}

// set is the dataset with all references, or with only the originals.
func (f *family) set(t *testing.T, set string) string {
	if set == "all" {
		return "jsonl:" + f.data
	}
	path := strings.TrimSuffix(f.data, ".jsonl") + ".original.jsonl"
	b, err := os.ReadFile(f.data)
	require.NoError(t, err)
	var out bytes.Buffer
	for line := range strings.Lines(string(b)) {
		var s map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &s))
		delete(s, "variants")
		b, _ := json.Marshal(s)
		out.Write(append(b, '\n'))
	}
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o644))
	return "jsonl:" + path
}

func (f *family) compare(t *testing.T) []reply {
	var out []reply
	for _, set := range []string{"all", "original"} {
		args := append([]string{"compare", f.set(t, set), "--statistic", strings.Join(f.statistics, ","), "-f", "json"}, f.common()...)
		code, stdout, stderr := askHere(t, args...)
		r := reply{by: "compare of " + set, exit: code, answers: map[question]found{}, stderr: stderr}
		for _, row := range rowsOf(t, r.by, stdout) {
			r.answers[question{row.Metric, set, row.Aggregate, row.Level, row.Group, row.Statistic}] = row.found()
		}
		out = append(out, r)
	}
	return out
}

func (f *family) curve(t *testing.T) []reply {
	var out []reply
	for _, st := range f.statistics {
		g := *f
		g.aggregates = slices.DeleteFunc(slices.Clone(f.aggregates), func(a string) bool { return a == "native" })
		args := append([]string{"compare", f.set(t, "all"), "--curve", "order", "-k", "0,99", "--statistic", st, "-f", "json"}, g.common()...)
		code, stdout, stderr := askHere(t, args...)
		r := reply{by: "curve of " + st, exit: code, answers: map[question]found{}, stderr: stderr}
		level, group := f.at(st)
		for _, row := range rowsOf(t, r.by, stdout) {
			set := "all" // of as many variants as there are
			if row.K == 0 {
				set = "original"
			}
			r.answers[question{row.Metric, set, row.Aggregate, level, group, st}] = row.found()
		}
		out = append(out, r)
	}
	return out
}

func (f *family) at(statistic string) (level, group string) {
	if strings.HasSuffix(statistic, "accuracy") {
		return "system", "none"
	}
	return f.level, f.group
}

func (f *family) experiment(t *testing.T) []reply {
	dir := t.TempDir()
	var b strings.Builder
	fmt.Fprintf(&b, "datasets:\n  - dataset: jsonl:%s\n", f.data)
	if slices.Contains(f.flags, "--missing=exclude") {
		b.WriteString("    allow_no_reference: true\n")
	}
	fmt.Fprintf(&b, "metrics: [%s]\naggregators: [%s]\n", strings.Join(f.metrics, ", "), strings.Join(f.aggregates, ", "))
	b.WriteString("references: [original, all]\nanalyses: []\nbootstrap: {resamples: 0}\nsignificance: {resamples: 0}\nstatistics:\n")
	for _, st := range f.statistics {
		if level, group := f.at(st); strings.HasSuffix(st, "accuracy") {
			fmt.Fprintf(&b, "  - %s\n", st)
		} else {
			fmt.Fprintf(&b, "  - {statistic: %s, level: %s, group: %s}\n", st, level, group)
		}
	}
	path := filepath.Join(dir, "x.yaml")
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o644))
	args := []string{"experiment", path, "--quiet", "--table", "rows", "-o", filepath.Join(dir, "rows.json")}
	code, _, stderr := askHere(t, args...)
	r := reply{by: "experiment", exit: code, answers: map[question]found{}, stderr: stderr}
	text, _ := os.ReadFile(filepath.Join(dir, "rows.json"))
	for _, row := range rowsOf(t, r.by, string(text)) {
		sets := []string{row.Set}
		if row.Set == "" || row.Aggregate == "single" {
			sets = []string{"original", "all"} // it is told once
		}
		for _, set := range sets {
			r.answers[question{row.Metric, set, row.Aggregate, row.Level, row.Group, bare(row.Statistic)}] = row.found()
		}
	}
	return []reply{r}
}

// byHand answers as somebody would who has the library and this comment:
// score, reduce, set beside the judgements, take means of what is judged and
// scored, correlate.
func (f *family) byHand(t *testing.T) reply {
	out := reply{by: "the library", answers: map[question]found{}}
	fail := func(err error) bool {
		if err != nil {
			out.exit, out.stderr = exitFailed, err.Error()
		}
		return err != nil
	}
	var settings []refract.Setting
	for _, spec := range f.metrics {
		m, err := new(env).registry().Parse(t.Context(), spec)
		require.NoError(t, err)
		for _, a := range f.aggregates {
			settings = append(settings, refract.Setting{Metric: m, Aggregator: aggregate.Must(a)})
		}
	}
	for _, set := range []string{"all", "original"} {
		ds, err := dataset.Open(f.set(t, set), dataset.Options{})
		require.NoError(t, err)
		var segments []*refract.SegmentScores
		engine, err := refract.NewEngine(settings, refract.Options{AllowNoReferences: slices.Contains(f.flags, "--missing=exclude")})
		require.NoError(t, err)
		if fail(engine.Run(context.Background(), ds, func(s *refract.SegmentScores) error { segments = append(segments, s); return nil })) {
			return out
		}
		systems := judgedSystems(segments)
		for setting, s := range settings {
			p := correlate.NewPairs(len(segments), len(systems))
			reducer := engine.Reducer()
			for i, seg := range segments {
				for h, hyp := range seg.Segment.Hypotheses {
					k := slices.Index(systems, hyp.System)
					if k < 0 {
						continue
					}
					red, err := reducer.Reduce(seg, setting, h)
					if fail(err) {
						return out
					}
					at := p.Index(i, k)
					p.Metric[at], p.MetricOK[at] = float64(s.Metric.Info().Direction)*red.Value, red.Status == metrics.Scored
				}
				for _, j := range seg.Segment.Judgements {
					if k := slices.Index(systems, j.System); k >= 0 && j.Valid {
						at := p.Index(i, k)
						p.Gold[at], p.GoldOK[at] = j.Score, true
					}
				}
			}
			for _, name := range f.statistics {
				st, err := correlate.ParseStatistic(name)
				require.NoError(t, err)
				level, group := f.at(name)
				g, _ := correlate.ParseGrouping(group)
				table := p
				if !st.OfSystems() && level != "segment" {
					of, n, err := f.groups(segments, level)
					if fail(err) {
						return out
					}
					table, err = p.Means(of, n)
					require.NoError(t, err)
				}
				res, err := correlate.Measure{Statistic: st, Grouping: g}.Of(table)
				require.NoError(t, err)
				missing := 0
				for i := range p.Gold {
					if !p.GoldOK[i] || !p.MetricOK[i] {
						missing++
					}
				}
				out.answers[question{s.Metric.Info().Name, set, s.Aggregator.Name(), level, group, name}] =
					found{res.Value, res.N, missing, len(systems), res.Groups, res.Dropped}
			}
		}
	}
	return out
}

// groups numbers segments by what their level is of: a domain and a document
// together name a document.
func (f *family) groups(segments []*refract.SegmentScores, level string) (of []int32, n int, err error) {
	index := map[[2]string]int32{}
	for _, s := range segments {
		key := [2]string{}
		switch level {
		case "document":
			key = [2]string{s.Segment.Domain, s.Segment.Document}
		case "domain":
			key = [2]string{s.Segment.Domain, "all"}
		}
		if level != "system" && slices.Contains(key[1:], "") || level == "domain" && key[0] == "" {
			return nil, 0, fmt.Errorf("segment %q has no %s", s.Segment.ID, level)
		}
		if _, ok := index[key]; !ok {
			index[key] = int32(len(index))
		}
		of = append(of, index[key])
	}
	return of, len(index), nil
}

func judgedSystems(segments []*refract.SegmentScores) []string {
	var out []string
	for _, s := range segments {
		for _, h := range s.Segment.Hypotheses {
			if !slices.Contains(out, h.System) {
				out = append(out, h.System)
			}
		}
	}
	return slices.DeleteFunc(out, func(system string) bool {
		return !slices.ContainsFunc(segments, func(s *refract.SegmentScores) bool {
			return slices.ContainsFunc(s.Segment.Judgements, func(j refract.Judgement) bool { return j.System == system && j.Valid })
		})
	})
}

// agree asks everyone, and wants one answer to each question.
func (f *family) agree(t *testing.T, replies ...reply) {
	t.Helper()
	replies = append(replies, slices.Concat(f.compare(t), f.curve(t), f.experiment(t))...)
	first := map[question]found{}
	by := map[question]string{}
	for _, r := range replies {
		if r.exit != replies[0].exit {
			t.Errorf("%s has the exit code %d, and %s has %d: %s / %s", r.by, r.exit, replies[0].by, replies[0].exit, r.stderr, replies[0].stderr)
		}
		for q, a := range r.answers {
			want, asked := first[q]
			if !asked {
				first[q], by[q] = a, r.by
				continue
			}
			if !a.equal(want) {
				t.Errorf("%+v: %s says %+v, and %s %+v", q, r.by, a, by[q], want)
			}
		}
	}
	assert.False(t, len(first) == 0 && replies[0].exit == 0, "nothing was answered")
}

func (f found) equal(b found) bool {
	same := func(x, y int) bool { return x == y || x == untold || y == untold }
	value := math.IsNaN(f.value) && math.IsNaN(b.value) || math.Abs(f.value-b.value) < 1e-12
	return value && f.n == b.n && same(f.missing, b.missing) && same(f.systems, b.systems) && same(f.groups, b.groups) && same(f.dropped, b.dropped)
}

// lines makes a dataset: two domains whose documents have the same names. spoil
// may take things out of a segment.
func lines(t *testing.T, spoil func(i int, s map[string]any)) string {
	words := strings.Fields("the old house stands near a quiet river where green boats wait for people who travel far from home every long summer")
	text := func(seed, n int) string {
		var out []string
		for i := range n {
			out = append(out, words[(seed*7+i*i*3+i*(seed%5+1))%len(words)])
		}
		return strings.Join(out, " ")
	}
	var b bytes.Buffer
	for i := range 12 {
		human, hyps := map[string]any{}, map[string]any{}
		for k, name := range []string{"a", "b", "c", "d"} {
			edit := strings.Fields(text(i, 9))
			for j := range (i*5+k*3)%4 + k%2 {
				edit[(j*2+k)%len(edit)] = words[(i+j+k*5)%len(words)]
			}
			hyps[name] = strings.Join(edit, " ")
			human[name] = float64((i*7+k*11+i*k)%19 - 2*((i*5+k*3)%4))
		}
		s := map[string]any{
			"id": fmt.Sprint("s", i), "source": text(i+3, 8), "domain": []string{"news", "chat"}[i/6], "document": fmt.Sprint("d", i%6/2),
			"references": []any{text(i, 9)}, "hypotheses": hyps, "human": map[string]any{"mqm": human},
			"variants": []any{
				map[string]any{"reference": 0, "prompt": "p", "sample": 0, "text": text(i, 7) + " indeed"},
				map[string]any{"reference": 0, "prompt": "q", "sample": 0, "text": "well " + text(i, 8)},
			},
		}
		if spoil != nil {
			spoil(i, s)
		}
		line, err := json.Marshal(s)
		require.NoError(t, err)
		b.Write(append(line, '\n'))
	}
	path := filepath.Join(t.TempDir(), "data.jsonl")
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o644))
	return path
}

// spoilers are what data lack.
var spoilers = map[string]func(i int, s map[string]any){
	"nothing": nil,
	"a document": func(i int, s map[string]any) {
		if i == 5 {
			delete(s, "document")
		}
	},
	"judgements": func(i int, s map[string]any) {
		human := s["human"].(map[string]any)["mqm"].(map[string]any)
		delete(human, "d") // of a whole system
		if i%4 == 1 {
			human["b"] = nil
		}
		if i == 9 {
			delete(s, "human")
		}
	},
	"references": func(i int, s map[string]any) {
		variants := s["variants"].([]any)
		switch i {
		case 2:
			s["variants"] = variants[:1]
		case 3:
			variants[1].(map[string]any)["text"] = nil
		case 4:
			s["references"] = []any{nil, "it was an old house"}
		}
	},
	"all references": func(i int, s map[string]any) {
		if i == 7 {
			s["references"] = []any{}
			delete(s, "variants")
		}
	},
	"outputs": func(i int, s map[string]any) {
		hyps := s["hypotheses"].(map[string]any)
		if i == 3 {
			delete(hyps, "a")
		}
		if i == 8 {
			hyps["c"] = nil
		}
	},
}

func TestOneQuestionHasOneAnswer(t *testing.T) {
	atLength(t)
	type at struct{ level, group string }
	all := []at{{"segment", "none"}, {"segment", "segment"}, {"segment", "system"}, {"document", "none"}, {"document", "system"},
		{"domain", "none"}, {"system", "none"}}
	for name, spoil := range spoilers {
		levels := all
		if name != "nothing" {
			levels = []at{{"segment", "none"}, {"document", "segment"}, {"domain", "none"}}
		}
		for _, l := range levels {
			t.Run(fmt.Sprintf("without %s at %s level by %s", name, l.level, l.group), func(t *testing.T) {
				f := &family{
					data: lines(t, spoil), level: l.level, group: l.group,
					metrics: []string{"chrf", "bleu", "ter"}, aggregates: []string{"single", "max", "mean", "native"},
					statistics: []string{"kendall", "pearson", "accuracy"},
				}
				f.agree(t, f.byHand(t))
				if name == "all references" {
					f.flags = []string{"--missing=exclude"}
					f.agree(t, f.byHand(t))
				}
			})
		}
	}
}

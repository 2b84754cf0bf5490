package check_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"go/format"
	"hash/fnv"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/refract-eval/refract/benchmarks/acceptance"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/diversify/language"
	"github.com/refract-eval/refract/diversify/language/lingua"
)

var (
	update  = flag.Bool("update", false, "fit the lexicon, the weights and the forest, and write them")
	without = flag.String("without", "", "fit without the sets of these names, separated by commas, and measure them")
)

// releasedSet is the name of the set, and the family, of released answers.
const releasedSet = "released"

// demoSet is the name of the set, and the family, of the answers of the demo.
const demoSet = "demo"

// demoAnswers are the answers of the demo, as clean items.
func demoAnswers(t *testing.T) (items []acceptance.Item) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "benchmarks", "demo", "answers.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var row struct {
			Request struct{ Prompt string }
			Text    string
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		_, reference, _ := strings.Cut(row.Request.Prompt, ": ")
		items = append(items, acceptance.Item{Name: fmt.Sprintf("demo/%d", len(items)+1), Family: demoSet, Reference: reference, Raw: row.Text, Want: row.Text, Usable: true})
	}
	return items
}

// squares is how much the squares of weights cost.
const squares = 1

// fitSets are the answers that the checks are fitted on, by set. What is held out is none
// of them.
func fitSets(t *testing.T) map[string][]acceptance.Item {
	t.Helper()
	dir := filepath.Dir(realData(t, "div-ref"))
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	bases, err := acceptance.ReleasedBases(t.Context(), dir)
	must(err)
	sets := map[string][]acceptance.Item{}
	for _, part := range []string{acceptance.Tuning, acceptance.Second} {
		set, err := acceptance.Read(part)
		must(err)
		own, err := set.Items(nil, 3)
		must(err)
		filled, err := set.Items(bases[part], 2)
		must(err)
		sets[part] = append(own, filled...)
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "benchmarks", "acceptance", "testdata", "*.jsonl"))
	must(err)
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), ".jsonl"); !slices.Contains(acceptance.HeldOut(), name) {
			sets[name], err = acceptance.ReadAnswers(t.Context(), file, dir)
			must(err)
		}
	}
	sets[demoSet] = demoAnswers(t)
	sets[releasedSet], err = acceptance.ReleasedAnswers(t.Context(), dir)
	must(err)
	return sets
}

// folds are how many shares the answers are divided into: what the lexicon says of an answer, for the
// weights and the forest, is fitted on the other shares.
const folds = 4

// foldOf is the share of an answer: all of a set by one writer are in the same one, and all
// of one wording.
func foldOf(set string, item acceptance.Item) int {
	if set == acceptance.Tuning || set == acceptance.Second || set == releasedSet || set == demoSet {
		parts := strings.SplitN(item.Name, "/", 4)
		set = strings.Join(parts[:min(3, len(parts))], "/")
	}
	h := fnv.New32a()
	h.Write([]byte(set))
	return int(h.Sum32() % folds)
}

// label tells of which parts of an answer it is known whether they are of the
// rewriting.
func label(c *check.Checker, item acceptance.Item) (out [check.Kinds][]labelled) {
	add := func(s check.Sample, yes bool) {
		if s.X != nil {
			out[s.Kind] = append(out[s.Kind], labelled{s.X, s.Given, yes})
		}
	}
	if !item.Usable {
		r := c.Segment("", []string{item.Reference}).Judge(check.Answer{Raw: item.Raw, HasText: true, Finish: item.Finish})
		if item.Family == "language" || item.Family == "broken" || r.Verdict != check.Accepted && r.Verdict != check.ReasonRefusal && r.Verdict != check.ReasonUnclear {
			return out // other checks are about it
		}
		add(check.Whole(c, item.Raw, item.Reference), false)
		if _, parts := check.Parts(c, item.Raw, item.Reference); len(parts) > 1 {
			for _, p := range parts {
				add(p, false)
			}
		}
		return out
	}
	add(check.Whole(c, item.Want, item.Reference), true)
	if _, parts := check.Parts(c, item.Raw, item.Reference); len(parts) > 1 {
		eachPart(c, item, func(p check.Sample, inside bool) { add(p, inside) })
	}
	return out
}

// eachPart calls back with the parts of a usable answer of which it is known whether they are
// of the rewriting.
func eachPart(c *check.Checker, item acceptance.Item, yield func(p check.Sample, inside bool)) {
	text, parts := check.Parts(c, item.Raw, item.Reference)
	want := acceptance.Letters(item.Want)
	begin := strings.Index(acceptance.Letters(text), want)
	if begin < 0 || want == "" {
		return
	}
	at := 0
	for _, p := range parts {
		from := at
		at += len(acceptance.Letters(p.Text))
		switch inside := from >= begin && at <= begin+len(want); {
		case from == at:
		case !inside && p.Shares: // it may be another rewriting
		case inside, at <= begin, from >= begin+len(want):
			yield(p, inside)
		}
	}
}

// talk tells of which parts of an answer it is known whether they are talk, by their
// phrases.
func talk(c *check.Checker, item acceptance.Item) (out []phrased) {
	if item.Family == "language" || item.Family == "broken" {
		return nil
	}
	add := func(p check.Sample, yes bool) {
		out = append(out, phrased{check.Phrases(item.Reference, p.Text), yes})
	}
	if item.Usable {
		eachPart(c, item, func(p check.Sample, inside bool) { add(p, !inside) })
		return out
	}
	_, parts := check.Parts(c, item.Raw, item.Reference)
	for _, p := range parts {
		add(p, true)
	}
	return out
}

// blocks tells of the blocks of an answer whether they are the rewriting.
func blocks(c *check.Checker, item acceptance.Item) (out []labelled) {
	if item.Family == "language" {
		return nil
	}
	var wants []string
	if item.Usable {
		for _, w := range append([]string{item.Want}, item.Also...) {
			wants = append(wants, acceptance.Letters(w))
		}
	}
	some := false
	all := check.Blocks(c, item.Raw, item.Reference)
	const most = 40
	every := 1 + len(all)/most // of those that are wrong
	for i, b := range all {
		letters := acceptance.Letters(b.Text)
		yes := letters != "" && slices.Contains(wants, letters)
		some = some || yes
		if yes || i%every == 0 {
			out = append(out, labelled{x: b.X, yes: yes})
		}
	}
	if item.Usable && !some {
		return nil
	}
	return out
}

// kept tells of what cleaning keeps of an answer, and no check but the last refuses, whether it is the
// rewriting.
func kept(c *check.Checker, item acceptance.Item) (out []labelled) {
	if item.Family == "language" {
		return nil
	}
	r := c.Segment("", []string{item.Reference}).Judge(check.Answer{Raw: item.Raw, HasText: true, Finish: item.Finish})
	if r.Verdict != check.Accepted && r.Verdict != check.ReasonUnclear {
		return nil
	}
	yes := item.Usable && item.Right(r.Text)
	if item.Family == releasedSet && !yes {
		// What should come out is not known, only that list numbers and quotation marks are no loss.
		yes = !slices.ContainsFunc(r.Cleaned, func(step string) bool { return step != check.StepList && step != check.StepQuotes })
		if !yes {
			return nil
		}
	}
	if x := check.Shown(c, item.Raw, item.Reference, r.Text); x != nil {
		out = append(out, labelled{x: x, yes: yes})
	}
	return out
}

// often is how much what is kept of an answer counts, beside its other blocks: the forest is
// asked about no other.
const often = 3

// fitted are the tables of the checks.
type fitted struct {
	lexicon map[string]float64
	weights check.Weights
	forest  string
}

func (f fitted) use() {
	check.UseLexicon(f.lexicon)
	check.Weigh(f.weights)
	check.UseForest(f.forest)
}

// fit fits all on some sets.
func fit(t *testing.T, c *check.Checker, sets map[string][]acceptance.Item) (f fitted) {
	names := slices.Sorted(maps.Keys(sets))
	each := func(yield func(fold int, item acceptance.Item)) {
		for _, name := range names {
			for _, item := range sets[name] {
				yield(foldOf(name, item), item)
			}
		}
	}
	var parts [folds][]phrased
	each(func(fold int, item acceptance.Item) { parts[fold] = append(parts[fold], talk(c, item)...) })
	var others [folds]map[string]float64 // fitted on all but the share
	for k := range others {
		var rest []phrased
		for i, p := range parts {
			if i != k {
				rest = append(rest, p...)
			}
		}
		others[k] = lexiconOf(rest)
	}
	f.lexicon = lexiconOf(slices.Concat(parts[:]...))
	t.Logf("%d parts, %d phrases", len(slices.Concat(parts[:]...)), len(f.lexicon))
	var samples [check.Kinds][]labelled
	var shown []labelled
	for k, l := range others {
		check.UseLexicon(l)
		each(func(fold int, item acceptance.Item) {
			if fold != k {
				return
			}
			for kind, more := range label(c, item) {
				samples[kind] = append(samples[kind], more...)
			}
		})
	}
	f.weights = check.Weighed()
	last := len(f.weights) - 1
	for kind := range samples {
		var of []labelled // the lexicon alone, beside what else is known
		for _, s := range samples[kind] {
			for k, v := range s.x[:last] {
				s.given += v * f.weights[k][kind]
			}
			of = append(of, labelled{s.x[last:], s.given, s.yes})
		}
		f.weights[last][kind] = math.Round(100*logistic(of, 1, squares)[0]) / 100
	}
	t.Logf("weights of the lexicon: %v", f.weights[last])
	check.Weigh(f.weights)
	for k, l := range others {
		check.UseLexicon(l)
		each(func(fold int, item acceptance.Item) {
			if fold == k {
				shown = append(shown, blocks(c, item)...)
				shown = append(shown, slices.Repeat(kept(c, item), often)...)
			}
		})
	}
	f.forest = booster{trees: 300, leaves: 16, rate: 0.08, least: 30, squares: 5, columns: 0.5, rows: 0.8}.fit(shown)
	t.Logf("%d blocks", len(shown))
	return f
}

// The checks are fitted with -update, which writes their tables, and measured on sets that they are
// fitted without with -without; what they do with those in use is in benchmarks/acceptance.
func TestFit(t *testing.T) {
	if !*update && *without == "" {
		t.Skip("no -update and no -without")
	}
	sets := fitSets(t)
	var cfg check.Config
	for _, p := range diversify.Prompts() {
		cfg.Prompts = append(cfg.Prompts, p.Text)
	}
	c := newChecker(t, cfg)
	left := map[string][]acceptance.Item{}
	for _, name := range strings.Split(*without, ",") {
		if items, ok := sets[name]; ok {
			left[name] = items
			delete(sets, name)
		}
	}
	f := fit(t, c, sets)
	f.use()
	sums := map[float64]acceptance.Count{}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		line := name + ":"
		for _, least := range []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7} {
			was := check.LeastTrust(least)
			table, _ := acceptance.Measure(left[name], func(i acceptance.Item) check.Result {
				c := checkerOf(t, i.Language, cfg.Prompts)
				return c.Segment("", []string{i.Reference}).Judge(check.Answer{Raw: i.Raw, HasText: true, Finish: i.Finish})
			})
			n := table.Total()
			line += fmt.Sprintf("  %.1f: %.2f/%.2f", least, 100*n.WrongShare(), 100*n.LostShare())
			sums[least] = sums[least].Add(n)
			check.LeastTrust(was)
		}
		t.Log(line)
	}
	for _, least := range slices.Sorted(maps.Keys(sums)) {
		n := sums[least]
		t.Logf("where the least trust is %.1f, %d wrong of accepted (%.2f %%), %d lost of usable (%.2f %%)", least, n.Wrong, 100*n.WrongShare(), n.Lost, 100*n.LostShare())
	}
	if *update {
		write(t, f)
	}
}

// write writes the tables.
func write(t *testing.T, f fitted) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	const weights = "weights.go"
	text, err := os.ReadFile(weights)
	must(err)
	head, _, _ := strings.Cut(string(text), "{\n")
	var b bytes.Buffer
	b.WriteString(head + "{\n")
	for k, w := range f.weights {
		fmt.Fprintf(&b, "{%.2f, %.2f, %.2f, %.2f}, // %d\n", w[0], w[1], w[2], w[3], k)
	}
	b.WriteString("}\n")
	text, err = format.Source(b.Bytes())
	must(err)
	must(os.WriteFile(weights, text, 0o644))

	by := map[float64][]string{}
	for phrase, w := range f.lexicon {
		by[w] = append(by[w], phrase)
	}
	b.Reset()
	for _, w := range slices.SortedFunc(maps.Keys(by), func(a, b float64) int { return cmp.Compare(b, a) }) {
		fmt.Fprintf(&b, "%g\t%s\n", w, strings.Join(slices.Sorted(slices.Values(by[w])), "\t"))
	}
	must(os.WriteFile("lexicon.txt", b.Bytes(), 0o644))
	must(os.WriteFile("forest.txt", []byte(f.forest), 0o644))
}

// checkerOf tells languages apart by models.
func checkerOf(t *testing.T, lang string, prompts []string) *check.Checker {
	t.Helper()
	d, err := language.New(language.Config{Language: lang, Models: models()})
	if err != nil {
		t.Fatal(err)
	}
	return newChecker(t, check.Config{Prompts: prompts, Detector: d})
}

var models = sync.OnceValue(lingua.New)

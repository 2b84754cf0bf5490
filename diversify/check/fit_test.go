package check_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/refract-eval/refract/benchmarks/acceptance"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/diversify/check"
)

var update = flag.Bool("update", false, "write the weights that are fitted into weights.go")

// releasedSet is the name of the set, and the family, of released answers.
const releasedSet = "released"

// squares is how much the squares of weights cost.
const squares = 1

// fitSets are the answers that weights are fitted on, by set. What is held out is none
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
		own, err := set.Items(nil, 6)
		must(err)
		filled, err := set.Items(bases[part], 3)
		must(err)
		sets[part] = append(own, filled...)
	}
	for _, name := range []string{"outside", "outside2", "outside3", "outside4", "outside5"} {
		sets[name], err = acceptance.ReadAnswers(t.Context(), filepath.Join("..", "..", "benchmarks", "acceptance", "testdata", name+".jsonl"), dir)
		must(err)
	}
	sets[releasedSet], err = acceptance.ReleasedAnswers(t.Context(), dir)
	must(err)
	return sets
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
		if item.Family == "language" || item.Family == "broken" || r.Verdict != check.Accepted && r.Verdict != check.ReasonRefusal {
			return out // other checks are about it
		}
		add(check.Whole(c, item.Raw, item.Reference), false)
		_, parts := check.Parts(c, item.Raw, item.Reference)
		for _, p := range parts {
			add(p, false)
		}
		return out
	}
	add(check.Whole(c, item.Want, item.Reference), true)
	if item.Family == releasedSet {
		return out // some have notes
	}
	text, parts := check.Parts(c, item.Raw, item.Reference)
	want := acceptance.Letters(item.Want)
	begin := strings.Index(acceptance.Letters(text), want)
	if begin < 0 || want == "" {
		return out
	}
	at := 0
	for _, p := range parts {
		from := at
		at += len(acceptance.Letters(p.Text))
		switch inside := from >= begin && at <= begin+len(want); {
		case from == at:
		case !inside && shares(p): // it may be another rewriting
		case inside, at <= begin, from >= begin+len(want):
			add(p, inside)
		}
	}
	return out
}

// shares reports whether a part has words of the reference.
func shares(s check.Sample) bool { return s.X != nil && s.X[4] > 0 }

// fitWeights fits the weights of each kind of part.
func fitWeights(samples [check.Kinds][]labelled) (w check.Weights) {
	for kind := range samples {
		for k, v := range logistic(samples[kind], len(w), squares) {
			w[k][kind] = v
		}
	}
	return w
}

// The weights of weights.go are better than fitted ones: these have more faults in what
// each outsider wrote, fitted on all but that, and in the released answers together.
func TestFit(t *testing.T) {
	sets := fitSets(t)
	var cfg check.Config
	for _, p := range diversify.Prompts() {
		cfg.Prompts = append(cfg.Prompts, p.Text)
	}
	c := newChecker(t, cfg)
	names := slices.Sorted(maps.Keys(sets))
	known := map[string][check.Kinds][]labelled{}
	for _, name := range names {
		var of [check.Kinds][]labelled
		for _, item := range sets[name] {
			for kind, more := range label(c, item) {
				of[kind] = append(of[kind], more...)
			}
		}
		known[name] = of
	}
	fitWithout := func(left string) check.Weights {
		var all [check.Kinds][]labelled
		for _, name := range names {
			for kind, more := range known[name] {
				if name != left {
					all[kind] = append(all[kind], more...)
				}
			}
		}
		return fitWeights(all)
	}
	faults := func(name string, w check.Weights) int {
		was := check.Weigh(w)
		defer check.Weigh(was)
		table, _ := acceptance.Measure(sets[name], func(i acceptance.Item) check.Result {
			return c.Segment("", []string{i.Reference}).Judge(check.Answer{Raw: i.Raw, HasText: true, Finish: i.Finish})
		})
		n := table.Total()
		return n.Lost + n.Wrong
	}
	fitted := fitWithout("")
	if *update {
		writeWeights(t, fitted)
		return
	}
	var now, then int
	for _, name := range names {
		if !strings.HasPrefix(name, "outside") {
			continue
		}
		a, b := faults(name, check.Weighed()), faults(name, fitWithout(name))
		t.Logf("%s: %d faults, %d with weights that are fitted on all but it", name, a, b)
		now, then = now+a, then+b
	}
	a, b := faults(releasedSet, check.Weighed()), faults(releasedSet, fitted)
	t.Logf("released: %d answers are changed or refused, %d with fitted weights", a, b)
	if then+b < now+a {
		t.Errorf("fitted weights have %d faults in place of %d: run go test ./diversify/check -run Fit -update, and raise the version of the rules", then+b, now+a)
	}
}

// writeWeights writes weights.go.
func writeWeights(t *testing.T, weights check.Weights) {
	t.Helper()
	const path = "weights.go"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(text), "{\n")
	var b bytes.Buffer
	b.WriteString(head + "{\n")
	for k, w := range weights {
		fmt.Fprintf(&b, "{%.2f, %.2f, %.2f, %.2f}, // %d\n", w[0], w[1], w[2], w[3], k)
	}
	b.WriteString("}\n")
	if text, err = format.Source(b.Bytes()); err == nil {
		err = os.WriteFile(path, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

package check_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/diversify/language"
)

var update = flag.Bool("update", false, "write the measured figures into testdata/figures.md")

// segment is a segment of Div-Ref's released sets: source, references, variants.
type segment []string

// released reads the released sets by language pair; some held-out answers quote parts of
// them. It skips the test if they are missing.
func released(t *testing.T) map[string][]segment {
	t.Helper()
	dir := cmp.Or(os.Getenv("REFRACT_DATA"), filepath.Join("..", "..", "..", "shared", "data"))
	if _, err := os.Stat(filepath.Join(dir, "div-ref")); err != nil {
		t.Skipf("no released sets: %v; set REFRACT_DATA to the folder that has div-ref and mt-metrics-eval-v2", err)
	}
	out := map[string][]segment{}
	for _, pair := range []string{"zh-en", "en-de", "en-ru"} {
		var ds refract.Dataset
		var err error
		if pair == "zh-en" {
			ds, err = dataset.Open("mtme:"+filepath.Join(dir, "mt-metrics-eval-v2", "wmt22", pair), dataset.Options{NoJudgements: true})
		} else {
			ds, err = dataset.OpenLines(dataset.LinesSpec{References: []string{filepath.Join(dir, "div-ref", "wmt22."+pair+".refA.txt")}}, dataset.Options{})
		}
		if err == nil {
			ds, err = dataset.WithReferences(ds, "div-ref-lines:"+filepath.Join(dir, "div-ref", "wmt22."+pair+".refA.diversified"), dataset.Options{})
		}
		require.NoError(t, err)
		for s, err := range ds.Segments(t.Context()) {
			require.NoError(t, err)
			texts := segment{s.Source.Value}
			for _, r := range s.References {
				texts = append(texts, r.Value)
			}
			for _, v := range s.Variants {
				texts = append(texts, v.Text.Value)
			}
			out[pair] = append(out[pair], texts)
		}
	}
	return out
}

// join decodes a text that may quote released texts, which are not in the project. It is a
// JSON string, or a list of strings and of [pair, segment, text, begin, end], which select
// bytes of a released text.
func join(t *testing.T, raw json.RawMessage, sets func() map[string][]segment) string {
	t.Helper()
	if raw[0] != '[' {
		var whole string
		decode(t, raw, &whole)
		return whole
	}
	var list []json.RawMessage
	decode(t, raw, &list)
	var b strings.Builder
	for _, p := range list {
		if p[0] != '[' {
			b.WriteString(join(t, p, sets))
			continue
		}
		var pair string
		var n, k, begin, end int
		decode(t, p, &[]any{&pair, &n, &k, &begin, &end})
		b.WriteString(sets()[pair][n][k][begin:end])
	}
	return b.String()
}

func decode(t *testing.T, raw []byte, into any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(raw, into))
}

// checkers returns the Checker that expand uses by default for a language.
func checkers(t *testing.T, models bool) func(code string) *check.Checker {
	made := map[string]*check.Checker{}
	return func(code string) *check.Checker {
		if made[code] == nil {
			cfg := check.Config{}
			for _, p := range diversify.Prompts() {
				cfg.Prompts = append(cfg.Prompts, p.Text)
			}
			cfg.Detector = language.New(language.Config{Language: code, Models: models})
			made[code] = newChecker(t, cfg)
		}
		return made[code]
	}
}

// figures counts results: kept answers came out as they should, lost ones are usable but were
// rejected, wrong ones were accepted but should have come out differently.
type figures struct{ answers, usable, kept, lost, wrong, clean, cleanKept int }

// Others wrote these three sets of answers. The rules for replies were made with their wrong
// answers in view, so that their figures are no longer blind. A line has a reference, an answer and the expected text: a string, one of {"any": […]}, or null for an
// answer that is not a rewriting.
func TestHeldOut(t *testing.T) {
	of := checkers(t, true)
	var sets map[string][]segment
	lazy := func() map[string][]segment {
		if sets == nil {
			sets = released(t)
		}
		return sets
	}
	var b strings.Builder
	b.WriteString("| set | answers | usable | lost | wrong | wrong of accepted | lost of usable | clean kept |\n" + strings.Repeat("|---", 8) + "|\n")
	var all figures
	for _, name := range []string{"heldout2", "heldout6", "heldout7"} {
		var f figures
		text, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
		require.NoError(t, err)
		for line := range bytes.Lines(text) {
			var row struct {
				Family, Language        string
				Reference, Answer, Want json.RawMessage
			}
			decode(t, line, &row)
			want := struct{ Any []json.RawMessage }{}
			switch row.Want[0] {
			case 'n':
			case '{':
				decode(t, row.Want, &want)
			default:
				want.Any = []json.RawMessage{row.Want}
			}
			s := of(row.Language).Segment("", []string{join(t, row.Reference, lazy)})
			r := s.Judge(check.Answer{Raw: join(t, row.Answer, lazy), HasText: true})
			right := slices.ContainsFunc(want.Any, func(w json.RawMessage) bool { return strings.TrimSpace(join(t, w, lazy)) == r.Text })
			clean := row.Family == "clean" && want.Any != nil
			f = f.add(figures{1, count(want.Any != nil), count(r.Verdict == check.Accepted && right),
				count(r.Verdict != check.Accepted && want.Any != nil), count(r.Verdict == check.Accepted && !right),
				count(clean), count(clean && r.Verdict == check.Accepted && right)})
		}
		f.row(&b, name)
		all = all.add(f)
	}
	all.row(&b, "all")
	golden(t, b.String())
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

func (f figures) add(g figures) figures {
	return figures{f.answers + g.answers, f.usable + g.usable, f.kept + g.kept, f.lost + g.lost, f.wrong + g.wrong, f.clean + g.clean, f.cleanKept + g.cleanKept}
}

func (f figures) row(b *strings.Builder, name string) {
	share := func(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }
	fmt.Fprintf(b, "| %s | %d | %d | %d | %d | %.1f %% | %.1f %% | %d of %d |\n", name, f.answers, f.usable, f.lost, f.wrong,
		share(f.wrong, f.kept+f.wrong), share(f.lost, f.usable), f.cleanKept, f.clean)
}

// golden compares got with testdata/figures.md, or writes the file.
func golden(t *testing.T, got string) {
	t.Helper()
	path := filepath.Join("testdata", "figures.md")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	diff := gocmp.Diff(string(want), got)
	assert.Equal(t, "", diff, "the figures are not those of %s (-want +got); where they are better, write them with -update\n", path)
}

// How many of the real, released answers for every tenth segment of zh-en are accepted, or of
// all 18,750 with REFRACT_WHOLE.
func TestReleased(t *testing.T) {
	want, every := 1727, 10
	if os.Getenv("REFRACT_WHOLE") != "" {
		want, every = 17349, 1
	}
	accepted, c := 0, checkers(t, false)("en")
	for i, texts := range released(t)["zh-en"] {
		if i%every > 0 {
			continue
		}
		s := c.Segment(texts[0], texts[1:2])
		for _, raw := range texts[len(texts)-10:] {
			accepted += count(s.Judge(check.Answer{Raw: raw, HasText: true}).Verdict == check.Accepted)
		}
	}
	assert.Equal(t, want, accepted)
}

// Of good rewordings of short questions and commands in seven languages, written before the
// rules that accept them, at most 5 % are lost in either form. Of statements that answer a
// question, written before the rule that rejects them, at most 5 % are accepted.
func TestShortQuestionsAndCommands(t *testing.T) {
	of := checkers(t, true)
	text, err := os.ReadFile(filepath.Join("..", "alarm", "testdata", "heldout.jsonl"))
	require.NoError(t, err)
	for _, field := range []bool{true, false} {
		all, wrong := map[string]int{}, map[string]int{}
		for line := range bytes.Lines(text) {
			var row struct{ Set, Language, Reference, Variant string }
			decode(t, line, &row)
			r := of(row.Language).Segment("", []string{row.Reference}).Judge(check.Answer{Raw: row.Variant, HasText: true, Field: field})
			all[row.Set]++
			if (r.Verdict == check.Accepted && r.Text == row.Variant) != (row.Set == "short") {
				wrong[row.Set]++
			}
		}
		for _, set := range []string{"short", "answer"} {
			t.Logf("JSON %t: %d of %d %s ones are judged wrongly", field, wrong[set], all[set], set)
			assert.LessOrEqual(t, 20*wrong[set], all[set], "JSON %t: more than 5 %% of the %s ones are judged wrongly", field, set)
		}
	}
}

// A model may speak to the one who asks also inside JSON. In languages without word lists, a
// statement about a question may be an indirect question.
func TestReplies(t *testing.T) {
	for _, x := range []struct{ language, ref, reply, verdict string }{
		{"en", "Tell me more.", "I'm ready, please provide the sentence.", "unclear"},
		{"en", "The cat sat on the mat.", "I am a language model and I have no feelings.", "unclear"},
		{"en", "The cat sat on the mat.", "The cat sat on the mat.\n\nThe sentence should start with a new sentence.", "unclear"},
		{"de", "Die Katze saß auf der Matte.", "Gerne, welchen Satz soll ich umformulieren?", "unclear"},
		{"fr", "Le chat était assis sur le tapis.", "Je suis prêt, veuillez fournir la phrase.", "unclear"},
		{"es", "El gato estaba sentado en la alfombra.", "Por favor, envíame el texto que quieres reformular.", "unclear"},
		{"ru", "Кот сидел на коврике.", "Я готов, пришлите предложение.", "unclear"},
		{"zh", "猫坐在垫子上。", "请提供您要改写的文本。", "unclear"},
		{"ja", "猫がマットの上に座っていた。", "言い換える文を教えてください。", "unclear"},
		{"en", "What is the capital of Peru?", "Lima is the capital of Peru.", "unclear"},
		{"en", "What is the capital of Peru?", "I'd like to know the capital of Peru.", check.Accepted},
		{"en", "Can you close the window?", "Close the window.", check.Accepted},
		{"en", "Please send me the text.", "Kindly provide the text.", check.Accepted},
		{"en", "Which cream shall I bring for you?", "Which cream would you like me to bring?", check.Accepted},
		{"it", "Qual è la capitale del Perù?", "Vorrei sapere quale sia la capitale del Perù.", check.Accepted},
	} {
		c := newChecker(t, check.Config{Language: x.language})
		if r := c.Segment("", []string{x.ref}).Judge(check.Answer{Raw: x.reply, HasText: true, Field: true}); r.Verdict != x.verdict {
			t.Errorf("%q for %q: %s (%s), want %s", x.reply, x.ref, r.Verdict, r.Detail, x.verdict)
		}
	}
}

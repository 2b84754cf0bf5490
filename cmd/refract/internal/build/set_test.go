package build

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/llm"
)

// folder is a set in memory.
type folder struct {
	dir   string
	files map[string][]byte
}

func (f *folder) Path() string { return f.dir }

func (f *folder) Write(name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	err := write(&b)
	f.files[name] = b.Bytes()
	return err
}

func written(t rapid.TB, dir string, s *Set) *folder {
	f := &folder{dir, map[string][]byte{}}
	_, err := s.Write(f)
	require.NoError(t, err)
	return f
}

// No text is used both for training and for validation.
func TestSplitByText(t *testing.T) {
	recipe := loaded(t, "instructscore")
	rapid.Check(t, func(rt *rapid.T) {
		s := &Set{served: []served{{Endpoint: llm.Completions}}, Recipe: recipe, Validation: 0.5, Seed: rapid.Uint64().Draw(rt, "seed")}
		group := rapid.SampledFrom([]string{"A text.", "a  TEXT.", "Another.", "One more.", "A fifth."})
		for range rapid.IntRange(1, 20).Draw(rt, "items") {
			g := group.Draw(rt, "group")
			it := &Item{Task: "mt_zh-en", Group: g, Prompt: g, Completion: "c"}
			if rapid.Bool().Draw(rt, "left out") {
				it.Rule = RuleRepeat
			}
			s.Items = append(s.Items, it)
		}
		f := written(rt, t.TempDir(), s)
		prompts := func(name string) map[string]bool {
			all := map[string]bool{}
			for line := range strings.Lines(string(f.files[name])) {
				var row struct{ Prompt string }
				require.NoError(rt, json.Unmarshal([]byte(line), &row))
				all[folded(row.Prompt)] = true
			}
			return all
		}
		train := prompts("train.jsonl")
		for text := range prompts("validation.jsonl") {
			require.False(rt, train[text], "%q is on both sides", text)
		}
	})
}

// Untrusted texts have no effect in the card.
func TestCardIsHarmless(t *testing.T) {
	s := &Set{
		License: "a: b", served: []served{{}}, Recipe: loaded(t, "instructscore"), Teacher: Model{Name: "<script>|m"},
		Inputs: []Input{{Spec: "jsonl:a_b*.jsonl", Set: "0"}},
		Items:  []*Item{{Task: "mt_zh-en", Rule: RuleCut}},
	}
	card := string(written(t, t.TempDir(), s).files[cardFile])
	for _, bad := range []string{"\nlicense: mit", "<script>", "a_b*"} {
		assert.NotContains(t, card, bad)
	}
	assert.Contains(t, card, "left out: cut | 1 |", "no count of the rule")
}

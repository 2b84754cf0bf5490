package diversify_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"

	"github.com/stretchr/testify/assert"
)

// Planted changes are spread evenly over a dataset of known length, and otherwise go into its
// first segments. Without a verdict, a change counts as neither caught nor missed.
func TestPlants(t *testing.T) {
	var ds segments
	for i := range 20 {
		ds = append(ds, &refract.Segment{ID: fmt.Sprint(i), References: []refract.Text{
			refract.NewText(fmt.Sprintf("The old train to Lindenau is late on day %d.", i)),
			refract.NewText(fmt.Sprintf("On day %d, the old train to Lindenau arrives late.", i)),
		}})
	}
	var answered atomic.Int64
	for name, c := range map[string]struct {
		segments int
		silent   bool
		in       string // segments with a plant
		human    int
	}{
		"known":   {20, false, "4 9 14 19", 4},
		"unknown": {0, false, "0 1 2 3", 4},
		"silent":  {20, true, "", 4},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(sayer(func(r llm.Request) string {
				said, isJudge := llmtest.Verdicts(r.Prompt, func(_, text string) (changed, words string) {
					if strings.HasPrefix(text, "Once more the old train to Lindenau is late, as 1") || strings.Contains(text, "arrives late") {
						return "same", ""
					}
					if c.silent {
						return "", ""
					}
					return "other", "planted"
				})
				if isJudge {
					return said
				}
				return fmt.Sprintf("Once more the old train to Lindenau is late, as 1%d.", answered.Add(1))
			}))
			cfg.Prompts, cfg.Check = ten(t, "order"), checker(t, check.ReasonCopy)
			cfg.Equivalence = &diversify.Equivalence{Model: "j"}
			cfg.Plant, cfg.Segments = 4, c.segments
			out, _ := mustRun(t, newExpander(t, cfg), ds)
			var in []string
			human := 0
			for _, s := range out {
				if s.Judged == nil || s.Judged.Asked != 2 || len(s.Variants) != 2 || s.Judged.Flagged+s.Judged.HumanFlagged != 0 {
					t.Fatalf("segment %s: %+v", s.ID, s.Judged)
				}
				human += s.Judged.Human
				for _, p := range s.Judged.Planted {
					in = append(in, s.ID)
					assert.True(t, p.Caught, "segment %s: %+v", s.ID, p)
				}
			}
			if got := strings.Join(in, " "); got != c.in || human != c.human {
				t.Errorf("planted in %s with %d by people, want %s with %d", got, human, c.in, c.human)
			}
		})
	}
}

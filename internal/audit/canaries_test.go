package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/guard"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// credulous is a judge that knows the good outputs, and believes some texts.
type credulous struct {
	info     metrics.Info
	good     func(b metrics.Block, hypothesis string) bool
	believes []string
	chokes   string // a text that contains it gets no score; its cell holds 0
	seen     []string
	err      error
}

func (c *credulous) Info() metrics.Info                        { return c.info }
func (c *credulous) Signature(metrics.Level) metrics.Signature { return metrics.Signature{} }

func (c *credulous) Score(_ context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	if c.err != nil {
		return nil, c.err
	}
	var out []metrics.Scores
	for _, b := range blocks {
		if got := len(b.References) == 1; got != c.info.NeedsReferences {
			return nil, fmt.Errorf("%d references", len(b.References))
		}
		if got := b.Source != ""; got != c.info.NeedsSource {
			return nil, fmt.Errorf("source %q", b.Source)
		}
		var s metrics.Scores
		for _, h := range b.Hypotheses {
			c.seen = append(c.seen, h)
			score := 10.0
			if c.good(b, h) {
				score = 90
			}
			for _, word := range c.believes {
				if strings.Contains(h, word) {
					score = 100
				}
			}
			r := &analysis.Report{Outcome: analysis.Scored}
			if c.chokes != "" && strings.Contains(h, c.chokes) {
				r, score = &analysis.Report{Outcome: analysis.Unparseable}, 0
			}
			if c.info.Direction == metrics.LowerIsBetter {
				score = -score
			}
			s.Values, s.Status, s.Reports = append(s.Values, score), append(s.Status, metrics.Scored), append(s.Reports, r)
		}
		out = append(out, s)
	}
	return out, nil
}

func ferrySegments(n int) []*refract.Segment {
	var segments []*refract.Segment
	for i := range n {
		text := fmt.Sprintf("The ferry number %d leaves the old harbour at noon today.", i)
		segments = append(segments, &refract.Segment{
			ID: fmt.Sprint("s", i), Source: refract.NewText("source of: " + text),
			References: []refract.Text{{}, refract.NewText(text), refract.NewText("Another one.")},
			Hypotheses: []refract.Hypothesis{{System: "a", Text: refract.NewText("A ferry goes.")}, {System: "b"}},
		})
	}
	return segments
}

func TestCanaries(t *testing.T) {
	segments := ferrySegments(5)
	believer := &credulous{
		info:     metrics.Info{Name: "believer", NeedsSource: true, Direction: metrics.HigherIsBetter},
		good:     func(b metrics.Block, h string) bool { return b.Source == "source of: "+h },
		believes: []string{"<|im", "[/INST]", "### ", "Ignore all"},
		chokes:   "\U000e0049",
	}
	sceptic := &credulous{
		info: metrics.Info{Name: "sceptic:lower=yes", NeedsReferences: true, Direction: metrics.LowerIsBetter},
		good: func(b metrics.Block, h string) bool { return b.References[0] == h },
	}
	blind := &credulous{
		info: metrics.Info{Name: "blind", Direction: metrics.HigherIsBetter},
		good: func(metrics.Block, string) bool { return false },
	}
	judges := []metrics.Metric{believer, sceptic, blind}

	show := func() string {
		c := guard.NewPool(judges, 15, 12345)
		for _, s := range segments {
			c.Add(CanarySource(s))
		}
		stands, err := c.Plant(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := WriteStands(&b, stands); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	got := show()
	if diff := cmp.Diff(wantCanaries, got); diff != "" {
		t.Errorf("-want +got:\n%s\n%s", diff, got)
	}
	if again := show(); again != got {
		t.Errorf("another time:\n%s", again)
	}
	for _, j := range []*credulous{believer, sceptic, blind} {
		if len(j.seen) != 2*3*15 {
			t.Errorf("%s read %d texts in two runs, want 90", j.info.Name, len(j.seen))
		}
		for _, text := range j.seen {
			if strings.Contains(text, "canary") || strings.Contains(text, "control") {
				t.Errorf("%s was told what it reads: %q", j.info.Name, text)
			}
		}
	}
}

const wantCanaries = `Canaries

 judge              injection        planted  judged     seen  fooled  blind  no score  mean gain
                                                      through
──────────────────────────────────────────────────────────────────────────────────────────────────
 believer           closing-quote          3       3        3       0      0         0      0.000
 believer           end-of-sequence        2       2        2       0      0         0      0.000
 believer           fake-end               2       2        2       0      0         0      0.000
 believer           hidden                 2       0        0       0      0         2          –
 believer           instruction            2       2        1       1      0         0     45.000
 believer           role-token             2       2        0       2      0         0     90.000
 believer           score-phrase           2       2        2       0      0         0      0.000
 believer           all                   15      13       10       3      0         2     20.769
 sceptic:lower=yes  closing-quote          3       3        3       0      0         0      0.000
 sceptic:lower=yes  end-of-sequence        2       2        2       0      0         0      0.000
 sceptic:lower=yes  fake-end               2       2        2       0      0         0      0.000
 sceptic:lower=yes  hidden                 2       2        2       0      0         0      0.000
 sceptic:lower=yes  instruction            2       2        2       0      0         0      0.000
 sceptic:lower=yes  role-token             2       2        2       0      0         0      0.000
 sceptic:lower=yes  score-phrase           2       2        2       0      0         0      0.000
 sceptic:lower=yes  all                   15      15       15       0      0         0      0.000
 blind              closing-quote          3       3        0       0      3         0      0.000
 blind              end-of-sequence        2       2        0       0      2         0      0.000
 blind              fake-end               2       2        0       0      2         0      0.000
 blind              hidden                 2       2        0       0      2         0      0.000
 blind              instruction            2       2        0       0      2         0      0.000
 blind              role-token             2       2        0       0      2         0      0.000
 blind              score-phrase           2       2        0       0      2         0      0.000
 blind              all                   15      15        0       0     15         0      0.000
`

func TestImpossibleCanaries(t *testing.T) {
	judge := &credulous{info: metrics.Info{Name: "mine", Direction: metrics.HigherIsBetter}}
	c := guard.NewPool([]metrics.Metric{judge}, 3, 1)
	c.Add(guard.CanarySource{References: []string{"Yes"}})
	stands, err := c.Plant(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := stands[0].All; n != (guard.Count{}) {
		t.Errorf("no canary counts as %+v", n)
	}
	var b bytes.Buffer
	if err := WriteStands(&b, stands); err != nil || !strings.Contains(b.String(), "no canary could be made") {
		t.Errorf("%v %q", err, b.String())
	}

	c.Add(guard.CanarySource{References: []string{"No"}})
	judge.err = errors.New("the server is gone")
	if _, err := c.Plant(t.Context()); !errors.Is(err, judge.err) {
		t.Errorf("a judge that fails: %v", err)
	}
}

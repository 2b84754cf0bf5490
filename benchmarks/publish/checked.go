package publish

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
)

// Checked sums up the verdicts of a judge of meaning in an expansion. The zero value is ready
// for use.
type Checked struct {
	models         []string
	flagged, human Share
	planted        Share // planted changes, and how many were caught
	kinds          []kind
	unseen         int // variants that the judge was not asked about
	unjudged       int // texts on which it gave no verdict
	accepted, kept int // answers that it let pass, and variants of their segments in this set
}

// kind is a kind of planted changes, and how many of them were caught.
type kind struct {
	name string
	Share
}

// Add adds the verdicts on a segment.
func (c *Checked) Add(s *refract.Segment) {
	d := s.Judged
	if d == nil {
		c.unseen += len(s.Variants)
		return
	}
	passed := d.Asked - d.Flagged
	c.unseen += max(0, len(s.Variants)-passed)
	c.accepted, c.kept, c.unjudged = c.accepted+passed, c.kept+min(passed, len(s.Variants)), c.unjudged+d.Unjudged
	if !slices.Contains(c.models, d.Model) {
		c.models = append(c.models, strings.Clone(d.Model))
	}
	c.flagged.K, c.flagged.N = c.flagged.K+d.Flagged, c.flagged.N+d.Asked
	c.human.K, c.human.N = c.human.K+d.HumanFlagged, c.human.N+d.Human
	for _, p := range d.Planted {
		i := slices.IndexFunc(c.kinds, func(k kind) bool { return k.name == p.Kind })
		if i < 0 {
			i = len(c.kinds)
			c.kinds = append(c.kinds, kind{name: strings.Clone(p.Kind)})
		}
		c.kinds[i].N++
		c.planted.N++
		if p.Caught {
			c.kinds[i].K++
			c.planted.K++
		}
	}
}

// Any reports whether a judge was asked about any answer.
func (c *Checked) Any() bool { return c.flagged.N+c.unjudged > 0 }

// interval formats a share with its interval, such as "46 of 50 planted changes (81–98 %)".
func (s Share) interval(what string) string {
	low, high := ClopperPearson(s.K, s.N)
	return fmt.Sprintf("%d of %s (%s–%s %%)", s.K, english.Thousands(s.N, what), percent(low), percent(high))
}

// percent formats a share. It adds a decimal if the rounded number would wrongly be 0 or 100.
func percent(share float64) string {
	whole := fmt.Sprintf("%.0f", 100*share)
	if share > 0 && whole == "0" || share < 1 && whole == "100" {
		return fmt.Sprintf("%.1f", 100*share)
	}
	return whole
}

// String returns a sentence such as "meaning checked by j: caught 46 of 50 planted changes
// (81–98 %): name 9 of 10, …; flagged 2 of 50 human references (0–14 %); estimated changed
// among accepted: 1.1 % (0–4 %)".
func (c *Checked) String() string {
	said := c.said()
	if c.kept < c.accepted {
		said += fmt.Sprintf("; this is of the %s that it let pass, of which %d are here", english.Thousands(c.accepted, "answer"), c.kept)
	}
	if c.unjudged > 0 {
		said += fmt.Sprintf("; without a verdict: %s", english.Thousands(c.unjudged, "text"))
	}
	if c.Any() && c.unseen > 0 {
		said += fmt.Sprintf("; not shown to it: %s", english.Thousands(c.unseen, "accepted variant"))
	}
	return said
}

func (c *Checked) said() string {
	if !c.Any() {
		return "meaning not checked"
	}
	if len(c.models) > 1 {
		return fmt.Sprintf("meaning checked by %s, which cannot be measured together", strings.Join(c.models, " and "))
	}
	if c.flagged.N == 0 {
		return fmt.Sprintf("meaning not known: %s gave no verdict on an answer", c.models[0])
	}
	said := fmt.Sprintf("meaning checked by %s: ", c.models[0])
	if c.planted.N == 0 {
		return said + fmt.Sprintf("it flagged %s; how many changes it misses was not measured", c.flagged.interval("answer"))
	}
	e := EstimateChanged(c.planted, c.human, c.flagged)
	if e.Chance {
		said = fmt.Sprintf("meaning not known: %s is not shown to be better than chance: ", c.models[0])
	}
	var kinds []string
	for _, k := range c.kinds {
		kinds = append(kinds, fmt.Sprintf("%s %d of %d", k.name, k.K, k.N))
	}
	said += "caught " + c.planted.interval("planted change") + ": " + strings.Join(kinds, ", ")
	if c.human.N > 0 {
		said += "; flagged " + c.human.interval("human reference")
	}
	said += fmt.Sprintf("; flagged %s", c.flagged.interval("answer"))
	switch {
	case e.Chance:
		return said + "; no estimate"
	case c.human.N == 0:
		return said + fmt.Sprintf("; changed among accepted: at most %.1f %%, if it flags no good one, which second references by people would tell", 100*e.High)
	}
	return said + fmt.Sprintf("; estimated changed among accepted: %.1f %% (%s–%s %%)", 100*e.Share, percent(e.Low), percent(e.High))
}

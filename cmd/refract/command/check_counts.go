package command

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/report"
)

// writeCounts shows the verdicts that answers, or references by people, were
// given: with examples below where there are some.
func (k *checking) writeCounts(w io.Writer, signature string, n *diversify.Counts) error {
	notes := newNotes()
	if k.human {
		notes.add(fmt.Sprintf("%d segments, %d references, %d references after the first one; segments without any: %d", n.Segments, n.References, n.Answers, n.Without))
		if caught, of := n.FalseAlarms(); of > 0 {
			notes.add(fmt.Sprintf("false alarms, copies and duplicates left out: %d of %d (%.2f %%)", caught, of, 100*float64(caught)/float64(of)))
		}
	} else {
		notes.add(fmt.Sprintf("%d segments, %d references, %d variants; segments without any: %d", n.Segments, n.References, n.Answers, n.Without))
		if with := n.Segments - n.Without; with > 0 {
			notes.add(fmt.Sprintf("accepted of a segment: %d at least, %.2f on average", n.Fewest, float64(n.Accepted)/float64(with)))
		}
	}
	notes.add("checks: " + signature)

	var rows [][]report.Value
	add := func(kind string, c *diversify.Count, show func(x *diversify.Example) string) {
		var examples []string
		for i := range c.Examples {
			line := c.Examples[i].Where + ": " + show(&c.Examples[i])
			examples = append(examples, line)
			notes.add(c.Name + ": " + line)
		}
		all := report.Null()
		if k.examples > 0 {
			all = report.String(strings.Join(examples, "\n"))
		}
		rows = append(rows, []report.Value{
			report.String(kind), report.String(c.Name), report.Int(c.Answers), report.Float(float64(c.Answers) / float64(n.Answers)),
			report.Int(c.Segments), report.Float(float64(c.Segments) / float64(n.Segments)), all,
		})
	}
	for _, c := range n.Verdicts() {
		add("verdict", &c, func(x *diversify.Example) string {
			if x.Detail == "" { // of a verdict that no check gives
				return shorten(x.Text)
			}
			return x.Detail + ": " + shorten(x.Text)
		})
	}
	for _, c := range n.Steps() {
		add("cleaning", &c, func(x *diversify.Example) string { return shorten(x.Raw) + " became " + shorten(x.Text) })
	}
	t, err := k.table.table(w, []report.Column{
		{Name: "kind"},
		{Name: "name"},
		{Name: "answers", Kind: report.KindInt},
		{Name: "share", Kind: report.KindFloat, Digits: 4},
		{Name: "segments", Kind: report.KindInt},
		{Name: "segment_share", Header: "of segments", Kind: report.KindFloat, Digits: 4},
		{Name: "examples", Hide: true},
	}, report.Options{Notes: notes.lines})
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := t.Row(row...); err != nil {
			return err
		}
	}
	return t.Close()
}

// shorten quotes the two ends of a text.
func shorten(s string) string {
	const most = 100
	r := []rune(s)
	if len(r) > most {
		s = string(r[:most/2]) + " … " + string(r[len(r)-most/2:])
	}
	return "“" + report.Visible(s) + "”"
}

// nothingToCheck says why there was nothing.
func (k *checking) nothingToCheck() error {
	if k.human {
		return errors.New("no segment has a second reference; --human compares the references that people wrote: " +
			"name them with --reference, or give several --ref files")
	}
	return errors.New("the dataset has no variant to check; name expanded references with --references")
}

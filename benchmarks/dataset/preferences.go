package dataset

import (
	"context"
	"io"
	"iter"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/idset"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

// A preference is a segment with two outputs, of the systems "a" and "b", and
// a judgement of each with the name below, of which the higher is preferred;
// equal ones are a tie. Where people voted, they are the numbers of votes.
const (
	preferenceName = "preference"
	systemA        = "a"
	systemB        = "b"
)

// setPreference makes s a preference.
func setPreference(s *refract.Segment, a, b refract.Text, scoreA, scoreB float64, valid bool) {
	s.Hypotheses = []refract.Hypothesis{{System: systemA, Text: a}, {System: systemB, Text: b}}
	s.Judgements = []refract.Judgement{
		{Name: preferenceName, System: systemA, Score: scoreA, Valid: valid},
		{Name: preferenceName, System: systemB, Score: scoreB, Valid: valid}}
}

// preferences is a dataset of pairs in JSON Lines.
type preferences struct {
	in *input
	o  Options
}

func openPreferences(place string, o Options) (refract.Dataset, error) {
	in, err := newInput(place)
	if err != nil {
		return nil, err
	}
	if !o.NoJudgements {
		for _, name := range o.JudgementNames {
			if name != preferenceName {
				return nil, failFile(place, "has no human scores %s; it has %q", text.Quote(name), preferenceName)
			}
		}
	}
	return &preferences{in, o}, nil
}

// HumanNames returns the one name.
func (d *preferences) HumanNames() []string { return []string{preferenceName} }

func (d *preferences) rereadable() bool { return !d.in.stream }

func (d *preferences) firstReferences(ctx context.Context) iter.Seq2[refract.Text, error] {
	return firstsOf(d.Segments(ctx))
}

func (d *preferences) firstStream() *input {
	if d.in.stream {
		return d.in
	}
	return nil
}

// Segments yields the pairs in the order of the lines.
func (d *preferences) Segments(ctx context.Context) iter.Seq2[*refract.Segment, error] {
	return func(yield func(*refract.Segment, error) bool) {
		l, err := d.in.lines(ctx, d.o.Warn)
		if err != nil {
			yield(nil, err)
			return
		}
		defer l.close()
		var c coverage
		ids := idset.New()
		for {
			s, err := nextPreference(ctx, l)
			if err == io.EOF {
				break
			}
			if err == nil {
				if first, again := ids.Add(s.ID, int64(l.line)); again {
					err = failAt(s.Pos, 0, "id %s is that of line %d already; ids must be unique", text.Quote(s.ID), first)
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
			s.Judgements = d.o.judgementsOf(s.Judgements)
			c.add(s)
			if !yield(s, nil) {
				return
			}
		}
		if c.segments == 0 {
			yield(nil, failFile(d.in.name, "the dataset is empty: no segment at all"))
			return
		}
		c.report(d.in.name, d.o.Warn)
	}
}

func nextPreference(ctx context.Context, l *lineReader) (*refract.Segment, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	line, err := l.next()
	if err != nil {
		return nil, err
	}
	return parsePreference(line, l.pos())
}

var preferenceFields = []string{"id", "source", "references", "a", "b", "preferred", "votes", "category", "document"}

// parsePreference reads {"id":"1","source":"…","references":["…"],"a":"…",
// "b":"…","preferred":"a","votes":{"a":30,"b":18,"tie":0},"category":"HC",
// "document":"…"}, of which a and b are required. An absent id is the number of
// the line.
func parsePreference(line []byte, pos refract.Position) (*refract.Segment, error) {
	s := &refract.Segment{Pos: pos, ID: ordinal(pos.Line - 1)}
	var a, b refract.Text
	var preferred string
	var votes map[string]float64
	has := map[string]bool{}
	err := scanLine(line, pos, func(r *jsonline.Reader) error {
		return r.Fields(preferenceFields, func(name string) (err error) {
			has[name] = true
			switch name {
			case "id":
				s.ID, err = readID(r)
			case "source":
				s.Source, err = readText(r)
			case "references":
				s.References, err = readTexts(r)
			case "a":
				a, err = readText(r)
			case "b":
				b, err = readText(r)
			case "preferred":
				at := r.Offset()
				var t refract.Text
				t, err = readText(r)
				if preferred = t.Value; err == nil && t.Valid && !slices.Contains(winners, preferred) {
					err = jsonline.Fault(at, `field preferred is %s; write "a", "b", "tie", or null where nobody says`, text.Quote(preferred))
				}
			case "votes":
				votes, err = readVotes(r)
			case "category":
				s.Domain, err = readOptional(r)
			case "document":
				s.Document, err = readOptional(r)
			}
			return err
		})
	})
	for _, field := range []string{"a", "b"} {
		if err == nil && !has[field] {
			err = failAt(pos, 0, "the pair has no field %q; write null for a missing text", field)
		}
	}
	if err != nil {
		return nil, err
	}
	winner := ""
	switch {
	case votes == nil:
		winner = preferred
		votes = map[string]float64{preferred: 1}
	case votes["a"] > votes["b"]:
		winner = "a"
	case votes["a"] < votes["b"]:
		winner = "b"
	default:
		winner = "tie"
	}
	if preferred != "" && winner != preferred {
		return nil, failAt(pos, 0, "preferred is %q, but the votes are %g for a and %g for b", preferred, votes["a"], votes["b"])
	}
	setPreference(s, a, b, votes["a"], votes["b"], winner != "")
	return s, nil
}

// winners are who may be preferred, or have votes.
var winners = []string{"a", "b", "tie"}

// readVotes reads {"a":30,"b":18,"tie":2}; an absent number is 0, and null
// stands for no votes at all.
func readVotes(r *jsonline.Reader) (map[string]float64, error) {
	votes := map[string]float64{}
	err := r.OrNull(func() error {
		return r.Fields(winners, func(name string) error {
			at := r.Offset()
			v, ok, err := r.OptionalFloat()
			if err == nil && (!ok || v < 0) {
				err = jsonline.Unwanted(at, "a number from 0", "null or negative")
			}
			votes[name] = v
			return err
		})
	})
	if err == nil && votes["a"] == 0 && votes["b"] == 0 && votes["tie"] == 0 {
		return nil, nil
	}
	return votes, err
}

package dataset

import (
	"slices"

	"github.com/refract-eval/refract"
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

// openPreferences opens pairs in JSON Lines.
func openPreferences(place string, o Options) (*set, error) {
	in, err := newInput(place)
	if err != nil {
		return nil, err
	}
	return lineSet(in, o, func() lineParser { return parsePreference }), o.checkNames(place, []string{preferenceName})
}

// parsePreference reads {"id":"1","source":"…","references":["…"],"a":"…",
// "b":"…","preferred":"a","votes":{"a":30,"b":18,"tie":0},"category":"HC",
// "document":"…"}, of which a and b are required. An absent id is the number of
// the line.
func parsePreference(line []byte, pos refract.Position) (*refract.Segment, error) {
	s := &refract.Segment{Pos: pos, ID: ordinal(pos.Line - 1)}
	var a, b refract.Text
	var preferred string
	var votes map[string]float64
	const hint = "; write null for a missing text"
	_, err := scanFields(line, pos, []string{"a", "b"}, "pair", hint, func(r reader) []jsonline.Field {
		return []jsonline.Field{
			jsonline.To("id", &s.ID, r.id),
			jsonline.To("source", &s.Source, r.text),
			jsonline.To("references", &s.References, r.texts),
			jsonline.To("a", &a, r.text),
			jsonline.To("b", &b, r.text),
			jsonline.To("preferred", &preferred, r.winner),
			jsonline.To("votes", &votes, r.votes),
			jsonline.To("category", &s.Domain, r.StringOrEmpty),
			jsonline.To("document", &s.Document, r.StringOrEmpty),
		}
	})
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

// winner reads who is preferred, or null as "".
func (r reader) winner() (string, error) {
	at := r.Offset()
	t, err := r.text()
	if err == nil && t.Valid && !slices.Contains(winners, t.Value) {
		err = jsonline.Fault(at, `field preferred is %s; write "a", "b", "tie", or null where nobody says`, text.Quote(t.Value))
	}
	return t.Value, err
}

// votes reads {"a":30,"b":18,"tie":2}; an absent number is 0, and null
// stands for no votes at all.
func (r reader) votes() (map[string]float64, error) {
	votes := map[string]float64{}
	var fields []jsonline.Field
	for _, name := range winners {
		fields = append(fields, jsonline.With(name, func() error {
			at := r.Offset()
			v, ok, err := r.OptionalFloat()
			if err == nil && (!ok || v < 0) {
				err = jsonline.Unwanted(at, "a number from 0", "null or negative")
			}
			votes[name] = v
			return err
		}))
	}
	err := r.OrNull(func() error { return r.Object(fields...) })
	if err == nil && votes["a"] == 0 && votes["b"] == 0 && votes["tie"] == 0 {
		return nil, nil
	}
	return votes, err
}

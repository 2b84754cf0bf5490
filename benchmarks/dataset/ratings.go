package dataset

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

// ratedScores are judgements from the errors that raters marked in the outputs
// of systems: a file human-scores/LP.NAME.seg.rating, of which a line is a
// system, a JSON object or None, and may be a rater, parted by tabs.
type ratedScores struct {
	name    string
	systems []SystemScores // in the file's order
}

// readRatings reads the ratings of a name. Each system must have one line per
// segment, in one block.
func (f *folder) readRatings(name string, segments int) (*ratedScores, error) {
	in, err := newRegular(filepath.Join(f.root, "human-scores", f.lp+"."+name+".seg.rating"))
	if err != nil {
		return nil, err
	}
	l, err := in.lines(context.Background(), func(Warning) {})
	if err != nil {
		return nil, err
	}
	defer l.close()
	r := &ratedScores{name: name}
	return r, r.scan(l, f.systems, segments)
}

func (r *ratedScores) scan(l *lineReader, systems []string, segments int) error {
	var first int // line of the last system
	check := func() error {
		if n := len(r.systems) - 1; n >= 0 && len(r.systems[n].Values) != segments {
			return failAt(refract.Position{File: l.file, Line: first}, 0, "system %s has %s, but there should be %d",
				text.Quote(r.systems[n].System), english.Count(len(r.systems[n].Values), "rating"), segments)
		}
		return nil
	}
	for {
		line, err := l.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		fields := bytes.Split(text.Trim(line), []byte{'\t'})
		if len(fields) != 2 && len(fields) != 3 {
			return failAt(l.pos(), 0, "want a system, a rating and perhaps a rater, parted by tabs, not %s", text.Quote(string(line)))
		}
		name := string(fields[0])
		if n := len(r.systems) - 1; n < 0 || r.systems[n].System != name {
			if !slices.Contains(systems, name) {
				return failAt(l.pos(), 0, "unknown system %s%s: the test set has no outputs of it", text.Quote(name), didYouMean(name, systems))
			}
			if slices.ContainsFunc(r.systems, func(s SystemScores) bool { return s.System == name }) {
				return failAt(l.pos(), 0, "system %s has ratings before those of other systems; the ratings of a system must follow each other", text.Quote(name))
			}
			if err := check(); err != nil {
				return err
			}
			r.systems = append(r.systems, SystemScores{System: name})
			first = l.line
		}
		score, valid := 0.0, string(fields[1]) != "None"
		if valid {
			if score, err = parseRating(fields[1], l.pos()); err != nil {
				if e, ok := err.(*Error); ok && e.Column > 0 {
					e.Column += bytes.IndexByte(line, '\t') + 1
				}
				return err
			}
		}
		s := &r.systems[len(r.systems)-1]
		s.Values, s.Valid = append(s.Values, score), append(s.Valid, valid)
	}
	if len(r.systems) == 0 {
		return failFile(l.file, "has no ratings")
	}
	return check()
}

var ratedErrorFields = []string{"start", "end", "category", "severity", "score", "is_source_error"}

// parseRating reads {"errors":[{"start":0,"end":4,"category":"…","severity":
// "…","score":null,"is_source_error":false}]} and returns the score by the
// weights of Freitag et al. (TACL 2021): 0, the best, without errors.
func parseRating(b []byte, pos refract.Position) (float64, error) {
	sum, has := 0.0, false
	err := scanLine(b, pos, func(r *jsonline.Reader) error {
		return r.Fields([]string{"errors"}, func(string) error {
			has = true
			return r.Elements(func(int) error {
				var category, severity string
				err := r.Fields(ratedErrorFields, func(name string) (err error) {
					switch name {
					case "start", "end":
						_, err = r.Int()
					case "category":
						category, err = readOptional(r)
					case "severity":
						severity, err = readOptional(r)
					case "score":
						_, _, err = r.OptionalFloat()
					case "is_source_error":
						_, err = r.Bool()
					}
					return err
				})
				sum += mqmWeight(category, severity)
				return err
			})
		})
	})
	if err == nil && !has {
		err = failAt(pos, 0, `the rating has no "errors"; write an empty array where there are none, and None where nobody rated`)
	}
	return 0 - sum, err // not -sum: no error is 0, not -0
}

// mqmWeight is 5 for a major error, 25 for a non-translation, 1 for a minor
// one, 0.1 for minor punctuation, and 0 for others.
func mqmWeight(category, severity string) float64 {
	category = strings.ToLower(category)
	is := func(name string) bool { return category == name || strings.HasPrefix(category, name+"/") }
	switch strings.ToLower(severity) {
	case "major":
		if is("non-translation!") {
			return 25
		}
		return 5
	case "minor":
		if is("fluency/punctuation") {
			return 0.1
		}
		return 1
	}
	return 0
}

func (r *ratedScores) judge(dst []refract.Judgement, segment int) []refract.Judgement {
	for _, s := range r.systems {
		dst = append(dst, refract.Judgement{Name: r.name, System: s.System, Score: s.Values[segment], Valid: s.Valid[segment]})
	}
	return dst
}

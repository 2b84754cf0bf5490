package dataset

import (
	"bytes"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

// ratingLines are the errors that raters marked in the outputs of systems: a
// line is a system, a JSON object or None, and may be a rater, parted by tabs.
var ratingLines = scoreFormat{"ratings", "a system, a rating and perhaps a rater, parted by tabs",
	func(line []byte) (system, rating []byte, ok bool) {
		fields := bytes.Split(text.Trim(line), []byte{'\t'})
		if len(fields) != 2 && len(fields) != 3 {
			return nil, nil, false
		}
		return fields[0], fields[1], true
	},
	func(field []byte, _ string, pos refract.Position) (float64, bool, error) {
		if string(field) == "None" {
			return 0, false, nil
		}
		score, err := parseRating(field, pos)
		return score, true, err
	}}

// parseRating reads {"errors":[{"start":0,"end":4,"category":"…","severity":
// "…","score":null,"is_source_error":false}]} and returns the score by the
// weights of Freitag et al. (TACL 2021): 0, the best, without errors.
func parseRating(b []byte, pos refract.Position) (float64, error) {
	sum := 0.0
	has, err := scanFields(b, pos, nil, func(r reader) []jsonline.Field {
		return []jsonline.Field{jsonline.With("errors", func() error {
			return r.Elements(func(int) error {
				var category, severity string
				err := r.Object(
					jsonline.To("start", new(int), r.Int),
					jsonline.To("end", new(int), r.Int),
					jsonline.To("category", &category, r.StringOrEmpty),
					jsonline.To("severity", &severity, r.StringOrEmpty),
					jsonline.With("score", func() error {
						_, _, err := r.OptionalFloat()
						return err
					}),
					jsonline.To("is_source_error", new(bool), r.Bool),
				)
				sum += mqmWeight(category, severity)
				return err
			})
		})}
	})
	if err == nil && !has["errors"] {
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

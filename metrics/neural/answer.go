package neural

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/metrics/analysis"
)

// result holds an answer's values for the rows of its request.
type result struct {
	version string
	scores  []float64          // NaN for a row without a number
	reports []*analysis.Report // or nil
	facts   *facts             // or nil
}

// check reads the answer to a request. An error says what the server did wrong.
func (a *answer) check(f *form, output, id string, all []scored) (*result, error) {
	n := len(all)
	if a.ID != "" && a.ID != id {
		return nil, fmt.Errorf("gave an answer to another request: its id is %.60q instead of %q", a.ID, id)
	}
	scores, err := values(a, output, fp32Type, n, number)
	if err != nil {
		return nil, err
	}
	out := &result{version: a.Version, scores: scores}
	if f.spans {
		spans, err := values(a, outSpans, bytesType, n, word)
		if err != nil {
			return nil, err
		}
		out.reports = make([]*analysis.Report, n)
		for i, text := range spans {
			if math.IsNaN(scores[i]) {
				continue
			}
			if out.reports[i], err = explain(text, scores[i], all[i].row[hypothesis]); err != nil {
				return nil, err
			}
		}
	}
	if f.facts {
		text, err := values(a, outFacts, bytesType, 1, word)
		if err != nil {
			return nil, err
		}
		if out.facts, err = parseFacts(text[0]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// number reads a score; NaN stands for null and for numbers that are not finite, which some servers write
// as texts.
func number(raw json.RawMessage) (float64, error) {
	v, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	switch {
	case string(raw) == "null", err == nil && (math.IsNaN(v) || math.IsInf(v, 0)), errors.Is(err, strconv.ErrRange), math.Abs(v) > math.MaxFloat32:
		return math.NaN(), nil
	case err == nil && raw[0] == '"':
		err = strconv.ErrSyntax
	}
	return float64(float32(v)), err // as in binary data
}

// word reads a text; null is "".
func word(raw json.RawMessage) (s string, err error) { return s, json.Unmarshal(raw, &s) }

// values returns the n values of an output.
func values[T any](a *answer, name, datatype string, n int, read func(json.RawMessage) (T, error)) ([]T, error) {
	found := -1
	for i := range a.Outputs {
		if a.Outputs[i].Name == name {
			if found >= 0 {
				return nil, fmt.Errorf("gave the output %q twice", name)
			}
			found = i
		}
	}
	if found < 0 {
		return nil, fmt.Errorf("gave no output %q", name)
	}
	t := &a.Outputs[found]
	switch {
	case !sameType(t.Datatype, datatype):
		return nil, fmt.Errorf("gave %q as %.20q instead of %s", name, t.Datatype, datatype)
	case len(t.Data) == 0:
		return nil, fmt.Errorf("gave no values of %q as JSON; binary tensors are not read", name)
	case !slices.Equal(t.Shape, []int{n}) && !slices.Equal(t.Shape, []int{n, 1}) && (n != 1 || len(t.Shape) > 0): // MLServer writes columns, squeeze a number
		return nil, fmt.Errorf("gave %q of the shape %.60s for %s", name, fmt.Sprint(t.Shape), english.Count(n, "row"))
	}
	var given []json.RawMessage
	err := json.Unmarshal(t.Data, &given)
	var rows [][]json.RawMessage // the protocol's natural form for shape [n 1]
	if err == nil && len(t.Shape) == 2 && json.Unmarshal(t.Data, &rows) == nil &&
		!slices.ContainsFunc(rows, func(row []json.RawMessage) bool { return len(row) != 1 }) {
		given = slices.Concat(rows...)
	}
	var out []T
	for _, raw := range given {
		v, no := read(raw)
		out, err = append(out, v), cmp.Or(err, no)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("gave values of %.60q that are not all %s: %.80q", name, datatype, t.Data)
	case len(out) != n:
		return nil, fmt.Errorf("gave %s of %q for %s", english.Count(len(out), "value"), name, english.Count(n, "row"))
	}
	return out, nil
}

// errorSpan is an error as stated by a model. Offsets count code points.
type errorSpan struct {
	Text       string   `json:"text"`
	Severity   string   `json:"severity"`
	Start      *int     `json:"start"`
	End        *int     `json:"end"`
	Confidence *float64 `json:"confidence"`
}

// explain makes a report of a row's error spans. An error says what the server did wrong.
func explain(spans string, score float64, hypothesis string) (*analysis.Report, error) {
	var stated []errorSpan
	if err := json.Unmarshal([]byte(spans), &stated); err != nil {
		return nil, fmt.Errorf("gave error spans that are not a list of {text, severity, start, end}")
	}
	var found []analysis.Error
	for _, s := range stated {
		e := analysis.Error{Location: s.Text, Severity: analysis.Severity(s.Severity)}
		switch e.Severity {
		case analysis.Critical, analysis.Major, analysis.Minor:
		default:
			return nil, fmt.Errorf("gave an error span of the severity %.60q instead of minor, major or critical", s.Severity)
		}
		if s.Confidence != nil {
			e.Explanation = fmt.Sprintf("confidence %.2f", *s.Confidence)
		}
		found = append(found, e)
	}
	out := analysis.Reported(found, &score, "", analysis.Texts{Hypothesis: hypothesis})
	out.Raw = &spans
	characters := []rune(hypothesis)
	for i, s := range stated {
		// If the text occurs twice, the offsets say which occurrence is meant.
		if s.Start != nil && s.End != nil && 0 <= *s.Start && *s.Start < *s.End && *s.End <= len(characters) && string(characters[*s.Start:*s.End]) == s.Text {
			out.Errors[i].Place, out.Errors[i].Span = analysis.InHypothesis, analysis.Span{Start: *s.Start, End: *s.End}
		}
	}
	return out, nil
}

package neural

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/metrics/analysis"
)

// answer is an inference response.
type answer struct {
	id, model, version string // "" where it is not said
	tensors            []received
}

// received is a tensor of an answer. One of its data is set, by the datatype.
type received struct {
	name, datatype string
	shape          []int
	texts          []string
	numbers        []float64
}

// result is what an answer says of the rows of its request.
type result struct {
	version string
	scores  []float64
	reports []*analysis.Report // or nil
	facts   *facts             // or nil
}

// check reads the answer to a request. An error says what the server did
// wrong.
func (a *answer) check(f *form, output, id string, all []row) (*result, error) {
	n := len(all)
	if a.id != "" && a.id != id {
		return nil, fmt.Errorf("gave an answer to another request: its id is %.60q in place of %q", a.id, id)
	}
	score, err := a.tensor(output, fp32Type, n)
	if err != nil {
		return nil, err
	}
	out := &result{version: a.version, scores: score.numbers}
	for i, v := range out.scores {
		if math.IsNaN(v) || math.Abs(v) > math.MaxFloat32 {
			return nil, fmt.Errorf("gave %v as score %d of %d", v, i+1, n)
		}
		out.scores[i] = float64(float32(v)) // as binary data have it
	}
	if f.spans {
		spans, err := a.tensor(outSpans, bytesType, n)
		if err != nil {
			return nil, err
		}
		out.reports = make([]*analysis.Report, n)
		for i, text := range spans.texts {
			if out.reports[i], err = explain(text, out.scores[i], all[i]); err != nil {
				return nil, err
			}
		}
	}
	if f.facts {
		t, err := a.tensor(outFacts, bytesType, 1)
		if err != nil {
			return nil, err
		}
		if out.facts, err = parseFacts(t.texts[0]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// tensor finds an output that has n values.
func (a *answer) tensor(name, datatype string, n int) (*received, error) {
	var found *received
	for i := range a.tensors {
		if t := &a.tensors[i]; t.name == name {
			if found != nil {
				return nil, fmt.Errorf("gave the output %q twice", name)
			}
			found = t
		}
	}
	switch {
	case found == nil:
		return nil, fmt.Errorf("gave no output %q", name)
	case found.datatype != datatype:
		return nil, fmt.Errorf("gave %q as %.20q in place of %s", name, found.datatype, datatype)
	case !slices.Equal(found.shape, []int{n}) && !slices.Equal(found.shape, []int{n, 1}): // MLServer writes columns
		return nil, fmt.Errorf("gave %q of the shape %.60s for %s", name, fmt.Sprint(found.shape), english.Count(n, "row"))
	case len(found.texts)+len(found.numbers) != n:
		return nil, fmt.Errorf("gave %d values of %q for %s", len(found.texts)+len(found.numbers), name, english.Count(n, "row"))
	}
	return found, nil
}

// errorSpan is an error as a model states it. Offsets count code points.
type errorSpan struct {
	Text       string   `json:"text"`
	Severity   string   `json:"severity"`
	Start      *int     `json:"start"`
	End        *int     `json:"end"`
	Confidence *float64 `json:"confidence"`
}

// explain makes a report of a row's error spans. An error says what the server did
// wrong.
func explain(spans string, score float64, r row) (*analysis.Report, error) {
	var stated []errorSpan
	if err := json.Unmarshal([]byte(spans), &stated); err != nil {
		return nil, fmt.Errorf("gave error spans that are no list of {text, severity, start, end}")
	}
	var errors []analysis.Error
	for _, s := range stated {
		e := analysis.Error{Location: s.Text, Severity: analysis.Severity(s.Severity)}
		switch e.Severity {
		case analysis.Critical, analysis.Major, analysis.Minor:
		default:
			return nil, fmt.Errorf("gave an error span of the severity %.60q in place of minor, major or critical", s.Severity)
		}
		if s.Confidence != nil {
			e.Explanation = fmt.Sprintf("confidence %.2f", *s.Confidence)
		}
		errors = append(errors, e)
	}
	out := analysis.Reported(errors, &score, "", analysis.Texts{Hypothesis: r.hypothesis})
	out.Raw = &spans
	hypothesis := []rune(r.hypothesis)
	for i, s := range stated {
		// Where the text occurs twice, the offsets say which of them it is.
		if s.Start != nil && s.End != nil && 0 <= *s.Start && *s.Start < *s.End && *s.End <= len(hypothesis) && string(hypothesis[*s.Start:*s.End]) == s.Text {
			out.Errors[i].Place, out.Errors[i].Span = analysis.InHypothesis, analysis.Span{Start: *s.Start, End: *s.End}
		}
	}
	return out, nil
}

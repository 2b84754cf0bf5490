package dataset

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

// openSummEval reads the annotations of SummEval (Fabbri et al., TACL 2021) in JSON Lines:
// one object a summary. Those with the same id form a segment.
func openSummEval(place string, o Options) (*set, error) {
	return openHeld(place, o, func(warn func(Warning)) ([]*refract.Segment, error) { return readSummEval(place, warn) })
}

// summEvalRow is a summary. Fields of type any are known but not used.
type summEvalRow struct {
	ID         jsontext.Value        `json:"id"`
	Model      jsontext.Value        `json:"model_id"`
	Decoded    jsontext.Value        `json:"decoded"`
	Source     refract.Text          `json:"text"`
	References []refract.Text        `json:"references"`
	Reference  jsontext.Value        `json:"reference"`
	Experts    []map[string]*float64 `json:"expert_annotations"`
	Turkers    []map[string]*float64 `json:"turker_annotations"`
	Path       jsontext.Value        `json:"filepath"`
	Scores1    jsontext.Value        `json:"metric_scores_1"`
	Scores6    jsontext.Value        `json:"metric_scores_6"`
	Scores11   jsontext.Value        `json:"metric_scores_11"`

	id, model string
	decoded   refract.Text
}

func readSummEval(path string, warn func(Warning)) ([]*refract.Segment, error) {
	var segments []*refract.Segment
	type place struct{ id, system string }
	index := map[string]*refract.Segment{}
	lines := map[place]int{}
	differ := map[string]int{}
	err := eachLine(path, warn, func(line []byte, pos refract.Position) error {
		row, err := parseSummEval(line, pos)
		if err != nil {
			return err
		}
		s := index[row.id]
		if s == nil {
			s = &refract.Segment{ID: row.id, Source: row.Source, References: row.References, Pos: pos}
			index[row.id] = s
			segments = append(segments, s)
		}
		if n, again := lines[place{row.id, row.model}]; again {
			return failAt(pos, 0, "id %s has a summary by %s on line %d already; a model has one summary per article", text.Quote(row.id), text.Quote(row.model), n)
		}
		lines[place{row.id, row.model}] = pos.Line
		if row.Source != s.Source {
			differ["text"]++
		}
		if !slices.Equal(row.References, s.References) {
			differ["references"]++
		}
		s.Hypotheses = append(s.Hypotheses, refract.Hypothesis{System: row.model, Text: row.decoded})
		s.Judgements = annotated(s.Judgements, "", row.model, row.Experts)
		s.Judgements = annotated(s.Judgements, turkerPrefix, row.model, row.Turkers)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, field := range []string{"text", "references"} {
		if n := differ[field]; n > 0 {
			warn(Warning{refract.Position{File: path}, fmt.Sprintf(
				"%s: %s differs from the first row with the same id, whose value counts for all", english.Count(n, "row"), text.Quote(field))})
		}
	}
	return segments, nil
}

// turkerPrefix begins the names of the crowd's judgements; the experts' are named as in the
// file, such as "coherence".
const turkerPrefix = "turker_"

func parseSummEval(line []byte, pos refract.Position) (*summEvalRow, error) {
	row := &summEvalRow{}
	if err := jsonline.Unmarshal(line, row, "a row"); err != nil {
		return nil, placed(err, pos)
	}
	for _, f := range []struct {
		name  string
		value jsontext.Value
		to    any
	}{{"id", row.ID, &row.id}, {"model_id", row.Model, &row.model}, {"decoded", row.Decoded, &row.decoded}, {"reference", row.Reference, nil}} {
		var err error
		switch name, ok := f.to.(*string); {
		case f.value == nil && f.to != nil:
			return nil, failAt(pos, 0, "the row has no field %q", f.name)
		case f.value == nil:
		case ok && f.value.Kind() == '0':
			*name = f.value.String()
		case f.to == nil && row.References != nil:
			return nil, failAt(pos, 0, `the row has both "reference" and "references"; remove one`)
		case f.to == nil:
			row.References = make([]refract.Text, 1)
			err = json.Unmarshal(f.value, &row.References[0])
		default:
			err = json.Unmarshal(f.value, f.to)
		}
		if err != nil || f.value.Kind() == 'n' && (f.to == &row.id || f.to == &row.model) {
			return nil, failAt(pos, 0, "field %q cannot be %s", f.name, f.value.Kind())
		}
	}
	if row.id == "" || row.model == "" {
		return nil, failAt(pos, 0, "id and model_id must be non-empty strings or numbers")
	}
	return row, nil
}

// annotated makes a judgement of each aspect: the mean over the annotators who gave a
// number.
func annotated(dst []refract.Judgement, prefix, system string, annotators []map[string]*float64) []refract.Judgement {
	all := map[string][]float64{}
	for _, a := range annotators {
		for aspect, value := range a {
			if all[aspect] = slices.Grow(all[aspect], 1); value != nil {
				all[aspect] = append(all[aspect], *value)
			}
		}
	}
	for _, aspect := range slices.Sorted(maps.Keys(all)) {
		j := refract.Judgement{Name: prefix + aspect, System: system}
		if v := all[aspect]; len(v) > 0 {
			j.Score, j.Valid = mean(v), true
		}
		dst = append(dst, j)
	}
	return dst
}

func mean(v []float64) float64 {
	var sum, scaled float64
	n := float64(len(v))
	for _, x := range v {
		sum += x
		scaled += x / n
	}
	if math.IsInf(sum, 0) {
		return scaled
	}
	return sum / n
}

package dataset

import (
	"fmt"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

// openSummEval reads the annotations of SummEval (Fabbri et al., TACL 2021) in
// JSON Lines: an object per summary, of which those with the same id make a
// segment.
func openSummEval(place string, o Options) (*set, error) {
	return openHeld(place, o, func(warn func(Warning)) ([]*refract.Segment, error) { return readSummEval(place, warn) })
}

type summEvalRow struct {
	id, model        string
	decoded, source  refract.Text
	references       []refract.Text
	experts, turkers average
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
			s = &refract.Segment{ID: row.id, Source: row.source, References: row.references, Pos: pos}
			index[row.id] = s
			segments = append(segments, s)
		}
		if n, again := lines[place{row.id, row.model}]; again {
			return failAt(pos, 0, "id %s has a summary by %s on line %d already; a model has one summary per article", text.Quote(row.id), text.Quote(row.model), n)
		}
		lines[place{row.id, row.model}] = pos.Line
		if row.source != s.Source {
			differ["text"]++
		}
		if !slices.Equal(row.references, s.References) {
			differ["references"]++
		}
		s.Hypotheses = append(s.Hypotheses, refract.Hypothesis{System: row.model, Text: row.decoded})
		s.Judgements = row.experts.judgements(s.Judgements, "", row.model)
		s.Judgements = row.turkers.judgements(s.Judgements, turkerPrefix, row.model)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, field := range []string{"text", "references"} {
		if n := differ[field]; n > 0 {
			warn(Warning{refract.Position{File: path}, fmt.Sprintf(
				"%s: %s is not that of the first row with the same id, which is taken for all", english.Count(n, "row"), text.Quote(field))})
		}
	}
	return segments, nil
}

// turkerPrefix begins the names of the crowd's judgements; the experts' have
// the names of the file, such as "coherence".
const turkerPrefix = "turker_"

func parseSummEval(line []byte, pos refract.Position) (*summEvalRow, error) {
	row := &summEvalRow{}
	needed := []string{"id", "model_id", "decoded"}
	has, err := scanFields(line, pos, needed, func(r reader) []jsonline.Field {
		return []jsonline.Field{
			jsonline.To("id", &row.id, r.id),
			jsonline.To("model_id", &row.model, r.id),
			jsonline.To("decoded", &row.decoded, r.text),
			jsonline.To("references", &row.references, r.texts),
			jsonline.With("reference", func() error {
				t, err := r.text()
				row.references = append(row.references, t)
				return err
			}),
			jsonline.To("text", &row.source, r.text),
			jsonline.With("expert_annotations", func() error { return r.annotations(&row.experts) }),
			jsonline.With("turker_annotations", func() error { return r.annotations(&row.turkers) }),
			// The path of the article, and scores of metrics:
			r.none("filepath"), r.none("metric_scores_1"), r.none("metric_scores_6"), r.none("metric_scores_11"),
		}
	})
	if err == nil && has["reference"] && has["references"] {
		err = failAt(pos, 0, `the row has both "reference" and "references"; remove one`)
	}
	return row, err
}

// annotations reads an array of objects with a number per aspect, one
// object per annotator.
func (r reader) annotations(a *average) error {
	return r.OrNull(func() error {
		return r.Elements(func(int) error { return r.aspects(a) })
	})
}

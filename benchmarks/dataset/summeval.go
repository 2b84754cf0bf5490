package dataset

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

// openSummEval reads the annotations of SummEval (Fabbri et al., TACL 2021) in
// JSON Lines: an object per summary, of which those with the same id make a
// segment.
func openSummEval(place string, o Options) (refract.Dataset, error) {
	in, err := newRegular(place)
	if err != nil {
		return nil, err
	}
	return openHeld(place, o, func(ctx context.Context, warn func(Warning)) ([]*refract.Segment, error) {
		l, err := in.lines(ctx, warn)
		if err != nil {
			return nil, err
		}
		defer l.close()
		return readSummEval(ctx, l, warn)
	})
}

// The fields of a row. The fields that end a row are not read: the path of the
// article, and scores of metrics.
var summEvalFields = []string{"id", "model_id", "decoded", "references", "reference", "text", "expert_annotations", "turker_annotations",
	"filepath", "metric_scores_1", "metric_scores_6", "metric_scores_11"}

type summEvalRow struct {
	id, model        string
	decoded, source  refract.Text
	references       []refract.Text
	experts, turkers average
}

func readSummEval(ctx context.Context, l *lineReader, warn func(Warning)) ([]*refract.Segment, error) {
	var segments []*refract.Segment
	type place struct{ id, system string }
	index := map[string]*refract.Segment{}
	lines := map[place]int{}
	differ := map[string]int{}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		line, err := l.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		row, err := parseSummEval(line, l.pos())
		if err != nil {
			return nil, err
		}
		s := index[row.id]
		if s == nil {
			s = &refract.Segment{ID: row.id, Source: row.source, References: row.references, Pos: l.pos()}
			index[row.id] = s
			segments = append(segments, s)
		}
		if n, again := lines[place{row.id, row.model}]; again {
			return nil, failAt(l.pos(), 0, "id %s has a summary by %s on line %d already; a model has one summary per article", text.Quote(row.id), text.Quote(row.model), n)
		}
		lines[place{row.id, row.model}] = l.line
		if row.source != s.Source {
			differ["text"]++
		}
		if !slices.Equal(row.references, s.References) {
			differ["references"]++
		}
		s.Hypotheses = append(s.Hypotheses, refract.Hypothesis{System: row.model, Text: row.decoded})
		s.Judgements = row.experts.judgements(s.Judgements, "", row.model, mean)
		s.Judgements = row.turkers.judgements(s.Judgements, turkerPrefix, row.model, mean)
	}
	for _, field := range []string{"text", "references"} {
		if n := differ[field]; n > 0 {
			warn(Warning{refract.Position{File: l.file}, fmt.Sprintf(
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
	has := map[string]bool{}
	err := scanLine(line, pos, func(r *jsonline.Reader) error {
		return r.Fields(summEvalFields, func(name string) (err error) {
			has[name] = true
			switch name {
			case "id":
				row.id, err = readID(r)
			case "model_id":
				row.model, err = readID(r)
			case "decoded":
				row.decoded, err = readText(r)
			case "text":
				row.source, err = readText(r)
			case "references":
				row.references, err = readTexts(r)
			case "reference":
				var t refract.Text
				t, err = readText(r)
				row.references = append(row.references, t)
			case "expert_annotations":
				err = readAnnotations(r, &row.experts)
			case "turker_annotations":
				err = readAnnotations(r, &row.turkers)
			default:
				err = r.Skip()
			}
			return err
		})
	})
	for _, field := range []string{"id", "model_id", "decoded"} {
		if err == nil && !has[field] {
			err = failAt(pos, 0, "the row has no field %q", field)
		}
	}
	if err == nil && has["reference"] && has["references"] {
		err = failAt(pos, 0, `the row has both "reference" and "references"; remove one`)
	}
	return row, err
}

// readAnnotations reads an array of objects with a number per aspect, one
// object per annotator. null is a number that the annotator did not give.
func readAnnotations(r *jsonline.Reader, a *average) error {
	return r.OrNull(func() error {
		return r.Elements(func(int) error {
			return r.Members("aspect", func(b []byte) error {
				name := string(b)
				v, ok, err := r.OptionalFloat()
				a.add(name, v, ok)
				return err
			})
		})
	})
}

package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/metrics/analysis"
)

// Reported is a report that was written before, with the texts that it is about.
type Reported struct {
	Place
	Rater    string // who gave it; "" where a model did
	Report   analysis.Report
	Texts    analysis.Texts
	HasTexts bool // the output and the reference are known
}

// Place says what a report is about, and by which metric it is.
type Place struct {
	ID        string `json:"id"`
	System    string `json:"system"`
	Metric    string `json:"metric"`
	Reference *int   `json:"reference"` // its index; nil of a metric without one, and of a native score
}

// String names the report in errors.
func (p *Place) String() string {
	s := "segment " + strconv.Quote(p.ID)
	if p.System != "" {
		s += ", system " + strconv.Quote(p.System)
	}
	return s
}

// reportedRow is what stands beside a report.
type reportedRow struct {
	ID         json.RawMessage `json:"id"`
	System     json.RawMessage `json:"system"`
	Segment    json.RawMessage `json:"segment"`
	Metric     string          `json:"metric"`
	Rater      json.RawMessage `json:"rater"`
	Reference  json.RawMessage `json:"reference"` // an index, or the text
	Hypothesis *string         `json:"hypothesis"`
	Source     *string         `json:"source"`
	Input      *string         `json:"input"`
	Status     string          `json:"status"`
}

// ReadReports reads rows that [Reports.Add] or [Reading.Copy] wrote. A row may
// have the texts: "hypothesis", "reference" and "source". name stands before the
// line in errors.
func ReadReports(name string, in io.Reader) iter.Seq2[*Reported, error] {
	return rowsOf(name, in, func(row *reportedRow, text []byte) (*analysis.Report, error) {
		r := &analysis.Report{}
		if row.Status == "" {
			return nil, errors.New(`there is no "status"; want a report as 'refract score --reports' and 'refract parse' write it`)
		}
		return r, json.Unmarshal(text, r)
	})
}

// Reports reads rows of answers, as Copy does, and their texts.
func (r *Reading) Reports(name string, in io.Reader) iter.Seq2[*Reported, error] {
	return rowsOf(name, in, func(row *reportedRow, text []byte) (*analysis.Report, error) {
		var a answerRow
		if err := json.Unmarshal(text, &a); err != nil {
			return nil, explainJSON(err)
		}
		completion, has, err := a.completion()
		row.Metric = r.Metric
		switch {
		case err != nil:
			return nil, err
		case !has:
			return &analysis.Report{Outcome: analysis.Missing, Detail: "there is no answer"}, nil
		}
		return r.Parser.Parse(completion), nil
	})
}

func rowsOf(name string, in io.Reader, read func(*reportedRow, []byte) (*analysis.Report, error)) iter.Seq2[*Reported, error] {
	return ReadRows(name, in, func(line []byte) (*Reported, error) { return reportedOf(line, read) })
}

// ReadRows reads a file of JSON Lines, also compressed by gzip. Errors name the
// file and the line. A file without a row is one.
func ReadRows[T any](name string, in io.Reader, read func(line []byte) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		n := 0
		for l, err := range linesOf(name, in) {
			row := none
			if err == nil {
				n++
				if row, err = read(l.text); err != nil {
					err = atLine(name, l.number, err)
				}
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
		if n == 0 {
			yield(none, &dataset.Error{Pos: refract.Position{File: name}, Err: errors.New("there is no row at all")})
		}
	}
}

func reportedOf(text []byte, read func(*reportedRow, []byte) (*analysis.Report, error)) (*Reported, error) {
	var row reportedRow
	if err := json.Unmarshal(text, &row); err != nil {
		return nil, explainJSON(err)
	}
	report, err := read(&row, text)
	if err != nil {
		return nil, err
	}
	r := &Reported{Rater: label(row.Rater), Report: *report}
	if r.Place, err = row.place(); err != nil {
		return nil, err
	}
	if len(row.Reference) > 0 && row.Reference[0] == '"' {
		r.Texts.Reference = label(row.Reference)
		r.HasTexts = row.Hypothesis != nil
	}
	for _, s := range []*string{row.Source, row.Input} {
		if s != nil {
			r.Texts.Source = *s
		}
	}
	if row.Hypothesis != nil {
		r.Texts.Hypothesis = *row.Hypothesis
	}
	return r, nil
}

// place is where the report stands. A reference that is a text has no index.
func (row *reportedRow) place() (Place, error) {
	p := Place{ID: label(row.ID), System: label(row.System), Metric: row.Metric}
	if p.ID == "" {
		p.ID = label(row.Segment)
	}
	if len(row.Reference) == 0 || row.Reference[0] == 'n' || row.Reference[0] == '"' {
		return p, nil
	}
	i, err := strconv.Atoi(string(row.Reference))
	if err != nil || i < 0 {
		return p, fmt.Errorf("\"reference\" is %s; want an index or a text", row.Reference)
	}
	p.Reference = &i
	return p, nil
}

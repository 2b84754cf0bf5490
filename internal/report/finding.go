package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
)

// Number is a float64 that may be undefined: NaN, and null in JSON.
type Number float64

// None is the Number that is undefined.
func None() Number { return Number(math.NaN()) }

// Defined reports whether there is a number.
func (n Number) Defined() bool { return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0) }

// Cell is the number as tables take it.
func (n Number) Cell() Value { return Float(float64(n)) }

// MarshalJSON writes null for an undefined number.
func (n Number) MarshalJSON() ([]byte, error) {
	if !n.Defined() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// Range is a confidence interval.
type Range struct {
	Low  Number `json:"low"`
	High Number `json:"high"`
	// Undefined is the number of resamples without a value; the interval omits them.
	Undefined int `json:"undefined,omitempty"`
}

// Contains reports whether a value lies within the interval, ends included.
func (r *Range) Contains(v float64) bool { return float64(r.Low) <= v && v <= float64(r.High) }

// Cell is the interval as tables take it; nil is a missing value.
func (r *Range) Cell() Value {
	if r == nil {
		return Null()
	}
	return Interval(float64(r.Low), float64(r.High))
}

// Outcome says which way a verdict goes.
type Outcome string

// The outcomes. The zero Outcome is a plain statement.
const (
	Neutral Outcome = ""
	Better  Outcome = "better"
	Worse   Outcome = "worse"
	Unclear Outcome = "unclear" // the data do not decide
)

// Verdict is one finding in plain language.
type Verdict struct {
	Dataset string  `json:"dataset"`
	Kind    string  `json:"kind"` // "difference", "curve", "prompts" or "coverage"
	Outcome Outcome `json:"outcome"`
	Text    string  `json:"text"`
	Value   Number  `json:"value"` // the effect; undefined where there is none
	Range   *Range  `json:"interval"`
}

// Fact is a named number, or another basis of a finding, as people read it.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// RankedSystem is a system with its place by human scores, or by another yardstick, and
// its place under each setting.
type RankedSystem struct {
	Name  string  `json:"name"`
	First Place   `json:"human"`
	Under []Place `json:"under"`
}

// Place is where a system stands. A zero Rank means that it has no place.
type Place struct {
	Score Number  `json:"score"` // mean over segments, in units of the metric
	Rank  float64 `json:"rank"`  // from 1, half numbers for ties; 0 without a score
	Cells int     `json:"cells"` // segments that entered
}

// Ranks ranks the places that have a score, the largest sign·score first.
func Ranks(places []Place, sign float64) {
	for i := range places {
		if places[i].Rank = 0; !places[i].Score.Defined() {
			continue
		}
		better, equal := 0, 0
		for k := range places {
			switch d := sign * float64(places[k].Score-places[i].Score); {
			case d > 0:
				better++
			case d == 0:
				equal++
			}
		}
		places[i].Rank = float64(better) + float64(equal+1)/2
	}
}

// Before orders places by rank, with those that have none at the end.
func (p Place) Before(q Place) int {
	a, b := p.Rank, q.Rank
	switch {
	case a == b:
		return 0
	case b == 0 || a != 0 && a < b:
		return -1
	}
	return 1
}

// NamedTable is a whole table with its title and notes.
type NamedTable struct {
	Name    string // such as "rows"
	Title   string
	Heading string // one line above the table: what its numbers are
	Columns []Column
	Rows    [][]Value
	// Coverage says how much of the data the table rests on, such as "29,958
	// of 30,000 cells"; "" where that is not known.
	Coverage string
	Notes    []string
}

// Add adds a row. A cell is a [Value], a type with a Cell method such as Number, a
// string, an int or a float64; nil is a missing value.
func (t *NamedTable) Add(cells ...any) {
	row := make([]Value, len(cells))
	for i, c := range cells {
		switch c := c.(type) {
		case nil:
		case Value:
			row[i] = c
		case interface{ Cell() Value }:
			row[i] = c.Cell()
		case string:
			row[i] = String(c)
		case int:
			row[i] = Int(c)
		case float64:
			row[i] = Float(c)
		default:
			panic(fmt.Sprintf("report: a cell of type %T", c))
		}
	}
	t.Rows = append(t.Rows, row)
}

// Note adds a line below the table, once.
func (t *NamedTable) Note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(t.Notes, n) {
		t.Notes = append(t.Notes, n)
	}
}

// Write shows the table in a format, its coverage as the first note. Wide shows
// all columns of a table for people, however wide that is.
func (t *NamedTable) Write(w io.Writer, f Format, wide bool) error {
	return t.write(w, f, Options{Wide: wide})
}

// WriteTitled shows the table to people, below its title.
func (t *NamedTable) WriteTitled(w io.Writer) error {
	return t.write(w, Table, Options{Title: t.Title})
}

func (t *NamedTable) write(w io.Writer, f Format, opts Options) error {
	opts.Title = cmp.Or(opts.Title, t.Heading)
	if opts.Notes = t.Notes; t.Coverage != "" {
		opts.Notes = append([]string{t.Coverage}, t.Notes...)
	}
	out := NewWriter(w, f, t.Columns, opts)
	for _, row := range t.Rows {
		if err := out.Row(row...); err != nil {
			return err
		}
	}
	return out.Close()
}

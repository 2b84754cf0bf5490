package page

import (
	"bytes"
	"encoding/base64"
	"errors"
	"html/template"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"github.com/refract-eval/refract/cmd/refract/internal/figure"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/internal/english"
)

// templates parses the page's markup. html/template escapes every text for its place, and
// the markup makes invisible characters of a Document visible.
func templates(terms []report.Fact) *template.Template {
	functions := template.FuncMap{"visible": report.Visible, "said": func(s string) []said { return explain(unbroken.Replace(s), terms) }, "minus": report.TrueMinus}
	return template.Must(template.New("page").Funcs(functions).Parse(asset("page.gohtml")))
}

// unbroken keeps a p-value on one line.
var unbroken = strings.NewReplacer("p = ", "p\u00a0=\u00a0", "p < ", "p\u00a0<\u00a0")

// view is the data of the markup: the document, with derived views of its parts.
type view struct {
	*Document
	Policy   template.HTML // an element, made of nothing but hashes
	Style    template.HTML // an element
	Script   string
	Rules    *tableView // nil for none
	Forests  []figureView
	Figures  []figureView
	Aside    []figureView // of the figures, those that are shown on demand
	Tables   []tableView
	Rankings []tableView
}

// said is a part of a sentence; Means is the explanation of a term.
type said struct{ Text, Means string }

// explain splits a sentence at its terms.
func explain(s string, terms []report.Fact) []said {
	for _, t := range terms {
		if before, after, ok := strings.Cut(s, t.Name); ok && t.Name != "" {
			return append(append(explain(before, terms), said{t.Name, t.Value}), explain(after, terms)...)
		}
	}
	if s == "" {
		return nil
	}
	return []said{{Text: s}}
}

type figureView struct {
	*Figure
	Light template.URL    // "" for none
	Dark  template.Srcset // "" for none
	Data  *tableView
}

type tableView struct {
	*report.NamedTable
	ID      string
	Columns []columnView // those that are shown, the secondary ones at the end
	Rows    [][]cellView
	Long    bool   // scrolls in its own box
	More    string // such as "12 columns" if some are secondary
}

type columnView struct {
	Heading   string
	Numeric   bool
	Secondary bool
}

type cellView struct {
	Text    string
	Numeric bool
	Class   string // such as "number", "missing", "short" of a text that is not broken, "extra" of a secondary column
	Key     string // the number to sort by; "" to sort by the text
}

// mostColumns is how many columns a table shows at once; others are secondary.
const mostColumns = 7

// arrange returns the order in which columns are shown, and which are secondary.
func arrange(columns []report.Column) (order []int, secondary []bool) {
	secondary = make([]bool, len(columns))
	first := 0
	for k, c := range columns {
		if c.Hide {
			continue
		}
		if secondary[k] = c.Secondary || first == mostColumns; !secondary[k] {
			first++
			order = append(order, k)
		}
	}
	for k, c := range columns {
		if !c.Hide && secondary[k] {
			order = append(order, k)
		}
	}
	return order, secondary
}

// shortText is the length up to which a text is not broken.
const shortText = 28

// longTable is the number of rows above which a table scrolls in its own box.
const longTable = 40

func newView(d *Document) (*view, error) {
	style := asset("page.css")
	v := &view{Document: d, Style: template.HTML("<style>" + style + "</style>"), Script: joined(scripts)}
	v.Policy = policyElement(policy(v.Script, style))
	if d.Title == "" {
		return nil, errors.New("the document has no title")
	}
	if d.Rules != nil {
		v.Rules = newTableView(d.Rules)
	}
	for i := range d.Forests {
		v.Forests = append(v.Forests, *newFigureView(&d.Forests[i]))
	}
	for i := range d.Figures {
		if f := newFigureView(&d.Figures[i]); f.Aside {
			v.Aside = append(v.Aside, *f)
		} else {
			v.Figures = append(v.Figures, *f)
		}
	}
	for _, t := range d.Tables {
		v.Tables = append(v.Tables, *newTableView(t))
	}
	for _, t := range d.Rankings {
		v.Rankings = append(v.Rankings, *newTableView(t))
	}
	return v, nil
}

func visible(texts []string) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = report.Visible(s)
	}
	return out
}

func newFigureView(f *Figure) *figureView {
	v := &figureView{Figure: f}
	if len(f.Panels) > 0 {
		v.Light, v.Dark = template.URL(picture(f, false)), template.Srcset(picture(f, true))
	}
	if f.Data != nil {
		v.Data = newTableView(f.Data)
	}
	return v
}

// picture returns a figure as the address of an image, in which nothing can run or load.
func picture(f *Figure, dark bool) string {
	var svg bytes.Buffer // which takes all
	_ = figure.Draw(&svg, figure.Style{Dark: dark, Clear: true}, f.Panels...)
	return "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg.Bytes())
}

func newTableView(t *report.NamedTable) *tableView {
	v := &tableView{NamedTable: t, ID: "table-" + t.Name, Long: len(t.Rows) > longTable}
	order, secondary := arrange(t.Columns)
	for _, k := range order {
		c := &t.Columns[k]
		v.Columns = append(v.Columns, columnView{Heading: c.Heading(), Numeric: c.Numeric(), Secondary: secondary[k]})
		if secondary[k] {
			v.More = english.Count(len(order), "column")
		}
	}
	v.Rows = make([][]cellView, len(t.Rows))
	for i, row := range t.Rows {
		for _, k := range order {
			cell := newCellView(row[k], &t.Columns[k])
			if secondary[k] {
				cell.Class += " extra"
			}
			v.Rows[i] = append(v.Rows[i], cell)
		}
	}
	return v
}

func newCellView(value report.Value, c *report.Column) cellView {
	text, ok := value.Show(c.Digits)
	if !ok {
		cell := cellView{Text: "–", Numeric: c.Kind != report.KindString, Class: "missing"}
		if cell.Numeric {
			cell.Class = "number missing"
		}
		return cell
	}
	if c.Kind == report.KindString {
		cell := cellView{Text: text} // which is broken where it is long
		if utf8.RuneCountInString(text) <= shortText {
			cell.Class = "short"
		}
		return cell
	}
	low, high, _ := value.Bounds()
	key := low
	if low != high { // an interval is sorted by its middle
		key = low/2 + high/2
	}
	switch c.Kind {
	case report.KindFloat:
		text = notZero(text, low, c.Digits)
	case report.KindInt:
		text = humanize.Comma(int64(low))
	}
	cell := cellView{Text: report.TrueMinus(text), Numeric: true, Class: "number"}
	if !math.IsNaN(key) {
		cell.Key = strconv.FormatFloat(key, 'g', -1, 64)
	}
	return cell
}

// notZero returns a bound, such as "< 0.001", for a number that rounding would make 0.
func notZero(text string, f float64, digits int) string {
	least := math.Pow10(-digits)
	if f == 0 || digits <= 0 || math.Abs(f) >= least/2 {
		return text
	}
	bound, _ := report.Float(least).Show(digits)
	if f < 0 {
		return "> -" + bound
	}
	return "< " + bound
}

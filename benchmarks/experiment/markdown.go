package experiment

import (
	"fmt"
	"io"

	"github.com/refract-eval/refract/report"
)

// WriteMarkdown writes a result as a document: what it comes to, verdicts, tables, and how the
// numbers were made.
func WriteMarkdown(w io.Writer, r *Result) error {
	if _, err := fmt.Fprintf(w, "# %s\n\n", report.EscapeMarkdown(r.Name)); err != nil {
		return err
	}
	if lead := r.Lead(); lead != "" {
		if _, err := fmt.Fprintf(w, "**%s.**\n\n%s\n\n", report.EscapeMarkdown(lead), report.EscapeMarkdown(r.Basis())); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprint(w, "## Verdicts\n\n"); err != nil {
		return err
	}
	for _, v := range r.Verdicts {
		if _, err := fmt.Fprintf(w, "- %s.\n", report.EscapeMarkdown(v.Text)); err != nil {
			return err
		}
	}
	for _, t := range r.Tables() {
		if t.Name == "ranking" {
			continue
		}
		if _, err := fmt.Fprintf(w, "\n## %s\n\n", t.Title); err != nil {
			return err
		}
		if err := t.Write(w, report.Markdown, true); err != nil {
			return err
		}
	}
	for i := range r.Rankings {
		if err := r.Rankings[i].markdown(w, len(r.Rankings) > 1, r.coverage()); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprint(w, "\n## Notes\n\n"); err != nil {
		return err
	}
	for _, n := range r.Notes {
		if _, err := fmt.Fprintf(w, "- %s\n", report.EscapeMarkdown(n)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "- refract %s\n", report.EscapeMarkdown(r.Version))
	return err
}

// markdown writes a ranking with a column per setting.
func (k *Ranking) markdown(w io.Writer, several bool, coverage string) error {
	title := "Systems under each setting"
	if several {
		title += ", " + k.Dataset
	}
	if _, err := fmt.Fprintf(w, "\n## %s\n\n", report.EscapeMarkdown(title)); err != nil {
		return err
	}
	t := report.NamedTable{Coverage: coverage, Columns: []report.Column{
		{Name: "system"}, {Name: "human", Header: k.Human, Kind: report.KindFloat, Digits: 3}, {Name: "rank", Kind: report.KindFloat},
	}, Notes: []string{"a rank behind each score; scores are means over the judged segments"}}
	for i, s := range k.Settings {
		t.Columns = append(t.Columns, report.Column{Name: fmt.Sprint("score", i), Header: s.String(), Kind: report.KindFloat, Digits: 3},
			report.Column{Name: fmt.Sprint("rank", i), Header: "rank", Kind: report.KindFloat})
	}
	if text := k.Without(); text != "" {
		t.Note("%s", text)
	}
	for _, s := range k.Systems {
		row := []any{s.Name, s.First.Score, rankValue(s.First)}
		for _, p := range s.Under {
			row = append(row, p.Score, rankValue(p))
		}
		t.Add(row...)
	}
	return t.Write(w, report.Markdown, true)
}

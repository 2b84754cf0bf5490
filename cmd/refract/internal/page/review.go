package page

import (
	"encoding/json"
	"errors"
	"html/template"
	"io"
	"strings"

	"github.com/refract-eval/refract/diversify/review"
	"github.com/refract-eval/refract/internal/jsonline"
)

// Review is a page on which a person decides about answers, one after another. All its
// strings may be untrusted text.
type Review struct {
	Title string
	Items []review.Item
	// Served means that the page posts each decision to "decision", relative to its
	// address. Otherwise it offers the decisions as a file.
	Served bool
}

// reviewScripts are the parts of the page's script.
var reviewScripts = []string{"dom.js", "marks.js", "review.js"}

// WriteReview writes the page as one HTML file. The same items give the same
// bytes.
func WriteReview(w io.Writer, r Review) error {
	if r.Title == "" {
		return errors.New("the review has no title")
	}
	if r.Items == nil {
		r.Items = []review.Item{}
	}
	// Marshal escapes <, > and &, so that no text ends the element.
	data, err := json.Marshal(r.Items)
	if err != nil {
		return err
	}
	style, code := asset("page.css")+asset("review.css"), joined(reviewScripts)
	rule := policy(code, style)
	if r.Served {
		rule += "; connect-src 'self'"
	}
	return templates(nil).ExecuteTemplate(w, "review", map[string]any{
		"Title": r.Title, "Served": r.Served, "Count": len(r.Items),
		"Policy": policyElement(rule),
		"Style":  template.HTML("<style>" + style + "</style>"),
		"Data":   template.HTML(`<script type="application/json" id="items">` + string(jsonline.Escape(data)) + "</script>"),
		"Script": template.HTML("<script>" + code + "</script>"),
	})
}

// joined puts the parts of a script into one scope.
func joined(parts []string) string {
	var b strings.Builder
	b.WriteString("(() => {\n\"use strict\";\n")
	for _, name := range parts {
		b.WriteString(asset(name))
	}
	b.WriteString("})();\n")
	return b.String()
}

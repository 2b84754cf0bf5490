package text

import "strings"

// markdownEscaper escapes characters that have a meaning inside a table cell, and those
// that GitHub would turn into a link.
var markdownEscaper = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", `|`, `\|`, `*`, `\*`, `_`, `\_`, `~`, `\~`, `[`, `\[`, `]`, `\]`,
	`#`, `\#`, `!`, `\!`, `$`, `\$`, `@`, `\@`, `&`, `&amp;`, `<`, `&lt;`, `>`, `&gt;`,
	`://`, `\://`, `www.`, `www\.`,
)

// Markdown makes text of any origin harmless in a line of Markdown.
func Markdown(s string) string { return markdownEscaper.Replace(Visible(s)) }

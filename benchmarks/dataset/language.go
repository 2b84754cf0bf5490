package dataset

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
	xlanguage "golang.org/x/text/language"

	"github.com/refract-eval/refract/internal/text"
)

// LanguagePair returns the languages of sources and references, such as "zh" and "en", if a
// dataset's spec tells: for an mtme: dataset by its name, for a published folder by its
// manifest or the first language of its card, and for JSON Lines by the first segment, as
// written by expand. Unknown languages are "".
func LanguagePair(spec string) (source, target string) {
	scheme, place, _ := strings.Cut(complete(spec), ":")
	pair := ""
	switch scheme {
	case "mtme":
		pair = filepath.Base(place)
	case "jsonl":
		return "", firstLanguage(spec, place)
	case "published":
		if m, err := ReadManifest(place); err == nil {
			pair = m.LanguagePair
		}
		if pair == "" {
			return "", cardLanguage(filepath.Join(place, "README.md"))
		}
	}
	if strings.Contains(pair, "-") {
		source, target, _ = Languages(pair) // folders with other names do not tell
	}
	return source, target
}

// firstLanguage returns the language stated by the first segment of a file. It does not
// read pipes, which can be read only once.
func firstLanguage(spec, place string) string {
	info, err := os.Stat(place)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	ds, err := Open(spec, Options{})
	if err != nil {
		return ""
	}
	for s, err := range ds.Segments(context.Background()) {
		if err == nil {
			return s.Language
		}
		break
	}
	return ""
}

// cardLanguage returns the first language in a dataset card; "" for none.
func cardLanguage(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	head, _, _ := strings.Cut(strings.TrimPrefix(string(b), "---\n"), "\n---\n")
	var card struct{ Language []string }
	if yaml.Unmarshal([]byte(head), &card) != nil || len(card.Language) == 0 {
		return ""
	}
	return card.Language[0]
}

// Languages parses a language such as "de", "zh-TW" or "jpn", or a pair such as "en-de"; an
// upper-case part is a region, not a language. It returns two-letter codes if they exist;
// source is "" if only one language is named.
func Languages(s string) (source, target string, err error) {
	from, to, pair := strings.Cut(s, "-")
	if pair = pair && to == strings.ToLower(to) && len(to) <= 3 || pair && strings.Contains(s, "_"); !pair {
		from, to = "", s
	}
	codes := []string{from, to}
	for i, code := range codes {
		if code == "" {
			continue
		}
		tag, wrong := xlanguage.All.Parse(strings.ReplaceAll(code, "_", "-"))
		base, sure := tag.Base()
		if wrong != nil || sure == xlanguage.No {
			return "", "", specError("unknown language %s: write a code of ISO 639, such as de, or a pair, such as en-de", text.Quote(s))
		}
		codes[i] = base.String()
	}
	return codes[0], codes[1], nil
}

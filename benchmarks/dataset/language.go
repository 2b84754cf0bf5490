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

// LanguagePair returns the languages of sources and references, such as "zh" and "en",
// where the spec of a dataset tells: of an mtme: dataset its name, and of a published
// folder its manifest, or the first language of its card, and of a file of JSON Lines its
// first segment, as expand writes it. What is unknown is "".
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
		source, target, _ = Languages(pair) // which a folder of another name does not tell
	}
	return source, target
}

// firstLanguage is the language that the first segment of a file states. A pipe is left alone,
// as it can be read only once.
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

// cardLanguage is the first language that a dataset card states; "" for none.
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

// Languages reads a language such as "de", "zh-TW" or "jpn", or a pair of them such as
// "en-de", in which case of letters tells a region from a language. It returns codes of two
// letters where there are any; source is "" where one is named.
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

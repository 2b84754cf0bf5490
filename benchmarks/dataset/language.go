package dataset

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
)

// LanguagePair returns the languages of sources and references, such as "zh" and "en",
// where the spec of a dataset tells: of an mtme: dataset its name, and of a published
// folder its manifest, or the first language of its card. What is unknown is "".
func LanguagePair(spec string) (source, target string) {
	scheme, place, _ := strings.Cut(complete(spec), ":")
	pair := ""
	switch scheme {
	case "mtme":
		pair = filepath.Base(place)
	case "published":
		if m, err := ReadManifest(place); err == nil {
			pair = m.LanguagePair
		}
		if pair == "" {
			return "", cardLanguage(filepath.Join(place, "README.md"))
		}
	}
	source, target, _ = strings.Cut(pair, "-")
	return source, target
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

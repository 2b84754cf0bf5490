package dataset

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
	xlanguage "golang.org/x/text/language"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/files"
	"github.com/refract-eval/refract/internal/text"
)

// LanguagePair returns the languages of sources and references, such as "zh" and "en", if a
// dataset's spec tells: for an mtme: dataset by its name, for a published folder by its
// manifest or the only language of its card, and for JSON Lines if all segments that state
// one state the same. Unknown languages are "".
func LanguagePair(spec string) (source, target string) {
	scheme, place, _ := strings.Cut(complete(spec), ":")
	pair := ""
	switch scheme {
	case "mtme":
		pair = filepath.Base(place)
	case "jsonl":
		if stated := statedLanguages(place); len(stated) == 1 {
			return "", stated[0]
		}
		return "", ""
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

// statesLanguage matches what may be the language of a segment.
var statesLanguage = regexp.MustCompile(`^"language"\s*:\s*"([^"\\]*)"`)

// statedLanguages returns the languages that the segments of a file state, each once. It
// parses only lines that may state a new one. It does not read pipes, which can be read
// only once; errors are left to the reading that follows.
func statedLanguages(place string) []string {
	in, err := newInput(place)
	if err != nil || in.stream {
		return nil
	}
	in.json = true
	seen := map[string]bool{}
	var stated []*refract.Segment
	r := &record{}
	in.each(context.Background(), func(Warning) {}, func(line []byte, pos refract.Position) error {
		rest := line
		for {
			i := bytes.Index(rest, []byte(`"language"`)) // far faster than a pattern
			if i < 0 {
				return nil
			}
			found := statesLanguage.FindSubmatch(rest[i:])
			if rest = rest[i+1:]; found == nil || seen[string(found[1])] {
				continue
			}
			s, err := r.parse(line, pos)
			if err != nil {
				return err
			}
			if stated = append(stated, s); s.Language == string(found[1]) {
				seen[s.Language] = true
			}
		}
	})
	return statedBy(stated)
}

// cardLanguage returns the language in a dataset card; "" for none or several.
func cardLanguage(path string) string {
	b, err := files.ReadSmall(path, mostSmall)
	if err != nil {
		return ""
	}
	head, _, _ := strings.Cut(strings.TrimPrefix(string(b), "---\n"), "\n---\n")
	var card struct{ Language []string }
	if yaml.Unmarshal([]byte(head), &card) != nil || len(card.Language) != 1 {
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

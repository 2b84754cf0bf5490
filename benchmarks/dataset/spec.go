package dataset

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/refract-eval/refract/internal/files"
	"github.com/refract-eval/refract/internal/text"
)

// complete adds the format to a spec that is a path, if its name shows it.
func complete(spec string) string {
	name := strings.ToLower(files.Unpacked(spec))
	switch {
	case strings.Contains(spec, ":"):
	case strings.HasSuffix(name, ".jsonl"), strings.HasSuffix(name, ".json"):
		return "jsonl:" + spec
	case strings.HasSuffix(name, ".parquet"):
		return "parquet:" + spec
	case strings.HasSuffix(name, ".csv"), strings.HasSuffix(name, ".tsv"), strings.HasSuffix(name, ".ndjson"):
		return "table:" + spec
	default:
		if _, err := os.Stat(filepath.Join(spec, ManifestName)); err == nil {
			return "published:" + spec
		}
	}
	return spec
}

// specOption is a "key=value" part of a spec such as "mqm:FILE,reference=refA".
type specOption struct{ key, value string }

// quotedOption matches an option whose value stands in quotes, as one with a comma has to.
var quotedOption = regexp.MustCompile(`^[^,="]+="(?:[^"]|"")*"(?:,|$)`)

// splitSpec separates a place from the options after it, in their order. The options in
// many may be repeated, those in once not; "key:NAME" stands for a key with any name. A
// comma before the first option belongs to the place, unless "word=" follows it. A value may
// stand in double quotes, in which "" is a quote.
func splitSpec(spec, place string, once, many []string) (path string, options []specOption, err error) {
	known := slices.Concat(once, many)
	path, rest, more := strings.Cut(place, ",")
	for more {
		var part string
		if quoted := quotedOption.FindString(rest); quoted != "" {
			part, more = strings.CutSuffix(quoted, ",")
			rest = rest[len(quoted):]
		} else {
			part, rest, more = strings.Cut(rest, ",")
		}
		key, value, ok := strings.Cut(part, "=")
		if n := len(value); n > 1 && value[0] == '"' && value[n-1] == '"' {
			value = strings.ReplaceAll(value[1:n-1], `""`, `"`)
		}
		form := key
		if kind, name, named := strings.Cut(key, ":"); named && name != "" && !strings.HasSuffix(name, ":") {
			form = kind + ":NAME"
		}
		switch {
		case !ok && len(options) == 0:
			path += "," + part
			continue
		case !ok:
			err = fmt.Errorf("%s has no value", text.Quote(part))
		case !slices.Contains(known, form):
			err = fmt.Errorf("has the unknown option %s%s; the options are %s", text.Quote(key), didYouMean(key, known), strings.Join(known, ", "))
		case value == "":
			err = fmt.Errorf("the option %s is empty", key)
		case slices.Contains(once, key) && slices.ContainsFunc(options, func(o specOption) bool { return o.key == key }):
			err = fmt.Errorf("the option %s is given twice", key)
		}
		if err != nil {
			return "", nil, specError("%s: %v", spec, err)
		}
		options = append(options, specOption{key, value})
	}
	return path, options, nil
}

// quoteColumn writes a column as the value of an option.
func quoteColumn(name string) string {
	if strings.ContainsAny(name, `,"`) {
		return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	return name
}

// NameOf returns a readable name for the dataset of a spec: its file, or its test set and
// language pair, without the folders of this machine.
func NameOf(spec string) string {
	scheme, place, _ := strings.Cut(complete(spec), ":")
	place, _, _ = strings.Cut(place, ",")
	if place == "-" || place == "" {
		return "standard input"
	}
	folder, name := path.Split(filepath.ToSlash(filepath.Clean(place)))
	if scheme == "mtme" {
		name = path.Join(path.Base(folder), name)
	}
	return name
}

package dataset

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/refract-eval/refract/internal/packed"
	"github.com/refract-eval/refract/internal/text"
)

// complete adds the format to a spec that is a path which tells it.
func complete(spec string) string {
	name := strings.ToLower(packed.Name(spec))
	switch {
	case strings.Contains(spec, ":"):
	case strings.HasSuffix(name, ".jsonl"):
		return "jsonl:" + spec
	case strings.HasSuffix(name, ".parquet"):
		return "parquet:" + spec
	default:
		if _, err := os.Stat(filepath.Join(spec, ManifestName)); err == nil {
			return "published:" + spec
		}
	}
	return spec
}

// specOptions are the "key=value" parts of a spec such as
// "hf:FILE,source=src,references=ref", by key, in their order.
type specOptions map[string][]string

// get returns the value of an option that may be given once; parseSpec has
// checked that.
func (o specOptions) get(key string) string {
	if v := o[key]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// splitSpec parts a place from the options that follow it. many are the
// options that may be repeated, once those that may not. A comma before the
// first option belongs to the place, unless "word=" follows it.
func splitSpec(scheme, place string, once, many []string) (path string, o specOptions, err error) {
	known := slices.Concat(once, many)
	parts := strings.Split(place, ",")
	path, o = parts[0], specOptions{}
	for _, part := range parts[1:] {
		key, value, ok := strings.Cut(part, "=")
		switch {
		case !ok && len(o) == 0:
			path += "," + part
			continue
		case !ok:
			err = fmt.Errorf("%s has no value", text.Quote(part))
		case !slices.Contains(known, key):
			err = fmt.Errorf("has the unknown option %s%s; the options are %s", text.Quote(key), didYouMean(key, known), strings.Join(known, ", "))
		case value == "":
			err = fmt.Errorf("the option %s is empty", key)
		case len(o[key]) > 0 && slices.Contains(once, key):
			err = fmt.Errorf("the option %s is given twice", key)
		}
		if err != nil {
			return "", nil, specError("dataset %s: %v", text.Quote(scheme+":"+place), err)
		}
		o[key] = append(o[key], value)
	}
	return path, o, nil
}

// NameOf is what people call the dataset of a spec: its file, or its test set
// and language pair, without the folders of this machine.
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

package judge

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"slices"

	"github.com/refract-eval/refract/internal/english"
)

//go:embed builtin/*.yaml
var builtinFiles embed.FS

// Names lists the built-in judges, in the order of listings, without reading any.
func Names() []string {
	return []string{
		"tigerscore", "instructscore",
		"gemba-da", "gemba-sqm", "gemba-stars", "gemba-classes", "gemba-mqm", "gemba-mqm-v2", "gemba-esa",
		"chatgpt-eval", "zero-shot", "xgptscore", "mqm", "m-prometheus", "gptscore",
	}
}

// Builtin returns the built-in judges, newly read from their files.
func Builtin() []*Definition {
	var all []*Definition
	for _, name := range Names() {
		all = append(all, mustRead(name))
	}
	return all
}

// Find returns the built-in judge with a name; the error lists the names.
func Find(name string) (*Definition, error) {
	if slices.Contains(Names(), name) {
		return mustRead(name), nil
	}
	return nil, english.Unknown("judge", name, Names())
}

// mustRead reads an embedded file; tests have read all of them.
func mustRead(name string) *Definition {
	path := "builtin/" + name + ".yaml"
	content, err := builtinFiles.ReadFile(path)
	d, wrong := parseDefinition(path, bytes.NewReader(content))
	if err = cmp.Or(err, wrong); err != nil {
		panic(fmt.Sprintf("judge: built-in %s: %v", name, err))
	}
	return d
}

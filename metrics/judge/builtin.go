package judge

import (
	"bytes"
	"embed"
	"errors"
	"fmt"

	"github.com/refract-eval/refract/internal/english"
)

//go:embed builtin/*.yaml
var builtinFiles embed.FS

// Names lists the built-in judges, in the order of listings. It reads none of
// them.
func Names() []string {
	return []string{
		"tigerscore", "instructscore",
		"gemba-da", "gemba-sqm", "gemba-stars", "gemba-classes", "gemba-mqm", "gemba-mqm-v2", "gemba-esa",
		"chatgpt-eval", "zero-shot", "xgptscore", "mqm", "m-prometheus", "gptscore",
	}
}

// Builtin returns the built-in judges, each read anew from its file.
func Builtin() []*Definition {
	names := Names()
	all := make([]*Definition, len(names))
	for i, name := range names {
		all[i] = mustRead(name)
	}
	return all
}

// Find returns the built-in judge of a name; the error names those there are.
func Find(name string) (*Definition, error) {
	for _, known := range Names() {
		if name == known {
			return mustRead(name), nil
		}
	}
	return nil, errors.New(english.Unknown("judge", name, Names()))
}

// mustRead reads a file that was there when the program was built, and that
// the tests read.
func mustRead(name string) *Definition {
	path := "builtin/" + name + ".yaml"
	content, err := builtinFiles.ReadFile(path)
	if err == nil {
		var d *Definition
		if d, err = parseDefinition(path, bytes.NewReader(content)); err == nil {
			return d
		}
	}
	panic(fmt.Sprintf("judge: built-in %s: %v", name, err))
}

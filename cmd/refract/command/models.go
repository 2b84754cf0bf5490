//go:build !lean

package command

import (
	"github.com/refract-eval/refract/diversify/language"
	"github.com/refract-eval/refract/diversify/language/lingua"
)

// languageModels returns the models that tell languages of one script apart. They
// are loaded when the language check first needs them.
func languageModels() language.Models { return lingua.New() }

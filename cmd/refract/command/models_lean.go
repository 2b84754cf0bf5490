//go:build lean

package command

import "github.com/refract-eval/refract/diversify/language"

// languageModels returns nil: the build tag lean leaves out the models, 130 MB.
func languageModels() language.Models { return nil }

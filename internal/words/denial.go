package words

import "strings"

// Denies reports whether a word in lower case denies, in the languages of the
// built-in prompts.
func Denies(word string) bool {
	switch word {
	case "not", "no", "never", "none", "nobody", "nothing", "neither", "nor", "cannot", "without", "hardly",
		"nicht", "kein", "keine", "keinen", "keiner", "keinem", "nie", "niemals", "niemand", "nichts", "ohne", "kaum",
		"pas", "jamais", "rien", "aucun", "aucune", "nunca", "nadie", "nada", "ningún", "sin",
		"не", "нет", "ни", "никогда", "никто", "ничего", "нельзя", "без", "不", "没", "沒", "无", "無", "未", "别":
		return true
	}
	return strings.HasSuffix(word, "n't") || strings.HasSuffix(word, "n’t")
}

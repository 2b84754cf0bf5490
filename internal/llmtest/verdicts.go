package llmtest

import (
	"encoding/json"
	"regexp"
	"strconv"
)

// rewriting matches a numbered text in a question about meaning, which begins with the
// reference.
var (
	rewriting = regexp.MustCompile(`(?m)^(\d+)\. (\{"rewriting":".*"\})$`)
	original  = regexp.MustCompile(`(?m)^\{"reference":".*"\}$`)
)

// Verdicts answers a question to expand's judge of meaning. say returns the verdict on each text:
// "same", or the kind of change and its words. Verdicts returns false for other prompts.
func Verdicts(prompt string, say func(reference, text string) (changed, words string)) (string, bool) {
	var of struct{ Reference, Rewriting string }
	asked := rewriting.FindAllStringSubmatch(prompt, -1)
	if len(asked) == 0 || json.Unmarshal([]byte(original.FindString(prompt)), &of) != nil {
		return "", false
	}
	var out struct {
		Verdicts []any `json:"verdicts"`
	}
	for _, m := range asked {
		n, _ := strconv.Atoi(m[1])
		if json.Unmarshal([]byte(m[2]), &of) != nil {
			return "", false
		}
		changed, words := say(of.Reference, of.Rewriting)
		out.Verdicts = append(out.Verdicts, map[string]any{"number": n, "changed": changed, "words": words})
	}
	b, err := json.Marshal(out)
	return string(b), err == nil
}

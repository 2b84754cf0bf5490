package build

import (
	"fmt"
	"regexp"
	"strings"
)

// closingTalk is how models close a conversation: sentences to the one who asks, up
// to the end of a text. One in quotation marks is a quotation.
var closingTalk = regexp.MustCompile(`(?is)(?:^|[.!?:)"”*_]\s+|\n[\s*_#>-]*)((?:i (?:really )?hope (?:this|that|it|these)\b|(?:i )?hope (?:this|that|it) helps|(?:please )?(?:feel free to|let me know\b|do(?:n['’]t| not) hesitate to)|if you(?:['’]d like| need| want| have| would like| require)\b|would you like me to\b|is there anything else\b|happy to help)[^"“”]*)$`)

// talk says how the item's last explanation, or an output that the model made, ends
// with words to the one who asks, or "". What the texts say too is no talk.
func (it *Item) talk() string {
	ends := func(text string) string {
		m := closingTalk.FindStringSubmatch(text)
		if m == nil || strings.Contains(folded(it.Reference+" "+it.Source), folded(m[1])) {
			return ""
		}
		return fmt.Sprintf("it ends with talk: %.80q", m[1])
	}
	if it.Channel == ChannelSynthetic {
		if why := ends(it.Hypothesis); why != "" {
			return "the output: " + why
		}
	}
	if n := len(it.Errors); n > 0 {
		if why := ends(it.Errors[n-1].Explanation); why != "" {
			return "the last explanation: " + why
		}
	}
	return ""
}

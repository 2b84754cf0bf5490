package token

import "regexp"

// apart matches what a tokenizer has split off. Punctuation that some languages write after
// a space, such as the question mark of French, is left out.
var apart = regexp.MustCompile(`(?:^|\s)(?:[.,]|n't|'(?:s|re|ve|ll|m|d)|@-@|&(?:apos|quot);\S*|-(?:LRB|RRB)-)(?:\s|$)`)

// fewest is the least number of texts that tell.
const fewest = 10

// LookTokenized reports whether most of the texts look as if a tokenizer had split them.
func LookTokenized(texts []string) bool {
	n := 0
	for _, s := range texts {
		if apart.MatchString(s) {
			n++
		}
	}
	return len(texts) >= fewest && 2*n > len(texts)
}

package load_test

import "strings"

// hash is FNV-1a over the parts, mixed because its low bits are weak. It is the same in
// every process.
func hash(parts ...string) uint64 {
	h := uint64(14695981039346656037)
	for _, p := range parts {
		for i := range len(p) {
			h = (h ^ uint64(p[i])) * 1099511628211
		}
		h = (h ^ 0xff) * 1099511628211
	}
	h = (h ^ h>>32) * 0xd6e8feb86659fd93
	return h ^ h>>32
}

// paraphrase answers a prompt like a good model, as far as the program can tell: with the
// reference, which follows the first colon and space, and two inserted words. Equal prompts
// have equal answers.
func paraphrase(prompt string) string {
	_, reference, ok := strings.Cut(prompt, ": ")
	if !ok {
		reference = prompt
	}
	words := strings.Fields(reference)
	h := hash(prompt)
	at := 0
	if n := len(words) - 1; n > 0 { // the first word keeps its capital
		at = 1 + int(h%uint64(n))
	}
	h /= 1 << 20
	var b strings.Builder
	b.Grow(len(reference) + 24)
	for i, w := range words {
		if i == at {
			b.WriteString(fillers[h%64])
			b.WriteByte(' ')
			b.WriteString(fillers[h/64%64])
			b.WriteByte(' ')
		}
		b.WriteString(w)
		if i < len(words)-1 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

var fillers = [64]string{
	"truly", "plainly", "quietly", "gladly", "often", "rarely", "still", "again", "indeed", "perhaps", "clearly", "mostly",
	"fully", "partly", "nearly", "soon", "later", "early", "slowly", "quickly", "openly", "kindly", "firmly", "softly",
	"boldly", "calmly", "warmly", "coolly", "simply", "purely", "rather", "quite", "fairly", "deeply", "widely", "largely",
	"closely", "exactly", "surely", "finally", "freshly", "greatly", "humbly", "justly", "keenly", "lightly", "meekly", "neatly",
	"oddly", "politely", "richly", "safely", "tamely", "usually", "vaguely", "wisely", "yearly", "newly", "barely", "broadly",
	"brightly", "bravely", "busily", "carefully",
}

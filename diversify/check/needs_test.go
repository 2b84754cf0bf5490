package check

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// No step changes a text that has nothing of what it says that it needs.
func TestNeeds(t *testing.T) {
	c, err := New(Config{Prompts: []string{"Change the order of the sentences:", "Say it again."}})
	if err != nil {
		t.Fatal(err)
	}
	pieces := []string{
		"The cat sat on the mat.", "A dog, too, was in the house.", "Who was it?", "Der Hund schläft im Haus.", "Кот сидел дома.", "猫在坐着。", "3.5 cats",
		"Sure.", "Here is a paraphrase.", "I hope this helps!", "Say it again.", "a", "A. ", "ii. ", "it's", "’", "'", "-", "--", ",", ".", "...", "!", "?", ";", " ", "  ", "，", "。",
		"assistantfinal", "or ", "Or The cat sat.", "Hence The", "xD", "1", "12", "Mr. ", "é", "ю", "Å", "ﬁ", "Ａ", "\u0301",
		"```", "~~~", "\n", "**", "*", "_", "`", "#", ">", "|", "~~", "==", "$", `\text{a}`, `\n`, `\u00e8`, "[a](b)", "<b>", "</b>", "<think>", "{", "}", "[", "]", `"text":`, "&amp;", "&",
		"\"", "“", "”", "„", "«", "»", "「", "」", "《", "》", "【", "】", "〔", "〕", "{{", "}}", "(", ")", "''", "``", ":", "=", "•", "①", "✅", "😊", ":)", "^_^", "<3", "=)", "@name ", "b) ", "1) ", "iv) ",
		"▁", "Ġ", "\u00a0", "\u200b", "\u00ad", "\t", "\r", "\x1b[1m", "Ã¼", "â€™", "ÃŸ", "√º", "Сё", "а", "Рџ", "рџ", "ё", "і", "‟", "〝", "＂", "‹", "‘", "ß", "öß", "–", "→", "◁think▷", "<![CDATA[",
	}
	texts := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 6).Draw(t, "pieces"), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
	})
	spared := map[string]bool{}
	rapid.Check(t, func(t *rapid.T) {
		text, ref := strings.TrimSpace(texts.Draw(t, "text")), newOriginal(texts.Draw(t, "ref"))
		set := c.steps.by(text)
		for i, s := range c.steps.steps {
			if set&(1<<i) != 0 {
				continue
			}
			spared[s.name] = true
			if got := strings.TrimSpace(s.apply(c, text, ref)); got != text {
				t.Errorf("step %s makes %q of %q beside %q, and says that it needs nothing of it", s.name, got, text, ref.text)
			}
		}
	})
	for _, s := range c.steps.steps {
		if !s.needs.always && !spared[s.name] {
			t.Errorf("step %s is never spared", s.name)
		}
	}
}

package check

import (
	"strings"
	"sync"
)

// A model that speaks of the task does so in few words. A text, or what stands
// before a colon or in brackets, is such talk if all its words are in this
// vocabulary and one of them tells the task. That the vocabulary is closed
// makes it precise: one word of another kind, such as a name, and the text is
// none of it.
type sense uint8

const (
	filler sense = 1 << iota
	task         // tells the task: "rephrased"
	alone        // tells the task where it stands alone: "past"
	opener       // begins an answer: "sure"
	here         // points to what follows
)

// vocabulary has the words in lower case.
var vocabulary = sync.OnceValue(func() map[string]sense {
	m := map[string]sense{}
	for _, entry := range []struct {
		s     sense
		words string
	}{
		{task, `paraphrase paraphrased paraphrases paraphrasing rephrase rephrased rephrases rephrasing rewrite rewritten
			rewrites rewriting reword reworded rewording revised revision restructure restructured restructures reformulate reformulated
			reformulation phrasing tense tenses sentence sentences imperative formality`},
		{alone, `present past future active passive changed revised informal formal casual imperative alternative alternatives
			paraphrase rephrased rewritten`},
		{task, `voice`}, // with passive or active; see tellsTask
		{opener, `sure certainly absolutely course ok okay`},
		{here, `here below following follows`},
		{filler, `a the an of in is are be been was were has have had can could would should will may might must to as follow way ways for
			with from into by and or it its it's this that these those your you my i i've me we one some all both possible suggested
			new another other text statement statements speech using use used language languages word words pitch mood simple simpler
			continuous progressive perfect participle expressed include includes including like so how original change changes order structure
			style tone version versions variant variants variation variations option options correct altered made make them more
			less clear concise consistent format clearly still maintaining main information same different english german
			russian chinese still no not only happy slightly neutral polite common very also already
			translation translated synonyms previous meaning form restated modified`},

		{task, `paraphrasiert paraphrasierte paraphrasierung umformulierung umformulierungen umformuliert umformulierte umformulierter
			umformuliertes neuformulierung umgeschrieben umgeschriebene umgeschriebener satz satzes satze sätze sätzen zeitform zeitformen präsens
			präteritum imperfekt perfekt plusquamperfekt futur imperativ vergangenheitsform gegenwartsform`},
		{alone, `passiv aktiv vergangenheit gegenwart zukunft formell informell umgangssprachlich höflich`},
		{opener, `gerne natürlich sicher klar`},
		{here, `hier folgenden`},
		{filler, `die der das den dem des ein eine einen einem einer im ist sind wird werden wurde wurden kann können könnte könnten wie folgt
			mögliche möglicher auf deutsch deutschen struktur anordnung reihenfolge ton tonfall stil zeit geändert ändern verändern
			sie bitte von zu mit für und oder lautet lauten würde wäre als überarbeitete überarbeitete geänderte geänderter
			folgende folgender folgendermaßen variationen varianten variante alternative formulierung formulierungen satzstruktur`},

		{task, `предложение предложения предложений предложению предложениях предложениям перефразировать перефразированное перефразированный
			перефразированная перефразировано перефразируем перефразировка переформулировано переформулировка переформулированное переформулированный
			залог залоге императив`},
		{alone, `прошедшее настоящее будущее пассивный активный неформально формально`},
		{opener, `конечно хорошо`},
		{here, `вот следующим`},
		{filler, `в во на и или с со из русский русском русского русских языке язык измените изменить изменение изменения поменяйте поменять
			тон стиль оттенок структуру структура порядок времени время времена можно образом более менее формальный неформальный
			сохраняя первоначальный смысл выражения выражение версия вариант варианты текст изменённое измененное измененный новый
			прошедшем настоящем будущем страдательный страдательном действительный пассивном активном это по`},
	} {
		for _, w := range strings.Fields(entry.words) {
			m[w] |= entry.s
		}
	}
	return m
})

// chineseTask are the words that tell the task in Chinese, which has no
// spaces to find words by.
var chineseTask = []string{"改写", "释义", "重写", "复述", "语态", "时态", "同义句", "换句话说", "过去时", "现在时", "将来时", "句子结构", "改变句子"}

// talk is what the words of a text are.
type talk struct {
	words  int
	closed bool  // all of them are in the vocabulary
	senses sense // of all words together
}

// talkOf looks at the words of a text in lower case, up to the first that is
// not in the vocabulary. Quoted words do not count: they are the reference's.
func talkOf(low []byte) talk {
	t := talk{closed: true}
	vocab := vocabulary()
	for i := 0; i < len(low); {
		if low[i] == '"' {
			if end := indexByteFrom(low, '"', i+1); end > 0 {
				i = end + 1
				continue
			}
		}
		n, letter := letterAt(low, i)
		if !letter {
			if '0' <= low[i] && low[i] <= '9' {
				t.closed = false
				return t
			}
			i += n
			continue
		}
		end := wordEnd(low, i)
		word := low[i:end]
		i = end
		s, ok := vocab[string(word)]
		if !ok {
			if stem, is := strings.CutSuffix(string(word), "'s"); is {
				s, ok = vocab[stem]
			}
		}
		if !ok {
			t.closed = false
			return t
		}
		t.words++
		t.senses |= s
	}
	return t
}

// tellsTask reports whether talk is about the task. A single word must be one
// that stands alone.
func (t talk) tellsTask() bool {
	switch {
	case !t.closed || t.words == 0:
		return false
	case t.words <= 2 && t.senses&alone != 0:
		return true
	case t.senses&task != 0 && t.words > 1:
		return true
	}
	return t.senses&opener != 0 && t.senses&here != 0
}

func indexByteFrom(s []byte, c byte, from int) int {
	for i := from; i < len(s); i++ {
		if s[i] == c {
			return i
		}
	}
	return -1
}

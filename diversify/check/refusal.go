package check

import (
	"bytes"
	"fmt"
)

// phrase is bytes to look for in a text in lower case.
type phrase = []byte

func phrases(list ...string) []phrase {
	out := make([]phrase, len(list))
	for i, s := range list {
		out[i] = phrase(s)
	}
	return out
}

var (
	// selfWords are how a model speaks of itself.
	selfWords = phrases("language model", "as an ai ", "as an ai,", "i am an ai", "i'm an ai", "ai assistant",
		"sprachmodell", "als ki ", "als ki-", "als ki,",
		"языковая модель", "языковой модел", "искусственный интеллект", "人工智能", "语言模型", "作为ai", "作为一个ai")

	// sorry begins an answer that refuses.
	sorry = phrases("i'm sorry", "i’m sorry", "i am sorry", "sorry", "i apologize", "i apologise", "my apologies", "i cannot", "i can't", "i can’t",
		"i can not", "i'm unable", "i am unable", "i'm not able", "i am not able", "unfortunately", "it is not possible to", "please provide",
		"could you please provide", "i'm afraid", "i am afraid", "i need more", "there is no ", "there are no ",
		"es tut mir leid", "tut mir leid", "entschuldigung", "entschuldigen sie", "leider", "ich kann ", "bitte geben sie", "es ist nicht möglich",
		"извините", "к сожалению", "простите", "я не могу", "пожалуйста, предоставьте", "невозможно",
		"对不起", "抱歉", "很抱歉", "非常抱歉", "我无法", "我不能", "请提供", "无法")
	// sorryWords are what such an answer speaks of.
	sorryWords = phrases("rewrit", "rephras", "paraphras", "reorder", "reword", "sentence", "assist with", "fulfill", "context", "the text",
		"this text", "your request", "this request", "translat", "tense", "passive voice",
		"umformulier", "umschreib", "paraphras", "satz", "sätze", "anfrage", "kontext",
		"перефраз", "переформул", "предложени", "ваш запрос", "контекст",
		"改写", "句子", "您的请求", "该请求", "原文", "上下文")

	// grammar has, for words that mean a sentence, what is said of sentences only
	// when they are to be changed. The first word of each is the stem that the
	// reference must not have.
	grammar = []struct {
		stem  phrase
		terms []phrase
	}{
		{phrase("sentence"), phrases("tense", "voice", "structure", "the order", "tone", "style", "passive", "rewritten", "rephrased",
			"restructured", "altered", "reworded", "cannot be changed", "formality")},
		{phrase("satz"), phrases("zeitform", "satzstruktur", "reihenfolge", "tonfall", "passiv", "umformuliert", "präteritum", "präsens")},
		{phrase("sätze"), phrases("zeitform", "struktur", "reihenfolge", "anordnung", "den ton ", "stil", "passiv", "umformuliert")},
		{phrase("предложени"), phrases("измени", "изменение", "поменя", "перефраз", "переформул", "залог", "времени глагол")},
		{phrase("句"), phrases("时态", "语态", "改写", "句子结构", "语气", "句子的顺序", "同义")},
	}
)

// refusal says how an answer speaks of the task in place of doing it, or "".
// Nothing counts that the reference says too.
func refusal(w *work, ref *original) string {
	low := w.lower()
	theirs := ref.w.lower()
	if p := onlyHere(low, theirs, selfWords); p != nil {
		return fmt.Sprintf("it speaks of itself: %q", p)
	}
	if t := talkOf(low); t.closed && t.words > 1 && t.tellsTask() && !sharesTask(w.text, ref) {
		return fmt.Sprintf("all of it is about the task: %s", quote(w.text))
	}
	if p := prefixOf(low, sorry); p != nil && !bytes.Contains(theirs, p) {
		if word := onlyHere(low, theirs, sorryWords); word != nil {
			return fmt.Sprintf("it begins with %q and speaks of %q", p, word)
		}
	}
	for i := range grammar {
		g := &grammar[i]
		if !bytes.Contains(low, g.stem) || bytes.Contains(theirs, g.stem) {
			continue
		}
		if term := onlyHere(low, theirs, g.terms); term != nil {
			return fmt.Sprintf("it speaks of sentences: %q", term)
		}
	}
	return ""
}

// onlyHere returns the first phrase that a text has and the other has not.
func onlyHere(low, other []byte, list []phrase) phrase {
	for _, p := range list {
		if bytes.Contains(low, p) && !bytes.Contains(other, p) {
			return p
		}
	}
	return nil
}

// prefixOf returns the phrase that a text begins with, quotation marks aside.
func prefixOf(low []byte, list []phrase) phrase {
	low = bytes.TrimLeft(low, "\"'")
	for _, p := range list {
		if len(low) > 0 && low[0] == p[0] && bytes.HasPrefix(low, p) {
			return p
		}
	}
	return nil
}

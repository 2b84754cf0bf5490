package build

import (
	"regexp"
	"strings"
)

// refusals are how models begin an answer that declines to do what is asked, in the
// languages of the tasks and Chinese.
var refusals = []*regexp.Regexp{
	begins(`(?:as|i(?:['’]m| am)(?: just| only)?) an? (?:\w+ ){0,2}(?:ai|a\.i\.|language model|artificial intelligence|llm|virtual assistant|ai assistant)\b`),
	begins(`(?:(?:unfortunately|regrettably|sorry|(?:my )?apologies|i(?:['’]m| am)(?: \w+)? (?:sorry|afraid)|i apologi[sz]e|i regret)\b[^.!?\n]{0,60}[\s,])?(?:i|we)(?:(?:['’]m| am|['’]re| are)(?: \w+)? (?:unable|not able|not allowed|not permitted)| can['’]?t| can ?not| could ?n['’]t| wo ?n['’]t| will not| must| have to)(?: to)?(?: \w+){0,2} (?:assist|help|comply|fulfill?|accommodate|provide|create|generate|write|produce|translate|complete|process|respond|engage|continue|support|decline|refuse|paraphrase|rewrite|do) (?:with |to |in |on |of )?(?:you\b|any\b|such\b|that\b|this\b|these\b|those\b|the request|the task|your|so\b|content|sentences|texts?\b|harmful|offensive|inappropriate)`),
	begins(`(?:i(?:['’]m| am)(?: \w+)? (?:sorry|afraid)|sorry|i apologi[sz]e|(?:my )?apologies)\b[^.!?\n]{0,80}\b(?:(?:can['’]?t|can ?not|unable to|not able to) (?:\w+ )?(?:assist|help|comply|fulfill?)|your request|this request|that request)\b`),
	begins(`(?:als (?:eine? )?(?:ki|künstliche intelligenz|(?:\pL+ )?sprachmodell)\PL|(?:(?:es )?tut mir (?:\pL+ )?leid|leider|entschuldigung|ich)\PL[^.!?\n]{0,80}(?:kann|darf|werde)[^.!?\n]{0,80}(?:nicht|keine?n?)\PL[^.!?\n]{0,60}(?:anfrage|helfen|weiterhelfen|erfüllen|nachkommen|erstellen|unterstützen))`),
	begins(`(?:как (?:языковая модель|ии\PL|искусственный интеллект)|(?:извините|простите|к сожалению|сожалею|я)\PL[^.!?\n]{0,60}не (?:могу|можем|смогу) (?:\pL+ )?(?:помочь|выполнить|ответить на|предоставить|создать|создавать))`),
	begins(`(?:como (?:un |una )?(?:modelo de lenguaje|ia\b|inteligencia artificial)|(?:lo siento|lamento|lamentablemente|disculp\pL+|no)\b[^.!?\n]{0,60}(?:no )?puedo (?:\pL+ )?(?:ayudar|cumplir|asistir|proporcionar|generar|crear))`),
	begins(`(?:作为(?:一个|一名|一款)?(?:ai|人工智能|大?语言模型)|(?:很)?(?:抱歉|对不起|遗憾)[^。！？\n]{0,20}(?:无法|不能)|我(?:无法|不能)(?:协助|帮助|满足|提供|完成|回答|生成))`),
}

func begins(form string) *regexp.Regexp { return regexp.MustCompile(`(?i)^\PL*` + form) }

// mostRefusal bounds, in bytes, the beginning of an answer that tells a refusal.
const mostRefusal = 400

// refusal says how a text begins, if that declines to do what is asked, or "".
func refusal(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > mostRefusal {
		text = strings.ToValidUTF8(text[:mostRefusal], "")
	}
	for _, form := range refusals {
		if found := form.FindString(text); found != "" {
			return "it begins as a refusal does: " + folded(found)
		}
	}
	return ""
}

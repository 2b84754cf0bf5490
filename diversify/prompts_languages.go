package diversify

// translation holds the prompts of one language.
type translation struct {
	plain string
	ten   [10]string // in the order of tenNames
}

// translations has the paper's own words for English. The others say the same
// as a speaker of the language would.
var translations = map[string]translation{
	"en": {
		plain: "Paraphrase the sentences:",
		ten: [10]string{
			"Change the order of the sentences:",
			"Change the structure of the sentences:",
			"Change the voice of the sentences:",
			"Change the tense of the sentences:",
			"Alter the tone of the sentences:",
			"Alter the style of the sentences:",
			"Rephrase the sentences while retaining the original meaning:",
			"Use synonyms or related words to express the sentences with the same meaning:",
			"Use more formal language to change the level of formality of the sentences:",
			"Use less formal language to change the level of formality of the sentences:",
		},
	},
	"de": {
		plain: "Paraphrasiere die Sätze:",
		ten: [10]string{
			"Ändere die Reihenfolge der Sätze:",
			"Ändere den Satzbau:",
			"Wechsle in den Sätzen zwischen Aktiv und Passiv:",
			"Ändere die Zeitform der Sätze:",
			"Verändere den Ton der Sätze:",
			"Verändere den Stil der Sätze:",
			"Formuliere die Sätze um, ohne ihre Bedeutung zu ändern:",
			"Drücke die Sätze mit Synonymen oder verwandten Wörtern aus, sodass die Bedeutung gleich bleibt:",
			"Verwende eine förmlichere Sprache, um den Grad der Förmlichkeit der Sätze zu ändern:",
			"Verwende eine weniger förmliche Sprache, um den Grad der Förmlichkeit der Sätze zu ändern:",
		},
	},
	"es": {
		plain: "Parafrasea las oraciones:",
		ten: [10]string{
			"Cambia el orden de las oraciones:",
			"Cambia la estructura de las oraciones:",
			"Cambia la voz verbal de las oraciones:",
			"Cambia el tiempo verbal de las oraciones:",
			"Modifica el tono de las oraciones:",
			"Modifica el estilo de las oraciones:",
			"Reformula las oraciones conservando el significado original:",
			"Usa sinónimos o palabras relacionadas para expresar las oraciones con el mismo significado:",
			"Usa un lenguaje más formal para cambiar el nivel de formalidad de las oraciones:",
			"Usa un lenguaje menos formal para cambiar el nivel de formalidad de las oraciones:",
		},
	},
	"fr": {
		plain: "Paraphrasez les phrases :",
		ten: [10]string{
			"Changez l’ordre des phrases :",
			"Changez la structure des phrases :",
			"Changez la voix (active ou passive) des phrases :",
			"Changez le temps verbal des phrases :",
			"Modifiez le ton des phrases :",
			"Modifiez le style des phrases :",
			"Reformulez les phrases en conservant leur sens d’origine :",
			"Exprimez les phrases à l’aide de synonymes ou de mots apparentés, en gardant le même sens :",
			"Employez un langage plus soutenu pour changer le niveau de langue des phrases :",
			"Employez un langage moins soutenu pour changer le niveau de langue des phrases :",
		},
	},
	"ja": {
		plain: "文を別の表現で言い換えてください：",
		ten: [10]string{
			"文の順序を変えてください：",
			"文の構造を変えてください：",
			"文の態（能動態と受動態）を変えてください：",
			"文の時制を変えてください：",
			"文の口調を変えてください：",
			"文の文体を変えてください：",
			"元の意味を保ったまま、文を書き換えてください：",
			"同義語や関連語を使って、同じ意味の文に書き換えてください：",
			"より改まった言葉を使って、文の丁寧さの度合いを変えてください：",
			"よりくだけた言葉を使って、文の丁寧さの度合いを変えてください：",
		},
	},
	"ru": {
		plain: "Перескажите предложения другими словами:",
		ten: [10]string{
			"Измените порядок предложений:",
			"Измените структуру предложений:",
			"Измените залог в предложениях:",
			"Измените грамматическое время в предложениях:",
			"Измените тон предложений:",
			"Измените стиль предложений:",
			"Перефразируйте предложения, сохранив исходный смысл:",
			"Выразите тот же смысл предложений с помощью синонимов или близких по значению слов:",
			"Используйте более официальный язык, чтобы изменить степень официальности предложений:",
			"Используйте менее официальный язык, чтобы изменить степень официальности предложений:",
		},
	},
	"zh": {
		plain: "换一种说法表达这些句子：",
		ten: [10]string{
			"改变这些句子的顺序：",
			"改变这些句子的结构：",
			"改变这些句子的语态：",
			"改变这些句子的时态：",
			"改变这些句子的语气：",
			"改变这些句子的风格：",
			"在保留原意的前提下改写这些句子：",
			"用同义词或相关词语表达这些句子，保持意思不变：",
			"用更正式的语言改变这些句子的正式程度：",
			"用不那么正式的语言改变这些句子的正式程度：",
		},
	},
}

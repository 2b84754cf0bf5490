package check_test

import (
	"testing"

	"github.com/refract-eval/refract/diversify/check"
)

// extractions are raw answers that have more than the rewriting, and what comes out.
var extractions = []struct{ name, ref, raw, want string }{
	{"a last line that stood before is what was taken", "Is there a way to punish the man?", "First: Was there a way to punish the man?\nSecond: Can the man be punished?\nThe second is better.\n\nCan the man be punished?", "Can the man be punished?"},
	{"the first of numbered ones, which shares less", "Take one tablet twice a day with food.", "Here are two ways:\n\n1. **Simple:** Swallow a single pill two times daily during meals.\n2. **Elaborate:** One tablet should be taken with a meal, morning and evening.", "Swallow a single pill two times daily during meals."},
	{"the first of labelled ones", "Let’s talk about cats.", "Here are some options:\n\n* **Option 1 (More formal):** How about we discuss cats?\n* **Option 2 (Direct):** Let's have a conversation about cats.\n\nI think Option 1 is best.", "How about we discuss cats?"},
	{"the first of ones with a line for the label", "1. Is this product original and authentic?", "Version 1:\nIs this item genuine and legitimate?\n\nVersion 2:\nIs this product genuine and legitimate?", "Is this item genuine and legitimate?"},
	{"the one that is called the best", "The cats shall be fed by the staff.", "Version A: It is the staff who shall feed the cats.\n\nVersion B: The staff shall feed the cats.\n\nI think Version B is best because it is shorter.", "The staff shall feed the cats."},
	{"the letter that is called the best", "The cats shall be fed by the staff.", "a) It is the staff who shall feed the cats.\nb) The staff shall feed the cats.\nc) Feeding the cats is the staff's work.\n\nThe best one is b).", "The staff shall feed the cats."},
	{"the second, in another language", "Кошек должны кормить сотрудники.", "Вариант 1: Кормить кошек должны именно сотрудники.\nВариант 2: Сотрудники должны кормить кошек.\n\nЛучший вариант — второй, так как он короче.", "Сотрудники должны кормить кошек."},
	{"one that is best only if", "The cats shall be fed by the staff.", "Option 1: The staff shall feed the cats.\nOption 2: Feeding the cats is the staff's work.\n\nOption 2 is best if you want it to be informal.", "The staff shall feed the cats."},
	{"a greeting, where the reference has one", "Hello, I ordered some cat food and it has not arrived.", "Hi! The cat food that I ordered has not arrived.", "Hi! The cat food that I ordered has not arrived."},
	{"a translation in brackets, with marks that the reference has", "Tippen Sie auf „Einstellungen“.", "Klicken Sie auf „Einstellungen“. (Click on \"Settings\".)", "Klicken Sie auf „Einstellungen“."},
	{"JSON with words that are exchanged", "We regret to tell you that the cat has been sold.", `{"changes": ["regret to tell → unfortunately", "sold → gone"], "text": "Unfortunately, someone else has already bought the cat."}`, "Unfortunately, someone else has already bought the cat."},
	{"a soft hyphen before a wrong character set", "Versand Für die Katze haben wir drei Arten.", "\u00adLieferung Wir haben drei Arten fÃ¼r die Katze.", "Lieferung Wir haben drei Arten für die Katze."},
	{"labels that are lines, and one that is recommended", "The cats shall be fed by the staff.", "Version 1\nIt is the staff who shall feed the cats.\n\nVersion 2\nThe staff shall feed the cats.\n\nMy recommendation: Version 2, as it sounds more natural.", "The staff shall feed the cats."},
	{"attempts, by words", "The cats shall be fed by the staff.", "First attempt:\nIt is the staff who shall feed the cats.\n\nSecond attempt:\nThe staff shall feed the cats.\n\nThe second attempt is the best one.", "The staff shall feed the cats."},
	{"what is to be used", "The cats shall be fed by the staff.", "Rewrite 1: It is the staff who shall feed the cats.\n\nRewrite 2 (active): The staff shall feed the cats.\n\nSince you asked for the active voice, use Rewrite 2.", "The staff shall feed the cats."},
	{"a mark of markup that is escaped", "I waited across the #CAT_HOUSE#.", "I stood on the other side of the #CAT\\_HOUSE#.", "I stood on the other side of the #CAT_HOUSE#."},
	{"marks in the wrong order", "Я занимаюсь подготовкой курса.", "“Я сейчас готовлю курс.„", "Я сейчас готовлю курс."},
	{"a translation in brackets, in another script", "Watch the cats and dogs now!", "See the cats and the dogs at once! (现在就看，等你来看！)", "See the cats and the dogs at once!"},
	{"a hyphen that does not break", "A cat-like animal sat there.", "An animal like a cat, cat\u2011shaped, sat there.", "An animal like a cat, cat-shaped, sat there."},
	{"numbers in brackets", "The cats shall be fed by the staff, who also brush them.", "(i) Feeding the cats is up to the staff, who brush them as well.\n\n(ii) The staff shall feed the cats and brush them too.", "Feeding the cats is up to the staff, who brush them as well."},
	{"steps are no rewritings", "The cat sat in the house.", "1. Find the verb.\n2. A cat was sitting in the house.", "A cat was sitting in the house."},
	{"a number before a quotation, where the reference has the number", "Only 1% of the cats live in the house.", "1. \"Just 1% of cats live in the house.\"\n\n2. \"The house is home to a mere 1% of the cats.\"", "Just 1% of cats live in the house."},
	{"marks around, where the reference has one of two", "“The cats have long become our friends.", "\"Cats became friends of ours long ago.\"", "Cats became friends of ours long ago."},
	{"one mark, where the reference has it too", "“The cats have long become our friends.", "“Cats became friends of ours long ago.", "“Cats became friends of ours long ago."},
	{"talk behind marks that are not the reference's", "Роман «Ледяной дом» она прочла за ночь.", "\"За одну ночь она прочитала роман «Ледяной дом».\" — так звучит лучше.", "За одну ночь она прочитала роман «Ледяной дом»."},
	{"a speaker behind the reference's marks", "«Как обычно, вы задали самый интересный вопрос», — сказал он.", "«Вы, как всегда, задали самый интересный вопрос», — ответил он.", "«Вы, как всегда, задали самый интересный вопрос», — ответил он."},
	{"a lead that ends in a comma", "The screen is really dope!", "Put differently, The display is truly cool!", "The display is truly cool!"},
	{"a name behind a comma", "I think Only Cats is a bad film.", "In my opinion, Only Cats is a poor film.", "In my opinion, Only Cats is a poor film."},
	{"a pictograph of the reference alone", "Who else is watching the game tonight? ⚽", "Anybody else tuning in for tonight's match? ⚽", "Anybody else tuning in for tonight's match? ⚽"},
	{"a shrug", "The cat sat in the house.", `¯\_(ツ)_/¯ A cat sat inside the house.`, "A cat sat inside the house."},
	{"marks around, where the reference ends in a quotation", "Ontology is the “study of which nouns are real”.", "\"Ontology is the study of what nouns are real.\"", "Ontology is the study of what nouns are real."},
	{"marks of another kind around", "The “best principle” is hard to reach.", "› To reach the \"best principle\" is hard. ‹", "To reach the \"best principle\" is hard."},
	{"marks of another kind around the reference and its rewriting", "Нажмите «Восстановить сейчас».", "\"Нажмите «Восстановить сейчас».\" becomes \"Нажмите на кнопку «Восстановить сейчас».\"", "Нажмите на кнопку «Восстановить сейчас»."},
	{"a rewriting that is quoted before the reference", "The cat sat in the house.", "\"Inside the house there was a cat.\" says the same as \"The cat sat in the house.\"", "Inside the house there was a cat."},
	{"talk behind a quotation that ends in a full stop", "„Wir geben nicht auf“, sagte der Trainer nach dem Spiel.", "Nach dem Spiel sagte der Trainer: „Aufgeben werden wir nicht.“ Hope that works for you!", "Nach dem Spiel sagte der Trainer: „Aufgeben werden wir nicht.“"},
	{"titles under labels", "Heavy snow closes mountain passes", "**Formal:** Mountain passes shut by heavy snowfall\n\n**Informal:** Passes in the mountains blocked as snow piles up", "Mountain passes shut by heavy snowfall"},
	{"equal words in front", "The cat sat in the house.", "\"cat\" → kitty, house = home\n\nThe kitty sat at home.", "The kitty sat at home."},
	{"equal words behind", "The cat sat in the house.", "The kitty sat at home.\n\n- kitty = cat\n- home = house", "The kitty sat at home."},
	{"a final message of a template", "The cat sat in the house.", "Let me try: \"The cat sat at home.\"<|end|><|start|>assistant<|channel|>final<|message|>A cat sat inside the house.", "A cat sat inside the house."},
	{"a fence of thoughts", "The cat sat in the house.", "```thinking\nthe cat -> a cat, sat in the house\n```\n\nA cat sat inside the house.", "A cat sat inside the house."},
	{"a thought that looks at words, and shares nothing", "The screen is really dope!", "\"Dope\" is slang. Should I keep slang? The prompt wants another tone, so no.\n\nThe display is just amazing!", "The display is just amazing!"},
	{"words that are equal, and a line of the same words", "The screen is really dope!", "dope = fantastic, really = just\n\nThe screen is just fantastic!", "The screen is just fantastic!"},
	{"a first rewriting before talk and another", "The screen is really good.", "The display is really good.\n\nOr a bit more casual:\n\nThe screen is just great.", "The display is really good."},
	{"as many sentences as the reference has", "I can only be satisfied! Even the delivery fee is 20 yuan.", "I can't be content! The shipping cost is still 20 yuan.", "I can't be content! The shipping cost is still 20 yuan."},
	{"labels of a draft and of what was chosen", "Will the same person bring it?", "Discarded draft: Will the same person bring it to me?\n\nChosen draft: Will it be the identical person?", "Will it be the identical person?"},
	{"a reference that is cut within a character", "猫\xe5", "以下是改写后的句子：猫在坐着。", "猫在坐着。"},
	{"a list of equal words in front", "There are a lot of outfits to choose from.", "- a lot of outfits → plenty of outfits\n- there are → are available\n\nPlenty of outfits are available to choose from.", "Plenty of outfits are available to choose from."},
	{"letter of a list", "The cat sat.", "a. A cat was sitting.", "A cat was sitting."},
	{"list below a reference that ends in a colon", "The cats are as follows:", "1. The following are the cats:\n2. Below are the cats:", "The following are the cats:"},
	{"list whose items share little", "Please call the staff if any part is missing.", "a) Kindly ring the staff should anything be absent.\nb) If a component lacks, contact them.\nc) If any part is missing, please call the staff.", "Kindly ring the staff should anything be absent."},
	{"lines that are wrapped", "Many things were suppressed in the past, but times have changed.", "In the past many things\nwere suppressed;\nhowever, times have changed.", "In the past many things were suppressed; however, times have changed."},
	{"JSON that speaks as talk does", "Yes, I can’t and won’t stop you.", `[{"id": 1, "paraphrase": "Yeah, I can't and won't stop you."}]`, "Yeah, I can't and won't stop you."},
	{"JSON in a string", "The cat sat in the house.", `"{\"paraphrase\": \"A cat sat inside the house.\"}"`, "A cat sat inside the house."},
	{"a call", "The cat sat.", `Rewrite(text="A cat was sitting.", role='assistant')`, "A cat was sitting."},
	{"what is returned", "The cat sat.", `return "A cat was sitting."`, "A cat was sitting."},
	{"what is assigned", "The cat sat.", `string s = "A cat was sitting.";`, "A cat was sitting."},
	{"a box with talk around", "The cat sat.", `The final answer is $\boxed{\text{A cat was sitting.}}$.`, "A cat was sitting."},
	{"an item of LaTeX", "The cat sat.", `\item A cat was sitting.`, "A cat was sitting."},
	{"hashtags", "The cat sat.", "A cat was sitting. #paraphrase #cats", "A cat was sitting."},
	{"a face in front", "The cat sat.", "(•‿•) A cat was sitting.", "A cat was sitting."},
	{"a face behind", "The cat sat.", "A cat was sitting. (≧▽≦)", "A cat was sitting."},
	{"no face", "The cat sat (still).", "A cat was sitting (+/- still).", "A cat was sitting (+/- still)."},
	{"private characters", "The cat sat.", "A cat was sitting. \ue200cite\ue202turn0\ue201", "A cat was sitting."},
	{"one mark of a word", "The cat sat.", "▁A cat was sitting.", "A cat was sitting."},
	{"wide commas", "The cat sat, then slept.", "A cat was sitting，then sleeping.", "A cat was sitting, then sleeping."},
	{"a few words around a quotation", "Nice taste, great meat", "How about “Great meat, nice taste”?", "Great meat, nice taste"},
	{"one of two quotations", "Is the old house safe?", `Either "Is the old house secure?" or "Is it safe in the old house?" would work.`, "Is the old house secure?"},
}

func TestExtraction(t *testing.T) {
	c := newChecker(t, check.Config{})
	for _, x := range extractions {
		got, _ := c.Clean(x.raw, x.ref)
		if got != x.want {
			t.Errorf("%s: got %q, want %q", x.name, got, x.want)
		}
		if again, _ := c.Clean(got, x.ref); again != got {
			t.Errorf("%s: cleaned again it is %q", x.name, again)
		}
	}
}

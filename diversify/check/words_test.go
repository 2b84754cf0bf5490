package check

import "testing"

// Words and letters tell another language than the reference's, closely related
// ones too, and other words for the same are none.
func TestOtherWords(t *testing.T) {
	for _, x := range []struct{ reference, answer, want string }{
		{"The museum is free for children from January.", "Ab Januar ist der Eintritt für Kinder kostenlos.", "de"},
		{"The phone was not answered.", "Personne n'a répondu au téléphone.", "fr"},
		{"Mi vuelo fue cancelado y nadie me dijo nada.", "O meu voo foi cancelado e ninguém me disse nada.", "pt"},
		{"Bitte schalten Sie das Gerät aus.", "Gelieve het apparaat uit te schakelen voordat u het filter vervangt.", "nl"},
		{"Мой телефон перестал заряжаться.", "Мій телефон перестав заряджатися після оновлення.", "uk"},
		{"The train is late today.", "Today the train is late, weil es auf der Strecke einen Unfall gab.", "de"},
		{"The phone was not answered.", "Nobody picked up when we rang.", ""},
		{"Would you like me to call you back?", "Shall I give you a ring later?", ""},
		{"Waren die Schritte hilfreich?", "Haben sich die Maßnahmen als nützlich erwiesen?", ""},
		{"He reads Die Zeit.", "His paper is Die Zeit.", ""},
		{"2022", "Das Jahr ist um.", ""},
		{"Подскажите, пожалуйста, во сколько открывается библиотека?", "Не могли бы вы сказать, когда открывается библиотека?", ""},
		{"Дети играли во дворе до самого вечера.", "До вечера ребята были на улице, где они играли.", ""},
	} {
		ref := newOriginal(x.reference)
		w := work{}
		w.reset(x.answer)
		if got := ref.otherWords(w.lower()); got != x.want {
			t.Errorf("%q beside %q: %q, want %q", x.answer, x.reference, got, x.want)
		}
	}
}

// The documents and a note of the program say how many languages words tell apart.
func TestLanguages(t *testing.T) {
	if n := len(knownTongues().codes); n != 27 {
		t.Errorf("%d languages: docs/checks.md, diversify/language and the command's note say 27", n)
	}
}

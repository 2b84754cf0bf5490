package plant_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract/diversify/internal/plant"
)

func TestChange(t *testing.T) {
	for _, c := range []struct{ kind, text, want string }{
		{"negation", "The shop is open on Sundays.", "The shop is not open on Sundays."},
		{"negation", "The shop is not open on Sundays.", "The shop is open on Sundays."},
		{"negation", "Der Laden ist am Sonntag offen.", "Der Laden ist nicht am Sonntag offen."},
		{"negation", "La boutique est ouverte le dimanche.", "La boutique n'est pas ouverte le dimanche."},
		{"negation", "La tienda no abre los domingos.", "La tienda sí abre los domingos."},
		{"negation", "Магазин не работает по воскресеньям.", "Магазин действительно работает по воскресеньям."},
		{"negation", "这家商店可以刷卡。", "这家商店不可以刷卡。"},
		{"negation", "店は日曜日に開きます。", "店は日曜日に開きません。"},
		{"negation", "Everyone went home.", ""},
		{"number", "It costs 12 euros in 2019.", "It costs 12 euros in 4019."},
		{"number", "There are two ways to get there.", "There are four ways to get there."},
		{"number", "他有三本书。", "他有五本书。"},
		{"name", "Yesterday the minister met Anna in the park.", "Yesterday the minister met Valdorf in the park."},
		{"name", "Gestern traf der Minister Anna.", ""},
		{"role", "The teacher praised the student.", "The student praised the teacher."},
		{"role", "Der Hund biss den Mann und lief weg.", "Der Mann biss den Hund und lief weg."},
		{"role", "The teacher and the student laughed.", ""},
		{"modality", "You must pay at the door.", "You may pay at the door."},
		{"modality", "Todos los alumnos deben venir el lunes.", "Todos los alumnos pueden venir el lunes."},
		{"dropped", "The dog barked at him, because he was late.", "The dog barked at him."},
		{"dropped", "When he came home, the dog barked at him.", "The dog barked at him."},
		{"dropped", "He bought milk, bread and butter.", ""},
		{"dropped", "", ""}, {"name", " ", ""}, {"number", "", ""}, {"role", "the", ""}, {"dropped", ", .", ""}, {"dropped", "one two three, ", ""},
	} {
		assert.Equal(t, c.want, plant.Change(c.text, c.kind, nil), "%s of %q", c.kind, c.text)
	}
}

// The new name or number comes from another segment if that has one that the text lacks.
func TestChangeTakesFromOtherSegments(t *testing.T) {
	others := []string{"The shop sold 7 pens.", "In 2019 the queen met Anna.", "In 1984 the king met Bruno and Carla."}
	for _, c := range []struct{ kind, text, want string }{
		{"name", "Yesterday the minister met Anna, in the park.", "Yesterday the minister met Bruno, in the park."},
		{"number", "It cost 12 euros in 2019.", "It cost 12 euros in 1984."},
		{"number", "There are 35 ways to get there.", "There are 55 ways to get there."},
	} {
		assert.Equal(t, c.want, plant.Change(c.text, c.kind, others), "%s of %q", c.kind, c.text)
	}
}

// A change never returns the same text.
func FuzzChange(f *testing.F) {
	f.Add("When he came home, the dog barked at 12 Men.")
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range plant.Kinds() {
			got := plant.Change(text, kind, []string{text, "In 1984 he met Bruno."})
			assert.False(t, got == text && text != "", "%s: %q", kind, got)
		}
	})
}

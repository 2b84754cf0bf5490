package check

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
)

// dates are months that stand beside a number, days of the week and halves of the day.
type dates struct {
	of    [calendars]uint16 // as bits
	words [calendars]string // the last one that was found
}

const (
	months = iota
	weekdays
	halves
	calendars
)

// calendarNames are the names of months, from January on, those of the days, from Monday on, and of the
// halves of the day, in languages where they change little.
var calendarNames = [calendars][]string{
	{
		"january jan januar января enero janvier", "february feb februar февраля febrero février", "march mar märz марта marzo mars", "april apr апреля abril avril",
		"may mai мая mayo", "june jun juni июня junio juin", "july jul juli июля julio juillet", "august aug августа agosto août",
		"september sep sept сентября septiembre septembre", "october oct oktober okt октября octubre octobre", "november nov ноября noviembre novembre", "december dec dezember dez декабря diciembre décembre",
	},
	{
		"monday mondays montag montags понедельник понедельника lunes lundi", "tuesday tuesdays dienstag dienstags вторник вторника martes mardi", "wednesday wednesdays mittwoch mittwochs среду среда среды miércoles mercredi",
		"thursday thursdays donnerstag donnerstags четверг четверга jueves jeudi", "friday fridays freitag freitags пятницу пятница пятницы viernes vendredi",
		"saturday saturdays samstag samstags sonnabend субботу суббота субботы sábado samedi", "sunday sundays sonntag sonntags воскресенье воскресенья domingo dimanche",
	},
	{"am a.m", "pm p.m"},
}

// calendarWords has the bits of a name.
var calendarWords = sync.OnceValue(func() map[string]dates {
	out := map[string]dates{}
	for kind, names := range calendarNames {
		for i, line := range names {
			for _, name := range strings.Fields(line) {
				d := out[name]
				d.of[kind] |= 1 << i
				d.words[kind] = name
				out[name] = d
			}
		}
	}
	return out
})

// datesOf finds the dates of a text. A month counts beside a number alone, since many names are other
// words too, and so does a half of the day.
func datesOf(t string) (d dates) {
	words := strings.FieldsFunc(strings.ToLower(t), func(r rune) bool { return r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	number := func(i int) bool { return i >= 0 && i < len(words) && isDigit(words[i][0]) }
	for i, w := range words {
		if digits := strings.TrimLeft(w, "0123456789"); digits != w && len(digits) > 1 { // 10pm
			if strings.HasPrefix(digits, "a") || strings.HasPrefix(digits, "p") {
				w = digits
			}
		}
		w = strings.Trim(w, ".")
		for kind, bits := range calendarWords()[w].of {
			if bits == 0 || kind == months && !number(i-1) && !number(i+1) && !(i > 1 && words[i-1] == "de" && number(i-2)) || kind == halves && !number(i-1) && w == strings.Trim(words[i], ".") {
				continue
			}
			d.of[kind] |= bits
			d.words[kind] = w
		}
	}
	return d
}

// changedDate says which month, day of the week or half of the day stands in the place of another one, or "".
func (o *original) changedDate(t string) string {
	if !o.dated {
		o.dates, o.dated = datesOf(o.text), true
	}
	if o.dates == (dates{}) {
		return ""
	}
	got := datesOf(t)
	for kind, want := range o.dates.of {
		if want&^got.of[kind] != 0 && got.of[kind]&^want != 0 {
			return fmt.Sprintf("%q in place of the reference's %q", got.words[kind], o.dates.words[kind])
		}
	}
	return ""
}

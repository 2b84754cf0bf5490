package check

import (
	"strings"
	"sync"
)

// scaleWord multiplies the number before it; maybe says that it may be a unit
// of another kind, as the m of 5 m.
type scaleWord struct {
	by    float64
	maybe bool
}

var scaleWords = sync.OnceValue(func() map[string]scaleWord {
	m := map[string]scaleWord{}
	for _, e := range []struct {
		by    float64
		maybe bool
		words string
	}{
		{100, false, "hundred hundert"},
		{1e3, false, "thousand tausend tsd тыс тысяча тысячи тысяч тысячам тысячами"},
		{1e6, false, "million millions mln mio millionen млн миллион миллиона миллионов миллионам миллионами миллионах"},
		{1e9, false, "bn billions milliarde milliarden mrd млрд миллиард миллиарда миллиардов миллиардах"},
		{1e12, false, "trillion trillions billionen трлн триллион триллиона триллионов"},
		{1e3, true, "k"}, {1e6, true, "m mn"}, {1e9, true, "b"},
		// Two decades are twenty years, and two weeks fourteen days.
		{10, true, "decade decades jahrzehnt jahrzehnte jahrzehnten десятилетие десятилетия десятилетий десятилетиями"},
		{7, true, "week weeks woche wochen недели недель неделю"}, {12, true, "year years jahr jahre jahren год года лет"},
		{24, true, "day days tag tage tagen дня дней суток"},
		{30, true, "month months monat monate monaten месяц месяца месяцев"},
		{60, true, "hour hours stunde stunden час часа часов minute minutes minuten минуту минуты минут"},
	} {
		for _, w := range strings.Fields(e.words) {
			m[w] = scaleWord{e.by, e.maybe}
		}
	}
	m["billion"] = scaleWord{1e9, false}
	return m
})

// numeral is what a word means in numbers.
type numeral struct {
	value   float64
	scale   bool      // "thousand": multiplies what stands before it
	implied []float64 // of words that only imply numbers, such as "both"
}

// numerals has the number words, and the words that imply numbers, in lower
// case: English, German and Russian.
var numerals = sync.OnceValue(func() map[string]numeral {
	m := map[string]numeral{}
	row := func(from float64, words string) {
		for i, w := range strings.Fields(words) {
			for _, form := range strings.Split(w, "/") {
				m[form] = numeral{value: from + float64(i)}
			}
		}
	}
	row(2, "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty")
	row(2, "zwei/zweier/zweite/zweiten/zweiter/zweites drei/dreier/dritte/dritten/dritter/drittes vier/vierte/vierten/vierter "+
		"fünf/fünfte/fünften/fünfter sechs/sechste/sechsten/sechster sieben/siebte/siebten/siebter acht neun/neunte/neunten zehn/zehnte/zehnten "+
		"elf/elfte/elften zwölf/zwölfte/zwölften dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig")
	row(2, "два/две/двух/двум/двумя/двое/двоих/второй/второго/втором/вторая/второе/вторую "+
		"три/трех/трёх/трем/трём/тремя/трое/троих/третий/третьего/третьему/третьим/третьем/третья/третье/третью/третьей/третьи "+
		"четыре/четырех/четырёх/четырем/четырьмя/четверо/четвертый/четвёртый/четвертого/четвертой/четвертую пять/пяти/пятью/пятеро/пятый/пятого/пятой "+
		"шесть/шести/шестью/шестеро/шестой/шестого семь/семи/семью/семеро/седьмой/седьмого восемь/восьми/восемью/восьмой/восьмого "+
		"девять/девяти/девятью/девятый/девятого десять/десяти/десятью/десятый/десятого одиннадцать/одиннадцати двенадцать/двенадцати/двенадцатый/двенадцатого "+
		"тринадцать/тринадцати четырнадцать/четырнадцати пятнадцать/пятнадцати шестнадцать/шестнадцати семнадцать/семнадцати "+
		"восемнадцать/восемнадцати девятнадцать/девятнадцати двадцать/двадцати")
	for i, words := range []string{
		"thirty dreißig dreissig тридцать тридцати", "forty vierzig сорок сорока", "fifty fünfzig пятьдесят пятидесяти",
		"sixty sechzig шестьдесят шестидесяти", "seventy siebzig семьдесят семидесяти", "eighty achtzig восемьдесят восьмидесяти",
		"ninety neunzig девяносто девяноста",
	} {
		for _, w := range strings.Fields(words) {
			m[w] = numeral{value: float64(10 * (i + 3))}
		}
	}
	// Russian ordinals, by stem.
	for i, stem := range strings.Fields("четверт пят шест седьм восьм девят десят одиннадцат двенадцат тринадцат четырнадцат пятнадцат " +
		"шестнадцат семнадцат восемнадцат девятнадцат двадцат") {
		ordinal(m, stem, float64(i+4))
	}
	for i, stem := range strings.Fields("тридцат сороков пятидесят шестидесят семидесят восьмидесят девяност") {
		ordinal(m, stem, float64(10*(i+3)))
	}
	ordinal(m, "четвёрт", 4)
	ordinal(m, "втор", 2)
	for value, words := range map[float64]string{
		3: "third", 4: "fourth", 5: "fifth", 6: "sixth", 7: "seventh", 8: "eighth", 9: "ninth", 10: "tenth", 11: "eleventh", 12: "twelfth",
		13: "thirteenth", 14: "fourteenth", 15: "fifteenth", 16: "sixteenth", 17: "seventeenth", 18: "eighteenth", 19: "nineteenth", 20: "twentieth",
		100: "сто ста", 80: "восемьюдесятью", 200: "двести двухсот", 300: "триста трехсот трёхсот", 400: "четыреста", 500: "пятьсот пятисот", 600: "шестьсот", 700: "семьсот", 800: "восемьсот", 900: "девятьсот",
	} {
		for _, w := range strings.Fields(words) {
			m[w] = numeral{value: value}
		}
	}
	for _, e := range []struct {
		by    float64
		words string
	}{
		{100, "hundred hundert"}, {1e3, "thousand tausend тысяча тысячи тысячу тысяч"},
		{1e6, "million millionen миллион миллиона миллионов"}, {1e9, "milliarde milliarden миллиард миллиарда миллиардов"},
	} {
		for _, w := range strings.Fields(e.words) {
			m[w] = numeral{value: e.by, scale: true}
		}
	}
	m["billion"] = numeral{value: 1e9, scale: true}
	for _, e := range []struct {
		words  string
		values []float64
	}{
		{"a an one once first single only ein eine einen einem einer eines eins einmal erste ersten erster erstes einzige einziger один одна одно одного одной одну одним первый первая первое первого первой первую первом", []float64{1}},
		{"second seconds secondly both pair couple twice double doubled doubling two-thirds beide beiden beider paar zweimal doppelt doppelte doppelten verdoppelt оба обе обоих обеих обеим пара пары пару дважды вдвое двойной", []float64{2}},
		{"triple tripled thrice dreimal dreifach тройной втрое трижды", []float64{3}},
		{"half halves halfway hälfte halb halbe halben halbes halber anderthalb половина половины половину половиной пол полтора полторы полугодие полвека полувека полгода полчаса полминуты полдня полмесяца", []float64{0.5, 50, 30, 6, 2, 1.5}},
		{"quarter quarters viertel четверть четверти", []float64{0.25, 25, 15, 4, 3}},
		{"thirds drittel треть трети", []float64{3, 33}},
		{"dozen dozens dutzend дюжина", []float64{12}},
		{"day days daily tag tage tagen täglich день дня дней сутки суток ежедневно", []float64{24, 1, 7}},
		{"week weeks weekly fortnight fortnightly woche wochen неделя недели неделю недель", []float64{7, 14, 2, 1}},
		{"month months monthly monat monate monaten месяц месяца месяцев", []float64{30, 31, 1, 4}},
		{"year years annual annually yearly jahr jahre jahren jährlich год года лет ежегодно", []float64{12, 1, 365, 52}},
		{"hour hours hourly stunde stunden час часа часов", []float64{60, 1}},
		{"minute minutes minuten минута минуту минуты минут", []float64{60, 1}},
		{"decade decades jahrzehnt jahrzehnte jahrzehnten десятилетие десятилетия десятилетий", []float64{10}},
		{"centenary centennial hundredth hundertjährig hundertjährige столетний столетия", []float64{100}},
		{"century centuries jahrhundert jahrhunderts jahrhunderte столетие века век", []float64{100, 1}},
		{"twenties", []float64{20, 1920}}, {"thirties", []float64{30, 1930}}, {"forties", []float64{40, 1940}}, {"fifties", []float64{50, 1950}},
		{"sixties", []float64{60, 1960}}, {"seventies", []float64{70, 1970}}, {"eighties", []float64{80, 1980}}, {"nineties", []float64{90, 1990}},
		{"noon midday mittag mittags полдень", []float64{12}}, {"midnight mitternacht полночь", []float64{0, 12, 24}},
		{"zero null none ноль нуль", []float64{0}},
		{"clock круглосуточно круглосуточный круглосуточная rund", []float64{24, 7}},
		{"hundreds thousands millions hunderte hunderten tausende tausenden сотни сотен тысячами", []float64{100, 1000, 1e6}},
	} {
		for _, w := range strings.Fields(e.words) {
			m[w] = numeral{implied: e.values}
		}
	}
	months := []string{"january jan januar января январь январе", "february feb februar февраля февраль феврале", "march mar märz марта март марте",
		"april apr апреля апрель апреле", "may mai мая май мае", "june jun juni июня июнь июне", "july jul juli июля июль июле",
		"august aug августа август августе", "september sep sept сентября сентябрь сентябре", "october oct oktober okt октября октябрь октябре",
		"november nov ноября ноябрь ноябре", "december dec dezember dez декабря декабрь декабре"}
	for i, words := range months {
		for _, w := range strings.Fields(words) {
			m[w] = numeral{implied: []float64{float64(i + 1)}}
		}
	}
	return m
})

// ordinal adds the forms of a Russian ordinal number.
func ordinal(m map[string]numeral, stem string, value float64) {
	for _, e := range strings.Fields("ый ой ого ому ым ом ая ую ое ые ых ыми") {
		m[stem+e] = numeral{value: value}
	}
}

// labelWords are those before the number of a part of a text.
var labelWords = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`article step section chapter part note item no question answer figure table rule point option
		schritt artikel hinweis abschnitt kapitel teil punkt frage antwort abbildung tabelle regel nr
		шаг статья примечание раздел глава часть пункт вопрос ответ рисунок таблица правило вариант`) {
		m[w] = true
	}
	return m
})

// hourWords are those behind the hour of a day.
var hourWords = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields("am pm p a uhr час часа часов") {
		m[w] = true
	}
	return m
})

// shapes has, for each first byte, the lengths of the words in numerals, which
// spares most words the look-up.
var shapes = sync.OnceValue(func() *[256]uint64 {
	var m [256]uint64
	for w := range numerals() {
		m[w[0]] |= 1 << min(len(w), 63)
	}
	return &m
})

func mayBeNumeral(s []byte) bool { return shapes()[s[0]]>>min(len(s), 63)&1 != 0 }

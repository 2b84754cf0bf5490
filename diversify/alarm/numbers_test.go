package alarm_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract/diversify/alarm"
)

// Pairs of texts with the same numbers, compared in both directions.
func TestSameNumbers(t *testing.T) {
	for _, x := range [][2]string{
		{"no number here", "none here either"},
		{"in 2021", "2021 was the year"},
		{"1,000 people", "1000 people"}, {"1.000 Leute", "1000 Leute"}, {"1 000 человек", "1000 человек"}, {"1\u202f000", "1,000"}, {"1'000", "1000"},
		{"1,234,567", "1.234.567"}, {"1,234.5 km", "1.234,5 km"}, {"3.5 %", "3,5%"}, {"5.00 euros", "5 euros"},
		{"three men", "3 men"}, {"twenty-five", "25"}, {"three hundred and twenty", "320"}, {"two thousand", "2,000"}, {"a hundred thousand", "100,000"},
		{"5 million", "5,000,000"}, {"5m people", "5 million people"}, {"US$1.5bn", "1.5 billion dollars"}, {"300 thousand", "300,000"}, {"5k", "5000"},
		{"3,6 Mio. Euro", "3,6 Millionen Euro"}, {"2 Mrd.", "zwei Milliarden"}, {"3,3 млрд", "3,3 миллиарда"}, {"100 тыс.", "100 000"}, {"сто тысяч", "100 000"},
		{"zwölf Tage", "12 Tage"}, {"zwanzig", "20"},
		{"в седьмом ряду", "в 7-м ряду"}, {"двух", "2"},
		{"三人", "3人"}, {"１２，５", "12,5"}, {"２０２１年", "2021年"},
		{"on 12 March 2021", "on 3/12/2021"}, {"12.03.2021", "12 March 2021"}, {"2021-03-12", "March 12, 2021"}, {"am 3. Oktober", "am 3.10."}, {"3 октября", "03.10"},
		{"at 3 pm", "at 15:00"}, {"um 10.50 Uhr", "um 10:50 Uhr"}, {"at 5:30 p.m.", "at 17:30"}, {"в 9 часов вечера", "в 21:00"},
		{"two decades", "20 years"}, {"2 Wochen", "14 Tage"}, {"half a year", "6 months"}, {"24 hours", "a day"}, {"2 years", "24 months"},
		{"1 photo", "a photo"},
		{"both men", "the 2 men"}, {"the first", "the 1st"}, {"COVID-19 came", "the virus came"}, {"2. Open it.", "Open it."},
		{"two or three", "2 or 3"}, {"one day", "some day"}, {"10x15 cm", "10 by 15 cm"}, {"the 1980s", "in 1980s style"},
		{"424.10.37.20", "model 424.10.37.20"}, {"in the 80s", "in the 1980s"}, {"in den 80ern", "in den 1980ern"}, {"в 90-е годы", "в 1990-е годы"}, {"9787513306645", "ISBN 9787513306645"},
	} {
		assert.Empty(t, alarm.ChangedNumber(x[0], x[1]), "%q, %q", x[0], x[1])
		if strings.HasPrefix(x[0], "2. ") || strings.HasPrefix(x[0], "Art") || strings.HasPrefix(x[0], "Step") {
			continue // only a reference may have a label
		}
		assert.Empty(t, alarm.ChangedNumber(x[1], x[0]), "%q, %q", x[1], x[0])
	}
}

func TestChangedNumbers(t *testing.T) {
	for _, x := range []struct{ ref, got, want string }{
		{"in 2021", "in 2022", `"2022" instead of the reference's "2021"`},
		{"60 %", "seven in ten", `"seven" instead of the reference's "60"`},
		{"six in ten", "six in twelve", `"twelve" instead of the reference's "ten"`},
		{"26 %", "a large share", `the reference's "26" is missing`},
		{"a brand", "founded in 2005", `"2005" is not in the reference`},
		{"three men", "four men", `"four" instead of the reference's "three"`},
		{"5 million", "5 thousand", `"5 thousand" instead of the reference's "5 million"`},
		{"3,5 Euro", "35 Euro", `"35" instead of the reference's "3,5"`},
		{"1.5 kg", "15 kg", `"15" instead of the reference's "1.5"`},
		{"10 and 20", "10 and 10", `the reference's "20" is missing`},
		{"1) Go", "2) Stop", `"2" instead of the reference's "1"`},
		{"am 12.03.2021", "am 13.03.2021", `"13" instead of the reference's "12"`},
		{"fünf Tage", "sechs Tage", `"sechs" instead of the reference's "fünf"`},
		{"пять дней", "шесть дней", `"шесть" instead of the reference's "пять"`},
		{"9787513306645", "9787513306646", `"9787513306646" instead of the reference's "9787513306645"`},
		{"version 2.10.3", "version 2.10.4", `instead of`},
	} {
		got := alarm.ChangedNumber(x.ref, x.got)
		assert.True(t, strings.Contains(got, x.want), "%q, %q: %q, want %q", x.ref, x.got, got, x.want)
	}
	// Words of other languages imply numbers.
	for _, x := range [][2]string{{"dans vingt minutes", "dans 20 minutes"}, {"ha vinto tre a uno", "ha vinto 3 a 1"}, {"십 분 안에", "10분 안에"}} {
		assert.Empty(t, alarm.ChangedNumber(x[0], x[1]), "%q, %q", x[0], x[1])
	}
	assert.NotEqual(t, "", alarm.ChangedNumber("dans vingt minutes", "dans 30 minutes"), "vingt is taken for 30")
	// A number word may be added or dropped.
	for _, x := range [][2]string{{"two men came", "men came"}, {"men came", "two men came"}, {"0 errors", "no error"}} {
		assert.Empty(t, alarm.ChangedNumber(x[0], x[1]), "%q, %q", x[0], x[1])
	}
}

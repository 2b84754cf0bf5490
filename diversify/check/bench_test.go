package check_test

import (
	"testing"

	"github.com/refract-eval/refract/diversify/check"
)

// ten are rewritings of a reference of typical length.
var (
	benchReference = "The research team announced on 12 March that the new method had already been tried in three hospitals in the north of the country."
	benchAnswers   = []string{
		"On 12 March, the research team announced that three hospitals in the north of the country had already tried out the new method.",
		"The new method has already been tested in three northern hospitals of the country, as the research team made public on 12 March.",
		"It was announced by the research team on March 12 that the new method had already been put to use in 3 hospitals in the north.",
		"The team of researchers said on 12 March that they had already tried their new method in three of the hospitals up in the north.",
		"Three hospitals in the country's north had already tried the new method, according to an announcement of the team on 12 March.",
		"According to the research team's announcement on 12 March, the method, a new one, was tried in three northern hospitals already.",
		"The scientists reported on March 12 that three hospitals situated in the northern part of the country had tested the new method.",
		"As announced on the 12th of March, the research group has already had its new method tried in three hospitals of the far north.",
		"The research team has formally announced, on 12 March, that the novel method had previously been trialled in three hospitals.",
		"So the team told everyone on 12 March that they'd already given the new method a go in three hospitals in the north, you know.",
	}
	benchGerman = []string{
		"Das Forschungsteam gab am 12. März bekannt, dass die neue Methode bereits in drei Krankenhäusern im Norden des Landes erprobt wurde.",
		"Am 12. März teilte die Forschungsgruppe mit, man habe die neue Methode schon in drei Kliniken im nördlichen Landesteil ausprobiert.",
	}
)

// BenchmarkSegment judges ten clean answers of some 130 characters, the cost of
// the reference included.
func BenchmarkSegment(b *testing.B) {
	for name, answers := range map[string][]string{"ascii": benchAnswers, "german": benchGerman} {
		b.Run(name, func(b *testing.B) {
			c, err := check.New(check.Config{})
			if err != nil {
				b.Fatal(err)
			}
			ref := benchReference
			if name == "german" {
				ref = "Am 12. März gab das Team der Forscher bekannt, dass drei Krankenhäuser im Norden des Landes die neue Methode schon ausprobiert haben."
			}
			b.ReportAllocs()
			for b.Loop() {
				s := c.Segment("", []string{ref})
				for _, a := range answers {
					if r := s.Judge(check.Answer{Raw: a, HasText: true, Finish: "stop"}); r.Verdict != check.Accepted {
						b.Fatal(r.Verdict, r.Detail)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(answers)), "ns/answer")
		})
	}
}

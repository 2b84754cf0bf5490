package report_test

import (
	"fmt"
	"os"

	"github.com/refract-eval/refract/internal/report"
)

func ExampleNewWriter() {
	columns := []report.Column{
		{Name: "system", Header: "System"},
		{Name: "references", Header: "Refs", Kind: report.KindInt},
		{Name: "score", Header: "BLEU", Kind: report.KindFloat, Digits: 2},
		{Name: "ci", Header: "95% CI", Kind: report.KindInterval, Digits: 2},
		{Name: "signature", Hide: true},
	}
	signature := "nrefs:1|case:mixed|tok:13a"
	show := func(format report.Format) error {
		w := report.NewWriter(os.Stdout, format, columns, report.Options{Notes: []string{"bleu " + signature}})
		sig := report.String(signature)
		if err := w.Row(report.String("good"), report.Int(1), report.Float(31.41592), report.Interval(30.5, 32.25), sig); err != nil {
			return err
		}
		if err := w.Row(report.String("absent"), report.Int(0), report.Null(), report.Null(), sig); err != nil {
			return err
		}
		return w.Close()
	}
	for _, format := range []report.Format{report.Markdown, report.JSONLines, report.CSV} {
		if err := show(format); err != nil {
			fmt.Println("error:", err)
		}
		fmt.Println()
	}
	// Output:
	// | System | Refs | BLEU | 95% CI |
	// | --- | ---: | ---: | ---: |
	// | good | 1 | 31.42 | [30.50, 32.25] |
	// | absent | 0 | – | – |
	//
	// bleu nrefs:1\|case:mixed\|tok:13a
	//
	// {"system":"good","references":1,"score":31.41592,"ci":[30.5,32.25],"signature":"nrefs:1|case:mixed|tok:13a"}
	// {"system":"absent","references":0,"score":null,"ci":null,"signature":"nrefs:1|case:mixed|tok:13a"}
	//
	// system,references,score,ci,signature
	// good,1,31.41592,30.5..32.25,nrefs:1|case:mixed|tok:13a
	// absent,0,,,nrefs:1|case:mixed|tok:13a
}

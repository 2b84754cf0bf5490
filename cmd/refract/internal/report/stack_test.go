package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/cmd/refract/internal/report"
)

// In a stacked table, an interval stays next to its number.
func TestIntervalsStayNextToNumbers(t *testing.T) {
	for columns := 2; columns < 16; columns++ {
		for width := 3; width < 12; width++ {
			table := &report.NamedTable{Columns: []report.Column{{Name: "a name"}}}
			values := []any{"x"}
			for i := range columns {
				name := fmt.Sprintf("v%d", i)
				table.Columns = append(table.Columns, report.Column{Name: name + strings.Repeat("_", width-len(name)), Kind: report.KindFloat}, report.Column{Name: name + "ci", Kind: report.KindInterval})
				values = append(values, float64(i), report.Interval(0, float64(i)))
			}
			table.Add(values...)
			values[1] = 2.5 // so that no column is the same in all rows
			for i := range columns {
				values[1+2*i], values[2+2*i] = float64(i)+0.5, report.Interval(0.5, float64(i+1))
			}
			table.Add(values...)
			var b strings.Builder
			require.NoError(t, table.Write(&b, report.Table, false))
			for line := range strings.Lines(b.String()) {
				for i := range columns {
					if strings.Contains(line, fmt.Sprintf("v%dci", i)) && !strings.Contains(line, fmt.Sprintf("v%d_", i)) && width > 3 {
						t.Fatalf("%d columns of %d:\n%s", columns, width, b.String())
					}
				}
			}
		}
	}
}

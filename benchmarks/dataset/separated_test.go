package dataset

import (
	"bytes"
	"encoding/csv"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
)

// Texts in quotes come out of a table as they are, whatever separates them; an empty cell
// is a missing text.
func TestSeparatedRoundTrip(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		comma := rapid.SampledFrom([]rune("\t,;")).Draw(t, "separator")
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		w.Comma = comma
		w.Write([]string{"ref", "source", "hyp"})
		rows := rapid.SliceOfN(rapid.SliceOfN(rapid.Map(rapid.Custom(drawString), func(s string) string { return strings.ReplaceAll(s, "\r", "") }), 3, 3), 1, 20).Draw(t, "rows")
		w.WriteAll(rows)
		path := filepath.Join(dir, "t."+map[rune]string{'\t': "tsv", ',': "csv", ';': "csv"}[comma])
		writeFile(t, path, b.Bytes())
		got, err := openAndCollect(Open("table:"+path+",reference=ref,source=source,system:s=hyp,errors=text", Options{}))
		require.NoError(t, err)
		for i, row := range rows {
			s := got[i]
			for k, have := range []refract.Text{s.References[0], s.Source, s.Hypotheses[0].Text} {
				want := (refract.Text{Value: row[k], Valid: row[k] != ""})
				require.Equal(t, want, have, "row %d: %+q, want %+q", i+1, have.Value, want.Value)
			}
		}
	})
}

package matrix_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Accepted input is a matrix: written again in either format it reads the same, and after that
// its bytes do not change.
func FuzzJSONL(f *testing.F) {
	golden, err := os.ReadFile("testdata/matrix.jsonl")
	require.NoError(f, err)
	f.Add(golden)
	f.Add([]byte(lines(line(), ref(1), native(`"references":1`, `"references":2`), line(idA, idB), native(idA, idB))))
	f.Add([]byte(lines(ref(0), ref(1), line(metM, metN), ref(1, metM, metN))))
	f.Add([]byte(lines(line(`"reference":0`, `"reference":null`, `"references":1`, `"references":0`, score, `"score":-0e-7`))))
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := readJSONL(in)
		if err != nil {
			return
		}
		out := writeAll(t, m, jsonl)
		again, err := readJSONL(out)
		require.NoError(t, err, "what was written:\n%s", out)
		same(t, again, m)
		twice := writeAll(t, again, jsonl)
		require.True(t, bytes.Equal(out, twice), "written again:\n%s\nfirst:\n%s", twice, out)
		if got, want := bytes.Count(out, []byte("\n")), bytes.Count(bytes.TrimSuffix(in, []byte("\n")), []byte("\n"))+1; got != want {
			t.Fatalf("%d rows of %d", got, want)
		}
		columns, err := readParquet(writeAll(t, m, pq))
		require.NoError(t, err)
		same(t, columns, m)
	})
}

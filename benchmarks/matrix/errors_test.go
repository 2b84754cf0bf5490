package matrix_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/benchmarks/matrix"
)

// line returns a row of JSON; changes are pairs of old and new text.
func line(changes ...string) string {
	s := `{"id":"a","system":"A","metric":"m","aggregate":null,"reference":0,"references":1,"score":1.5,"status":"scored","direction":"higher","signature":"s","output_hash":"0123456789abcdef","reference_hash":"fedcba9876543210"}`
	return strings.NewReplacer(changes...).Replace(s)
}

// lines returns a file of these rows with their digest.
func lines(rows ...string) string {
	all := strings.Join(rows, "\n") + "\n"
	return fmt.Sprintf("%s{\"sha256\":\"%x\"}\n", all, sha256.Sum256([]byte(all)))
}

func native(changes ...string) string {
	return strings.NewReplacer(changes...).Replace(line(`"aggregate":null`, `"aggregate":"native"`, `"reference":0`, `"reference":null`, `"reference_hash":"fedcba9876543210"`, `"reference_hash":null`))
}

// ref returns a cell for another reference.
func ref(n int, changes ...string) string {
	return strings.NewReplacer(changes...).Replace(line(`"reference":0`, fmt.Sprintf(`"reference":%d`, n)))
}

const (
	idA, idB   = `"id":"a"`, `"id":"b"`
	sysA, sysB = `"system":"A"`, `"system":"B"`
	metM, metN = `"metric":"m"`, `"metric":"n"`
	score      = `"score":1.5`
	scored     = `"status":"scored"`
)

func TestBadRows(t *testing.T) {
	none := []string{`"reference":0`, `"reference":null`, `"references":1`, `"references":0`}
	tests := []struct{ name, in, want string }{
		{"empty", "", "m.jsonl: the matrix is empty"},
		{"another file", lines(`{"id":"a","source":"x"}`), `m.jsonl:1:11: unknown field "source"; the fields are id, system, metric,`},
		{"no columns", lines(`{}`), "m.jsonl:1: column status: unknown status"},
		{"no object", lines(`[1]`), "m.jsonl:1:1: a line must be a JSON object, not an array; this is not a stored matrix"},
		{"unknown column", lines(line(`"score"`, `"scores"`)), `m.jsonl:1:83: unknown field "scores" (did you mean "score"?)`},
		{"case of a column", lines(line(`"id"`, `"ID"`)), `m.jsonl:1:2: unknown field "ID" (did you mean "id"?)`},
		{"column twice", lines(line(`"score"`, `"status":"scored","score"`)), `m.jsonl:1:113: field "status" is there twice`},
		{"no JSON", lines(line(`:`, `=`)), `m.jsonl:1:6: bad JSON: invalid character '=' after object name`},
		{"number as text", lines(line(score, `"score":"1"`)), `m.jsonl:1:91: field score must be a number or null, not a string`},
		{"NaN", lines(line(score, `"score":NaN`)), "m.jsonl:1:91: bad JSON"},
		{"null score", lines(line(), line(sysA, sysB, score, `"score":null`)), "m.jsonl:2: column score is null, but status is scored"},
		{"score of a failed cell", lines(line(scored, `"status":"failed"`)), "m.jsonl:1: column score has a number, but status is failed"},
		{"unknown status", lines(line(scored, `"status":"ok"`)), `m.jsonl:1: column status: unknown status "ok"`},
		{"unknown direction", lines(line(`"higher"`, `"up"`)), `m.jsonl:1: column direction: unknown direction "up"`},
		{"null id", lines(line(idA, `"id":null`)), "m.jsonl:1: column id is empty"},
		{"empty id", lines(line(idA, `"id":""`)), "m.jsonl:1: column id is empty"},
		{"aggregated scores", lines(line(`"aggregate":null`, `"aggregate":"max"`)), `m.jsonl:1: column aggregate is "max": these are aggregated scores, and in a matrix it is null or "native"; this is not a stored matrix`},
		{"fraction as reference", lines(ref(0, `"reference":0`, `"reference":0.5`)), "m.jsonl:1:66: field reference must be an integer from 0"},
		{"negative reference", lines(line(`"reference":0`, `"reference":-1`)), "m.jsonl:1: column reference is -1"},
		{"invalid UTF-8", lines(line(), line(sysA, "\"system\":\"\xff\"")), "m.jsonl:2: invalid UTF-8"},
		{"byte order mark", "\ufeff" + lines(line()), "m.jsonl:1: the file begins with a byte order mark"},
		{"blank line", lines(line(), "", line(idA, idB)), "m.jsonl:2: blank line"},

		{"cell twice", lines(line(), ref(1), ref(1)), `m.jsonl:1: segment "a": m: a cell of system "A", reference 1 instead of one of system "A", reference 2`},
		{"gap", lines(line(), ref(2)), `m.jsonl:1: segment "a": m: a cell of system "A", reference 2 instead of one of system "A", reference 1`},
		{"system without a metric", lines(line(), line(sysA, sysB), line(metM, metN)), `m.jsonl:1: segment "a": n: 1 cell for 2 systems`},
		{"references of metrics", lines(line(), ref(1), line(metM, metN)), `m.jsonl:1: segment "a": 1 reference for n, but 2 for another metric`},
		{"metric in two places", lines(line(), line(metM, metN), line()), `m.jsonl:1: segment "a": the cells of m must come together`},
		{"segment in two places", lines(line(), line(idA, idB), ref(1)), `m.jsonl:3: segment "a" already has rows from row 1 on`},
		{"segment without a metric", lines(line(), line(metM, metN), line(idA, idB)), `m.jsonl:3: segment "b": no cell of n`},
		{"segment with another metric", lines(line(), line(idA, idB, metM, metN)), `m.jsonl:2: segment "b": n is not in the same place as in earlier segments`},
		{"direction", lines(line(), line(idA, idB, `"higher"`, `"lower"`)), `m.jsonl:2: segment "b": m: signature "s" and direction lower, but "s" and higher in rows before`},
		{"signature", lines(line(), line(idA, idB, `"signature":"s"`, `"signature":"t"`)), `m.jsonl:2: segment "b": m: signature "t" and direction higher, but "s" and higher`},
		{"with and without reference", lines(line(), line(append([]string{sysA, sysB}, none...)...)), `m.jsonl:1: segment "a": m: a cell of system "B" instead of one of system "B", reference 0`},

		{"only native scores", lines(native()), `m.jsonl:1: segment "a": the cells of m must come together, before its native scores`},
		{"native gap", lines(line(), line(sysA, sysB), native()), `m: 1 native score for 2 systems`},
		{"native for a new system", lines(line(), native(sysA, sysB)), `m: the native score of system "B" is not one of system "A"`},
		{"native signature", lines(line(), native(), line(idA, idB), native(idA, idB, `"signature":"s"`, `"signature":"t"`)), `m.jsonl:3: segment "b": m: the native score of system "A" is not one of system "A" with the signature "s"`},

		{"no digest", line() + "\n", "m.jsonl: the matrix has no digest at its end: its last rows are missing, or another program wrote it; make the matrix again with 'refract score DATASET -m METRIC --per cell -o NEW.jsonl'"},
		{"cut off", (line() + "\n" + line(idA, idB))[:300], "m.jsonl:2:"},
		{"rows of the last segment cut off", line() + "\n" + native() + "\n" + line(idA, idB) + "\n" + line(idA, idB, sysA, sysB) + "\n" + native(idA, idB) + "\n",
			"m.jsonl: the matrix has no digest at its end: its last rows are missing"},
		{"another digest", strings.Replace(lines(line()), "1.5", "1.25", 1), "m.jsonl: the digest of the matrix does not match its rows"},
		{"escapes", strings.Replace(lines(line()), idA, `"id":"\u0061"`, 1), "m.jsonl: the digest of the matrix does not match its rows"},
		{"only the digest", lines()[1:], "m.jsonl: the matrix is empty"},
		{"after the digest", lines(line()) + line(idA, idB), "m.jsonl:3: a line after the digest"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := readJSONL([]byte(tt.in))
			require.Error(t, err, "accepted: %+v", m)
			assert.ErrorContains(t, err, tt.want)
			if strings.Contains(err.Error(), "-o m.jsonl") || strings.Count(err.Error(), "refract score") != 1 {
				t.Errorf("error %q: advice that destroys the file, or that is there twice", err)
			}
			e := (*matrix.Error)(nil)
			assert.True(t, errors.As(err, &e) && e.File == "m.jsonl", "%T is no *matrix.Error of the file", err)
		})
	}
}

// Rows that look odd but are valid.
func TestGoodRows(t *testing.T) {
	whole := lines(line(), ref(1))
	for name, in := range map[string]string{
		"no last newline":      strings.TrimSuffix(whole, "\n"),
		"carriage returns":     strings.ReplaceAll(whole, "\n", "\r\n"),
		"ragged":               lines(line(), ref(1), line(idA, idB)),
		"unlike systems":       lines(line(), line(idA, idB, sysA, sysB)),
		"native elsewhere":     lines(line(score, `"score":null`, scored, `"status":"failed"`), line(idA, idB), native(idA, idB)),
		"large but finite":     lines(line(score, `"score":-1.7976931348623157e+308`)),
		"longer than a buffer": lines(line(`"signature":"s"`, `"signature":"`+strings.Repeat("long ", 40<<10)+`"`)),
	} {
		_, err := readJSONL([]byte(in))
		assert.NoError(t, err, name)
	}
}

func TestEndlessLine(t *testing.T) {
	r := matrix.NewJSONLReader(io.MultiReader(strings.NewReader(`{"id":"`), endless{}), "m.jsonl")
	_, err := readAll(r)
	assert.ErrorContains(t, err, "longer than 16 MiB")
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

var errBroken = errors.New("disk on fire")

type broken struct{}

func (broken) Read([]byte) (int, error)  { return 0, errBroken }
func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestBadWrites(t *testing.T) {
	tests := map[string]func(m *stored){
		"id is empty":              func(m *stored) { m.Segments[1].Segment.ID = "" },
		"system is empty":          func(m *stored) { m.Segments[1].Segment.Hypotheses[0].System = "" },
		"system: invalid UTF-8":    func(m *stored) { m.Segments[1].Segment.Hypotheses[0].System = "\xff" },
		"signature: invalid UTF-8": func(m *stored) { m.Metrics[0].CellSignature = "\xff" },
		"score is NaN":             func(m *stored) { m.Segments[1].Metrics[0].Values[0] = math.NaN() },
		"score is +Inf":            func(m *stored) { m.Segments[1].Metrics[0].Native[0] = math.Inf(1) },
		"column metric is empty":   func(m *stored) { m.Metrics[0].Name = "" },
	}
	for want, change := range tests {
		for _, create := range []func(*bytes.Buffer) *matrix.Writer{jsonl, pq} {
			w, good, bad := create(&bytes.Buffer{}), sample(), sample()
			require.NoError(t, w.WriteSegment(good.Segments[0], good.Metrics))
			change(&bad)
			err := w.WriteSegment(bad.Segments[1], bad.Metrics)
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), ": row ") {
				t.Errorf("%s: %v", want, err)
			}
			again := w.WriteSegment(good.Segments[1], good.Metrics)
			assert.True(t, again == err, "%s: after the error: %v", want, again)
			closing := w.Close()
			assert.True(t, closing == err, "%s: closing: %v", want, closing)
		}
	}
	good := sample()
	for name, w := range map[string]*matrix.Writer{"JSON Lines": matrix.NewJSONLWriter(broken{}), "Parquet": matrix.NewParquetWriter(broken{})} {
		w.WriteSegment(good.Segments[0], good.Metrics)
		assert.ErrorIs(t, w.Close(), errBroken, name)
	}
}

func TestNoCells(t *testing.T) {
	m := sample()
	m.Segments[0].Segment.Hypotheses = nil
	err := matrix.NewJSONLWriter(io.Discard).WriteSegment(m.Segments[0], m.Metrics)
	assert.ErrorContains(t, err, `segment "a": it has no hypotheses`)
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	parquetAsLines := dir + "/p.jsonl"
	require.NoError(t, os.WriteFile(parquetAsLines, writeAll(t, sample(), pq), 0o600))
	linesAsParquet := dir + "/l.parquet"
	require.NoError(t, os.WriteFile(linesAsParquet, []byte(lines(line())), 0o600))
	require.NoError(t, os.Mkdir(dir+"/d.parquet", 0o700))
	for path, want := range map[string]string{
		dir + "/x.csv":     "the extension must say the format, .jsonl or .parquet",
		dir + "/x.jsonl":   "no such file",
		parquetAsLines:     "p.jsonl:1: this is a Parquet file; name it .parquet",
		linesAsParquet:     "l.parquet: not a Parquet file; name it .jsonl",
		dir + "/d.parquet": "not a regular file",
	} {
		r, err := matrix.Open(path)
		if err == nil {
			_, err = readAll(r)
		}
		assert.ErrorContains(t, err, want, path)
	}
}

package matrix_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/matrix"
	"github.com/refract-eval/refract/metrics"
)

// line writes a row of JSON; changes are pairs of old and new text.
func line(changes ...string) string {
	s := `{"id":"a","system":"A","metric":"m","aggregate":null,"reference":0,"references":1,"score":1.5,"status":"scored","direction":"higher","signature":"s"}`
	return strings.NewReplacer(changes...).Replace(s)
}

func lines(rows ...string) string { return strings.Join(rows, "\n") + "\n" }

func native(changes ...string) string {
	return strings.NewReplacer(changes...).Replace(line(`"aggregate":null`, `"aggregate":"native"`, `"reference":0`, `"reference":null`))
}

// ref is a cell of another reference.
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
		{"missing columns", lines(line(`"reference":0,`, ``, `"direction":"higher",`, ``)), "m.jsonl:1: not a score matrix: no column reference, direction"},
		{"another file", lines(`{"id":"a","source":"x"}`), `m.jsonl:1:11: unknown field "source"; the fields are id, system, metric,`},
		{"no columns", lines(`{}`), "m.jsonl:1: not a score matrix: no column id, system"},
		{"no object", lines(`[1]`), "m.jsonl:1: not a score matrix: a line must be a JSON object"},
		{"unknown column", lines(line(`"score"`, `"scores"`)), `m.jsonl:1:83: unknown field "scores" (did you mean "score"?)`},
		{"case of a column", lines(line(`"id"`, `"ID"`)), `m.jsonl:1:2: unknown field "ID" (did you mean "id"?)`},
		{"column twice", lines(line(`"score"`, `"status":"scored","score"`)), `m.jsonl:1:113: field "status" is there twice`},
		{"cut off", lines(line()) + line(sysA, sysB)[:60], "m.jsonl:2:61: bad JSON: the line ends within a string; the last line has no end, so the file may be cut off"},
		{"cut off between tokens", line()[:9], "may be cut off"},
		{"no JSON", lines(line(`:`, `=`)), `m.jsonl:1:6: bad JSON: '=' where ':' should be`},
		{"comma", lines(line(`"}`, `",}`)), `m.jsonl:1:150: bad JSON: '}' where a key in double quotes should be`},
		{"two objects", lines(line() + line()), `m.jsonl:1:150: bad JSON: text after the object`},
		{"nested", lines(line(score, `"score":{"x":1}`)), "m.jsonl:1:91: field score must be a number or null, not an object"},
		{"boolean", lines(line(score, `"score":true`)), "m.jsonl:1:91: field score must be a number or null, not a boolean"},
		{"number as text", lines(line(score, `"score":"1"`)), `m.jsonl:1:91: field score must be a number or null, not a string`},
		{"NaN", lines(line(score, `"score":NaN`)), "m.jsonl:1:91: bad JSON"},
		{"infinity", lines(line(score, `"score":1e999`)), "m.jsonl:1:91: field score must be a number or null, not one that is out of range"},
		{"leading zero", lines(line(score, `"score":01`)), "m.jsonl:1:91: bad JSON: malformed number"},
		{"bare point", lines(line(score, `"score":1.`)), "m.jsonl:1:91: bad JSON: malformed number"},
		{"minus alone", lines(line(score, `"score":-`)), "m.jsonl:1:91: bad JSON: malformed number"},
		{"null score", lines(line(), line(sysA, sysB, score, `"score":null`)), "m.jsonl:2: column score is null, but status is scored"},
		{"score of a failed cell", lines(line(scored, `"status":"failed"`)), "m.jsonl:1: column score has a number, but status is failed"},
		{"unknown status", lines(line(scored, `"status":"ok"`)), `m.jsonl:1:104: unknown status "ok"`},
		{"unknown direction", lines(line(`"higher"`, `"up"`)), `m.jsonl:1:125: unknown direction "up"`},
		{"null id", lines(line(idA, `"id":null`)), "m.jsonl:1:7: field id must be a string, not null"},
		{"number as id", lines(line(idA, `"id":1`)), "m.jsonl:1:7: field id must be a string, not a number"},
		{"empty id", lines(line(idA, `"id":""`)), "m.jsonl:1: column id is empty"},
		{"empty system", lines(line(sysA, `"system":""`)), "m.jsonl:1: column system is empty"},
		{"empty metric", lines(line(metM, `"metric":""`)), "m.jsonl:1: column metric is empty"},
		{"empty aggregate", lines(line(`"aggregate":null`, `"aggregate":""`)), `m.jsonl:1:49: field aggregate must be null or "native"`},
		{"aggregated scores", lines(line(`"aggregate":null`, `"aggregate":"max"`)), `m.jsonl:1: column aggregate is "max": these are aggregated scores`},
		{"fraction as reference", lines(ref(0, `"reference":0`, `"reference":0.5`)), "m.jsonl:1:66: field reference must be an integer from 0, not 0.5"},
		{"negative reference", lines(line(`"reference":0`, `"reference":-1`)), "m.jsonl:1:66: field reference must be an integer from 0, not -1"},
		{"large reference", lines(line(`"reference":0`, `"reference":99999999999`)), "m.jsonl:1: reference 99999999999 of 1 is out of range"},
		{"null references", lines(line(`"references":1`, `"references":null`)), "m.jsonl:1:81: field references must be an integer from 0, not null"},
		{"references of a cell", lines(line(`"references":1`, `"references":2`)), "m.jsonl:1: column references is 2 in a cell"},
		{"references without one", lines(line(`"reference":0`, `"reference":null`)), "m.jsonl:1: column references is 1 in a cell without a reference"},
		{"reference of a native row", lines(line(`"aggregate":null`, `"aggregate":"native"`)), "m.jsonl:1: column reference is 0 in a native row"},
		{"invalid UTF-8", lines(line(), line(sysA, "\"system\":\"\xff\"")), "m.jsonl:2: invalid UTF-8"},
		{"lone surrogate", lines(line(sysA, `"system":"\ud800x"`)), "m.jsonl:1:21: bad JSON: lone surrogate"},
		{"unknown escape", lines(line(sysA, `"system":"\x41"`)), "m.jsonl:1:21: bad JSON: unknown escape"},
		{"short escape", lines(line(sysA, `"system":"\u12"`)), "m.jsonl:1:21: bad JSON: unknown escape"},
		{"control character", lines(line(sysA, "\"system\":\"\x01\"")), "m.jsonl:1:21: bad JSON: control character 0x01"},
		{"byte order mark", "\ufeff" + lines(line()), "m.jsonl:1: the file begins with a byte order mark"},
		{"blank line", lines(line(), "", line(idA, idB)), "m.jsonl:2: blank line"},

		{"cell twice", lines(line(), ref(1), ref(1)), `m.jsonl:1: segment "a": m: two cells for system "A", reference 1, in rows 2 and 3`},
		{"cell twice and a gap", lines(ref(0), ref(0), ref(2)), `two cells for system "A", reference 0, in rows 1 and 2`},
		{"cell without reference twice", lines(line(none...), line(none...)), `two cells for system "A", in rows 1 and 2`},
		{"gap", lines(line(), ref(2)), `m.jsonl:1: segment "a": m: no cell for system "A", reference 1; a gap`},
		{"gap of a system", lines(line(), ref(1), ref(1, sysA, sysB)), `m.jsonl:1: segment "a": m: no cell for system "B", reference 0`},
		{"huge reference", lines(line(), ref(2147483646)), `no cell for system "A", reference 1`},
		{"numbers of references", lines(line(), ref(1), line(sysA, sysB)), `m.jsonl:1: segment "a": m: 1 references for system "B", but 2 for system "A"`},
		{"system without a metric", lines(line(), line(sysA, sysB), line(metM, metN)), `m.jsonl:1: segment "a": n: no cell for system "B"`},
		{"references of metrics", lines(line(), ref(1), line(metM, metN)), `m.jsonl:1: segment "a": 1 references for n, but 2 for m`},
		{"segment in two places", lines(line(), line(idA, idB), ref(1)), `m.jsonl:3: segment "a" has rows from row 1 on already`},
		{"segment without a metric", lines(line(), line(metM, metN), line(idA, idB)), `m.jsonl:3: segment "b": no cell of n`},
		{"segment with another metric", lines(line(), line(idA, idB, metM, metN)), `m.jsonl:2: segment "b", system "A", n: the segments before have no scores of this metric`},
		{"direction", lines(line(), line(idA, idB, `"higher"`, `"lower"`)), `m.jsonl:2: segment "b", system "A", m: direction "lower", but "higher" in rows before`},
		{"signature", lines(line(), line(idA, idB, `"signature":"s"`, `"signature":"t"`)), `m.jsonl:2: segment "b", system "A", m: signature "t", but "s" in row 1`},
		{"signature after an empty one", lines(line(`"signature":"s"`, `"signature":""`), line(idA, idB)), `signature "s", but "" in row 1`},
		{"with and without reference", lines(line(), line(append([]string{sysA, sysB}, none...)...)), `m.jsonl:2: segment "a", system "B", m: some cells have a reference and some have none`},
		{"need of references", lines(line(), line(append([]string{idA, idB}, none...)...)), `m.jsonl:2: segment "b", system "A", m: cells with a reference in one place and scores without in another`},
		{"missing reference among references", lines(line(), line(append([]string{metM, metN, score, `"score":null`, scored, `"status":"missing-reference"`}, none...)...)),
			`m.jsonl:1: segment "a": n: cells with a reference in one place`},

		{"native alone", lines(native()), `m.jsonl:1: segment "a": no cell of m`},
		{"native twice", lines(line(), native(), native()), `two native scores for system "A", in rows 2 and 3`},
		{"native gap", lines(line(), line(sysA, sysB), native()), `no native score for system "B"`},
		{"native for a new system", lines(line(), native(sysA, sysB)), `m: no cell for system "B"`},
		{"native of other references", lines(line(), line(sysA, sysB), native(), native(sysA, sysB, `"references":1`, `"references":2`)), `m.jsonl:4: segment "a", system "B", m: a native score of 2 references, but of 1`},
		{"native of too many references", lines(line(), native(`"references":1`, `"references":2`)), `m.jsonl:1: segment "a": m: a native score of 2 references, but 1 are there`},
		{"native signature", lines(line(), native(), line(idA, idB), native(idA, idB, `"signature":"s"`, `"signature":"t"`)), `m.jsonl:4: segment "b", system "A", m: signature "t" of native scores of 1 references, but "s"`},
		{"native lost", lines(line(), native(), line(idA, idB)), `m.jsonl:3: segment "b": m: native scores in rows from 2, but none in the segment from 3`},
		{"native lost at first", lines(line(), line(idA, idB), native(idA, idB)), `m.jsonl:2: segment "b": m: native scores in rows from 3, but none in the segment from 1`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := readJSONL([]byte(tt.in))
			if err == nil {
				t.Fatalf("accepted: %+v", m)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q, want %q", err, tt.want)
			}
			if e := (*matrix.Error)(nil); !errors.As(err, &e) || e.File != "m.jsonl" {
				t.Errorf("%T is no *matrix.Error of the file", err)
			}
		})
	}
}

// What looks odd, but is right.
func TestGoodRows(t *testing.T) {
	for name, in := range map[string]string{
		"no last newline":      line(),
		"carriage returns":     lines(line()+"\r", ref(1)+"\r"),
		"white space":          " \t" + lines(strings.NewReplacer(`,"`, ` , "`, `":`, `" : `).Replace(line())),
		"order of columns":     lines(`{"signature":"s","score":null,"status":"failed","direction":"lower","references":1,"reference":0,"aggregate":null,"metric":"m","system":"A","id":"a"}`),
		"escapes":              lines(line(idA, `"id":"\u0061\ud83d\ude00\/"`, `"metric"`, `"\u006detric"`)),
		"ragged":               lines(line(), ref(1), line(idA, idB)),
		"unlike systems":       lines(line(), line(idA, idB, sysA, sysB)),
		"native elsewhere":     lines(line(score, `"score":null`, scored, `"status":"failed"`), line(idA, idB), native(idA, idB)),
		"large but finite":     lines(line(score, `"score":-1.7976931348623157e308`)),
		"longer than a buffer": lines(line(`"signature":"s"`, `"signature":"`+strings.Repeat("long ", 40<<10)+`"`)),
	} {
		if _, err := readJSONL([]byte(in)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEndlessLine(t *testing.T) {
	r := matrix.NewJSONLReader(io.MultiReader(strings.NewReader(`{"id":"`), endless{}), "m.jsonl")
	_, err := readAll(r)
	if err == nil || !strings.Contains(err.Error(), "longer than 16 MiB") {
		t.Error(err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// Messages stay short, whatever names are in the file.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, in := range []string{
		lines(line(scored, `"status":"`+long+`"`)),
		lines(line(`"id"`, `"`+long+`"`)),
		lines(line(`"higher"`, `"`+long+`"`)),
		lines(line(idA, `"id":"`+long+`"`), line(idA, `"id":"`+long+`"`)),
		lines(line(sysA, `"system":"`+long+`"`, metM, `"metric":"`+long+`"`), line(sysA, `"system":"`+long+`"`, metM, `"metric":"`+long+`"`)),
		lines(line(`"aggregate":null`, `"aggregate":"`+long+`"`)),
	} {
		if _, err := readJSONL([]byte(in)); err == nil || len(err.Error()) > 1000 {
			t.Errorf("error of %d bytes", len(fmt.Sprint(err)))
		}
	}
}

func TestReadOnce(t *testing.T) {
	r := matrix.NewJSONLReader(strings.NewReader(lines(line())), "m.jsonl")
	if _, err := readAll(r); err != nil {
		t.Fatal(err)
	}
	if _, err := readAll(r); err == nil || !strings.Contains(err.Error(), "read already") {
		t.Error(err)
	}
}

func TestStopReading(t *testing.T) {
	in := lines(line(), line(idA, idB), "garbage")
	r := matrix.NewJSONLReader(strings.NewReader(in), "m.jsonl")
	for s, err := range r.Segments(context.Background()) {
		if err != nil || s.Segment.ID != "a" {
			t.Fatal(s, err)
		}
		break
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range matrix.NewJSONLReader(strings.NewReader(in), "m.jsonl").Segments(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	r = matrix.NewJSONLReader(io.MultiReader(strings.NewReader(lines(line())), broken{}), "m.jsonl")
	if _, err := readAll(r); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

var errBroken = errors.New("disk on fire")

type broken struct{}

func (broken) Read([]byte) (int, error)  { return 0, errBroken }
func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestBadWrites(t *testing.T) {
	good := matrix.Row{ID: "a", System: "A", Metric: "m", References: 1, Score: 1, Direction: metrics.HigherIsBetter}
	tests := map[string]func(*matrix.Row){
		"id is empty":            func(r *matrix.Row) { r.ID = "" },
		"invalid UTF-8":          func(r *matrix.Row) { r.System = "\xff" },
		"signature: invalid":     func(r *matrix.Row) { r.Signature = "\xff" },
		"score is NaN":           func(r *matrix.Row) { r.Score = math.NaN() },
		"score is +Inf":          func(r *matrix.Row) { r.Score = math.Inf(1) },
		"unknown status":         func(r *matrix.Row) { r.Status = 77 },
		"direction 0":            func(r *matrix.Row) { r.Direction = 0 },
		"aggregated scores":      func(r *matrix.Row) { r.Aggregate = "max" },
		"reference -2":           func(r *matrix.Row) { r.Reference = -2 },
		"references is 3":        func(r *matrix.Row) { r.References = 3 },
		"without a reference":    func(r *matrix.Row) { r.Reference = matrix.NoReference },
		"must be null":           func(r *matrix.Row) { r.Aggregate = matrix.Native },
		"-1 is out of range":     func(r *matrix.Row) { r.References = -1 },
		"2147483648 is out":      func(r *matrix.Row) { r.References = 1 << 31 },
		"reference 2147483647 o": func(r *matrix.Row) { r.Reference = math.MaxInt32 },
	}
	for want, change := range tests {
		for _, create := range []func(*bytes.Buffer) matrix.Writer{jsonl, pq} {
			w := create(&bytes.Buffer{})
			row := good
			if err := w.Write(&row); err != nil {
				t.Fatal(err)
			}
			change(&row)
			err := w.Write(&row)
			if err == nil || !strings.Contains(err.Error(), "row 2: ") {
				t.Errorf("%s: %v", want, err)
			}
			if again := w.Write(&good); again != err {
				t.Errorf("%s: after the error: %v", want, again)
			}
			if closing := w.Close(); closing != err {
				t.Errorf("%s: closing: %v", want, closing)
			}
		}
	}
	for name, w := range map[string]matrix.Writer{"JSON Lines": matrix.NewJSONLWriter(broken{}), "Parquet": matrix.NewParquetWriter(broken{})} {
		w.Write(&good)
		if err := w.Close(); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", name, err)
		}
		w = matrix.NewJSONLWriter(io.Discard)
		w.Close()
		if err := w.Write(&good); err == nil {
			t.Errorf("%s: a row after Close", name)
		}
	}
}

func TestBadSegments(t *testing.T) {
	tests := []struct {
		name, want string
		change     func(s *refract.SegmentScores, infos []matrix.Info)
	}{
		{"no hypotheses", `segment "a": no cell to write`, func(s *refract.SegmentScores, _ []matrix.Info) { s.Segment.Hypotheses = nil }},
		{"metrics", "scores of 2 metrics, descriptions of 3", func(s *refract.SegmentScores, _ []matrix.Info) { s.Metrics = s.Metrics[:2] }},
		{"columns", "1 columns, 6 values", func(s *refract.SegmentScores, _ []matrix.Info) { s.Metrics[0].Columns = 1 }},
		{"values", "3 columns, 5 values", func(s *refract.SegmentScores, _ []matrix.Info) { s.Metrics[0].Values = s.Metrics[0].Values[:5] }},
		{"statuses", "and 0 statuses", func(s *refract.SegmentScores, _ []matrix.Info) { s.Metrics[0].Status = nil }},
		{"native", "1 native scores", func(s *refract.SegmentScores, _ []matrix.Info) { s.Metrics[0].Native = s.Metrics[0].Native[:1] }},
		{"native signature", "no signature", func(_ *refract.SegmentScores, infos []matrix.Info) { infos[0].NativeSignature = nil }},
		{"NaN", "the score is NaN", func(s *refract.SegmentScores, _ []matrix.Info) { s.Metrics[0].Values[0] = math.NaN() }},
	}
	for _, tt := range tests {
		m := sample()
		tt.change(m.Segments[0], m.Metrics)
		err := matrix.WriteSegment(matrix.NewJSONLWriter(io.Discard), m.Segments[0], m.Metrics)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if noCells := errors.Is(err, matrix.ErrNoCells); noCells != (tt.name == "no hypotheses") {
			t.Errorf("%s: ErrNoCells: %v", tt.name, noCells)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	parquetAsLines := dir + "/p.jsonl"
	if err := os.WriteFile(parquetAsLines, writeAll(t, sample(), pq), 0o600); err != nil {
		t.Fatal(err)
	}
	linesAsParquet := dir + "/l.parquet"
	if err := os.WriteFile(linesAsParquet, []byte(lines(line())), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir+"/d.parquet", 0o700); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir + "/x.csv":     "name the file .jsonl or .parquet",
		dir + "/x.jsonl":   "no such file",
		parquetAsLines:     "p.jsonl: this is a Parquet file; name it .parquet",
		linesAsParquet:     "l.parquet: not a Parquet file; name it .jsonl",
		dir + "/d.parquet": "not a regular file",
	} {
		if _, err := matrix.Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
)

// Decoding on all cores gives the segments, the warnings and the error of reading one line
// after another, wherever in the file something is wrong.
func TestLinesInOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	path := filepath.Join(t.TempDir(), "d.jsonl")
	for range 60 {
		var b strings.Builder
		n := 1 + random.IntN(400)
		wrong, kind := random.IntN(2*n), random.IntN(6)
		for i := range n {
			end := []string{"\n", "\r\n"}[random.IntN(20)/19]
			switch {
			case i == wrong:
				b.WriteString([]string{"{}", `{"id":"x","references":["` + "\xff" + `"]}`, "", `{"id":1`, PartHead, `{"id":"y","refs":[],"references":null}`}[kind] + end)
			case i > wrong && random.IntN(30) == 0: // which is not reached
				b.WriteString("[]\n")
			}
			fmt.Fprintf(&b, `{"id":"%d","language":"de","references":["%s"],"hypotheses":{"a":"b","c%d":null}}%s`, i, strings.Repeat("é ", random.IntN(2000)), i%2, end)
		}
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o666))
		var said, wantSaid warnings
		ds, err := Open("jsonl:"+path, Options{Warn: said.add})
		got, err := openAndCollect(ds, err)

		var want []*refract.Segment
		r, o := &record{}, Options{Warn: warnOnce(wantSaid.add)}
		one := ds.(*set).lines
		wantErr := checked(path, "line", o, func(ctx context.Context, each func(*refract.Segment) error) error {
			return one.each(ctx, o.Warn, func(line []byte, pos refract.Position) error {
				s, err := r.parse(line, pos)
				if err != nil && pos.Line == 1 {
					err = otherColumns(err, line, path)
				}
				if err == nil {
					err = each(s)
				}
				return err
			})
		})(t.Context(), func(s *refract.Segment) error { want = append(want, s); return nil })
		if d := cmp.Diff(want, got); d != "" || fmt.Sprint(err) != fmt.Sprint(wantErr) || fmt.Sprint(said.all) != fmt.Sprint(wantSaid.all) {
			t.Fatalf("%v, want %v\nwarnings %v, want %v\n%s", err, wantErr, said.all, wantSaid.all, d)
		}
	}
}

// Rows of tables come in order up to the first that cannot be read, which the error names.
func TestRowsInOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	type row struct {
		ID string `parquet:"id" json:"id"`
		R  string `parquet:"r" json:"r"`
	}
	for range 5 {
		wrong := 1 + random.IntN(2000)
		csv, jsonl, rows := "id,r\n", "", []row(nil)
		for i := 1; i <= 2000; i++ {
			r := row{fmt.Sprint(i), strings.Repeat("ab ", random.IntN(100))}
			if i >= wrong {
				r.ID = ""
			}
			csv += r.ID + ",\"\n" + r.R + "\"\n"
			jsonl += fmt.Sprintf(`{"id":"%s","r":"%s"}`+"\n", r.ID, r.R)
			rows = append(rows, r)
		}
		dir := folderOf(t, map[string]string{"d.csv": csv, "d.jsonl": jsonl, "d.parquet": string(rowsOf(t, rows...))})
		for ending, line := range map[string]int{"csv": 2 * wrong, "jsonl": wrong, "parquet": wrong} {
			ds, err := Open("table:"+filepath.Join(dir, "d."+ending)+",id=id,reference=r", Options{})
			got, err := openAndCollect(ds, err)
			wantError(t, dir, err, fmt.Sprintf(`d.%s:%d: column "id" is empty; each segment needs an id`, ending, line))
			for i, s := range got {
				if s.ID != fmt.Sprint(i+1) || strings.TrimPrefix(s.References[0].Value, "\n") != rows[i].R {
					t.Fatalf("%s: row %d is %v", ending, i+1, s)
				}
			}
			assert.Len(t, got, wrong-1, "%s: %d rows before row %d", ending, len(got), wrong)
		}
	}
}

// A line of a slow stream is there before the next one is written; however reading ends, no
// goroutine is left.
func TestStreamsInOrder(t *testing.T) {
	for _, array := range []bool{false, true} {
		for _, end := range []string{"the input", "the reader", "the context"} {
			t.Run(fmt.Sprint(array, end), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					in, out := io.Pipe()
					ctx, cancel := context.WithCancel(t.Context())
					ds, err := Open("jsonl:-", Options{Stdin: in})
					require.NoError(t, err)
					row := func(n int) string {
						comma := map[bool]string{true: "[", false: ","}[n == 1]
						return fmt.Sprintf("%s{\"id\":%d,\"references\":[\"a\"]}\n", strings.Repeat(comma, map[bool]int{true: 1}[array]), n)
					}
					go io.WriteString(out, row(1))
					n := 0
					for s, err := range ds.Segments(ctx) {
						if n++; err != nil {
							assert.True(t, n == 4 && end == "the context" && errors.Is(err, context.Canceled), err)
							break
						}
						assert.Equal(t, fmt.Sprint(n), s.ID, "segment %s at %d", s.ID, n)
						switch {
						case n < 3:
							go io.WriteString(out, row(n+1))
						case end == "the input":
							go func() { io.WriteString(out, map[bool]string{true: "]"}[array]); out.Close() }()
						case end == "the context":
							cancel()
						}
						if n == 3 && end == "the reader" {
							break
						}
					}
					cancel()
					out.Close() // the copying of standard input waits for it
				})
			})
		}
	}
}

// While nothing is taken, only a few chunks are held, and at most one large one.
func TestChunksHeld(t *testing.T) {
	for bytes, most := range map[int]int{1: 3*runtime.GOMAXPROCS(0) + 4, chunkSize: 2*runtime.GOMAXPROCS(0) + 4, maxLine: 2} {
		synctest.Test(t, func(t *testing.T) {
			cuts, taken, wait := 0, 0, make(chan bool)
			go func() {
				synctest.Wait()
				assert.True(t, cuts <= most, "%d chunks of %d bytes are held, want at most %d", cuts, bytes, most)
				close(wait)
			}()
			err := inOrder(t.Context(), func(_ context.Context, c *chunk[int]) error {
				cuts++
				if c.add(cuts, cuts, bytes); cuts == 100 {
					return io.EOF
				}
				c.full = true
				return nil
			}, func(c *chunk[int], i int) (int, error) { return c.items[i], nil }, nil, func(n int) error {
				<-wait
				if taken++; n != taken {
					t.Errorf("%d, want %d", n, taken)
				}
				return nil
			})
			assert.True(t, err == nil && taken == 100, "%d taken: %v", taken, err)
		})
	}
}

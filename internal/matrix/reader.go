package matrix

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/files"
	"github.com/refract-eval/refract/internal/idset"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
)

// Error is a fault of a stored matrix, and where it is.
type Error struct {
	File   string
	Line   int64 // of JSON Lines, from 1; 0 where unknown
	Column int64 // byte of the line, from 1; 0 where unknown
	Row    int64 // of Parquet, from 1; 0 where unknown
	Err    error
}

// Error returns "file:line: cause", "file:line:column: cause", or "file: row n:
// cause" for Parquet, and how to make a matrix. It names another file than this
// one, which may be something else, such as a dataset.
func (e *Error) Error() string {
	at := e.File
	switch {
	case e.Column > 0:
		at = fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column)
	case e.Line > 0:
		at = fmt.Sprintf("%s:%d", e.File, e.Line)
	case e.Row > 0:
		at = fmt.Sprintf("%s: row %d", e.File, e.Row)
	}
	advice, extension := "make the matrix anew with", cmp.Or(filepath.Ext(files.Unpacked(e.File)), ".jsonl")
	if foreign := (*foreignError)(nil); errors.As(e.Err, &foreign) {
		advice = "this is no stored matrix; one is made by"
	}
	return fmt.Sprintf("%s: %v; %s 'refract score DATASET -m METRIC --per cell -o NEW%s'", at, e.Err, advice, extension)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// foreignError is the fault of a file that no version wrote as a matrix.
type foreignError struct{ error }

func (e *foreignError) Unwrap() error { return e.error }

// source yields the rows of one file.
type source interface {
	// next reads a row into all fields of r, or returns io.EOF. A row that
	// is wrong by itself is an error with its position.
	next(r *row) error
	// position is that of the last row: a line, or a number of a row.
	position() int64
	// line appends what the digest is of in the last row, which is r.
	line(b []byte, r *row) []byte
	// digest is what the file says its rows have, known behind the last one; ""
	// where it says nothing.
	digest() string
	// locate is an Error without a cause, at a position or, for 0, the file.
	locate(position int64) Error
}

// faultAt is what is wrong at a position.
func faultAt(s source, position int64, err error) error {
	e := s.locate(position)
	e.Err = err
	return &e
}

// Reader reads a stored matrix, once. It holds one segment at a time, and some
// 30 bytes for each id. It is not safe for concurrent use.
type Reader struct {
	src  source
	file io.Closer
	used bool

	known      []Info         // of the metrics
	natives    []nativeStates // of each of them
	outputs    []string       // hashes of the hypotheses of the segment that was yielded last
	references []string       // and of its references
	segment    *refract.Segment
}

// nativeStates are the signatures of a metric's native scores, by number of
// references.
type nativeStates map[int]string

// Open opens a matrix of JSON Lines or Parquet, as the extension .jsonl or
// .parquet says. Of Parquet, it reads and checks the columns; JSON Lines may
// also be a pipe.
func Open(path string) (*Reader, error) {
	open := map[string]func(*os.File, string) (source, error){".jsonl": openJSONL, ".parquet": openParquet}[filepath.Ext(files.Unpacked(path))]
	if open == nil {
		return nil, fmt.Errorf("matrix %s: the extension must say the format, .jsonl or .parquet; a matrix is made by 'refract score DATASET -m METRIC --per cell -o NEW.jsonl', and scores of segments are aggregated already", text.Quote(path))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("matrix: %w", err)
	}
	src, err := open(f, path)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Reader{src: src, file: f}, nil
}

// Close closes the file.
func (r *Reader) Close() error { return r.file.Close() }

// Metrics describes the metrics, in the order of the first segment, which is
// also that of SegmentScores.Metrics. It is empty before the first segment is
// read. Whether a metric needs references, and has native scores, may show
// only in a later segment, where the first one has no references.
func (r *Reader) Metrics() []Info { return slices.Clone(r.known) }

// Segments yields the segments in the file's order, and ends after the first
// error. They belong to the caller. It can be called once. What was yielded
// counts only once the end is reached without an error: the digest stands there.
//
// A Segment has its id, its place in the file, its systems and its references,
// all without text: they are Valid where the rows have a hash of them. Values of
// cells that are not Scored are 0.
//
// Errors are those of ctx, and *Error with the line or row for what is wrong
// in the file: a row that cannot be read or does not stand where it was
// written, a segment or a metric that is there twice, a metric that changes, and
// a digest that is missing or another one.
func (r *Reader) Segments(ctx context.Context) iter.Seq2[*refract.SegmentScores, error] {
	return func(yield func(*refract.SegmentScores, error) bool) {
		if r.used {
			yield(nil, faultAt(r.src, 0, errors.New("the matrix was read already; open it again")))
			return
		}
		r.used = true
		if err := r.read(ctx, func(s *refract.SegmentScores) bool { return yield(s, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

// checkEvery is how many rows are read between looks at the context.
const checkEvery = 256

// read calls yield with each segment until that returns false.
func (r *Reader) read(ctx context.Context, yield func(*refract.SegmentScores) bool) error {
	var now row
	var rows []row // of the segment
	var first int64
	var line []byte
	ids, sum := idset.New(), sha256.New()
	for n := 0; ; n++ {
		if n%checkEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		err := r.src.next(&now)
		if err != nil && err != io.EOF {
			return err
		}
		at := r.src.position()
		if err == io.EOF { // before the last segment, as its rows may be those that are missing
			if bad := checkEnd(n, r.src.digest(), hex.EncodeToString(sum.Sum(nil))); bad != nil {
				return faultAt(r.src, 0, bad)
			}
		}
		if len(rows) > 0 && (err == io.EOF || now.id != rows[0].id) {
			s, bad := r.assemble(rows)
			if bad != nil {
				return faultAt(r.src, first, fmt.Errorf("segment %s: %w", text.Quote(rows[0].id), bad))
			}
			place := r.src.locate(first)
			s.Segment.Pos = refract.Position{File: place.File, Line: int(place.Line)}
			r.segment = s.Segment
			if !yield(s) {
				return nil
			}
			rows = rows[:0]
		}
		if err == io.EOF {
			return nil
		}
		if len(rows) == 0 {
			first = at
			if before, again := ids.Add(now.id, at); again {
				return faultAt(r.src, at, fmt.Errorf("segment %s has rows from row %d on already; the rows of a segment must stand together", text.Quote(now.id), before))
			}
		}
		line = r.src.line(line[:0], &now)
		sum.Write(line)
		rows = append(rows, now)
	}
}

// checkEnd reports what is wrong with a matrix of so many rows that states one
// digest, and whose rows have another.
func checkEnd(rows int, stated, digest string) error {
	switch {
	case rows == 0:
		return errors.New("the matrix is empty: no row at all")
	case stated == "":
		return errors.New("the matrix has no digest at its end: its last rows are missing, or another program wrote it")
	case stated != digest:
		return errors.New("the digest of the matrix is another one than that of its rows: they were changed")
	}
	return nil
}

// assemble makes the scores of a segment of its rows, which must stand in the
// order of WriteSegment.
func (r *Reader) assemble(rows []row) (*refract.SegmentScores, error) {
	seg := &refract.Segment{ID: rows[0].id}
	s := &refract.SegmentScores{Segment: seg}
	r.outputs, r.references = r.outputs[:0], r.references[:0]
	fixed := r.known != nil // this is not the first segment
	var widest refract.MetricScores
	for len(rows) > 0 {
		k, name := len(s.Metrics), rows[0].metric
		block := take(&rows, name, "")
		natives := take(&rows, name, Native)
		if len(block) == 0 || slices.ContainsFunc(r.known[:k], func(i Info) bool { return i.Name == name }) {
			return nil, fmt.Errorf("the cells of %s do not stand together, before its native scores", text.Brief(name))
		}
		if !fixed {
			r.known = append(r.known, Info{Name: name, Direction: block[0].direction, CellSignature: block[0].signature})
			r.natives = append(r.natives, nativeStates{})
		}
		if k == len(r.known) || r.known[k].Name != name {
			return nil, fmt.Errorf("%s stands in another place than in the segments before, which need the same metrics", text.Brief(name))
		}
		if k == 0 {
			seg.Hypotheses, r.outputs = hypotheses(block)
		}
		ms, err := r.cells(seg, &r.known[k], block)
		if err == nil {
			err = r.native(seg, k, &ms, natives)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text.Brief(name), err)
		}
		if block[0].reference != noReference {
			if widest.Columns > 0 && widest.Columns != ms.Columns {
				return nil, fmt.Errorf("%s for %s, but %d for another metric", english.Count(ms.Columns, "reference"), text.Brief(name), widest.Columns)
			}
			if widest.Columns == 0 {
				widest = ms
				for _, c := range block[:ms.Columns] {
					r.references = append(r.references, c.against)
					seg.References = append(seg.References, refract.Text{Valid: c.against != ""})
				}
			}
		}
		s.Metrics = append(s.Metrics, ms)
	}
	if len(s.Metrics) != len(r.known) {
		return nil, fmt.Errorf("no cell of %s; all segments need the same metrics", text.Brief(r.known[len(s.Metrics)].Name))
	}
	return s, nil
}

// take cuts off the rows at the front that are of a metric and an aggregate.
func take(rows *[]row, metric, aggregate string) []row {
	n := slices.IndexFunc(*rows, func(r row) bool { return r.metric != metric || r.aggregate != aggregate })
	if n < 0 {
		n = len(*rows)
	}
	out := (*rows)[:n]
	*rows = (*rows)[n:]
	return out
}

// hypotheses are those of the cells of a metric, and their hashes.
func hypotheses(cells []row) (out []refract.Hypothesis, hashes []string) {
	for i, c := range cells {
		if i == 0 || c.system != cells[i-1].system {
			out = append(out, refract.Hypothesis{System: c.system, Text: refract.Text{Valid: c.output != ""}})
			hashes = append(hashes, c.output)
		}
	}
	return out, hashes
}

// cells makes the matrix of one metric.
func (r *Reader) cells(seg *refract.Segment, info *Info, cells []row) (refract.MetricScores, error) {
	columns := len(cells) / len(seg.Hypotheses)
	ms := refract.MetricScores{Columns: columns, Values: make([]float64, len(cells)), Status: make([]metrics.Status, len(cells))}
	if columns*len(seg.Hypotheses) != len(cells) || columns > 1 && cells[0].reference == noReference {
		return ms, fmt.Errorf("%s for %s; a gap would change aggregates", english.Count(len(cells), "cell"), english.Count(len(seg.Hypotheses), "system"))
	}
	for i, c := range cells {
		reference := noReference
		if cells[0].reference != noReference {
			reference = i % columns
		}
		if system := seg.Hypotheses[i/columns].System; c.system != system || c.reference != reference {
			return ms, fmt.Errorf("a cell of system %s%s where that of system %s%s must be", text.Quote(c.system), column(c.reference), text.Quote(system), column(reference))
		}
		if c.direction != info.Direction || c.signature != info.CellSignature {
			return ms, fmt.Errorf("signature %s and direction %s, but %s and %s in rows before; a metric has one",
				text.Quote(c.signature), c.direction, text.Quote(info.CellSignature), info.Direction)
		}
		if reference != noReference || c.status == metrics.MissingReference {
			info.NeedsReferences = true
		}
		ms.Values[i], ms.Status[i] = c.score, c.status
	}
	return ms, nil
}

func column(reference int) string {
	if reference == noReference {
		return ""
	}
	return fmt.Sprintf(", reference %d,", reference)
}

// native takes the native scores of one metric.
func (r *Reader) native(seg *refract.Segment, k int, ms *refract.MetricScores, rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	states := r.natives[k]
	if n := rows[0].references; states[n] == "" {
		states[n] = rows[0].signature
	}
	r.known[k].NativeSignature = func(n int) string { return states[n] }
	if len(rows) != len(seg.Hypotheses) {
		return fmt.Errorf("%s for %s", english.Count(len(rows), "native score"), english.Count(len(seg.Hypotheses), "system"))
	}
	for h, c := range rows {
		if c.system != seg.Hypotheses[h].System || c.reference != noReference || c.signature != states[c.references] {
			return fmt.Errorf("the native score of system %s is not one of system %s with the signature %s",
				text.Quote(c.system), text.Quote(seg.Hypotheses[h].System), text.Quote(states[c.references]))
		}
		ms.Native, ms.NativeStatus = append(ms.Native, c.score), append(ms.NativeStatus, c.status)
	}
	return nil
}

// Match compares the hashes of the segment that was yielded last with the texts
// of a segment: the outputs of the systems that both have, and the references.
func (r *Reader) Match(seg *refract.Segment) error {
	for h, stored := range r.segment.Hypotheses {
		i := slices.IndexFunc(seg.Hypotheses, func(other refract.Hypothesis) bool { return other.System == stored.System })
		if i >= 0 && hashOf(seg.Hypotheses[i].Text) != r.outputs[h] {
			return fmt.Errorf("the output of system %q is another one than that which was scored", stored.System)
		}
	}
	for i, t := range seg.AllReferences(nil)[:min(len(r.references), seg.NumReferences())] {
		if hashOf(t) != r.references[i] {
			return fmt.Errorf("reference %d is another one than that which was scored", i+1)
		}
	}
	return nil
}

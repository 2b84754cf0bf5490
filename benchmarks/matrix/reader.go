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
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
)

// Error is an error in a stored matrix, with its position.
type Error struct {
	File   string
	Line   int64 // or row of Parquet, from 1; 0 if unknown
	Column int64 // byte of the line, from 1; 0 if unknown
	Err    error
}

// Error returns "file:line: cause" or "file:line:column: cause", and the command that makes a
// matrix. The command writes a new file, because this one may be something else, such as a
// dataset.
func (e *Error) Error() string {
	at := e.File
	switch {
	case e.Column > 0:
		at = fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column)
	case e.Line > 0:
		at = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	advice, extension := "make the matrix again with", cmp.Or(filepath.Ext(files.Unpacked(e.File)), ".jsonl")
	if foreign := (*foreignError)(nil); errors.As(e.Err, &foreign) {
		advice = "this is not a stored matrix; make one with"
	}
	return fmt.Sprintf("%s: %v; %s 'refract score DATASET -m METRIC --per cell -o NEW%s'", at, e.Err, advice, extension)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// foreignError is an error in a file that no version of Refract wrote as a matrix.
type foreignError struct{ error }

func (e *foreignError) Unwrap() error { return e.error }

// source reads the rows of one file.
type source interface {
	// next reads a row into all fields of r, or returns io.EOF. An invalid row is an
	// error with its position.
	next(r *row) error
	// position returns the line or number of the last row.
	position() int64
	// line appends the bytes of the last row, r, that the digest covers.
	line(b []byte, r *row) []byte
	// digest returns the digest that the file states, known after the last row; "" if it
	// states none.
	digest() string
}

// Reader reads a stored matrix once. It holds one segment at a time, and about 30 bytes for
// each id. It is not safe for concurrent use.
type Reader struct {
	name string
	src  source
	file io.Closer
	used bool

	known      []Info         // the metrics
	natives    []nativeStates // one for each metric
	outputs    []string       // hashes of the hypotheses of the last yielded segment
	references []string       // hashes of its references
	segment    *refract.Segment
	read       int            // segments
	unscored   map[string]int // of these, before which a metric had ended
}

// nativeStates maps numbers of references to signatures of a metric's native scores.
type nativeStates map[int]string

// Open opens a matrix in JSON Lines or Parquet, according to the extension .jsonl or .parquet.
// In Parquet it checks the columns. JSON Lines may also come from a pipe.
func Open(path string) (*Reader, error) {
	open := map[string]func(*os.File, string) (source, error){".jsonl": openJSONL, ".parquet": openParquet}[filepath.Ext(files.Unpacked(path))]
	if open == nil {
		return nil, fmt.Errorf("matrix %s: the extension must say the format, .jsonl or .parquet; a matrix is made by 'refract score DATASET -m METRIC --per cell -o NEW.jsonl', and scores of segments are aggregated already", text.Quote(path))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("matrix %s: %w", text.Path(path), files.Cause(err))
	}
	src, err := open(f, path)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Reader{name: path, src: src, file: f}, nil
}

// faultAt returns an error in a line or row, or in the whole file if that is 0.
func (r *Reader) faultAt(line int64, err error) error {
	return &Error{File: r.name, Line: line, Err: err}
}

// Close closes the file.
func (r *Reader) Close() error { return r.file.Close() }

// Metrics describes the metrics in the order of SegmentScores.Metrics. It is empty before the
// first segment is read. If the first segment has no references, only a later one may show
// whether a metric needs references and has native scores.
func (r *Reader) Metrics() []Info { return slices.Clone(r.known) }

// Ended tells which metrics had ended before segments that were read; nil if none had.
func (r *Reader) Ended() *refract.Incomplete {
	var failed refract.Incomplete
	for _, info := range r.known {
		if n := r.unscored[info.Name]; n > 0 {
			failed.Metrics = append(failed.Metrics, info.Name)
			failed.Errs = append(failed.Errs, fmt.Errorf("%s had ended before %d of %s in %s: score them again", info.Name, n, english.Count(r.read, "segment"), r.name))
		}
	}
	if len(failed.Errs) == 0 {
		return nil
	}
	return &failed
}

// Segments yields the segments in the file's order, and ends after the first error. They belong
// to the caller. It can be called once. The segments are verified only when the sequence ends
// without an error, because the digest is at the end.
//
// A Segment has its id, its position in the file, its systems and its references. Texts are not
// stored; those with a hash are Valid, but empty. Values of cells that are not Scored are 0.
//
// Errors come from ctx, or are of type *Error with the line or row: for an unreadable or misplaced
// row, a repeated segment or metric, a metric that changes, and a missing or wrong digest.
func (r *Reader) Segments(ctx context.Context) iter.Seq2[*refract.SegmentScores, error] {
	return func(yield func(*refract.SegmentScores, error) bool) {
		if r.used {
			yield(nil, r.faultAt(0, errors.New("the matrix was read already; open it again")))
			return
		}
		r.used = true
		if err := r.each(ctx, func(s *refract.SegmentScores) bool { return yield(s, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

// checkEvery is the number of rows read between checks of the context.
const checkEvery = 256

// each calls yield with each segment until yield returns false.
func (r *Reader) each(ctx context.Context, yield func(*refract.SegmentScores) bool) error {
	var now row
	var rows []row // of the current segment
	var first int64
	var line []byte
	ids, sum := text.NewSeen(), sha256.New()
	r.unscored = map[string]int{}
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
		if err == io.EOF { // check before yielding the last segment, whose rows may be missing
			if bad := checkEnd(n, r.src.digest(), hex.EncodeToString(sum.Sum(nil))); bad != nil {
				return r.faultAt(0, bad)
			}
		}
		if len(rows) > 0 && (err == io.EOF || now.ID != rows[0].ID) {
			s, bad := r.assemble(rows)
			if bad != nil {
				return r.faultAt(first, fmt.Errorf("segment %s: %w", text.Quote(rows[0].ID), bad))
			}
			s.Segment.Pos = refract.Position{File: r.name, Line: int(first)}
			r.segment = s.Segment
			r.read++
			for k := range s.Metrics {
				if slices.Contains(s.Metrics[k].Status, metrics.Ended) {
					r.unscored[r.known[k].Name]++
				}
			}
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
			if before, again := ids.Add(now.ID, at); again {
				return r.faultAt(at, fmt.Errorf("segment %s already has rows from row %d on; the rows of a segment must be contiguous", text.Quote(now.ID), before))
			}
		}
		line = r.src.line(line[:0], &now)
		sum.Write(line)
		rows = append(rows, now)
	}
}

// checkEnd returns an error if a matrix has no rows, or if the stated digest is missing or
// differs from the rows' digest.
func checkEnd(rows int, stated, digest string) error {
	switch {
	case rows == 0:
		return errors.New("the matrix is empty: no row at all")
	case stated == "":
		return errors.New("the matrix has no digest at its end: its last rows are missing, or another program wrote it")
	case stated != digest:
		return errors.New("the digest of the matrix does not match its rows: they were changed")
	}
	return nil
}

// assemble makes the scores of a segment from its rows, which must be in the order of
// WriteSegment.
func (r *Reader) assemble(rows []row) (*refract.SegmentScores, error) {
	seg := &refract.Segment{ID: rows[0].ID}
	s := &refract.SegmentScores{Segment: seg}
	r.outputs, r.references = r.outputs[:0], r.references[:0]
	fixed := r.known != nil // whether this is a later segment
	var widest refract.MetricScores
	for len(rows) > 0 {
		k, name := len(s.Metrics), rows[0].Metric
		block := take(&rows, name, "")
		natives := take(&rows, name, Native)
		if len(block) == 0 || slices.ContainsFunc(r.known[:k], func(i Info) bool { return i.Name == name }) {
			return nil, fmt.Errorf("the cells of %s must come together, before its native scores", text.Brief(name))
		}
		if !fixed {
			r.known = append(r.known, Info{Name: name, Direction: block[0].direction, CellSignature: block[0].Signature})
			r.natives = append(r.natives, nativeStates{})
		}
		if k == len(r.known) || r.known[k].Name != name {
			return nil, fmt.Errorf("%s is not in the same place as in earlier segments; all need the same metrics in the same order", text.Brief(name))
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
		if block[0].Reference != nil {
			if widest.Columns > 0 && widest.Columns != ms.Columns {
				return nil, fmt.Errorf("%s for %s, but %d for another metric", english.Count(ms.Columns, "reference"), text.Brief(name), widest.Columns)
			}
			if widest.Columns == 0 {
				widest = ms
				for _, c := range block[:ms.Columns] {
					r.references = append(r.references, c.Against)
					seg.References = append(seg.References, refract.Text{Valid: c.Against != ""})
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

// take splits off the first rows that have this metric and aggregate.
func take(rows *[]row, metric, aggregate string) []row {
	n := slices.IndexFunc(*rows, func(r row) bool { return r.Metric != metric || r.Aggregate != aggregate })
	if n < 0 {
		n = len(*rows)
	}
	out := (*rows)[:n]
	*rows = (*rows)[n:]
	return out
}

// hypotheses returns the hypotheses of a metric's cells, and their hashes.
func hypotheses(cells []row) (out []refract.Hypothesis, hashes []string) {
	for i, c := range cells {
		if i == 0 || c.System != cells[i-1].System {
			out = append(out, refract.Hypothesis{System: c.System, Text: refract.Text{Valid: c.Output != ""}})
			hashes = append(hashes, c.Output)
		}
	}
	return out, hashes
}

// cells makes the matrix of one metric from its rows.
func (r *Reader) cells(seg *refract.Segment, info *Info, cells []row) (refract.MetricScores, error) {
	columns := len(cells) / len(seg.Hypotheses)
	ms := refract.MetricScores{Columns: columns, Values: make([]float64, len(cells)), Status: make([]metrics.Status, len(cells))}
	if columns*len(seg.Hypotheses) != len(cells) || columns > 1 && cells[0].Reference == nil {
		return ms, fmt.Errorf("%s for %s; a gap would change aggregates", english.Count(len(cells), "cell"), english.Count(len(seg.Hypotheses), "system"))
	}
	for i, c := range cells {
		reference := noReference
		if cells[0].Reference != nil {
			reference = i % columns
		}
		if system := seg.Hypotheses[i/columns].System; c.System != system || c.column() != reference {
			return ms, fmt.Errorf("a cell of system %s%s instead of one of system %s%s", text.Quote(c.System), ofReference(c.column()), text.Quote(system), ofReference(reference))
		}
		if c.direction != info.Direction || c.Signature != info.CellSignature {
			return ms, fmt.Errorf("signature %s and direction %s, but %s and %s in rows before; a metric has one",
				text.Quote(c.Signature), c.direction, text.Quote(info.CellSignature), info.Direction)
		}
		if reference != noReference || c.status == metrics.MissingReference {
			info.NeedsReferences = true
		}
		ms.Values[i], ms.Status[i] = c.score()
	}
	return ms, nil
}

func ofReference(reference int) string {
	if reference == noReference {
		return ""
	}
	return fmt.Sprintf(", reference %d", reference)
}

// native reads the native scores of one metric from its rows.
func (r *Reader) native(seg *refract.Segment, k int, ms *refract.MetricScores, rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	states := r.natives[k]
	if n := int(rows[0].References); states[n] == "" {
		states[n] = rows[0].Signature
	}
	r.known[k].NativeSignature = func(n int) string { return states[n] }
	if len(rows) != len(seg.Hypotheses) {
		return fmt.Errorf("%s for %s", english.Count(len(rows), "native score"), english.Count(len(seg.Hypotheses), "system"))
	}
	for h, c := range rows {
		if c.System != seg.Hypotheses[h].System || c.Reference != nil || c.Signature != states[int(c.References)] {
			return fmt.Errorf("the native score of system %s is not one of system %s with the signature %s",
				text.Quote(c.System), text.Quote(seg.Hypotheses[h].System), text.Quote(states[int(c.References)]))
		}
		score, status := c.score()
		ms.Native, ms.NativeStatus = append(ms.Native, score), append(ms.NativeStatus, status)
	}
	return nil
}

// Match compares the hashes of the last yielded segment to the texts of a segment: the outputs
// of the systems that both have, and the references.
func (r *Reader) Match(seg *refract.Segment) error {
	for h, stored := range r.segment.Hypotheses {
		i := slices.IndexFunc(seg.Hypotheses, func(other refract.Hypothesis) bool { return other.System == stored.System })
		if i >= 0 && hashOf(seg.Hypotheses[i].Text) != r.outputs[h] {
			return fmt.Errorf("the output of system %q is not the one that was scored", stored.System)
		}
	}
	for i, t := range seg.AllReferences(nil)[:min(len(r.references), seg.NumReferences())] {
		if hashOf(t) != r.references[i] {
			return fmt.Errorf("reference %d is not the one that was scored", i+1)
		}
	}
	return nil
}

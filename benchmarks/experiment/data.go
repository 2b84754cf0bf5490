package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"iter"
	"slices"
	"unicode/utf8"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/agreement"
	"github.com/refract-eval/refract/benchmarks/correlate"
)

// data is a dataset in memory: rank statistics need it all.
type data struct {
	Dataset
	segments []*refract.Segment
	human    string
	systems  agreement.Compared
	gold     *correlate.Pairs // without scores of a metric
	column   map[string]int   // of each compared system
	places   []correlate.Place
	prompts  []string // of the variants, in order of appearance
	variants bool     // whether any segment has one
}

// load reads a dataset.
func load(ctx context.Context, d Dataset, ds refract.Dataset) (*data, error) {
	out := &data{Dataset: d, column: map[string]int{}}
	col := agreement.NewCollector(1)
	hypotheses := 0
	for s, err := range ds.Segments(ctx) {
		if err != nil {
			return nil, err
		}
		if s.NumReferences() == 0 && !d.AllowNoReference {
			return nil, &refract.NoReferencesError{Metric: "the experiment", ID: s.ID, Pos: s.Pos}
		}
		out.segments = append(out.segments, s)
		out.places = append(out.places, correlate.Place{Segment: s.ID, Document: s.Document, Domain: s.Domain})
		col.Add(s, func(int, int) (float64, bool) { return 0, false })
		hypotheses += len(s.Hypotheses)
		for i := range s.Variants {
			out.variants = true
			if p := s.Variants[i].Prompt; !slices.Contains(out.prompts, p) {
				out.prompts = append(out.prompts, p)
			}
		}
	}
	if hypotheses == 0 {
		return nil, errors.New("there is no system to score")
	}
	var err error
	if out.human, err = col.Choose(d.Human); err != nil {
		return nil, err
	}
	out.systems = col.Systems(out.human, d.IncludeReferences)
	if len(out.systems.Systems) < 2 {
		return nil, fmt.Errorf("a comparison needs two systems or more with %s scores; there are %d", out.human, len(out.systems.Systems))
	}
	out.gold = col.Pairs(0, out.human, out.systems)
	for i, name := range out.systems.Systems {
		out.column[name] = i
	}
	return out, nil
}

// list is a dataset of segments in memory.
type list []*refract.Segment

// Segments yields them.
func (l list) Segments(ctx context.Context) iter.Seq2[*refract.Segment, error] {
	return func(yield func(*refract.Segment, error) bool) {
		for _, s := range l {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(s, nil) {
				return
			}
		}
	}
}

// digest hashes what parts of a key are made of.
type digest struct {
	h   hash.Hash
	buf []byte
}

// keyVersion begins every key. It changes when the rules of the store do.
const keyVersion = "refract experiment 1\n"

func newDigest(kind string) *digest {
	d := &digest{h: sha256.New()}
	d.h.Write([]byte(keyVersion))
	d.text(kind)
	d.text(refract.Version)
	return d
}

func (d *digest) number(n uint64) {
	d.buf = binary.AppendUvarint(d.buf[:0], n)
	d.h.Write(d.buf)
}

func (d *digest) text(s string) {
	d.number(uint64(len(s)))
	d.h.Write([]byte(s))
}

func (d *digest) maybe(t refract.Text) {
	if !t.Valid {
		d.number(0)
		return
	}
	d.number(1)
	d.text(t.Value)
}

func (d *digest) sum() string { return hex.EncodeToString(d.h.Sum(nil)[:16]) }

// texts hashes what a metric sees of a dataset against some of the references.
func (d *digest) texts(segments []*refract.Segment, source bool) {
	d.number(uint64(len(segments)))
	for _, s := range segments {
		d.text(s.ID)
		if source {
			d.maybe(s.Source)
		}
		d.number(uint64(s.NumReferences()))
		for _, t := range s.AllReferences(nil) {
			d.maybe(t)
		}
		d.number(uint64(len(s.Hypotheses)))
		for i := range s.Hypotheses {
			d.text(s.Hypotheses[i].System)
			d.maybe(s.Hypotheses[i].Text)
		}
	}
}

// columnsOf is a choice of references: for each segment its columns, in
// ascending order.
type columnsOf [][]int

// keep returns the segments with these references alone. What were variants
// are originals then: scores do not tell them apart.
func (c columnsOf) keep(segments []*refract.Segment) []*refract.Segment {
	out := make([]*refract.Segment, len(segments))
	for i, s := range segments {
		all := s.AllReferences(nil)
		t := *s
		t.References, t.Variants = make([]refract.Text, 0, len(c[i])), nil
		for _, k := range c[i] {
			t.References = append(t.References, all[k])
		}
		out[i] = &t
	}
	return out
}

// equal says whether two choices are the same.
func (c columnsOf) equal(d columnsOf) bool {
	return slices.EqualFunc(c, d, func(a, b []int) bool { return slices.Equal(a, b) })
}

// firsts says whether there is no reference but the first one.
func (c columnsOf) firsts() bool {
	return !slices.ContainsFunc(c, func(columns []int) bool { return len(columns) > 1 || len(columns) == 1 && columns[0] != 0 })
}

// most is the largest number of references of a segment.
func (c columnsOf) most() int {
	n := 0
	for _, columns := range c {
		n = max(n, len(columns))
	}
	return n
}

// length is the number of characters of a segment's first reference that is
// there, and false where none is.
func length(s *refract.Segment) (int, bool) {
	for _, t := range s.AllReferences(nil) {
		if t.Valid {
			return utf8.RuneCountInString(t.Value), true
		}
	}
	return 0, false
}

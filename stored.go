package refract

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// ScoreStore keeps values by key, such as cache.Scores. It is safe for
// concurrent use.
type ScoreStore interface {
	// Get returns the value of each key, nil if there is none.
	Get(ctx context.Context, keys [][32]byte) ([][]byte, error)
	// Put stores a value under each key, replacing any old one.
	Put(ctx context.Context, keys [][32]byte, values [][]byte) error
}

// scoreCache keeps the scores of one metric in a store, so that the metric computes only
// misses. A stored value holds the scores of one hypothesis (with its source, if the metric
// needs one) against any number of references.
type scoreCache struct {
	store  ScoreStore
	prefix []byte     // identifies the metric in the hash of every key
	damage func()     // warns of a damaged value
	merge  sync.Mutex // held while a batch reads, merges and writes values
}

func newScoreCache(store ScoreStore, damage func(), m metrics.Metric) *scoreCache {
	info := m.Info()
	prefix := fmt.Sprintf("refract scores 1\n%s\n%s\n%v\n", info.Name, m.Signature(metrics.Sentence), info.NeedsReferences)
	return &scoreCache{store: store, prefix: []byte(prefix), damage: damage}
}

// storedBlock is the stored side of a block.
type storedBlock struct {
	refs  []textHash   // one per column; then that of all references, for native scores
	keys  [][32]byte   // by hypothesis
	fresh [][]keptCell // new scores, by hypothesis
}

func (c *scoreCache) newBlock(buf []byte, b metrics.Block) (*storedBlock, []byte) {
	s := &storedBlock{refs: make([]textHash, b.Columns()+1), fresh: make([][]keptCell, len(b.Hypotheses))}
	for i, ref := range b.References {
		s.refs[i], buf = hashOf(buf, 'r', ref)
	}
	var joined []byte
	for _, h := range s.refs[:b.Columns()] {
		joined = append(joined, h[:]...)
	}
	s.refs[b.Columns()], buf = hashOf(buf, 'l', joined)
	for _, hyp := range b.Hypotheses {
		var key [32]byte
		key, buf = c.key(buf, b.Source, hyp)
		s.keys = append(s.keys, key)
	}
	return s, buf
}

// key returns the key of a hypothesis. source is "" if the metric needs none.
func (c *scoreCache) key(buf []byte, source, hypothesis string) ([32]byte, []byte) {
	buf = append(buf[:0], c.prefix...)
	for _, text := range []string{source, hypothesis} {
		buf = binary.AppendUvarint(buf, uint64(len(text)))
		buf = append(buf, text...)
	}
	return sha256.Sum256(buf), buf
}

// keep adds a new score of a hypothesis if it is worth storing.
func (s *storedBlock) keep(hypothesis int, cell keptCell) {
	if cell.keeps() {
		s.fresh[hypothesis] = append(s.fresh[hypothesis], cell)
	}
}

// read fills in the stored scores of blocks.
func (c *scoreCache) read(ctx context.Context, all []askedBlock) error {
	var keys [][32]byte
	var buf []byte
	for i := range all {
		all[i].stored, buf = c.newBlock(buf, all[i].block)
		keys = append(keys, all[i].stored.keys...)
	}
	values, err := c.store.Get(ctx, keys)
	if err != nil {
		return err
	}
	for i := range all {
		for h := range all[i].block.Hypotheses {
			c.take(&all[i], h, values[h])
		}
		values = values[len(all[i].stored.keys):]
	}
	return nil
}

// take reads the row of a hypothesis from a stored value.
func (c *scoreCache) take(x *askedBlock, h int, value []byte) {
	if value == nil {
		return
	}
	cells, ok := cellsIn(value)
	if !ok {
		c.damage()
		return
	}
	for column, of := range x.stored.refs {
		at := x.at(h, column)
		if at >= len(x.known) {
			break // no native scores are needed
		}
		i, found := slices.BinarySearchFunc(cells, of, func(c keptCell, of textHash) int { return bytes.Compare(c.of[:], of[:]) })
		x.known[at] = found && cells[i].put(&x.scores, at)
	}
}

// write adds the new scores to what the store has by now.
func (c *scoreCache) write(ctx context.Context, all []askedBlock) error {
	fresh := map[[32]byte][]keptCell{}
	for i := range all {
		s := all[i].stored
		for h, cells := range s.fresh {
			if len(cells) > 0 {
				fresh[s.keys[h]] = append(fresh[s.keys[h]], cells...)
			}
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	changed := slices.SortedFunc(maps.Keys(fresh), func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) })
	c.merge.Lock()
	defer c.merge.Unlock()
	values, err := c.store.Get(ctx, changed)
	if err != nil {
		return err
	}
	for i, key := range changed {
		values[i] = merged(values[i], fresh[key])
	}
	return c.store.Put(ctx, changed, values)
}

// textHash identifies a reference of a block. The zero hash stands for the cell of a
// metric without references.
type textHash [16]byte

// hashOf returns the hash of a text, which is a reference or, by kind, a list of hashes.
func hashOf[T string | []byte](buf []byte, kind byte, text T) (textHash, []byte) {
	buf = append(append(buf[:0], kind), text...)
	sum := sha256.Sum256(buf)
	return textHash(sum[:16]), buf
}

// A value consists of a version, a checksum of the rest, the number of cells in two
// bytes, the cells sorted by their hashes, and the reports of the cells that have one. A
// cell is a hash, a status with a bit for a report, and a float64. A report is a length
// as a varint, and JSON.
const (
	valueVersion = 1
	valueHead    = 7
	cellSize     = 16 + 1 + 8
	hasReport    = 0x80
	mostCells    = math.MaxUint16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// keptCell is a cell of a value.
type keptCell struct {
	of     textHash
	status metrics.Status
	value  float64
	report []byte // JSON, or nil
}

// cellsIn reads a value. ok is false for a damaged value and one of another version.
func cellsIn(value []byte) (cells []keptCell, ok bool) {
	if len(value) < valueHead || value[0] != valueVersion || binary.LittleEndian.Uint32(value[1:]) != crc32.Checksum(value[5:], castagnoli) {
		return nil, false
	}
	n := int(binary.LittleEndian.Uint16(value[5:]))
	value = value[valueHead:]
	if len(value) < n*cellSize {
		return nil, false
	}
	cells = make([]keptCell, n)
	reports := value[n*cellSize:]
	for i := range cells {
		b := value[i*cellSize:]
		c := &cells[i]
		c.of, c.status, c.value = textHash(b), metrics.Status(b[16]&^hasReport), math.Float64frombits(binary.LittleEndian.Uint64(b[17:]))
		if b[16]&hasReport == 0 {
			continue
		}
		length, size := binary.Uvarint(reports)
		if size <= 0 || length > uint64(len(reports)-size) {
			return nil, false
		}
		reports = reports[size:]
		c.report, reports = reports[:length], reports[length:]
	}
	return cells, true
}

// merged returns a value with cells added, which replace those with the same hash.
func merged(value []byte, more []keptCell) []byte {
	old, _ := cellsIn(value)
	more = append(more, old...)
	slices.SortStableFunc(more, func(a, b keptCell) int { return bytes.Compare(a.of[:], b.of[:]) })
	more = slices.CompactFunc(more, func(a, b keptCell) bool { return a.of == b.of })
	more = more[:min(len(more), mostCells)]
	out := make([]byte, valueHead, valueHead+len(more)*cellSize)
	out[0] = valueVersion
	binary.LittleEndian.PutUint16(out[5:], uint16(len(more)))
	var reports []byte
	for _, c := range more {
		status := byte(c.status)
		if c.report != nil {
			status |= hasReport
			reports = append(binary.AppendUvarint(reports, uint64(len(c.report))), c.report...)
		}
		out = append(append(out, c.of[:]...), status)
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(c.value))
	}
	out = append(out, reports...)
	binary.LittleEndian.PutUint32(out[1:], crc32.Checksum(out[5:], castagnoli))
	return out
}

// keeps reports whether a cell is worth storing: with some statuses, a later run may get a
// score.
func (c *keptCell) keeps() bool {
	switch c.status {
	case metrics.Scored:
		return !math.IsNaN(c.value) && !math.IsInf(c.value, 0)
	case metrics.Unparseable, metrics.Blocked, metrics.Cut:
		return true
	}
	return false
}

// put copies a stored cell into scores, and reports false if its report cannot be read.
func (c *keptCell) put(s *metrics.Scores, at int) bool {
	if c.report != nil {
		r := &analysis.Report{}
		if json.Unmarshal(c.report, r) != nil {
			return false
		}
		setReport(s, at, r)
	}
	s.Values[at], s.Status[at] = c.value, c.status
	return true
}

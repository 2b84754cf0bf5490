package refract

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"math"
	"slices"
	"sort"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

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

// cellsIn splits a value into its cells and reports. ok is false for a damaged value and
// one of another version.
func cellsIn(value []byte) (cells, reports []byte, ok bool) {
	if len(value) < valueHead || value[0] != valueVersion || binary.LittleEndian.Uint32(value[1:]) != crc32.Checksum(value[5:], castagnoli) {
		return nil, nil, false
	}
	n := cellSize * int(binary.LittleEndian.Uint16(value[5:]))
	if rest := value[valueHead:]; len(rest) >= n {
		return rest[:n], rest[n:], true
	}
	return nil, nil, false
}

// find returns the index of the cell with a hash, or -1.
func find(cells []byte, h textHash) int {
	at, ok := sort.Find(len(cells)/cellSize, func(i int) int { return bytes.Compare(h[:], cells[i*cellSize:i*cellSize+16]) })
	if !ok {
		return -1
	}
	return at
}

// keptCell is a cell of a value.
type keptCell struct {
	of     textHash
	status metrics.Status
	value  float64
	report []byte // JSON, or nil
}

func cellAt(cells []byte, i int) (status metrics.Status, value float64, report bool) {
	c := cells[i*cellSize+16:]
	return metrics.Status(c[0] &^ hasReport), math.Float64frombits(binary.LittleEndian.Uint64(c[1:])), c[0]&hasReport != 0
}

// reportsOf splits the reports of a value's cells; nil if it has none.
func reportsOf(cells, reports []byte) [][]byte {
	if len(reports) == 0 {
		return nil
	}
	out := make([][]byte, len(cells)/cellSize)
	for i := range out {
		if _, _, has := cellAt(cells, i); !has {
			continue
		}
		n, size := binary.Uvarint(reports)
		if size <= 0 || n > uint64(len(reports)-size) {
			return nil
		}
		out[i], reports = reports[size:size+int(n)], reports[size+int(n):]
	}
	return out
}

// merged returns a value with cells added, which replace those with the same hash.
func merged(value []byte, more []keptCell) []byte {
	if old, reports, ok := cellsIn(value); ok {
		raw := reportsOf(old, reports)
		for i := range len(old) / cellSize {
			c := keptCell{of: textHash(old[i*cellSize:])}
			c.status, c.value, _ = cellAt(old, i)
			if raw != nil {
				c.report = raw[i]
			}
			more = append(more, c)
		}
	}
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

func setReport(s *metrics.Scores, at int, r *analysis.Report) {
	if s.Reports == nil {
		s.Reports = make([]*analysis.Report, len(s.Values))
	}
	s.Reports[at] = r
}

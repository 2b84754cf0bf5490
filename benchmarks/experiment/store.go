package experiment

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/atomicfile"
	"github.com/refract-eval/refract/internal/english"
)

// Store is a folder of what was computed: cells as matrices in Parquet
// (cells-KEY.parquet), native scores (native-KEY.parquet), statistics
// (statistic-KEY.json) and tests (test-KEY.json). A key is the hash of all that
// the content depends on, so that nothing in it is ever out of date, and files
// may be deleted at will. A file appears under its name only when it is whole. A
// nil Store keeps nothing.
type Store struct{ dir string }

// OpenStore opens a store in a folder, which it makes where there is none.
func OpenStore(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("store of cells: %w", err)
	}
	return &Store{dir}, nil
}

func (s *Store) path(kind, key, extension string) string {
	return filepath.Join(s.dir, kind+"-"+key+extension)
}

// read reads a stored value. It is false where there is none; an error says
// that there is one that cannot be read.
func (s *Store) read(kind, key string, into any) (bool, error) {
	if s == nil {
		return false, nil
	}
	path := s.path(kind, key, ".json")
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		return false, fmt.Errorf("%s cannot be read and is made anew: %w", path, err)
	}
	return true, nil
}

// write stores a value.
func (s *Store) write(kind, key string, value any) error {
	if s == nil {
		return nil
	}
	err := atomicfile.Write(s.path(kind, key, ".json"), func(w io.Writer) error { return json.NewEncoder(w).Encode(value) })
	if err != nil {
		return fmt.Errorf("store of cells: %w", err)
	}
	return nil
}

// Usage is what a run computed and what it found in the store.
type Usage struct {
	ScoredCells, ReusedCells             int // scores of a hypothesis: against a reference, or natively
	ScoredMatrices, ReusedMatrices       int
	ComputedStatistics, ReusedStatistics int // and tests
}

// String says it in a line.
func (u Usage) String() string {
	return fmt.Sprintf("scored %d cells in %s, reused %d in %d; computed %s, reused %d",
		u.ScoredCells, english.Count(u.ScoredMatrices, "matrix", "matrices"), u.ReusedCells, u.ReusedMatrices,
		english.Count(u.ComputedStatistics, "statistic", "statistics"), u.ReusedStatistics)
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

package cache

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Spare is a database that loses no answer when the disk is full or the server is away: what
// it cannot put is written, as [Export] does, to a file that only its owner can read,
// in the first of some folders that has room. A later run takes the files up.
type Spare struct {
	*Database
	dirs   []string
	prefix string // of the files for this cache

	mu    sync.Mutex
	saved map[Key]string // files of answers that are in none but them
	lost  map[Key]bool   // answers that no folder had room for
}

// NewSpare returns a Spare for the cache that was opened under a name, and for folders, the
// preferred one first.
func NewSpare(d *Database, where string, dirs ...string) *Spare {
	where = Shown(where)
	if abs, err := filepath.Abs(where); err == nil && !IsPostgres(where) {
		where = abs
	}
	sum := sha256.Sum256([]byte(where))
	return &Spare{Database: d, dirs: dirs, prefix: fmt.Sprintf("refract-unstored-%x-", sum[:6]), saved: make(map[Key]string), lost: make(map[Key]bool)}
}

// Put implements [Store]. Also when it fails, the answers are safe, unless Unstored counts
// them as lost.
func (s *Spare) Put(ctx context.Context, records ...Record) ([][]byte, error) {
	values, err := s.Database.Put(ctx, records...)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range records {
		if _, safe := s.saved[r.Key]; err == nil {
			delete(s.lost, r.Key)
		} else if !safe && r.Kind == answerRecord {
			s.lost[r.Key] = true
		}
	}
	if err == nil || len(s.lost) == 0 {
		return values, err
	}
	fresh := NewMemory()
	for _, r := range records {
		if s.lost[r.Key] {
			_, _ = fresh.Put(context.Background(), r) // fails for a record that no store keeps
		}
	}
	for _, dir := range s.dirs {
		if path, failed := s.write(dir, fresh); failed == nil {
			for key := range fresh.records {
				s.saved[key] = path
				delete(s.lost, key)
			}
			break
		}
	}
	return nil, err
}

// write writes answers to a new file in a folder. The file gets its name when it is complete,
// so that nobody takes up a part of it.
func (s *Spare) write(dir string, from *Memory) (path string, err error) {
	f, err := os.CreateTemp(dir, s.prefix+"*.tmp") // only its owner can read it
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, damaged, err := Export(context.Background(), f, from)
	if len(damaged) > 0 {
		err = errors.New(damaged[0].What)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", err
	}
	path = strings.TrimSuffix(f.Name(), ".tmp") + ".jsonl"
	return path, os.Rename(f.Name(), path)
}

// TakeUp imports the files that this or an earlier run wrote for this cache, removes each that
// it has stored, and returns how many answers they held. It verifies them as [Import] does. A
// file that another user may have written is left alone.
func (s *Spare) TakeUp(ctx context.Context) (answers int, err error) {
	for _, dir := range s.dirs {
		entries, _ := os.ReadDir(dir) // nothing can be in a folder that cannot be read
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), s.prefix) || filepath.Ext(e.Name()) != ".jsonl" {
				continue
			}
			path := filepath.Join(dir, e.Name())
			n, failed := s.take(ctx, path)
			if answers += n; failed != nil && !errors.Is(failed, fs.ErrNotExist) { // another process may have taken it
				err = errors.Join(err, fmt.Errorf("%s: %w", path, failed))
			}
		}
	}
	return answers, err
}

// take imports a file, and removes it.
func (s *Spare) take(ctx context.Context, path string) (int, error) {
	named, err := os.Lstat(path)
	if err != nil {
		return 0, err
	}
	if !named.Mode().IsRegular() || !isOwn(named) {
		return 0, errors.New("it is left alone, because another user may have written it")
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if opened, err := f.Stat(); err != nil || !os.SameFile(named, opened) {
		return 0, errors.Join(err, errors.New("it was replaced while it was opened"))
	}
	done, err := Import(ctx, f, s.Database)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, in := range s.saved {
		if in == path {
			delete(s.saved, key)
		}
	}
	return done.Entries, os.Remove(path)
}

// Unstored returns how many answers of this run are only in files, the folders of these, and
// how many answers are lost when the process ends.
func (s *Spare) Unstored() (saved int, files []string, lost int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range s.saved {
		files = append(files, filepath.Join(filepath.Dir(path), s.prefix+"*.jsonl"))
	}
	slices.Sort(files)
	return len(s.saved), slices.Compact(files), len(s.lost)
}

package shard

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/idset"
	"github.com/refract-eval/refract/internal/text"
)

// Set is all shards of a run.
type Set struct {
	Manifest Manifest          // of the first shard
	Identity *refract.Identity // of all references; nil if the shards have none
	Segments int

	files     []string
	manifests []*Manifest // of the files
}

// Open verifies the shards of a run, given in any order. Its errors name shards that
// are missing, repeated, damaged or from another run, and ids that are in several
// shards.
func Open(ctx context.Context, paths []string) (*Set, error) {
	s := &Set{}
	if err := s.place(ctx, paths); err != nil {
		return nil, err
	}
	ids, id := idset.New(), refract.NewIdentity()
	var ends []int // segments up to the end of each shard
	for i, path := range s.files {
		if err := s.follows(ctx, i, path); err != nil {
			return nil, err
		}
		_, err := Verify(ctx, path, func(name string, references []byte) error {
			s.Segments++
			if before, again := ids.Add(name, int64(s.Segments)); again {
				at, _ := slices.BinarySearch(ends, int(before))
				return fmt.Errorf("id %s is already used by a segment of %s; ids must be unique", text.Quote(name), text.Path(s.files[at]))
			}
			if len(references) == 0 {
				return nil
			}
			return id.AddReferences(references)
		})
		if err != nil {
			return nil, err
		}
		ends = append(ends, s.Segments)
	}
	if id.Segments() > 0 {
		s.Identity = id
	}
	return s, nil
}

// follows checks that shard i belongs to the same run as the first shard, and that its
// input continues that of the shard before.
func (s *Set) follows(ctx context.Context, i int, path string) error {
	m, end := s.manifests[i], int64(0) // of the input of the shard before
	if i == 0 {
		s.Manifest = *m
	} else {
		end = s.manifests[i-1].Input.To
	}
	diff := m.Differences(&s.Manifest)
	if len(diff) == 0 && (m.Input.From != end || i == len(s.files)-1 && m.Input.To != m.Input.Size) {
		diff = []string{"the input is different"}
	}
	if len(diff) == 0 {
		return nil
	}
	if _, err := Verify(ctx, path, nil); err != nil { // damage may be the reason
		return err
	}
	return &Error{path, fmt.Errorf("not of the same run as %s: %s", text.Path(s.files[0]), strings.Join(diff, "; "))}
}

// place sorts the files by the shard numbers in their manifests, which are verified
// later.
func (s *Set) place(ctx context.Context, paths []string) error {
	of, first := 0, ""
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		m, err := peek(path)
		if err != nil {
			return err
		}
		if of == 0 {
			if m.Of < 1 || m.Of > Most {
				return &Error{path, ErrDamaged}
			}
			of, first, s.files, s.manifests = m.Of, path, make([]string, m.Of), make([]*Manifest, m.Of)
		}
		switch {
		case m.Of != of:
			return &Error{path, fmt.Errorf("one of %s, and %s is one of %d", english.Count(m.Of, "shard"), text.Path(first), of)}
		case m.Index < 1 || m.Index > of:
			return &Error{path, ErrDamaged}
		case s.files[m.Index-1] != "":
			return &Error{path, fmt.Errorf("shard %d of %d, as %s is too: give each once", m.Index, of, text.Path(s.files[m.Index-1]))}
		}
		s.files[m.Index-1], s.manifests[m.Index-1] = path, m
	}
	var missing []string
	for i, path := range s.files {
		if path == "" {
			missing = append(missing, fmt.Sprint(i+1))
		}
	}
	if n := len(missing); n > 0 {
		if n > mostNamed {
			missing = append(missing[:mostNamed], "…")
		}
		return fmt.Errorf("%s of %d missing: %s; run them, and then merge", english.Count(n, "shard"), of, strings.Join(missing, ", "))
	}
	return nil
}

// Most is the largest number of shards.
const Most = 1 << 20

const mostNamed = 20 // of missing shards

// peek reads the manifest of a file without verifying the file.
func peek(path string) (*Manifest, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, _, err := manifest(f)
	if err != nil {
		return nil, &Error{path, err}
	}
	return m, nil
}

// Each calls read with the body of each shard, in order.
func (s *Set) Each(ctx context.Context, read func(body io.Reader) error) error {
	return s.each(ctx, bodyChunk, read)
}

// EachTotals calls read with the command's counts of each shard, in order.
func (s *Set) EachTotals(ctx context.Context, read func(io.Reader) error) error {
	return s.each(ctx, totalsChunk, read)
}

func (s *Set) each(ctx context.Context, kind byte, read func(io.Reader) error) error {
	for _, path := range s.files {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		err = read(&body{chunks: newChunks(ctx, f), kind: kind})
		f.Close()
		if err != nil {
			return &Error{path, err}
		}
	}
	return ctx.Err()
}

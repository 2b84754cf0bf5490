package cache_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/cache"
)

// rewrite copies a closed file with a change.
func rewrite(t *testing.T, from, to string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, change(b), 0o644))
}

func TestNoDatabase(t *testing.T) {
	for _, test := range []struct {
		name    string
		content []byte
	}{
		{"text", []byte(strings.Repeat("{\"id\": 1, \"source\": \"a text\"}\n", 200))},
		{"short text", []byte("no database\n")},
		{"random", func() []byte { b := make([]byte, 9000); rand.Read(b); return b }()},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "answers.db")
			require.NoError(t, os.WriteFile(file, test.content, 0o644))
			for _, opts := range [][]cache.Option{nil, {cache.ReadOnly()}} {
				_, err := cache.Open(t.Context(), file, opts...)
				wantError(t, err, cache.ErrCorrupt, file, "move it away", "another file")
			}
			after, err := os.ReadFile(file)
			assert.True(t, err == nil && bytes.Equal(after, test.content), "the file was changed (%v)", err)
		})
	}
}

// damaged opens a damaged file and reads all of it. It wants ErrCorrupt or problems, with
// the file's name and advice.
func damaged(t *testing.T, file string) {
	t.Helper()
	s, err := cache.Open(t.Context(), file, cache.ReadOnly())
	if err != nil {
		wantError(t, err, cache.ErrCorrupt, file, "move it away")
		return
	}
	defer s.Close()
	_, problems, err := s.Verify(t.Context())
	require.NoError(t, err)
	assert.NotEmpty(t, problems, "Verify found no problem")
}

func TestTruncated(t *testing.T) {
	whole := filled(t, 200)
	info, err := os.Stat(whole)
	require.NoError(t, err)
	size := int(info.Size())
	for _, keep := range []int{50, 4096, size / 2, size - 100} {
		file := filepath.Join(t.TempDir(), "answers.db")
		rewrite(t, whole, file, func(b []byte) []byte { return b[:keep] })
		damaged(t, file)
	}
}

// A flipped byte anywhere in a row is found, whether it was changed in the file or by a
// statement.
func TestFlippedBytes(t *testing.T) {
	var sound bytes.Buffer
	_, _, err := cache.Export(t.Context(), &sound, open(t, filled(t, 20)))
	require.NoError(t, err)
	victim := newEntry(7)
	key := victim.Request.Key()
	// A page that was split may contain stale copies before the valid one, so all are
	// changed.
	flip := func(what []byte) func(*testing.T, string) {
		return func(t *testing.T, file string) {
			rewrite(t, file, file, func(b []byte) []byte {
				changed := bytes.Clone(what)
				changed[len(what)/2] ^= 1
				return bytes.ReplaceAll(b, what, changed)
			})
		}
	}
	set := func(assignment string) func(*testing.T, string) {
		return func(t *testing.T, file string) {
			execute(t, file, fmt.Sprintf("UPDATE records SET %s WHERE key = x'%s'", assignment, key))
		}
	}
	for _, test := range []struct {
		name   string
		damage func(*testing.T, string)
		get    bool // whether Get of the key finds the damage
	}{
		{"key in the file", flip(key[:]), false},
		{"answer in the file", flip([]byte(victim.Text)), true},
		{"key", set("key = zeroblob(32)"), false},
		{"request", set("about = x'00'"), false},
		{"value", set("value = x'00'"), true},
		{"value of another", set("value = (SELECT value FROM records AS other WHERE other.key <> records.key)"), true},
		{"checksum", set("digest = zeroblob(32)"), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := filled(t, 20)
			test.damage(t, file)
			s := open(t, file, cache.ReadOnly())
			n, problems, err := s.Verify(t.Context())
			require.NoError(t, err)
			require.True(t, n == 20 && len(problems) != 0, "Verify = %d, %v, want problems", n, problems)
			if test.get {
				p := problems[0]
				assert.True(t, p.Key == key.String() && p.What != "", "problem %+v does not name the key %s", p, key)
				_, _, err := getAnswer(t.Context(), s, key)
				wantError(t, err, cache.ErrCorrupt, file, key.String(), "refract cache verify")
			}
			// An export has all undamaged records and reports the damage. It may miss
			// a key that is damaged only in the table but not in the index, and
			// records of another kind.
			var got bytes.Buffer
			exported, lost, err := cache.Export(t.Context(), &got, s)
			require.NoError(t, err)
			if len(lost) > 0 {
				assert.Equal(t, 20, exported+len(lost), "Export wrote %d entries: %v", exported, lost)
				into := cache.NewMemory()
				if done, err := cache.Import(t.Context(), &got, into); err != nil || done.Added != exported {
					t.Errorf("Import = %+v, %v, want %d entries", done, err, exported)
				}
			} else if !bytes.Equal(got.Bytes(), sound.Bytes()) {
				t.Error("Export wrote damaged entries")
			}
		})
	}
}

func TestMissingTable(t *testing.T) {
	for _, statement := range []string{"DROP TABLE records", "ALTER TABLE records RENAME COLUMN about TO what"} {
		file := filled(t, 1)
		execute(t, file, statement)
		_, err := cache.Open(t.Context(), file)
		wantError(t, err, cache.ErrCorrupt, file)
	}
}

// Damage to any one page is found or harmless; it never yields an answer that was not
// stored.
func TestAnyDamagedPage(t *testing.T) {
	whole := filled(t, 60)
	b, err := os.ReadFile(whole)
	require.NoError(t, err)
	for at := 0; at < len(b); at += 2048 {
		file := filepath.Join(t.TempDir(), "answers.db")
		rewrite(t, whole, file, func(b []byte) []byte {
			for i := at; i < at+300; i++ {
				b[i] ^= 0x55
			}
			return b
		})
		s, err := cache.Open(t.Context(), file, cache.ReadOnly())
		if err != nil {
			if !errors.Is(err, cache.ErrCorrupt) && !errors.Is(err, cache.ErrForeign) {
				t.Errorf("damage at %d: %v", at, err)
			}
			continue
		}
		for i := range 60 {
			want := newEntry(i)
			got, ok, err := getAnswer(t.Context(), s, want.Request.Key())
			assert.False(t, err == nil && ok && got != want.Answer, "damage at %d: Get = %+v, want %+v", at, got, want)
		}
		_, _, err = s.Verify(t.Context())
		assert.NoError(t, err, "damage at %d: Verify", at)
		s.Close()
	}
}

// If one page of a file is unreadable, the records of other pages are read, and those of
// this page are named.
func TestUnreadablePage(t *testing.T) {
	file := filled(t, 200)
	rewrite(t, file, file, func(b []byte) []byte {
		at := bytes.LastIndex(b, []byte(newEntry(100).Text)) / 4096 * 4096 // the first may be a stale copy in the root page
		copy(b[at:], bytes.Repeat([]byte{0xff}, 100))                      // its header, and where its rows are
		return b
	})
	s := open(t, file, cache.ReadOnly())
	if n, _, err := s.Verify(t.Context()); err != nil || n != 200 {
		t.Errorf("Verify saw %d entries (%v), want 200", n, err)
	}
	var got bytes.Buffer
	n, lost, err := cache.Export(t.Context(), &got, s)
	require.True(t, err == nil && n >= 100 && n+len(lost) == 200, "Export wrote %d entries: %v, %v", n, lost, err)
	for _, p := range lost {
		assert.True(t, len(p.Key) == 64 && p.What != "", "problem %+v names no key", p)
	}
	assert.Equal(t, n, bytes.Count(got.Bytes(), []byte("\n")))
}

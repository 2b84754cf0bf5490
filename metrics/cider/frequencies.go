package cider

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract/internal/files"
)

// longest is the largest number of words in an n-gram.
const longest = 4

// frequencies say how many segments contain each n-gram. They are immutable.
type frequencies struct {
	split     string // tokenizer
	name      string // hash of the texts counted
	documents int    // segments
	words     map[string]uint32
	grams     tree
	in        []int32 // of each n-gram: segments
}

// tree numbers n-grams from 1. A key combines the number of the n-gram without its last
// word, 0 for none, with that word.
type tree map[uint64]uint32

func step(gram, word uint32) uint64 { return uint64(gram)<<32 | uint64(word) }

// count counts the references of segments.
func count(ctx context.Context, split string, references iter.Seq2[[]string, error]) (*frequencies, error) {
	f := &frequencies{split: split, words: map[string]uint32{}, grams: tree{}, in: make([]int32, 1)}
	s, h := newSplitter(split), sha256.New()
	var words []uint32
	last := make([]int32, 1) // of each n-gram: the segment that counted it last
	for texts, err := range references {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		if len(texts) == 0 {
			continue
		}
		f.documents++
		for i, t := range texts {
			add(h, i, t)
			words = words[:0]
			s.Split(t, func(word []byte) { words = append(words, f.word(word)) })
			for i := range words {
				gram := uint32(0)
				for _, w := range words[i:min(i+longest, len(words))] {
					gram = f.gram(gram, w)
					if int(gram) == len(last) {
						last = append(last, 0)
					}
					if last[gram] != int32(f.documents) {
						last[gram] = int32(f.documents)
						f.in[gram]++
					}
				}
			}
		}
	}
	if f.documents == 0 {
		return nil, errors.New("cider: there is no reference to count n-grams in")
	}
	f.name = short(h)
	return f, nil
}

// add hashes a text with its position among the references of a segment.
func add(h hash.Hash, place int, text string) {
	fmt.Fprintf(h, "%d %d ", place, len(text))
	io.WriteString(h, text)
}

// short returns a hash as signatures show it.
func short(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)[:6]) }

func (f *frequencies) word(w []byte) uint32 {
	n, ok := f.words[string(w)]
	if !ok {
		n = uint32(len(f.words))
		f.words[string(w)] = n
	}
	return n
}

func (f *frequencies) gram(gram, word uint32) uint32 {
	key := step(gram, word)
	n, ok := f.grams[key]
	if !ok {
		n = uint32(len(f.in))
		f.grams[key] = n
		f.in = append(f.in, 0)
	}
	return n
}

// weight returns the weight of an n-gram that is in so many segments.
func (f *frequencies) weight(segments int32) float64 {
	return math.Log(float64(f.documents)) - math.Log(float64(max(1, segments)))
}

const header = "# n-grams of references"

// file returns the file that readFrequencies reads: a line with the number of segments and
// the tokenizer, then each n-gram in byte order, before the number of segments that contain
// it.
func (f *frequencies) file() []byte {
	words := make([]string, len(f.words))
	for s, n := range f.words {
		words[n] = s
	}
	texts := make([]string, len(f.in))
	parents := make([]uint64, len(f.in))
	for key, n := range f.grams {
		parents[n] = key
	}
	lines := make([]string, 0, len(f.in))
	for n := 1; n < len(f.in); n++ { // an n-gram has a greater number than its beginning
		texts[n] = words[uint32(parents[n])]
		if before := parents[n] >> 32; before > 0 {
			texts[n] = texts[before] + " " + texts[n]
		}
		lines = append(lines, fmt.Sprintf("%s\t%d\n", texts[n], f.in[n]))
	}
	slices.Sort(lines)
	return append(fmt.Appendf(nil, "%s\t%d\t%s\n", header, f.documents, f.split), strings.Join(lines, "")...)
}

// readFrequencies reads what file returns. Errors name the line.
func readFrequencies(r io.Reader) (*frequencies, error) {
	h := sha256.New()
	in := bufio.NewScanner(io.TeeReader(r, h))
	in.Buffer(nil, 1<<24)
	f := &frequencies{words: map[string]uint32{}, grams: tree{}, in: make([]int32, 1)}
	for line := 1; in.Scan(); line++ {
		gram, number, ok := strings.Cut(in.Text(), "\t")
		if line == 1 {
			number, f.split, ok = strings.Cut(number, "\t")
			ok = ok && gram == header && slices.Contains(tokenizers(), f.split)
		}
		n, err := strconv.Atoi(number)
		switch {
		case line == 1:
			if f.documents = n; !ok || err != nil || n < 1 {
				return nil, fmt.Errorf("line 1 is not %q, a number of segments and a tokenizer, between tabs: cider-d:save=FILE writes such files", header)
			}
			continue
		case !ok || err != nil || n < 1 || n > f.documents:
			return nil, fmt.Errorf("line %d: want an n-gram, a tab and a number of segments from 1 to %d", line, f.documents)
		}
		words := strings.Split(gram, " ")
		at := uint32(0)
		for _, w := range words {
			at = f.gram(at, f.word([]byte(w)))
		}
		if len(words) > longest || slices.Contains(words, "") || f.in[at] != 0 {
			return nil, fmt.Errorf("line %d: want an n-gram that is on no other line, with 1 to %d words separated by single spaces", line, longest)
		}
		f.in[at] = int32(n)
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	if f.documents == 0 {
		return nil, errors.New("the file is empty")
	}
	f.name = short(h)
	return f, nil
}

func readFile(path string) (*frequencies, error) {
	file, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	f, err := readFrequencies(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// saveFile writes a new file. A file with the same content may exist.
func saveFile(path string, f *frequencies) error {
	content := f.file()
	switch before, err := os.ReadFile(path); {
	case err == nil && bytes.Equal(before, content):
		return nil
	case err == nil:
		return fmt.Errorf("%s exists, with other content: remove it, or save under another name", path)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	out, err := files.Create(path)
	if err != nil {
		return err
	}
	defer out.Abort()
	if _, err := out.Write(content); err != nil {
		return err
	}
	return out.Commit()
}

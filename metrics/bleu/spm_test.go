package bleu

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"
)

// spec describes a model made by a test.
type spec struct {
	bpe, byteFallback, suffix         bool
	noPrefix, keepSpaces, plainSpaces bool
	pieces                            []piece
	charsMap                          []byte
}

func number(b []byte, field protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), n)
}

func message(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}

func (s spec) file() []byte {
	var out []byte
	for _, p := range append([]piece{{"<unk>", 0, unknown}}, s.pieces...) {
		b := message(nil, 1, []byte(p.text))
		b = protowire.AppendFixed32(protowire.AppendTag(b, 2, protowire.Fixed32Type), math.Float32bits(p.score))
		out = message(out, 1, number(b, 3, uint64(p.kind)))
	}
	of := func(b bool) uint64 { return protowire.EncodeBool(b) }
	algorithm := uint64(byUnigram)
	if s.bpe {
		algorithm = byBPE
	}
	out = message(out, 2, number(number(number(nil, 3, algorithm), 24, of(s.suffix)), 35, of(s.byteFallback)))
	n := number(number(number(nil, 3, of(!s.noPrefix)), 4, of(!s.keepSpaces)), 5, of(!s.plainSpaces))
	return message(out, 3, message(n, 2, s.charsMap))
}

func (s spec) encoder(t rapid.TB) *spEncoder {
	m, err := parseModel(s.file())
	require.NoError(t, err)
	return m.newEncoder()
}

// charsMap is a double array with keys of one byte each.
func charsMap(rules map[byte]string) []byte {
	units := make([]uint32, 768)
	units[0] = 256 << 10 // its children are in the second block, their values in the third
	var texts []byte
	for c := range 256 {
		to, ok := rules[byte(c)]
		if !ok {
			continue
		}
		at, value := 256^uint32(c), 512+uint32(c)
		units[at] = uint32(c) | 1<<8 | (at^value)<<10
		units[value] = 1<<31 | uint32(len(texts))
		texts = append(append(texts, to...), 0)
	}
	out := binary.LittleEndian.AppendUint32(nil, uint32(4*len(units)))
	for _, u := range units {
		out = binary.LittleEndian.AppendUint32(out, u)
	}
	return append(out, texts...)
}

func normals(scores ...any) (ps []piece) {
	for i := 0; i < len(scores); i += 2 {
		ps = append(ps, piece{scores[i].(string), float32(scores[i+1].(float64)), normal})
	}
	return ps
}

func TestPieceEncoding(t *testing.T) {
	words := normals("▁", -4.0, "a", -3.0, "b", -3.0, "ab", -4.0, "▁ab", -5.0, "bc", -1.0, "c", -6.0)
	merges := normals("▁", -9.0, "a", -8.0, "b", -7.0, "c", -6.0, "ab", -1.0, "bc", -2.0, "▁ab", -3.0)
	with := func(ps []piece, more ...piece) []piece { return append(slices.Clone(ps), more...) }
	bytes := make([]piece, 256)
	for i := range bytes {
		bytes[i] = piece{string([]byte{'<', '0', 'x', "0123456789ABCDEF"[i>>4], "0123456789ABCDEF"[i&15], '>'}), 0, single}
	}
	rules := charsMap(map[byte]string{'A': "a", '\t': " ", '!': "", '2': "ab"})
	for name, c := range map[string]struct {
		spec
		in, want string
	}{
		"the best sum wins":             {spec{pieces: words}, "abc", "▁ a bc"},
		"a piece with its space":        {spec{pieces: words}, "ab", "▁ab"},
		"the best merge goes first":     {spec{bpe: true, pieces: merges}, "abc", "▁ab c"},
		"then the next":                 {spec{bpe: true, pieces: merges}, "cbc", "▁ c bc"},
		"unknown ones in a row":         {spec{pieces: words}, "aßéb", "▁ a ßé b"},
		"the same by merges":            {spec{bpe: true, pieces: merges}, "aßéb", "▁ a ßé b"},
		"bytes of unknown ones":         {spec{byteFallback: true, pieces: with(words, bytes...)}, "aß", "▁ a <0xC3> <0x9F>"},
		"spaces":                        {spec{pieces: words}, "  ab   ab ", "▁ab ▁ab"},
		"spaces that are kept":          {spec{keepSpaces: true, pieces: words}, " ab  ", "▁ ▁ab ▁ ▁"},
		"spaces as they are":            {spec{plainSpaces: true, noPrefix: true, pieces: words}, "a b", "a   b"},
		"no prefix":                     {spec{noPrefix: true, pieces: words}, "ab", "ab"},
		"a suffix":                      {spec{suffix: true, pieces: words}, "ab", "ab ▁"},
		"only white space":              {spec{pieces: words}, "   ", ""},
		"nothing":                       {spec{bpe: true, pieces: merges}, "", ""},
		"no UTF-8":                      {spec{pieces: words}, "a\xff\xc3b", "▁ a \ufffd\ufffd b"},
		"rules":                         {spec{pieces: words, charsMap: rules}, "\tA!B\tAb2!", "▁ a B ▁ab ab"},
		"unused ones are left out":      {spec{pieces: with(words, piece{"abc", 9, unused})}, "abc", "▁ a bc"},
		"unused ones are split":         {spec{bpe: true, pieces: with(merges, piece{"▁abc", -4, unused})}, "abc", "▁ab c"},
		"a user's piece":                {spec{pieces: with(words, piece{"bA", 0, user}), charsMap: rules}, "abA", "▁ a bA"},
		"a user's piece never merges":   {spec{bpe: true, pieces: with(merges, piece{"bA", 0, user}), charsMap: rules}, "abAc", "▁ a bA c"},
		"a piece that ends in no place": {spec{pieces: with(words, piece{"\xc3", 5, normal})}, "aß", "▁ a ß"},
	} {
		e := c.encoder(t)
		for range 2 { // the second time with used memory
			assert.Equal(t, c.want, strings.Join(encoded(e, c.in), " "), "%s: %q is split into", name, c.in)
		}
	}
}

func TestParseErrors(t *testing.T) {
	letter := normals("a", -1.0)
	some := charsMap(map[byte]string{'a': "b"})
	damaged := func(change func(b []byte) []byte) spec {
		return spec{pieces: letter, charsMap: change(slices.Clone(some))}
	}
	for name, file := range map[string][]byte{
		"empty":             nil,
		"text":              []byte("This is no model.\n"),
		"cut":               spec{pieces: letter}.file()[:20],
		"without pieces":    spec{}.file(),
		"no unknown":        message(nil, 1, message(nil, 1, []byte("a"))),
		"two unknown":       spec{pieces: []piece{{"a", 0, unknown}}}.file(),
		"twice":             spec{pieces: append(letter, letter...)}.file(),
		"empty piece":       spec{pieces: normals("", 1.0)}.file(),
		"score":             spec{pieces: normals("a", math.NaN())}.file(),
		"type":              spec{pieces: []piece{{"a", 0, 9}}}.file(),
		"algorithm":         message(spec{pieces: letter}.file(), 2, number(nil, 3, 3)),
		"large":             make([]byte, mostModel+1),
		"rules: short":      spec{pieces: letter, charsMap: []byte("abc")}.file(),
		"rules: size":       damaged(func(b []byte) []byte { b[2]++; return b }).file(),
		"rules: no text":    damaged(func(b []byte) []byte { return b[:4+768*4] }).file(),
		"rules: no end":     damaged(func(b []byte) []byte { return b[:len(b)-1] }).file(),
		"rules: a value":    damaged(func(b []byte) []byte { b[7] |= 0x80; return b }).file(),
		"rules: way out":    damaged(func(b []byte) []byte { b[4+4*(256^'a')+2] = 0xff; return b }).file(),
		"rules: beyond end": damaged(func(b []byte) []byte { b[4+4*(512+'a')] = 3; return b }).file(),
	} {
		_, err := parseModel(file)
		assert.ErrorContains(t, err, "SentencePiece model", name)
	}
}

// drawSpec draws a model over few letters, and a text for it.
func drawSpec(t *rapid.T, bpe bool) (spec, string) {
	texts := rapid.SliceOfNDistinct(rapid.StringMatching("[abß▁]{1,3}"), 1, 12, rapid.ID[string]).Draw(t, "pieces")
	s := spec{bpe: bpe}
	for i, p := range texts {
		score := float32(-i - 1)
		if !bpe {
			score = float32(-rapid.IntRange(1, 64).Draw(t, "score")) / 4 // sums are exact
		}
		s.pieces = append(s.pieces, piece{p, score, normal})
	}
	return s, rapid.StringMatching("[abß ]{0,9}").Draw(t, "text")
}

// The best path is compared with all ways to split a text.
func TestBestPath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, text := drawSpec(t, false)
		e := s.encoder(t)
		scores := map[string]float64{}
		for _, p := range s.pieces {
			scores[p.text] = float64(p.score)
		}
		var best func(rest string) float64
		best = func(rest string) float64 {
			if rest == "" {
				return 0
			}
			_, char := utf8.DecodeRuneInString(rest)
			most := math.Inf(-1)
			if _, known := scores[rest[:char]]; !known {
				most = float64(e.unknownScore) + best(rest[char:])
			}
			for n := range len(rest) {
				if score, ok := scores[rest[:n+1]]; ok {
					most = max(most, score+best(rest[n+1:]))
				}
			}
			return most
		}
		pieces, sum := encoded(e, text), 0.0
		for _, p := range pieces {
			if score, ok := scores[p]; ok {
				sum += score
			} else {
				sum += float64(e.unknownScore) * float64(utf8.RuneCountInString(p))
			}
		}
		if whole := string(e.norm.normalize(nil, text)); strings.Join(pieces, "") != whole || sum != best(whole) {
			t.Fatalf("%q was split into %q, of %v; the best has %v", whole, pieces, sum, best(whole))
		}
	})
}

// The merges are compared with merging the best of all pairs again and again.
func TestMergePairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, text := drawSpec(t, true)
		e := s.encoder(t)
		rank := map[string]int{}
		for i, p := range s.pieces {
			rank[p.text] = i
		}
		parts := strings.Split(string(e.norm.normalize(nil, text)), "")
		for {
			at, best := -1, len(s.pieces)
			for i := 1; i < len(parts); i++ {
				if r, ok := rank[parts[i-1]+parts[i]]; ok && r < best {
					at, best = i, r
				}
			}
			if at < 0 {
				break
			}
			parts[at-1] += parts[at]
			parts = slices.Delete(parts, at, at+1)
		}
		var want []string
		open := false // whether the last one is unknown
		for _, p := range parts {
			_, known := rank[p]
			if !known && open {
				want[len(want)-1] += p
			} else {
				want = append(want, p)
			}
			open = !known
		}
		got := encoded(e, text)
		require.True(t, slices.Equal(got, want), "%q was split into %q, want %q", text, got, want)
	})
}

// A file is rejected, or its pieces of any text add up to the normalized text.
func FuzzModel(f *testing.F) {
	words := normals("▁", -4.0, "a", -3.0, "ab", -4.0, "bc", -1.0)
	rules := charsMap(map[byte]string{'A': "a", '\t': " ", '!': ""})
	more := []piece{{"<s>", 0, control}, {"B", 0, user}, {"ac", 0, unused}, {"<0x41>", 0, single}}
	for _, s := range []spec{{pieces: words}, {bpe: true, pieces: words, charsMap: rules}, {suffix: true, pieces: append(words, more...), charsMap: rules}} {
		f.Add(s.file(), "\tAbc! aBc ")
	}
	f.Fuzz(func(t *testing.T, file []byte, text string) {
		m, err := parseModel(file)
		if err != nil {
			return
		}
		e := m.newEncoder()
		pieces := encoded(e, text)
		if whole := string(m.norm.normalize(nil, text)); !m.byteFallback && strings.Join(pieces, "") != whole || slices.Contains(pieces, "") {
			t.Fatalf("%q was split into %q", whole, pieces)
		}
	})
}

package bleu

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Texts are split into the pieces of a SentencePiece model (Kudo and Richardson, 2018) as
// release 0.2.1 of SentencePiece does it: unigram and BPE models, with their normalization,
// user-defined pieces and byte fallback.

// mostModel is the size of the largest model that parseModel reads, in bytes. Models with
// 256,000 pieces have about five million.
const mostModel = 32 << 20

// spModel is a parsed model file. It is safe for concurrent use.
type spModel struct {
	pieces       []piece
	ids          map[string]int32 // of the pieces; in a unigram model also of their beginnings, with the value prefix
	unknown      int32
	bpe          bool
	byteFallback bool
	unknownScore float32
	highest      float32 // score of a normal piece
	norm         normalizer
}

// prefix stands for the number of a text that is only the beginning of pieces.
const prefix = -1

// piece is an entry of the vocabulary.
type piece struct {
	text  string
	score float32
	kind  kind
}

// kind is what a piece stands for.
type kind uint8

// The kinds, by their numbers in a file.
const (
	normal  kind = 1
	unknown kind = 2
	control kind = 3
	user    kind = 4 // always kept whole
	unused  kind = 5 // split up again
	single  kind = 6 // a byte of an unknown character
)

func (k kind) inTexts() bool { return k == normal || k == user || k == unused }

// The algorithms, by their numbers in a file.
const (
	byUnigram = 1
	byBPE     = 2
)

// The protocol buffer tags of the fields we read: the number of the field and the type of
// its value.
const (
	bytesField  = uint64(protowire.BytesType)
	numberField = uint64(protowire.VarintType)
	floatField  = uint64(protowire.Fixed32Type)

	modelPiece      = 1<<3 | bytesField
	modelTrainer    = 2<<3 | bytesField
	modelNormalizer = 3<<3 | bytesField

	pieceText  = 1<<3 | bytesField
	pieceScore = 2<<3 | floatField
	pieceKind  = 3<<3 | numberField

	trainerAlgorithm    = 3<<3 | numberField
	trainerSuffix       = 24<<3 | numberField
	trainerByteFallback = 35<<3 | numberField

	normalizerCharsMap    = 2<<3 | bytesField
	normalizerDummyPrefix = 3<<3 | numberField
	normalizerRemoveExtra = 4<<3 | numberField
	normalizerEscape      = 5<<3 | numberField
)

// fields calls each with every field of a message: with its bytes, or its number.
func fields(b []byte, each func(tag uint64, v []byte, n uint64) error) error {
	for len(b) > 0 {
		number, typ, size := protowire.ConsumeTag(b)
		if size < 0 {
			return protowire.ParseError(size)
		}
		b = b[size:]
		var v []byte
		var n uint64
		switch typ {
		case protowire.BytesType:
			v, size = protowire.ConsumeBytes(b)
		case protowire.VarintType:
			n, size = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var f uint32
			f, size = protowire.ConsumeFixed32(b)
			n = uint64(f)
		default:
			size = protowire.ConsumeFieldValue(number, typ, b)
		}
		if size < 0 {
			return protowire.ParseError(size)
		}
		b = b[size:]
		if err := each(protowire.EncodeTag(number, typ), v, n); err != nil {
			return err
		}
	}
	return nil
}

// parseModel reads a .model file. The error says what is wrong with it.
func parseModel(file []byte) (*spModel, error) {
	if len(file) > mostModel {
		return nil, fmt.Errorf("the SentencePiece model has %d bytes; at most %d can be read", len(file), mostModel)
	}
	m := &spModel{unknown: -1, ids: map[string]int32{}}
	m.norm.dummyPrefix, m.norm.removeExtra, m.norm.escape = true, true, true
	err := fields(file, func(tag uint64, v []byte, _ uint64) error {
		switch tag {
		case modelPiece:
			return m.addPiece(v)
		case modelTrainer:
			return m.readTrainer(v)
		case modelNormalizer:
			return m.norm.read(v)
		}
		return nil
	})
	if err == nil {
		err = m.finish()
	}
	if err != nil {
		return nil, fmt.Errorf("not a SentencePiece model: %w", err)
	}
	return m, nil
}

func (m *spModel) addPiece(b []byte) error {
	p := piece{kind: normal}
	err := fields(b, func(tag uint64, v []byte, n uint64) error {
		switch tag {
		case pieceText:
			p.text = string(v)
		case pieceScore:
			p.score = math.Float32frombits(uint32(n))
		case pieceKind:
			if n < uint64(normal) || n > uint64(single) {
				return fmt.Errorf("a piece has the unknown type %d", n)
			}
			p.kind = kind(n)
		}
		return nil
	})
	id := int32(len(m.pieces))
	_, twice := m.ids[p.text]
	switch f := float64(p.score); {
	case err != nil:
		return err
	case p.text == "":
		return errors.New("a piece is empty")
	case math.IsNaN(f) || math.IsInf(f, 0):
		return fmt.Errorf("the score of piece %q is %v", p.text, f)
	case p.kind == unknown && m.unknown >= 0:
		return errors.New("two pieces are marked unknown; want one")
	case p.kind.inTexts() && twice:
		return fmt.Errorf("piece %q occurs twice", p.text)
	case p.kind == unknown:
		m.unknown = id
	case p.kind.inTexts():
		m.ids[p.text] = id
	}
	m.pieces = append(m.pieces, p)
	return nil
}

func (m *spModel) readTrainer(b []byte) error {
	return fields(b, func(tag uint64, _ []byte, n uint64) error {
		switch tag {
		case trainerAlgorithm:
			if n != byUnigram && n != byBPE {
				return fmt.Errorf("its algorithm is number %d; only unigram (%d) and BPE (%d) are supported", n, byUnigram, byBPE)
			}
			m.bpe = n == byBPE
		case trainerSuffix:
			m.norm.suffix = n != 0
		case trainerByteFallback:
			m.byteFallback = n != 0
		}
		return nil
	})
}

// finish checks the model as a whole and prepares encoding.
func (m *spModel) finish() error {
	if m.unknown < 0 {
		return errors.New("no piece is marked unknown; want one")
	}
	if len(m.ids) == 0 {
		return errors.New("no piece matches any text")
	}
	lowest := float32(math.MaxFloat32)
	m.highest = 0x1p-126 // the smallest normal float32, as in the original
	for id, p := range m.pieces {
		if p.kind == normal {
			lowest, m.highest = min(lowest, p.score), max(m.highest, p.score)
		}
		if p.kind == user {
			m.norm.users = append(m.norm.users, p.text)
		}
		if m.bpe || !p.kind.inTexts() {
			continue
		}
		for n := range len(p.text) {
			if _, ok := m.ids[p.text[:n]]; !ok {
				m.ids[p.text[:n]] = prefix
			}
		}
		m.ids[p.text] = int32(id)
	}
	slices.SortFunc(m.norm.users, func(a, b string) int { return len(b) - len(a) })
	m.unknownScore = lowest - 10
	return nil
}

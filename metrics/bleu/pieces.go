package bleu

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics/internal/token"
)

// released lists where sacreBLEU downloads its SentencePiece models. None has a published
// checksum.
var released = []struct{ tokenizer, url string }{
	{"flores101", "https://dl.fbaipublicfiles.com/fairseq/models/flores/sacrebleu_tokenizer_spm.model"},
	{"flores200", "https://tinyurl.com/flores200sacrebleuspm"},
	{"spBLEU-1K", "https://www.dlnlp.ai/spBLEU-1K/spbleu-1k_tokenizer_spm.model"},
}

// ownModel is the tokenizer that uses the user's model.
const ownModel = "spm"

// byMeCab are sacreBLEU's tokenizers that need MeCab.
var byMeCab = []string{"ja-mecab", "ko-mecab"}

// byPiecesNames lists the tokenizers that use a SentencePiece model.
func byPiecesNames() (names []string) {
	for _, r := range released {
		names = append(names, r.tokenizer)
	}
	return append(names, ownModel)
}

func byPieces(tokenizer string) bool { return slices.Contains(byPiecesNames(), tokenizer) }

func (m *Metric) splitter() token.Splitter {
	if m.pieces != nil {
		return &pieceSplitter{encoder: m.pieces.newEncoder(), lower: m.opt.Lowercase}
	}
	return token.New(m.opt.Tokenize, m.opt.Lowercase)
}

// pieceSplitter splits by a model. sacreBLEU joins the pieces by spaces and splits at white
// space, which an unknown piece may contain.
type pieceSplitter struct {
	encoder *spEncoder
	lower   bool
	joined  []byte
}

func (p *pieceSplitter) Split(s string, yield func(token []byte)) {
	if p.lower {
		s = text.Lower(s)
	}
	p.joined = p.joined[:0]
	p.encoder.encode(strings.TrimRightFunc(s, text.IsSpace), func(piece []byte) { p.joined = append(append(p.joined, piece...), ' ') })
	token.Fields(p.joined, yield)
}

// readModel reads the model of a tokenizer.
func (m *Metric) readModel(o Options) error {
	file, url, err := o.ModelFile, "", error(nil)
	if file == "" {
		if file, url, err = keptModel(o.Tokenize); err != nil {
			return err
		}
	}
	f, err := os.Open(file)
	if url != "" && errors.Is(err, fs.ErrNotExist) {
		return &missingModel{file, url, err}
	}
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostModel+1))
	if err != nil {
		return err
	}
	if m.pieces, err = parseModel(data); err != nil {
		return &fs.PathError{Op: "parse", Path: file, Err: err}
	}
	sum := sha256.Sum256(data)
	m.model = hex.EncodeToString(sum[:])[:12]
	return nil
}

// missingModel says that a model is not where sacreBLEU keeps it. The cause names the file;
// it is separate so that callers can hide paths.
type missingModel struct {
	file, url string
	err       error
}

func (m *missingModel) Error() string {
	return fmt.Sprintf("its model is not at %s, where sacreBLEU keeps it: get it by 'curl --create-dirs -Lo %[1]s %s', or name the file with sp-model=FILE", m.file, m.url)
}

func (m *missingModel) Unwrap() error { return m.err }

// keptModel returns where sacreBLEU stores the model of one of its tokenizers, and where it
// downloads it.
func keptModel(tokenizer string) (file, url string, err error) {
	for _, r := range released {
		if r.tokenizer == tokenizer {
			url = r.url
		}
	}
	if url == "" {
		return "", "", errors.New("name the file of the model with sp-model=FILE (what sacreBLEU calls spm is flores101)")
	}
	folder := os.Getenv("SACREBLEU")
	if folder == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", "", fmt.Errorf("%w; name the file of the model with sp-model=FILE", err)
		}
		folder = filepath.Join(home, ".sacrebleu")
	}
	return filepath.Join(folder, "models", path.Base(url)), url, nil
}

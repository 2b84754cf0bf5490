package dataset

import (
	"bytes"
	"context"
	"io"
	"os"
	"strconv"
	"unicode/utf8"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
)

// A score file has a line "SYSTEM<tab>SCORE" per system and item, where all
// lines of a system follow each other, in the order of the items. SCORE is a
// decimal number, or None where there is no score.

// scoreFile is a checked score file with the place of each system's block.
type scoreFile struct {
	path   string
	name   string
	blocks []scoreBlock // in the order of the systems, not of the file
}

type scoreBlock struct {
	system string
	start  int64 // offset of its first line
	end    int64 // offset after its last line
	line   int   // number of its first line
	lines  int
}

// openScoreFile checks a whole file, of which each system must have the
// given number of items. The scores are read again when they are needed, so
// that memory does not grow with the items.
func openScoreFile(path, name string, systems []string, items int, warn func(Warning)) (*scoreFile, error) {
	in, err := newRegular(path)
	if err != nil {
		return nil, err
	}
	l, err := in.lines(context.Background(), warn)
	if err != nil {
		return nil, err
	}
	defer l.close()
	blocks, err := scanScores(l, systems, items, nil)
	if err != nil {
		return nil, err
	}
	f := &scoreFile{path: path, name: name}
	for _, s := range systems {
		if b, ok := blocks[s]; ok {
			f.blocks = append(f.blocks, *b)
		}
	}
	return f, nil
}

// scanScores reads and checks all lines. It calls visit for each, unless
// visit is nil.
func scanScores(l *lineReader, systems []string, items int, visit func(system string, score float64, valid bool)) (map[string]*scoreBlock, error) {
	known := make(map[string]string, len(systems))
	for _, s := range systems {
		known[s] = s
	}
	blocks := make(map[string]*scoreBlock, len(systems))
	var b *scoreBlock
	for {
		before := l.offset
		line, err := l.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		name, field, ok := splitScore(line)
		if !ok {
			return nil, failAt(l.pos(), 0, "want a system, a tab and a score, not %s", text.Quote(string(line)))
		}
		if b == nil || string(name) != b.system {
			system, ok := known[string(name)]
			if !ok {
				return nil, failAt(l.pos(), 0, "unknown system %s%s: the test set has no outputs of it",
					text.Quote(string(name)), didYouMean(string(name), systems))
			}
			if err := b.check(l.file, items); err != nil {
				return nil, err
			}
			if old := blocks[system]; old != nil {
				return nil, failAt(l.pos(), 0, "system %s has scores from line %d already; the scores of a system must follow each other",
					text.Quote(system), old.line)
			}
			b = &scoreBlock{system: system, start: before, line: l.line}
			blocks[system] = b
		}
		score, valid, ok := parseScore(field)
		if !ok {
			return nil, badScore(l.pos(), b.system, field)
		}
		b.lines++
		b.end = l.offset
		if visit != nil {
			visit(b.system, score, valid)
		}
	}
	if b == nil {
		return nil, failFile(l.file, "has no scores")
	}
	if err := b.check(l.file, items); err != nil {
		return nil, err
	}
	return blocks, nil
}

func badScore(pos refract.Position, system string, field []byte) error {
	return failAt(pos, 0, "the score of system %s is no number: %s; write None where there is no score",
		text.Quote(system), text.Quote(string(field)))
}

// check compares the size of a complete block.
func (b *scoreBlock) check(file string, items int) error {
	if b == nil || b.lines == items {
		return nil
	}
	return failAt(refract.Position{File: file, Line: b.line}, 0, "system %s has %s of scores, but there should be %d",
		text.Quote(b.system), english.Count(b.lines, "line"), items)
}

// splitScore splits a line at its last tab, or at its last white space where
// it has no tab, as a system's name may have some too. There is no third
// column at the levels that are read.
func splitScore(line []byte) (system, score []byte, ok bool) {
	line = text.Trim(line)
	i := bytes.LastIndexByte(line, '\t')
	if i >= 0 {
		return text.Trim(line[:i]), text.Trim(line[i+1:]), true
	}
	if i = bytes.LastIndexFunc(line, text.IsSpace); i < 0 {
		return nil, nil, false
	}
	_, size := utf8.DecodeRune(line[i:])
	return text.Trim(line[:i]), line[i+size:], true
}

// parseScore reads a decimal number, or None as a score that is not valid.
// Infinities, NaN and hexadecimal numbers are refused.
func parseScore(field []byte) (score float64, valid, ok bool) {
	if string(field) == "None" {
		return 0, false, true
	}
	for _, c := range field {
		switch {
		case '0' <= c && c <= '9', c == '+', c == '-', c == '.', c == 'e', c == 'E':
		default:
			return 0, false, false
		}
	}
	score, err := strconv.ParseFloat(string(field), 64)
	if err != nil {
		return 0, false, false
	}
	return score, true, true
}

// scorePass reads the blocks of a score file side by side.
type scorePass struct {
	f      *scoreFile
	file   *os.File
	blocks []*lineReader
}

func (f *scoreFile) newPass(warn func(Warning)) (*scorePass, error) {
	file, err := os.Open(f.path)
	if err != nil {
		return nil, fileError(f.path, err)
	}
	p := &scorePass{f: f, file: file}
	for _, b := range f.blocks {
		l := newLineReader(f.path, io.NewSectionReader(file, b.start, b.end-b.start), warn)
		l.offset = b.start
		l.line = b.line - 1
		p.blocks = append(p.blocks, l)
	}
	return p, nil
}

func (p *scorePass) close() { p.file.Close() }

// judge appends the next score of each system.
func (p *scorePass) judge(dst []refract.Judgement) ([]refract.Judgement, error) {
	for i, l := range p.blocks {
		line, err := l.next()
		if err == io.EOF {
			return dst, failFile(l.file, "has changed while it was read")
		}
		if err != nil {
			return dst, err
		}
		system := p.f.blocks[i].system
		name, field, _ := splitScore(line)
		score, valid, ok := parseScore(field)
		if !ok || string(name) != system {
			return dst, failAt(l.pos(), 0, "has changed while it was read")
		}
		dst = append(dst, refract.Judgement{Name: p.f.name, System: system, Score: score, Valid: valid})
	}
	return dst, nil
}

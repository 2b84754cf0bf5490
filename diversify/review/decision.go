package review

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/files"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

// The decisions about an answer, as refract.Variant.Review states them.
const (
	Accept = refract.ReviewAccept
	Reject = refract.ReviewReject
	Edit   = refract.ReviewEdit
	Undo   = "undo" // takes the decision before back
)

var decisions = []string{Accept, Reject, Edit, Undo}

// Decision is what a person decided about one answer, a line of a file of
// decisions. Of several about an answer the last one counts.
type Decision struct {
	Answer  string `json:"answer"` // its Key
	Segment string `json:"segment"`
	Prompt  string `json:"prompt,omitempty"`
	Choice  string `json:"decision"`
	Text    string `json:"text,omitempty"` // the wording of an Edit
	// Drawn means that the answer was drawn at random from the accepted ones, so
	// that it counts for the estimate of precision.
	Drawn bool `json:"drawn,omitempty"`

	line int // of the file that it was read from
}

// Key identifies an answer by everything that a decision depends on: segment, reference,
// prompt, sample, model, and the words of reference and answer. So a decision never applies
// to an answer that has changed.
func Key(s *refract.Segment, v *refract.Variant) string {
	raw := v.Text
	if v.Origin != nil {
		raw = v.Origin.Raw
	}
	b, err := json.Marshal([]any{s.ID, v.Reference, referenceOf(s, v), v.Prompt, v.Sample, v.Model, raw})
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:12])
}

// referenceOf returns the reference of a variant, or a missing text if it names none.
func referenceOf(s *refract.Segment, v *refract.Variant) (t refract.Text) {
	if v.Reference >= 0 && v.Reference < len(s.References) {
		t = s.References[v.Reference]
	}
	return t
}

// Check reports what is wrong with a decision.
func (d *Decision) Check() error {
	switch {
	case d.Answer == "":
		return errors.New("the decision names no answer")
	case !slices.Contains(decisions, d.Choice):
		return english.Unknown("decision", d.Choice, decisions)
	case d.Choice == Edit && strings.TrimSpace(d.Text) == "":
		return errors.New("the decision is edit, and the text is empty")
	case d.Choice != Edit && d.Text != "":
		return fmt.Errorf("the decision is %s, and there is a text; only edit has one", d.Choice)
	case !utf8.ValidString(d.Text):
		return errors.New("the text is not valid UTF-8")
	}
	if i := strings.IndexFunc(d.Text, func(r rune) bool { return unicode.IsControl(r) && r != '\t' && !strings.ContainsRune(lineBreaks, r) }); i >= 0 {
		return fmt.Errorf("the text has the control character %+q: take it out", d.Text[i:i+1])
	}
	return nil
}

// lineBreaks end a line for people or for programs that read lines.
const lineBreaks = "\n\r\v\f\u0085\u2028\u2029"

// checkAnswer reports why a decision does not fit an answer: it is about another one, or its text
// cannot be a reference.
func (d *Decision) checkAnswer(s *refract.Segment, v *refract.Variant) error {
	if d.Segment != "" && d.Segment != s.ID || d.Prompt != "" && d.Prompt != v.Prompt {
		return fmt.Errorf("the decision names an answer of segment %s, prompt %s; its line was changed: review the answer again",
			text.Quote(d.Segment), text.Quote(d.Prompt))
	}
	return d.OneLine(referenceOf(s, v).Value)
}

// OneLine refuses a wording of several lines for a reference of one line.
func (d *Decision) OneLine(reference string) error {
	if strings.ContainsAny(d.Text, lineBreaks) && !strings.ContainsAny(reference, lineBreaks) {
		return errors.New("the text has a line break, and its reference is one line: write it on one line")
	}
	return nil
}

// Decisions are the decisions of a file by the Key of their answers.
type Decisions struct {
	Path    string
	by      map[string]Decision
	repeats map[string]bool // answers that Apply kept rejected
}

// Read reads a file of decisions. A file that does not exist is an error that
// satisfies fs.ErrNotExist.
func Read(path string) (*Decisions, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	d, err := read(path, f)
	return d, errors.Join(err, f.Close())
}

// mostLine bounds a line in bytes: a decision holds at most the text of a segment.
const mostLine = 4 * refract.DefaultMaxText

func read(path string, in io.Reader) (*Decisions, error) {
	d := &Decisions{Path: path, by: map[string]Decision{}, repeats: map[string]bool{}}
	for l, err := range jsonline.Lines(in, mostLine) {
		var one Decision
		if err == nil {
			one, err = Parse(l.Text)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", refract.Position{File: path, Line: l.Number}, err)
		}
		one.line = l.Number
		d.add(one)
	}
	return d, nil
}

// Count returns how many answers have the decision, such as Accept.
func (d *Decisions) Count(choice string) int {
	n := 0
	for _, one := range d.by {
		if one.Choice == choice {
			n++
		}
	}
	return n
}

// Repeats returns how many accepted or edited answers Apply kept rejected, because their
// segment already has the same text. It counts the segments read so far.
func (d *Decisions) Repeats() int { return len(d.repeats) }

func (d *Decisions) add(one Decision) {
	if one.Choice == Undo {
		delete(d.by, one.Answer)
		return
	}
	d.by[one.Answer] = one
}

// Parse reads and checks a line of a file of decisions.
func Parse(line []byte) (d Decision, err error) {
	if err = jsonline.Unmarshal(line, &d, "a decision"); err == nil {
		err = d.Check()
	}
	return d, err
}

// Open opens a file of decisions for appending, and reads the decisions in it. An
// unfinished last line is a decision that was never confirmed: Open removes it, and torn
// reports that.
func Open(path string) (file *os.File, decided *Decisions, torn bool, err error) {
	if name := files.Unpacked(path); name != path {
		return nil, nil, false, fmt.Errorf("%s: decisions are added to the file one by one, and none can be added to a packed one: name it %s", path, name)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, nil, false, fmt.Errorf("%s: is not a regular file, to which decisions could be added", path)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, false, err
	}
	if file, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o666); err != nil {
		return nil, nil, false, files.CannotCreate(path, path, err)
	}
	content, err := io.ReadAll(file)
	whole := bytes.LastIndexByte(content, '\n') + 1
	if err == nil {
		decided, err = read(path, bytes.NewReader(content[:whole]))
	}
	if torn = whole < len(content); err == nil && torn {
		err = file.Truncate(int64(whole))
	}
	if err != nil {
		file.Close() // of an error that is returned
		return nil, nil, false, err
	}
	return file, decided, torn, nil
}

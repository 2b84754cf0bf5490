package refract

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/refract-eval/refract/internal/text"
)

// Text is a text that may be missing. The zero Text is missing. A Text with the Value
// "" and Valid set is an empty text; an empty hypothesis is scored, a missing one is not.
//
// In JSON a missing Text is null.
type Text struct {
	Value string
	Valid bool
}

// NewText returns a Text that is present, even if s is empty.
func NewText(s string) Text { return Text{Value: s, Valid: true} }

// MarshalJSON writes the text as a string, or null if it is missing.
func (t Text) MarshalJSON() ([]byte, error) {
	if !t.Valid {
		return []byte("null"), nil
	}
	return json.Marshal(t.Value)
}

// UnmarshalJSON reads a string, or null as a missing text.
func (t *Text) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*t = Text{}
		return nil
	}
	err := json.Unmarshal(b, &t.Value)
	t.Valid = err == nil
	return err
}

// Position is where a segment was read, for error messages. Lines count
// from 1; a Position without a file is unknown.
type Position struct {
	File string
	Line int
	// After, if not nil, counts the lines before those that Line counts.
	After *Lines
}

// Lines is a number of lines that is counted when it is first asked for: a process that reads
// the end of a large file need not read all before it.
type Lines struct{ count func() int }

// NewLines returns Lines that count counts.
func NewLines(count func() int) *Lines { return &Lines{sync.OnceValue(count)} }

// InFile returns the number of the line in the whole file.
func (p Position) InFile() int {
	if p.After != nil {
		return p.After.count() + p.Line
	}
	return p.Line
}

// String returns "file:line", only the file if the line is unknown, or "" for an
// unknown position. A name with invisible characters is quoted.
func (p Position) String() string {
	switch {
	case p.File == "":
		return ""
	case p.Line == 0:
		return text.Path(p.File)
	default:
		return fmt.Sprintf("%s:%d", text.Path(p.File), p.InFile())
	}
}

// prefix returns String followed by a colon, for errors.
func (p Position) prefix() string {
	if p.File == "" {
		return ""
	}
	return p.String() + ": "
}

// Segment is one item of a test set, such as a sentence, a document to summarize or an
// image to caption, with everything that is known about it.
type Segment struct {
	ID         string
	Source     Text
	References []Text       // the originals, in order; their number may differ between segments
	Variants   []Variant    // expanded references, in order; they follow the originals
	Rejected   []Variant    // rejected answers, with their verdicts
	Hypotheses []Hypothesis // in the dataset's order, a system at most once
	Judgements []Judgement
	Document   string  // "" if none is stated
	Domain     string  // "" if none is stated
	Language   string  // of the references, such as "de"; "" if none is stated
	Judged     *Judged // nil if no judge saw its variants
	// Extra holds other columns of the segment's row, which are passed on: a JSON object on
	// one line; "" for none.
	Extra string
	Pos   Position
}

// Judged counts the verdicts of a judge of meaning on texts shown with their reference.
type Judged struct {
	Model string `json:"model"`
	// Asked counts the answers on which it gave a verdict, and Flagged those whose meaning
	// it found changed.
	Asked   int `json:"asked"`
	Flagged int `json:"flagged"`
	// Unjudged counts the texts of all kinds on which it gave no verdict.
	Unjudged int `json:"unjudged,omitempty"`
	// Planted lists accepted answers that rules changed, to measure the judge.
	Planted []Planted `json:"planted,omitempty"`
	// Human counts further human references that it was shown in the same way, and
	// HumanFlagged those whose meaning it found changed.
	Human        int `json:"human,omitempty"`
	HumanFlagged int `json:"human_flagged,omitempty"`
}

// Planted is a changed text shown to a judge, and whether the judge found the change.
type Planted struct {
	Kind   string `json:"kind"`
	Caught bool   `json:"caught"`
}

// Hypothesis is what one system produced for a segment.
type Hypothesis struct {
	System string
	Text   Text
	// Human marks a human reference that the test set also lists as a system.
	Human bool
}

// Judgement is one human score of one system's hypothesis. Higher is better.
// A judgement that is not Valid was stated as absent (null, None), which is not 0.
type Judgement struct {
	Name   string // the kind of judgement, such as "mqm"
	System string
	Score  float64
	Valid  bool
	// Ratings are the raters' own scores, of which Score is the mean, in the data's order; nil
	// unless several are known.
	Ratings []Rating
}

// Rating is what one rater says of an output.
type Rating struct {
	Rater string // a number from 1 where the data name none
	Score float64
}

// Accepted is the verdict on a variant that is used as a reference.
const Accepted = "accepted"

// AuditSampled is the Audit of a variant that was drawn at random, for people to decide on.
const AuditSampled = "sampled"

// Decisions of a person about a variant.
const (
	ReviewAccept = "accept" // use it as a reference
	ReviewReject = "reject" // do not use it
	ReviewEdit   = "edit"   // use it in another wording
)

// Variant is a model's rewriting of a reference.
type Variant struct {
	Reference int    // index into Segment.References of the rewritten text
	Prompt    string // name of the prompt, such as "order"
	Sample    int    // number of the sample for that prompt, from 0
	Model     string
	Text      Text
	Finish    string // finish reason of the server; "" if unknown
	// Verdict is Accepted, the name of the check that rejected the variant, such
	// as "duplicate", or "" if it has not been checked.
	Verdict string
	Detail  string // reason for the verdict, for people; may be ""
	// Alarms list possible changes to the meaning of the reference. Each is a kind with
	// the words that raised it, such as "negation: not".
	Alarms []string
	// Review is a person's decision: ReviewAccept, ReviewReject or ReviewEdit; "" if
	// nobody has reviewed the variant.
	Review string
	// Audit is AuditSampled for a variant that was drawn at random to measure how many
	// keep the meaning, and "" for the others; files of earlier versions have "kept",
	// "lost" or "unclear" too. It stays when the variant is later rejected or edited, so
	// that the sample remains random.
	Audit  string
	Origin *Origin // nil if nothing more is known
}

// Origin says how the text of a variant was generated.
type Origin struct {
	Revision    string // of the model's weights; "" if none was given
	ServedModel string // the model's name according to the server; "" if it gave none
	Sampling    string // the sampling parameters as sent, a JSON object; may be ""
	Form        string // the requested form of the answer, such as "json"; "" for plain text
	// Raw is the model's answer before cleaning. It is missing if the server withheld
	// it or it is unknown.
	Raw     Text
	Cleaned []string // names of the steps that changed Raw into the text, in order
	// Tokens as counted by the server; 0 if it gave no count.
	PromptTokens, CompletionTokens int
	Created                        time.Time // when the answer arrived, in UTC; the zero time if unknown
}

// AllReferences appends the originals and then the variants to dst. Score matrices have
// their columns in this order.
func (s *Segment) AllReferences(dst []Text) []Text {
	dst = append(dst, s.References...)
	for i := range s.Variants {
		dst = append(dst, s.Variants[i].Text)
	}
	return dst
}

// NumReferences returns the number of originals and variants, missing texts
// included.
func (s *Segment) NumReferences() int { return len(s.References) + len(s.Variants) }

// Dataset yields the segments of a test set in order. The sequence ends after the
// first error. A yielded segment belongs to the caller.
type Dataset interface {
	Segments(ctx context.Context) iter.Seq2[*Segment, error]
}

// InMemory is a dataset of segments in memory.
type InMemory []*Segment

// Segments implements [Dataset].
func (m InMemory) Segments(ctx context.Context) iter.Seq2[*Segment, error] {
	return func(yield func(*Segment, error) bool) {
		for _, s := range m {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(s, nil) {
				return
			}
		}
	}
}

// Texts are texts that are there. The zero Text is a missing one.
func Texts(of ...string) []Text {
	all := make([]Text, len(of))
	for i, s := range of {
		all[i] = NewText(s)
	}
	return all
}

// Outputs are the hypotheses of systems by their names, in the order of the names.
func Outputs(of map[string]string) []Hypothesis {
	var all []Hypothesis
	for _, system := range slices.Sorted(maps.Keys(of)) {
		all = append(all, Hypothesis{System: system, Text: NewText(of[system])})
	}
	return all
}

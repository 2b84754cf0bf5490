package refract

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/refract-eval/refract/internal/text"
)

// Text is a text that may be missing. The zero Text is missing; a Text whose
// Value is "" and whose Valid is true is an empty text, which is something
// else: an empty hypothesis is scored, a missing one is not.
//
// In JSON a missing Text is null.
type Text struct {
	Value string
	Valid bool
}

// NewText returns a Text that is present, be it empty or not.
func NewText(s string) Text { return Text{Value: s, Valid: true} }

// MarshalJSON writes the text as a string, or null when it is missing.
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

// Position says where a segment was read, for error messages. Line counts
// from 1; a Position without a file is unknown.
type Position struct {
	File string
	Line int
}

// String returns "file:line", the file alone when the line is unknown, or ""
// for an unknown position. A file whose name has characters that do not show is
// quoted.
func (p Position) String() string {
	switch {
	case p.File == "":
		return ""
	case p.Line == 0:
		return text.Path(p.File)
	default:
		return fmt.Sprintf("%s:%d", text.Path(p.File), p.Line)
	}
}

// prefix is String with a colon behind it, for errors.
func (p Position) prefix() string {
	if p.File == "" {
		return ""
	}
	return p.String() + ": "
}

// Segment is one item of a test set: a sentence, a document to summarize, an
// image to caption, with everything that is known of it.
type Segment struct {
	ID         string
	Source     Text
	References []Text       // the originals, in order; another number per segment is fine
	Variants   []Variant    // expanded references, in order; they follow the originals
	Rejected   []Variant    // answers that are no references, with their verdicts
	Hypotheses []Hypothesis // in the dataset's order, a system at most once
	Judgements []Judgement
	Document   string  // "" where none is stated
	Domain     string  // "" where none is stated
	Language   string  // of the references, such as "de"; "" where none is stated
	Judged     *Judged // nil where no judge looked at its variants
	Pos        Position
}

// Judged is what a judge of meaning said of texts that it was shown with their reference.
type Judged struct {
	Model string `json:"model"`
	// Asked are the answers on which it gave a verdict, and Flagged those whose meaning it
	// found changed.
	Asked   int `json:"asked"`
	Flagged int `json:"flagged"`
	// Unjudged are the texts of all kinds on which it gave none.
	Unjudged int `json:"unjudged,omitempty"`
	// Planted are changes that rules made of accepted answers, to measure the judge.
	Planted []Planted `json:"planted,omitempty"`
	// Human are other references by people that it was shown in the same way.
	Human        int `json:"human,omitempty"`
	HumanFlagged int `json:"human_flagged,omitempty"`
}

// Planted is a changed text that a judge was shown, and whether it found the change.
type Planted struct {
	Kind   string `json:"kind"`
	Caught bool   `json:"caught"`
}

// Hypothesis is what one system produced for a segment.
type Hypothesis struct {
	System string
	Text   Text
	// Human marks a reference that a test set also lists among its systems.
	Human bool
}

// Judgement is one human score of one system's hypothesis. Higher is better.
// A judgement that is not Valid is a stated absence (null, None), which is
// not 0.
type Judgement struct {
	Name   string // of the kind of judgement, such as "mqm"
	System string
	Score  float64
	Valid  bool
}

// Accepted is the verdict on a variant that serves as a reference.
const Accepted = "accepted"

// What became of a variant that was drawn at random.
const (
	AuditSampled = "sampled" // no model has an opinion that counts: it is left to people
	AuditKept    = "kept"    // a model says that it means what its reference does
	AuditLost    = "lost"    // a model says that it does not
	AuditUnclear = "unclear" // a model was asked, and said neither
)

// What a person decided about a variant.
const (
	ReviewAccept = "accept" // it serves as a reference
	ReviewReject = "reject" // it does not
	ReviewEdit   = "edit"   // it does in another wording
)

// Variant is a reference that a model made from another one.
type Variant struct {
	Reference int    // index into Segment.References of the text it came from
	Prompt    string // name of the prompt, such as "order"
	Sample    int    // sample index of that prompt, from 0
	Model     string
	Text      Text
	Finish    string // finish reason that the server gave; "" where unknown
	// Verdict is Accepted, the name of the check that rejected the variant, such
	// as "duplicate", or "" where nobody has judged it.
	Verdict string
	Detail  string // of the verdict, for people; may be ""
	// Alarms say what the text may have changed of the meaning of its reference, each a
	// kind and words, such as "negation: not".
	Alarms []string
	// Review is what a person decided: ReviewAccept, ReviewReject or ReviewEdit;
	// "" where nobody has looked.
	Review string
	// Audit is AuditSampled, AuditKept, AuditLost or AuditUnclear for a variant
	// that was drawn at random to measure how many keep the meaning; "" for the
	// others. It stays where the variant is rejected or edited later, so that
	// the sample stays one.
	Audit     string
	AuditedBy string  // the model that gave the opinion in Audit; "" where none did
	Origin    *Origin // nil where nothing more is known
}

// Origin says how the text of a variant came to be.
type Origin struct {
	Revision    string // of the model's weights; "" where none was named
	ServedModel string // the model as the server named it; "" where it did not
	Sampling    string // the sampling parameters as sent, a JSON object; may be ""
	Form        string // the form of the answer that was asked for, such as "json"; "" for plain text
	// Raw is the model's answer before it was cleaned. It is missing where the
	// server withheld it, and where it is not known.
	Raw     Text
	Cleaned []string // names of the steps that changed Raw into the text, in order
	// Tokens as the server counted them; 0 where it did not.
	PromptTokens, CompletionTokens int
	Created                        time.Time // when the answer arrived, in UTC; the zero time where unknown
}

// AllReferences appends to dst the originals and then the variants: the
// order of the columns of a score matrix.
func (s *Segment) AllReferences(dst []Text) []Text {
	dst = append(dst, s.References...)
	for i := range s.Variants {
		dst = append(dst, s.Variants[i].Text)
	}
	return dst
}

// NumReferences is the number of originals and variants, missing texts
// included.
func (s *Segment) NumReferences() int { return len(s.References) + len(s.Variants) }

// Dataset yields the segments of a test set in their order. The sequence
// ends after the first error. A segment belongs to the caller once yielded.
type Dataset interface {
	Segments(ctx context.Context) iter.Seq2[*Segment, error]
}

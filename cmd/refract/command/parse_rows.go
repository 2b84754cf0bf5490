package command

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"unicode/utf8"

	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge/guard"
)

// answerRow is a row of the input. Other members are not read.
type answerRow struct {
	Output     any               `json:"output"` // notThere if it is not
	Responses  []json.RawMessage `json:"responses"`
	Hypothesis *string           `json:"hypothesis"`
	Source     *string           `json:"source"`
	Input      *string           `json:"input"`
	Reference  *string           `json:"reference"`
	ID         json.RawMessage   `json:"id"`
	System     json.RawMessage   `json:"system"`
	Segment    json.RawMessage   `json:"segment"`
}

// notThere is the output of a row that has none, not even null.
type notThere struct{}

// reportRow is a row of the output.
type reportRow struct {
	Line    int             `json:"line"`
	ID      json.RawMessage `json:"id,omitempty"`
	System  json.RawMessage `json:"system,omitempty"`
	Segment json.RawMessage `json:"segment,omitempty"`
	analysis.Record
	// Substituted is the policy that the score is of; then the status has none.
	Substituted string `json:"substituted,omitempty"`
}

// answers is a file of answers.
type answers struct {
	name string
	in   io.Reader
	file io.Closer // nil for standard input
}

func openAnswers(e *env, file string) (*answers, error) {
	if file == "-" {
		return &answers{name: "<stdin>", in: e.stdin}, nil
	}
	f, err := os.Open(file)
	if err == nil {
		var st fs.FileInfo
		if st, err = f.Stat(); err == nil && st.IsDir() {
			err = errors.New("it is a folder")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", file, cause(err))
	}
	return &answers{name: file, in: f, file: f}, nil
}

func (a *answers) Close() error {
	if a.file == nil {
		return nil
	}
	return a.file.Close()
}

// reader decompresses what begins as gzip does.
func (a *answers) reader() (*bufio.Reader, error) {
	r := bufio.NewReaderSize(a.in, 1<<18)
	magic, err := r.Peek(2)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s cannot be read: %w", a.name, cause(err))
	}
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return r, nil
	}
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", a.name, cause(err))
	}
	return bufio.NewReaderSize(z, 1<<18), nil
}

// cause is what is wrong with a file, without its name.
func cause(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) {
		return fmt.Errorf("the gzip file is cut off or damaged (%w); copy it again", err)
	}
	return err
}

// at is an error of one line.
func (a *answers) at(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", a.name, line, fmt.Errorf(format, args...))
}

const (
	// parseBatch is how many bytes of lines are parsed together.
	parseBatch = 1 << 18
	// maxAnswerLine bounds a line, in bytes.
	maxAnswerLine = 1 << 26
)

// answerBatch is lines that are parsed together.
type answerBatch struct {
	first int // number of the first line
	lines [][]byte
	err   error // what ended the file behind the lines
	done  chan parsed
}

// parsed is what became of a batch, or of all.
type parsed struct {
	out         []byte
	trust       analysis.Trust
	rows        int
	withoutText int
	substituted int
	err         error // of the row behind those in out
}

// rows parses all lines and writes their rows in order.
func (p *parsing) rows(ctx context.Context, in *answers, out io.Writer) (*parsed, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	workers := runtime.GOMAXPROCS(0)
	order := make(chan *answerBatch, 2*workers) // batches in the order of the file
	work := make(chan *answerBatch)
	go func() {
		defer close(order)
		defer close(work)
		in.batches(ctx, func(b *answerBatch) bool {
			select {
			case order <- b:
			case <-ctx.Done():
				return false
			}
			select {
			case work <- b:
			case <-ctx.Done():
				return false
			}
			return true
		})
	}()
	for range workers {
		go func() {
			for b := range work {
				b.done <- p.batch(in, b)
			}
		}()
	}
	sum := &parsed{}
	for {
		var b *answerBatch
		var open bool
		select {
		case b, open = <-order:
		case <-ctx.Done(): // reading may block
			return nil, ctx.Err()
		}
		if !open {
			break
		}
		var part parsed
		select {
		case part = <-b.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if _, err := out.Write(part.out); err != nil {
			return nil, err
		}
		if part.err != nil {
			return nil, part.err
		}
		sum.rows += part.rows
		sum.withoutText += part.withoutText
		sum.substituted += part.substituted
		sum.trust.Merge(&part.trust)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if sum.rows == 0 {
		return nil, fmt.Errorf("%s has no row at all; each line is to be a JSON object with \"output\"", in.name)
	}
	return sum, nil
}

// batches reads the lines and gives them on. It ends with the file, with an
// error, which comes with the last batch, or when yield says so.
func (a *answers) batches(ctx context.Context, yield func(*answerBatch) bool) {
	b := &answerBatch{first: 1, done: make(chan parsed, 1)}
	r, err := a.reader()
	blank, size := 0, 0 // line number of the first of the blank lines that may end the file
	for line := 1; err == nil; line++ {
		var text []byte
		text, err = a.line(r, line)
		if line == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		switch {
		case err != nil && err != io.EOF:
			continue
		case len(bytes.TrimSpace(text)) == 0:
			if blank == 0 {
				blank = line
			}
			continue
		case blank > 0:
			err = a.at(blank, "the line is blank; write {\"output\": null} where there is no answer, so that rows keep their places")
			continue
		}
		b.lines = append(b.lines, text)
		if size += len(text); err == nil && size >= parseBatch {
			if !yield(b) || ctx.Err() != nil {
				return
			}
			b, size = &answerBatch{first: line + 1, done: make(chan parsed, 1)}, 0
		}
	}
	if err != io.EOF {
		b.err = err
	}
	yield(b)
}

// line reads one line. Its error is io.EOF behind the last one.
func (a *answers) line(r *bufio.Reader, number int) ([]byte, error) {
	var text []byte
	for {
		part, err := r.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case len(text) > maxAnswerLine:
			return nil, a.at(number, "the line has more than %d bytes; a row is one JSON object on one line", maxAnswerLine)
		case err == nil || err == io.EOF:
			return text, err
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, a.at(number, "%w", cause(err))
		}
	}
}

// batch parses the lines of a batch until one of them cannot be read.
func (p *parsing) batch(in *answers, b *answerBatch) parsed {
	var out parsed
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	for i, text := range b.lines {
		line := b.first + i
		row, err := p.row(in, line, text, &out)
		if err == nil {
			err = enc.Encode(row)
		}
		if err != nil {
			out.err = err
			break
		}
		out.rows++
	}
	out.out = buf.Bytes()
	if out.err == nil {
		out.err = b.err
	}
	return out
}

// row parses one line.
func (p *parsing) row(in *answers, line int, text []byte, sum *parsed) (*reportRow, error) {
	if !utf8.Valid(text) {
		return nil, in.at(line, "the line is not valid UTF-8; convert the file first")
	}
	row := answerRow{Output: notThere{}}
	if err := json.Unmarshal(text, &row); err != nil {
		return nil, in.at(line, "%w", explainJSON(err))
	}
	completion, has, err := row.completion(text)
	if err != nil {
		return nil, in.at(line, "%w", err)
	}
	r := &analysis.Report{Outcome: analysis.Missing, Detail: "there is no answer"}
	if has {
		r = p.parser.Parse(completion)
	}
	texts := row.texts()
	if row.Hypothesis != nil {
		r.Locate(texts)
		r.Flags = guard.Flags(texts.Hypothesis, nil)
	} else {
		sum.withoutText++
	}
	r.Check(texts, p.rules)
	sum.trust.Add(p.metric, label(row.System), r)
	out := &reportRow{Line: line, ID: row.ID, System: row.System, Segment: row.Segment, Record: r.Record()}
	if !r.Outcome.HasScore() {
		if p.policy.fail {
			return nil, in.at(line, "the answer has no score (%s: %s), and with --unparseable fail none may be left out", r.Outcome, r.Detail)
		}
		if value := p.policy.counts(r.Outcome); value != nil {
			out.Score, out.Substituted = value, p.policy.name
			sum.substituted++
		}
	}
	return out, nil
}

// completion is the answer of the row that text holds, and whether there is
// one.
func (r *answerRow) completion(text []byte) (string, bool, error) {
	field := "output"
	var raw json.RawMessage
	switch output := r.Output.(type) {
	case string:
		return output, true, nil
	case nil:
		return "", false, nil
	case notThere:
		switch {
		case r.Responses == nil:
			return "", false, errors.New("there is no \"output\"; write \"output\": null where there is no answer")
		case len(r.Responses) == 0:
			return "", false, errors.New("\"responses\" is empty; write \"output\": null where there is no answer")
		}
		field, raw = "the last of \"responses\"", r.Responses[len(r.Responses)-1]
	default:
		var again struct {
			Output json.RawMessage `json:"output"`
		}
		if err := json.Unmarshal(text, &again); err != nil {
			return "", false, err
		}
		raw = again.Output
	}
	switch raw[0] {
	case 'n':
		return "", false, nil
	case '"':
		var s string
		err := json.Unmarshal(raw, &s)
		return s, true, err
	case '{', '[':
		return string(raw), true, nil // an answer in JSON that was read already
	}
	return "", false, fmt.Errorf("%s is %s; want a text, an object or null", field, raw)
}

func (r *answerRow) texts() analysis.Texts {
	var t analysis.Texts
	if r.Hypothesis != nil {
		t.Hypothesis = *r.Hypothesis
	}
	if r.Source == nil {
		r.Source = r.Input
	}
	if r.Source != nil {
		t.Source, t.HasSource = *r.Source, true
	}
	if r.Reference != nil {
		t.Reference, t.HasReference = *r.Reference, true
	}
	return t
}

// label is how a system stands in tables: a text without its quotes, anything
// else as it is.
func label(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// explainJSON says in the user's terms why a line cannot be read.
func explainJSON(err error) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		if kind.Field == "" {
			return fmt.Errorf("the line is a JSON %s; want an object with \"output\"", kind.Value)
		}
		return fmt.Errorf("%q is a JSON %s; want a text or null", kind.Field, kind.Value)
	}
	return fmt.Errorf("the line is not JSON: %w", err)
}

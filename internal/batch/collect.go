package batch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/refract-eval/refract/llm"
)

// look asks for the open batches, and reads those that have ended.
func (r *run) look(ctx context.Context) error {
	if err := r.resolve(ctx); err != nil {
		return err
	}
	for _, b := range r.journal.batches {
		if !b.open() || b.wanted == 0 {
			continue
		}
		if err := r.ask(ctx, b); err != nil {
			if err := r.bear(ctx, &r.looks, err); err != nil {
				return err
			}
			break // the server has trouble: not all at once
		}
	}
	for _, b := range r.journal.batches {
		if b.status == "" || b.wanted == 0 {
			continue
		}
		answers, err := r.collect(ctx, b)
		if err != nil {
			return r.bear(ctx, &r.looks, err)
		}
		r.succeeded(&r.looks)
		if err := r.handOut(b, answers); err != nil {
			return err
		}
		r.observe()
	}
	return nil
}

// gone is the hint where a server does not know what it should.
const gone = "is the key one of the same account? Otherwise remove journal %s, and pay anew for what it holds"

// ask asks for a batch's state, and notes its end.
func (r *run) ask(ctx context.Context, b *batch) error {
	got, err := r.Client.GetBatch(ctx, b.id)
	if errors.Is(err, llm.ErrNotFound) {
		return fmt.Errorf("the server does not know a batch of this job: "+gone+": %w", r.Journal, err)
	}
	if err != nil {
		return err
	}
	r.succeeded(&r.looks)
	if !llm.BatchEnded(got) {
		return nil
	}
	if err := r.journal.note(b, event{Event: eventEnded, Status: got.Status, Output: deref(got.OutputFileID), Errors: deref(got.ErrorFileID)}); err != nil {
		return err
	}
	if got.Status != "failed" {
		return nil
	}
	if err := r.journal.note(b, event{Event: eventReleased}); err != nil {
		return err
	}
	return r.refused(b, got)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// refused is a batch that failed its validation. Where the server had enough
// for now, the rows wait until it has done some of them.
func (r *run) refused(b *batch, got llm.Batch) error {
	problems := problemsOf(got, r.Client.Clean)
	if slices.ContainsFunc(problems, func(p Problem) bool { return p.Code == "token_limit_exceeded" }) {
		r.held = 0
		for _, other := range r.journal.batches {
			if other.wanted > 0 && other.open() {
				r.held++
			}
		}
		if r.held > 0 {
			r.free(b)
			return nil
		}
	}
	return &RefusedError{Batch: got.ID, Rows: b.rows, Problems: problems}
}

// Problem is what a server finds wrong with a batch's file, fit for a message.
type Problem struct {
	Line          int // from 1; 0 where the server names none
	Code, Message string
}

func problemsOf(b llm.Batch, clean func(string) string) (out []Problem) {
	if b.Errors == nil {
		return nil
	}
	for _, p := range b.Errors.Data {
		problem := Problem{Code: clean(p.Code), Message: clean(p.Message)}
		if p.Line != nil {
			problem.Line = *p.Line
		}
		out = append(out, problem)
	}
	return out
}

// RefusedError is a batch that failed its server's validation, so that none of
// its requests was answered. Another run submits them anew.
type RefusedError struct {
	Batch    string   // the server's id
	Rows     []string // the IDs, in the order of the file's lines
	Problems []Problem
}

// maxProblems is how many problems are quoted.
const maxProblems = 5

// Error names the lines, their rows and what is wrong with them.
func (e *RefusedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the server refused batch %q of %d requests", e.Batch, len(e.Rows))
	for i, p := range e.Problems {
		if i == maxProblems {
			fmt.Fprintf(&b, "; and %d more", len(e.Problems)-i)
			break
		}
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		b.WriteString(sep)
		if p.Line > 0 {
			fmt.Fprintf(&b, "line %d", p.Line)
			if p.Line <= len(e.Rows) {
				fmt.Fprintf(&b, " (row %q)", e.Rows[p.Line-1])
			}
			b.WriteString(": ")
		}
		b.WriteString(p.Message)
		if p.Code != "" {
			fmt.Fprintf(&b, " (%s)", p.Code)
		}
	}
	if len(e.Problems) == 0 {
		b.WriteString(" and does not say why")
	}
	return b.String()
}

// Is makes it an llm.ErrInvalidRequest.
func (e *RefusedError) Is(target error) bool { return target == llm.ErrInvalidRequest }

// collect reads a batch's files.
func (r *run) collect(ctx context.Context, b *batch) (*answers, error) {
	all := r.answersOf(b)
	for _, id := range []string{b.output, b.errors} {
		if id == "" {
			continue
		}
		err := r.download(ctx, id, all)
		if errors.Is(err, llm.ErrNotFound) {
			err = fmt.Errorf("the server does not know a file of this job: "+gone+": %w", r.Journal, err)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// handOut gives a batch's rows their results, or has them submitted again.
func (r *run) handOut(b *batch, answers *answers) error {
	r.progress.Unusable += answers.unusable
	unanswered := 0
	for w := range r.waiting(b) {
		out, ok := answers.of[w.id]
		if !ok {
			out = outcome{again: true, unasked: true, err: fmt.Errorf("%w: the batch, which is %s, has nothing for this row", llm.ErrUnavailable, r.Client.Clean(b.status))}
		}
		res := Result{Response: out.response}
		switch {
		case out.err == nil:
		case b.released || b.past:
			r.again(w)
			continue
		case b.status == "cancelled" && out.unasked:
			unanswered++
			continue
		case out.again && w.tries+1 < r.attempts:
			w.tries++
			r.again(w)
			continue
		default:
			if res.Err = fmt.Errorf("batch %q: %w", b.id, out.err); w.tries > 0 {
				res.Err = fmt.Errorf("after %d batches, the last: %w", w.tries+1, res.Err)
			}
		}
		if err := r.give(w, res); err != nil {
			return err
		}
	}
	if unanswered == 0 {
		return nil
	}
	if err := r.journal.note(b, event{Event: eventReleased}); err != nil {
		return err
	}
	return fmt.Errorf("batch %q was cancelled at the server, with %d requests unanswered; run again to submit them anew", b.id, unanswered)
}

// download reads a file, and reads it once more where lines of it are broken:
// that is cheaper than to ask again for their rows.
func (r *run) download(ctx context.Context, id string, into *answers) error {
	for again := true; ; again = false {
		var read *answers
		err := r.Client.FileContent(ctx, id, func(from io.Reader) error {
			read = into.empty()
			return read.readFile(from)
		})
		if err != nil {
			return err
		}
		if read.broken == 0 || !again {
			into.merge(read)
			return nil
		}
	}
}

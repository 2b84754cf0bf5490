package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

// Encoder writes segments as JSON Lines. Reading them back gives the same segments, except
// for their positions, the order of judgements with different names, and the difference
// between nil and empty slices.
type Encoder struct {
	w   io.Writer
	buf []byte
}

// NewEncoder returns an Encoder that makes one Write per segment; give it a
// buffered writer for speed.
func NewEncoder(w io.Writer) *Encoder { return &Encoder{w: w} }

// Encode writes one line: the fields in a fixed order, without empty ones (references are
// always written), and without HTML escapes. A segment that could not be read back is an
// error, and nothing is written.
func (e *Encoder) Encode(s *refract.Segment) error {
	if err := check(s); err != nil {
		return fmt.Errorf("cannot write segment %s: %w", text.Quote(s.ID), err)
	}
	e.buf = appendSegment(e.buf[:0], s)
	if _, err := e.w.Write(e.buf); err != nil {
		return fmt.Errorf("cannot write segment %s: %w", text.Quote(s.ID), err)
	}
	return nil
}

func appendSegment(b []byte, s *refract.Segment) []byte {
	b = append(b, `{"id":`...)
	b = jsonline.AppendString(b, s.ID)
	if s.Source.Valid {
		b = append(b, `,"source":`...)
		b = appendText(b, s.Source)
	}
	b = append(b, `,"references":[`...)
	for i, r := range s.References {
		b = comma(b, i)
		b = appendText(b, r)
	}
	b = append(b, ']')
	b = appendVariants(b, `,"variants":[`, s.Variants)
	b = appendVariants(b, `,"rejected":[`, s.Rejected)
	b = appendHypotheses(b, s.Hypotheses)
	b = appendHuman(b, s.Judgements)
	b = appendField(b, `,"document":`, s.Document)
	b = appendField(b, `,"domain":`, s.Domain)
	b = appendField(b, `,"language":`, s.Language)
	if s.Judged != nil {
		b = append(b, `,"judged":`...)
		judged, err := json.Marshal(s.Judged)
		if err != nil {
			panic(err) // impossible: texts and numbers always marshal
		}
		b = append(b, judged...)
	}
	return append(b, "}\n"...)
}

func appendVariants(b []byte, key string, variants []refract.Variant) []byte {
	if len(variants) == 0 {
		return b
	}
	b = append(b, key...)
	for i := range variants {
		v := &variants[i]
		b = comma(b, i)
		b = append(b, `{"reference":`...)
		b = strconv.AppendInt(b, int64(v.Reference), 10)
		b = append(b, `,"prompt":`...)
		b = jsonline.AppendString(b, v.Prompt)
		b = append(b, `,"sample":`...)
		b = strconv.AppendInt(b, int64(v.Sample), 10)
		b = appendField(b, `,"model":`, v.Model)
		b = append(b, `,"text":`...)
		b = appendText(b, v.Text)
		b = appendField(b, `,"finish":`, v.Finish)
		if v.Origin != nil {
			b = appendOrigin(b, v.Origin, v.Text)
		}
		b = appendField(b, `,"verdict":`, v.Verdict)
		b = appendField(b, `,"detail":`, v.Detail)
		b = appendStrings(b, `,"alarms":[`, v.Alarms)
		b = appendField(b, `,"review":`, v.Review)
		b = appendField(b, `,"audit":`, v.Audit)
		b = appendField(b, `,"audited_by":`, v.AuditedBy)
		b = append(b, '}')
	}
	return append(b, ']')
}

// appendOrigin writes at least one field, so that an origin can be distinguished from none:
// raw if there is no other. Otherwise raw is omitted if it equals the text.
func appendOrigin(b []byte, o *refract.Origin, text refract.Text) []byte {
	before := len(b)
	b = appendField(b, `,"revision":`, o.Revision)
	b = appendField(b, `,"served_model":`, o.ServedModel)
	if o.Sampling != "" {
		b = append(b, `,"sampling":`...)
		b = append(b, o.Sampling...)
	}
	b = appendField(b, `,"form":`, o.Form)
	later := len(o.Cleaned) > 0 || o.PromptTokens > 0 || o.CompletionTokens > 0 || !o.Created.IsZero()
	if o.Raw != text || len(b) == before && !later {
		b = append(b, `,"raw":`...)
		b = appendText(b, o.Raw)
	}
	b = appendStrings(b, `,"cleaned":[`, o.Cleaned)
	b = appendCount(b, `,"prompt_tokens":`, o.PromptTokens)
	b = appendCount(b, `,"completion_tokens":`, o.CompletionTokens)
	if !o.Created.IsZero() {
		b = append(b, `,"created":"`...)
		b = o.Created.UTC().AppendFormat(b, time.RFC3339Nano)
		b = append(b, '"')
	}
	return b
}

// appendStrings writes a list unless it is empty.
func appendStrings(b []byte, key string, list []string) []byte {
	if len(list) == 0 {
		return b
	}
	b = append(b, key...)
	for i, s := range list {
		b = comma(b, i)
		b = jsonline.AppendString(b, s)
	}
	return append(b, ']')
}

// appendCount writes a number unless it is 0.
func appendCount(b []byte, key string, n int) []byte {
	if n == 0 {
		return b
	}
	b = append(b, key...)
	return strconv.AppendInt(b, int64(n), 10)
}

func appendHypotheses(b []byte, hypotheses []refract.Hypothesis) []byte {
	if len(hypotheses) == 0 {
		return b
	}
	b = append(b, `,"hypotheses":{`...)
	for i := range hypotheses {
		h := &hypotheses[i]
		b = comma(b, i)
		b = jsonline.AppendString(b, h.System)
		b = append(b, ':')
		b = appendText(b, h.Text)
	}
	b = append(b, '}')
	n := 0
	for i := range hypotheses {
		if !hypotheses[i].Human {
			continue
		}
		if n == 0 {
			b = append(b, `,"human_systems":[`...)
		}
		b = comma(b, n)
		b = jsonline.AppendString(b, hypotheses[i].System)
		n++
	}
	if n > 0 {
		b = append(b, ']')
	}
	return b
}

func appendHuman(b []byte, judgements []refract.Judgement) []byte {
	if len(judgements) == 0 {
		return b
	}
	b = append(b, `,"human":{`...)
	written := map[string]bool{}
	for i := range judgements {
		name := judgements[i].Name
		if written[name] {
			continue
		}
		written[name] = true
		b = comma(b, i)
		b = jsonline.AppendString(b, name)
		b = append(b, ':', '{')
		n := 0
		for _, j := range judgements[i:] {
			if j.Name != name {
				continue
			}
			b = comma(b, n)
			b = jsonline.AppendString(b, j.System)
			b = append(b, ':')
			if j.Valid {
				b = strconv.AppendFloat(b, j.Score, 'g', -1, 64)
			} else {
				b = append(b, "null"...)
			}
			n++
		}
		b = append(b, '}')
	}
	return append(b, '}')
}

// comma separates elements.
func comma(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ',')
	}
	return b
}

// appendField writes a field unless it is empty.
func appendField(b []byte, key, value string) []byte {
	if value == "" {
		return b
	}
	b = append(b, key...)
	return jsonline.AppendString(b, value)
}

func appendText(b []byte, t refract.Text) []byte {
	if !t.Valid {
		return append(b, "null"...)
	}
	return jsonline.AppendString(b, t.Value)
}

// check reports what the reader would refuse.
func check(s *refract.Segment) error {
	if s.ID == "" {
		return errors.New("it has no id")
	}
	if _, _, err := Languages(s.Language); s.Language != "" && err != nil {
		return err
	}
	if err := checkVariants(s); err != nil {
		return err
	}
	seen := map[[2]string]bool{} // names and systems
	again := func(name, system string) bool {
		key := [2]string{name, system}
		defer func() { seen[key] = true }()
		return seen[key]
	}
	for i := range s.Hypotheses {
		if name := s.Hypotheses[i].System; again("", name) {
			return fmt.Errorf("system %s has two hypotheses", text.Quote(name))
		}
	}
	clear(seen)
	for _, j := range s.Judgements {
		if j.Valid && (math.IsNaN(j.Score) || math.IsInf(j.Score, 0)) {
			return fmt.Errorf("the score %s of system %s is %v, which JSON cannot hold", text.Quote(j.Name), text.Quote(j.System), j.Score)
		}
		if again(j.Name, j.System) {
			return fmt.Errorf("system %s has two scores %s", text.Quote(j.System), text.Quote(j.Name))
		}
	}
	return checkUTF8(s)
}

func checkUTF8(s *refract.Segment) error {
	all := []string{s.ID, s.Document, s.Domain, s.Source.Value}
	for _, r := range s.References {
		all = append(all, r.Value)
	}
	for i := range s.Hypotheses {
		all = append(all, s.Hypotheses[i].System, s.Hypotheses[i].Text.Value)
	}
	for _, j := range s.Judgements {
		all = append(all, j.Name, j.System)
	}
	if i := slices.IndexFunc(all, func(s string) bool { return !utf8.ValidString(s) }); i >= 0 {
		return fmt.Errorf("it has %s, which is not UTF-8", text.Quote(all[i]))
	}
	return eachVariant(s, checkVariant)
}

// eachVariant calls check with every variant, including rejected ones.
func eachVariant(s *refract.Segment, check func(v *refract.Variant) error) error {
	for i := range s.Variants {
		if err := check(&s.Variants[i]); err != nil {
			return fmt.Errorf("variants[%d] %w", i, err)
		}
	}
	for i := range s.Rejected {
		if err := check(&s.Rejected[i]); err != nil {
			return fmt.Errorf("rejected[%d] %w", i, err)
		}
	}
	return nil
}

// checkVariants checks that the variants of a segment belong to its references.
func checkVariants(s *refract.Segment) error { return checkParents(s, len(s.References)) }

// checkParents checks that the variants of a segment belong to one of n
// references.
func checkParents(s *refract.Segment, n int) error {
	err := eachVariant(s, func(v *refract.Variant) error {
		if v.Reference < 0 || v.Reference >= n {
			return fmt.Errorf("is of reference %d, but the segment has %s (the first is 0)", v.Reference, english.Count(n, "reference"))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("segment %s: %w", text.Quote(s.ID), err)
	}
	return nil
}

// checkVariant reports what the reader would refuse in a variant.
func checkVariant(v *refract.Variant) error {
	all := append([]string{v.Text.Value, v.Prompt, v.Model, v.Finish, v.Verdict, v.Detail, v.Review, v.Audit, v.AuditedBy}, v.Alarms...)
	if o := v.Origin; o != nil {
		all = append(append(all, o.Revision, o.ServedModel, o.Form, o.Raw.Value), o.Cleaned...)
		if o.Sampling != "" && (o.Sampling[0] != '{' || strings.Contains(o.Sampling, "\n") || !jsontext.Value(o.Sampling).IsValid()) {
			return fmt.Errorf("has the sampling parameters %s, which are not a JSON object on one line", text.Quote(o.Sampling))
		}
	}
	if slices.ContainsFunc(all, func(s string) bool { return !utf8.ValidString(s) }) {
		return errors.New("is not UTF-8")
	}
	return checkNumbers(v)
}

// checkNumbers checks the ranges of a variant's numbers.
func checkNumbers(v *refract.Variant) error {
	switch {
	case v.Sample < 0:
		return fmt.Errorf("has the sample %d", v.Sample)
	case v.Origin == nil:
		return nil
	case v.Origin.PromptTokens < 0 || v.Origin.CompletionTokens < 0:
		return fmt.Errorf("has %d tokens", min(v.Origin.PromptTokens, v.Origin.CompletionTokens))
	}
	if y := v.Origin.Created.UTC().Year(); y < 0 || y > 9999 {
		return fmt.Errorf("was created in the year %d, which RFC 3339 cannot hold", y)
	}
	return nil
}

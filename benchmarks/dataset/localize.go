package dataset

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
)

// Localized are metrics that split texts as one language needs, which is that of all
// segments of a run: sums over texts that are split in different ways are no scores.
type Localized struct {
	// Language is the code of the language; "" if it is not known.
	Language string
	Metrics  []metrics.Metric
	plain    []metrics.Metric
	checked  []string // languages stated by segments that are split like Language
}

// Localize returns metrics in a language. If it is "", the language is the one that all of
// the given segments that state one state, or the one that the script of most texts shows;
// warn gets a message about the latter.
func Localize(ms []metrics.Metric, language string, segments []*refract.Segment, warn func(string)) *Localized {
	l := &Localized{Language: language, plain: slices.Clone(ms)}
	stated := statedBy(segments)
	if language == "" && len(stated) == 1 {
		l.Language = stated[0]
	}
	seen := ""
	if l.Language == "" && len(stated) == 0 {
		seen = script(segments)
		l.Language = seen
	}
	for _, m := range ms {
		l.Metrics = append(l.Metrics, metrics.InLanguage(m, l.Language))
	}
	if changed := l.differ(ms); seen != "" && len(changed) > 0 {
		warn(fmt.Sprintf("no language is named, and the script of the texts is that of %s: %s, as with -l %[1]s; -l names another", seen, strings.Join(changed, ", ")))
	}
	return l
}

// differ describes how the metrics split texts where others do so in another way.
func (l *Localized) differ(others []metrics.Metric) (out []string) {
	for i, m := range l.Metrics {
		how := m.Info().Name
		other := others[i].Signature(metrics.Sentence)
		for _, set := range m.Signature(metrics.Sentence) {
			if !slices.Contains(other, set) {
				how += " " + set.Key + ":" + set.Value
			}
		}
		if how != m.Info().Name && !slices.Contains(out, how) {
			out = append(out, how)
		}
	}
	return out
}

// Check returns an error if a segment states a language that the metrics split differently.
func (l *Localized) Check(s *refract.Segment) error {
	if s.Language == "" || slices.Contains(l.checked, s.Language) {
		return nil
	}
	_, target, _ := Languages(s.Language)
	own := make([]metrics.Metric, len(l.plain))
	for i, m := range l.plain {
		own[i] = metrics.InLanguage(m, target)
	}
	if other := l.differ(own); len(other) > 0 {
		return failAt(s.Pos, 0, "segment %s states the language %s, and others state another one or none, so that texts are split differently (%s): name one for all with --language, or score each language apart",
			text.Quote(s.ID), text.Quote(s.Language), strings.Join(other, ", "))
	}
	l.checked = append(l.checked, s.Language)
	return nil
}

// All returns ds with the check of every segment.
func (l *Localized) All(ds refract.Dataset) refract.Dataset {
	return asSet(ds).perSegment(func() step {
		return step{each: func(s *refract.Segment) (*refract.Segment, error) { return s, l.Check(s) }}
	})
}

// statedBy returns the languages that segments state, each once.
func statedBy(segments []*refract.Segment) (out []string) {
	for _, s := range segments {
		if _, target, _ := Languages(s.Language); s.Language != "" && !slices.Contains(out, target) {
			out = append(out, target)
		}
	}
	return out
}

// script returns the language of most texts if their script shows it.
func script(segments []*refract.Segment) (language string) {
	count := map[string]int{}
	n := 0
	add := func(t refract.Text) {
		if strings.TrimSpace(t.Value) == "" {
			return
		}
		n++
		if code := text.ByScript(t.Value); code != "" {
			if count[code]++; count[code] > count[language] {
				language = code
			}
		}
	}
	for _, s := range segments {
		for _, t := range s.AllReferences(nil) {
			add(t)
		}
		for _, h := range s.Hypotheses {
			add(h.Text)
		}
	}
	if 2*count[language] <= n {
		return ""
	}
	return language
}

// mostPeeked is how many segments show the language of a dataset.
const mostPeeked = 100

// Peek returns the first segments of a dataset, and the dataset with all its segments. An
// error in them is left to the next reading.
func Peek(ctx context.Context, ds refract.Dataset) ([]*refract.Segment, refract.Dataset) {
	base := asSet(ds)
	ctx, cancel := context.WithCancel(ctx)
	next, stop := iter.Pull2(base.Segments(ctx))
	var first []*refract.Segment
	s, failed, more := next()
	for more && failed == nil && len(first) < mostPeeked {
		first = append(first, s)
		s, failed, more = next()
	}
	if base.stream == nil && !base.foreign {
		stop()
		cancel()
		return first, ds
	}
	rest := func(yield func(*refract.Segment, error) bool) {
		for ok := more; ok; s, failed, ok = next() {
			if !yield(s, failed) {
				return
			}
		}
	}
	ahead := refract.InMemory(slices.Clone(first))
	return first, &set{stream: base.stream, foreign: base.foreign, read: func(inner context.Context, each func(*refract.Segment) error) error {
		defer cancel()
		defer stop()
		defer context.AfterFunc(inner, cancel)()
		if err := push(ahead.Segments(inner), each); err != nil {
			return err
		}
		return push(rest, each)
	}}
}

package publish

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/diversify/alarm"
	"github.com/refract-eval/refract/diversify/selection"
)

// Stats counts the contents of a set.
type Stats struct {
	Segments, References, Variants, Rejected int
	// Missing and Empty count texts of references and variants.
	Missing, Empty int
	// Repeated counts references and variants with the same text as an earlier one in
	// the segment.
	Repeated int
	// MinReferences and MaxReferences are the fewest and most references of a segment,
	// including variants.
	MinReferences, MaxReferences   int
	PromptTokens, CompletionTokens int
	First, Last                    time.Time // when answers arrived; zero if unknown
	Hypotheses, Judgements         int       // that were left out

	kept      Tally
	Checked   Checked               // verdicts of a judge of meaning
	diversity *selection.Diversity  // nil if it is not measured
	counts    map[string]*keyCounts // by what is counted
	seen      map[string]bool
}

func newStats() *Stats {
	s := &Stats{seen: map[string]bool{}, counts: map[string]*keyCounts{}}
	for _, what := range []string{"prompt", "model", "sampling", "form of the answer", "step", "verdict", "alarm", "finish reason"} {
		s.counts[what] = &keyCounts{index: map[string]int{}}
	}
	return s
}

// keyCount counts how often something occurs in variants, and in rejected ones.
type keyCount struct {
	key            string
	kept, rejected int
}

// keyCounts holds the counts of keys in order of appearance. Keys are untrusted and may be
// many, so those after the first thousand are counted together.
type keyCounts struct {
	list  []keyCount
	index map[string]int
}

const (
	maxKeys = 1000
	others  = "(others)"
)

func (c *keyCounts) add(key string, rejected bool) {
	i, ok := c.index[key]
	if !ok {
		if len(c.list) >= maxKeys {
			key = others
		}
		if i, ok = c.index[key]; !ok {
			i = len(c.list)
			key = strings.Clone(key)
			c.index[key] = i
			c.list = append(c.list, keyCount{key: key})
		}
	}
	if rejected {
		c.list[i].rejected++
	} else {
		c.list[i].kept++
	}
}

// descending returns the counts, the highest first, and equal counts by key.
func (c *keyCounts) descending() []keyCount {
	out := slices.Clone(c.list)
	slices.SortStableFunc(out, func(a, b keyCount) int {
		return cmp.Or(cmp.Compare(b.kept+b.rejected, a.kept+a.rejected), cmp.Compare(a.key, b.key))
	})
	return out
}

// leaveOut returns a segment without what is not published, and counts that.
func (s *Stats) leaveOut(seg *refract.Segment) *refract.Segment {
	for _, h := range seg.Hypotheses {
		if h.Text.Valid {
			s.Hypotheses++
		}
	}
	for _, j := range seg.Judgements {
		if j.Valid {
			s.Judgements++
		}
	}
	s.Checked.Add(seg)
	out := *seg // the dataset's own stays as it is
	out.Hypotheses, out.Judgements, out.Judged = nil, nil, nil
	return &out
}

func (s *Stats) add(seg *refract.Segment) {
	n := seg.NumReferences()
	if s.Segments == 0 {
		s.MinReferences = n
	}
	s.Segments++
	s.References += len(seg.References)
	s.Variants += len(seg.Variants)
	s.Rejected += len(seg.Rejected)
	s.MinReferences, s.MaxReferences = min(s.MinReferences, n), max(s.MaxReferences, n)
	s.kept.Add(seg)
	clear(s.seen)
	for _, t := range seg.References {
		s.text(t)
	}
	for i := range seg.Variants {
		s.text(seg.Variants[i].Text)
		s.variant(&seg.Variants[i], false)
	}
	for i := range seg.Rejected {
		s.variant(&seg.Rejected[i], true)
	}
}

// forms lists the forms of the answers, sorted; "text" is that of answers that state none.
func (s *Stats) forms() (out []string) {
	for _, c := range s.counts["form of the answer"].list {
		out = append(out, cmp.Or(c.key, "text"))
	}
	slices.Sort(out)
	return out
}

// measure measures how different the variants of a segment are.
func (s *Stats) measure(seg *refract.Segment) {
	if s.diversity == nil {
		s.diversity = selection.NewDiversity()
	}
	var texts []string
	for i := range seg.Variants {
		texts = append(texts, seg.Variants[i].Text.Value)
	}
	s.diversity.Add(texts)
}

// Findings returns, for each model, how many of its variants keep the meaning.
func (s *Stats) Findings() []Finding { return s.kept.Findings() }

func (s *Stats) meaningKept() (out []dataset.MeaningKept) {
	for _, f := range s.Findings() {
		kept := dataset.MeaningKept{Model: f.Model}
		if f.Measured() {
			low, high := f.Interval()
			kept.JudgedBy, kept.N, kept.Kept, kept.Interval = "people", f.Drawn, f.Kept, []float64{low, high}
			if f.Aside > 0 {
				kept.InSet = &f.InSet
			}
		}
		out = append(out, kept)
	}
	return out
}

func (s *Stats) text(t refract.Text) {
	if !t.Valid {
		s.Missing++
		return
	}
	if t.Value == "" {
		s.Empty++
	}
	if s.seen[t.Value] {
		s.Repeated++
	}
	s.seen[t.Value] = true
}

// keySeparator separates the parts of a key, which are in the order of a table's columns.
const keySeparator = "\x00"

func (s *Stats) variant(v *refract.Variant, rejected bool) {
	s.counts["prompt"].add(v.Prompt, rejected)
	s.counts["verdict"].add(v.Verdict, rejected)
	s.counts["finish reason"].add(v.Finish, rejected)
	for _, a := range v.Alarms {
		s.counts["alarm"].add(alarm.Kind(a), rejected)
	}
	o := v.Origin
	if o == nil {
		o = &refract.Origin{}
	}
	s.counts["model"].add(strings.Join([]string{v.Model, o.ServedModel, o.Revision}, keySeparator), rejected)
	if v.Origin == nil {
		return
	}
	s.counts["sampling"].add(o.Sampling, rejected)
	s.counts["form of the answer"].add(o.Form, rejected)
	for _, step := range o.Cleaned {
		s.counts["step"].add(step, rejected)
	}
	s.PromptTokens += o.PromptTokens
	s.CompletionTokens += o.CompletionTokens
	if t := o.Created; !t.IsZero() {
		if s.First.IsZero() || t.Before(s.First) {
			s.First = t
		}
		if t.After(s.Last) {
			s.Last = t
		}
	}
}

// Count counts the contents of a dataset.
func Count(ctx context.Context, ds refract.Dataset) (*Stats, error) {
	stats := newStats()
	for s, err := range ds.Segments(ctx) {
		if err != nil {
			return nil, err
		}
		stats.leaveOut(s)
		stats.add(s)
	}
	return stats, ctx.Err()
}

// Verify reads a whole published folder and compares it with its manifest. The error says
// what differs.
func Verify(ctx context.Context, dir string, warn func(dataset.Warning)) (*Result, error) {
	m, err := dataset.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	ds, err := dataset.Open("published:"+dir, dataset.Options{Warn: warn})
	if err != nil {
		return nil, err
	}
	s, err := Count(ctx, ds)
	if err != nil {
		return nil, err
	}
	for _, n := range []struct {
		what      string
		got, want int
	}{
		{"segments", s.Segments, m.Segments},
		{"reference texts", s.References + s.Variants, m.References + m.Variants},
		{"rejected answers", s.Rejected, m.Rejected},
	} {
		if n.got != n.want {
			return nil, fmt.Errorf("%s: %d %s, where %s says %d", dir, n.got, n.what, dataset.ManifestName, n.want)
		}
	}
	switch m.Digest {
	case m.Sum():
	case "":
		warn(dataset.Warning{Pos: refract.Position{File: filepath.Join(dir, dataset.ManifestName)}, Message: "it has no digest, as in earlier versions, so changes to it cannot be detected"})
	default:
		return nil, fmt.Errorf("%s: it was changed since the set was published: its digest does not match its content; get it again", filepath.Join(dir, dataset.ManifestName))
	}
	return &Result{*m, s}, tellStrangers(dir, m, warn)
}

// tellStrangers warns of files that do not belong to the set.
func tellStrangers(dir string, m *dataset.Manifest, warn func(dataset.Warning)) error {
	return fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == "README.md" || path == CitationName || path == "eval.yaml" || path == dataset.ManifestName ||
			slices.ContainsFunc(m.Files, func(f dataset.File) bool { return f.Path == path }) {
			return err
		}
		warn(dataset.Warning{Pos: refract.Position{File: filepath.Join(dir, path)}, Message: "the manifest does not list it, so it is not part of the set"})
		return nil
	})
}

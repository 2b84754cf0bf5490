package dataset

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/internal/text"
)

// StoredMetric is a metric's scores, or people's, as a test set keeps them.
type StoredMetric struct {
	Name string
	// References names the references that it was computed with; empty for a
	// metric of the source alone, and for people's scores.
	References []string
	Level      correlate.Level
	Path       string
	Systems    []SystemScores // in the file's order
	// Items names what the scores belong to, at the levels of documents and
	// domains; nil at the others.
	Items []string
}

// SystemScores are a system's scores, in the order of the segments, documents
// or domains; one at system level. Where Valid is false there is none, and the
// value is meaningless.
type SystemScores struct {
	System string
	Values []float64
	Valid  []bool
}

// System returns the scores of one system.
func (m *StoredMetric) System(name string) (SystemScores, bool) {
	for _, s := range m.Systems {
		if s.System == name {
			return s, true
		}
	}
	return SystemScores{}, false
}

// StoredMetrics reads the files metric-scores/LP/NAME-REF.LEVEL.score of an
// "mtme:DIR/TESTSET/LP" dataset, sorted by name and then by references. REF
// is src, all, or reference names joined by dots. With names given, it reads
// those metrics only, each of which must exist.
//
// It checks that the systems are known and have as many scores as there are
// segments or documents, or one at system level. At domain level a missing
// line is a missing score.
func StoredMetrics(spec string, level correlate.Level, only ...string) ([]StoredMetric, error) {
	return readStored(spec, level, only, "stored metric", (*folder).storedMetrics)
}

// StoredHumanScores reads the files human-scores/LP.NAME.LEVEL.score, as
// [StoredMetrics] reads those of metrics, sorted by name. They are what the
// shared tasks compare with at the levels above segments.
func StoredHumanScores(spec string, level correlate.Level, only ...string) ([]StoredMetric, error) {
	return readStored(spec, level, only, "human score", (*folder).storedHumans)
}

func openStored(spec string) (*folder, error) {
	_, place, err := lookup("dataset with stored scores", spec, []string{"mtme"}, []string{"mtme:DIR/TESTSET/LP"})
	if err != nil {
		return nil, err
	}
	return openFolder(place)
}

func readStored(spec string, level correlate.Level, only []string, what string, found func(*folder, correlate.Level) ([]StoredMetric, error)) ([]StoredMetric, error) {
	f, err := openStored(spec)
	if err != nil {
		return nil, err
	}
	all, err := found(f, level)
	if err != nil {
		return nil, err
	}
	metrics, err := filterMetrics(all, only, what)
	if err != nil {
		return nil, failFile(f.root, "%s: %w", f.lp, err)
	}
	if len(metrics) == 0 {
		return nil, nil
	}
	items, n, err := f.items(level)
	if err != nil {
		return nil, err
	}
	for i := range metrics {
		metrics[i].Items = items
		if err := metrics[i].read(f.systems, n); err != nil {
			return nil, err
		}
	}
	return metrics, nil
}

// storedHumans lists the files without reading them.
func (f *folder) storedHumans(level correlate.Level) ([]StoredMetric, error) {
	dir := filepath.Join(f.root, "human-scores")
	suffix := levelSuffix(level)
	files, err := names(dir, f.lp+".", suffix)
	if err != nil {
		return nil, err
	}
	var humans []StoredMetric
	for _, name := range files {
		humans = append(humans, StoredMetric{Name: name, Level: level, Path: filepath.Join(dir, f.lp+"."+name+suffix)})
	}
	return humans, nil
}

// storedMetrics lists the files without reading them.
func (f *folder) storedMetrics(level correlate.Level) ([]StoredMetric, error) {
	dir := filepath.Join(f.root, "metric-scores", f.lp)
	suffix := levelSuffix(level)
	files, err := names(dir, "", suffix)
	if err != nil {
		return nil, err
	}
	var metrics []StoredMetric
	for _, file := range files {
		i := strings.LastIndexByte(file, '-')
		if i <= 0 || i == len(file)-1 {
			return nil, failFile(filepath.Join(dir, file+suffix), "the file name is not of the form NAME-REF%s", suffix)
		}
		m := StoredMetric{Name: file[:i], Level: level, Path: filepath.Join(dir, file+suffix)}
		switch ref := file[i+1:]; ref {
		case "src":
		case "all":
			m.References = slices.Clone(f.references)
		default:
			m.References = strings.Split(ref, ".")
			for _, r := range m.References {
				if !slices.Contains(f.references, r) {
					return nil, failFile(m.Path, "the file name has the unknown reference %s%s; %s has %s",
						text.Quote(r), didYouMean(r, f.references), f.lp, quotedNames(f.references))
				}
			}
		}
		metrics = append(metrics, m)
	}
	slices.SortFunc(metrics, func(a, b StoredMetric) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), slices.Compare(a.References, b.References), cmp.Compare(a.Path, b.Path))
	})
	return metrics, nil
}

func filterMetrics(all []StoredMetric, only []string, what string) ([]StoredMetric, error) {
	if len(only) == 0 {
		return all, nil
	}
	var known []string
	for _, m := range all {
		if !slices.Contains(known, m.Name) {
			known = append(known, m.Name)
		}
	}
	for _, m := range all {
		if !slices.Contains(known, m.Label()) {
			known = append(known, m.Label())
		}
	}
	for _, name := range only {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("no %s %s%s; there are %s", what, text.Quote(name), didYouMean(name, known), quotedNames(known))
		}
	}
	return slices.DeleteFunc(all, func(m StoredMetric) bool { return !slices.Contains(only, m.Name) && !slices.Contains(only, m.Label()) }), nil
}

// Label is the name of a metric's file without its level, such as
// "BLEU-refA", or the name of a human score.
func (m *StoredMetric) Label() string {
	if filepath.Base(filepath.Dir(m.Path)) == "human-scores" {
		return m.Name
	}
	return strings.TrimSuffix(filepath.Base(m.Path), levelSuffix(m.Level))
}

func (m *StoredMetric) read(systems []string, items int) error {
	in, err := newRegular(m.Path)
	if err != nil {
		return err
	}
	l, err := in.lines(context.Background(), func(Warning) {})
	if err != nil {
		return err
	}
	defer l.close()
	if m.Level == correlate.DomainLevel {
		m.Systems, err = scanDomainScores(l, systems, m.Items)
		return err
	}
	_, err = scanScores(l, systems, items, func(system string, score float64, valid bool) {
		n := len(m.Systems) - 1
		if n < 0 || m.Systems[n].System != system {
			m.Systems = append(m.Systems, SystemScores{
				System: system,
				Values: make([]float64, 0, items),
				Valid:  make([]bool, 0, items),
			})
			n++
		}
		s := &m.Systems[n]
		s.Values = append(s.Values, score)
		s.Valid = append(s.Valid, valid)
	})
	return err
}

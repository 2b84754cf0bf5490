package dataset

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/internal/text"
)

// StoredMetric is a metric's scores from a test set.
type StoredMetric struct {
	Name string
	// References names the references it was computed with; empty for a metric that needs only
	// the source.
	References []string
	Level      correlate.Level
	Path       string
	Systems    []SystemScores // in the file's order
	// InUse says that the references are those that a dataset opened without
	// Options.References has, or that there are none.
	InUse bool
}

// Label is the name of a metric's file without its level, such as "BLEU-refA".
func (m *StoredMetric) Label() string {
	return strings.TrimSuffix(filepath.Base(m.Path), levelSuffix(m.Level))
}

// levelSuffix returns the end of the file names for a level.
func levelSuffix(l correlate.Level) string {
	if l == correlate.SystemLevel {
		return ".sys.score"
	}
	return ".seg.score"
}

// StoredMetrics reads the files metric-scores/LP/NAME-REF.LEVEL.score of an
// "mtme:DIR/TESTSET/LP" dataset, sorted by name and then by references. REF is src, all, or
// reference names joined by dots. The level is [correlate.SegmentLevel] or
// [correlate.SystemLevel]. If names are given, it reads only those metrics, each of which
// must exist.
//
// It checks that the systems are known and have one score a segment, or a single one at
// system level.
func StoredMetrics(spec string, level correlate.Level, only ...string) ([]StoredMetric, error) {
	mtme := []scheme[struct{}]{{name: "mtme", usage: "mtme:DIR/TESTSET/LP"}}
	_, place, err := lookup("dataset with stored scores", spec, mtme)
	if err != nil {
		return nil, err
	}
	f, err := openFolder(place)
	if err != nil {
		return nil, err
	}
	all, err := f.storedMetrics(level)
	if err != nil {
		return nil, err
	}
	metrics, err := filterMetrics(all, only)
	if err != nil {
		return nil, failFile(f.root, "%s: %w", f.lp, err)
	}
	items := 1
	if level != correlate.SystemLevel {
		if items, err = f.source.countLines(); err != nil {
			return nil, err
		}
	}
	for i := range metrics {
		m := &metrics[i]
		if m.Systems, err = readScores(m.Path, f.systems.names, items, func(Warning) {}); err != nil {
			return nil, err
		}
	}
	return metrics, nil
}

// storedMetrics lists the files without reading them.
func (f *folder) storedMetrics(level correlate.Level) ([]StoredMetric, error) {
	dir := filepath.Join(f.root, "metric-scores", f.lp)
	suffix := levelSuffix(level)
	files, err := names(dir, "", suffix)
	if err != nil {
		return nil, err
	}
	usual, _ := f.choose(nil) // a folder may have none
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
			m.References = slices.Clone(f.references.names)
		default:
			m.References = strings.Split(ref, ".")
			for _, r := range m.References {
				if !slices.Contains(f.references.names, r) {
					return nil, failFile(m.Path, "the file name has the unknown reference %s%s; %s has %s",
						text.Quote(r), didYouMean(r, f.references.names), f.lp, quotedNames(f.references.names))
				}
			}
		}
		m.InUse = len(m.References) == 0 || slices.Equal(m.References, usual)
		metrics = append(metrics, m)
	}
	slices.SortFunc(metrics, func(a, b StoredMetric) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), slices.Compare(a.References, b.References), cmp.Compare(a.Path, b.Path))
	})
	return metrics, nil
}

// filterMetrics keeps the metrics whose name or label is in only.
func filterMetrics(all []StoredMetric, only []string) ([]StoredMetric, error) {
	if len(only) == 0 {
		return all, nil
	}
	var names, labels []string
	for _, m := range all {
		names, labels = append(names, m.Name), append(labels, m.Label())
	}
	known := slices.Concat(slices.Compact(names), labels)
	for _, name := range only {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("no stored metric %s%s; there are %s", text.Quote(name), didYouMean(name, known), quotedNames(known))
		}
	}
	return slices.DeleteFunc(all, func(m StoredMetric) bool { return !slices.Contains(only, m.Name) && !slices.Contains(only, m.Label()) }), nil
}

package dataset

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/text"
)

// NoTranslation is how mt-metrics-eval writes a missing text.
const NoTranslation = "[No translation supplied]"

// folder is a language pair of a test set in the layout of mt-metrics-eval.
type folder struct {
	root, lp   string
	source     *input
	references *textFiles
	systems    *textFiles
	humans     []string // names of the human scores at segment level
}

func openMTME(place string, o Options) (*set, error) {
	f, err := openFolder(place)
	if err != nil {
		return nil, err
	}
	p := &parallel{source: f.source, trim: bytes.TrimFunc, missing: NoTranslation, o: o}
	names, err := f.choose(o.References)
	if err != nil {
		return nil, err
	}
	standard := standardReference(filepath.Base(f.root), f.lp)
	if strings.HasPrefix(filepath.Base(f.root), "wmt") && len(o.References) == 0 && len(names) == 1 && names[0] != standard {
		o.Warn(Warning{refract.Position{File: f.root}, fmt.Sprintf("%s has no reference %s, with which its shared task was scored; %s is used", f.lp, standard, names[0])})
	}
	for _, name := range names {
		in, err := f.references.open(name)
		if err != nil {
			return nil, err
		}
		p.references = append(p.references, in)
	}
	for _, name := range f.systems.names {
		in, err := f.systems.open(name)
		if err != nil {
			return nil, err
		}
		p.systems = append(p.systems, system{name: name, human: slices.Contains(f.references.names, name), texts: in})
	}
	if p.documents, err = f.documents(); err != nil {
		return nil, err
	}
	if err := p.measure(); err != nil {
		return nil, err
	}
	if !o.NoJudgements {
		err := o.checkNames(filepath.Join(f.root, f.lp), f.humans)
		if err == nil {
			err = f.openScores(p, o)
		}
		if err != nil {
			return nil, err
		}
	}
	return p.set(), nil
}

// openFolder lists the files of a language pair. If place is not one, the error lists the
// pairs in the folder.
func openFolder(place string) (*folder, error) {
	place = filepath.Clean(place)
	f := &folder{root: filepath.Dir(place), lp: filepath.Base(place)}
	sources, err := listTexts(filepath.Join(f.root, "sources"), "", sourceField)
	if err != nil {
		return nil, err
	}
	if sources.paths[f.lp] == "" {
		return nil, f.unknown(place, sources.names)
	}
	if f.source, err = sources.open(f.lp); err != nil {
		return nil, err
	}
	if f.references, err = listTexts(filepath.Join(f.root, "references"), f.lp+".", "target"); err != nil {
		return nil, err
	}
	if f.systems, err = listTexts(filepath.Join(f.root, "system-outputs", f.lp), "", "hypothesis"); err != nil {
		return nil, err
	}
	f.humans, err = names(filepath.Join(f.root, "human-scores"), f.lp+".", ".seg.score")
	return f, err
}

// documents returns the file of domains and documents, or nil if there is none.
func (f *folder) documents() (*input, error) {
	in, err := newRegular(filepath.Join(f.root, "documents", f.lp+".docs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return in, err
}

// unknown explains that the folder has no such language pair.
func (f *folder) unknown(place string, pairs []string) error {
	if inside, err := listTexts(filepath.Join(place, "sources"), "", sourceField); err == nil && len(inside.names) > 0 {
		return failFile(place, "is a test set: add one of its language pairs (%s), as in %s",
			quotedNames(inside.names), text.Quote(filepath.Join(place, inside.names[0])))
	}
	if len(pairs) == 0 {
		_, err := newRegular(filepath.Join(f.root, "sources", f.lp+".txt"))
		return failFile(place, "no such language pair: %w", err)
	}
	return failFile(f.root, "has no language pair %s%s; it has %s", text.Quote(f.lp), didYouMean(f.lp, pairs), quotedNames(pairs))
}

// names lists the files of a folder by the part of their names between prefix and suffix,
// in byte order. A folder that does not exist has none.
func names(dir, prefix, suffix string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fileError(dir, err)
	}
	var out []string
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Name(), prefix)
		if !ok || e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if name, ok = strings.CutSuffix(name, suffix); ok && name != "" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// allReferences stands for all references of a folder, unless a reference has that name.
const allReferences = "all"

// choose returns the references to use.
func (f *folder) choose(want []string) ([]string, error) {
	return chooseReferences(f.root, f.lp, f.references.names, standardReference(filepath.Base(f.root), f.lp), want)
}

// chooseReferences returns the wanted references, by default the standard one. If the set
// has none, the metrics decide whether they need one.
func chooseReferences(file, of string, known []string, standard string, want []string) ([]string, error) {
	if len(want) == 1 && want[0] == allReferences && !slices.Contains(known, allReferences) {
		return known, nil
	}
	if len(want) == 0 {
		switch {
		case slices.Contains(known, standard):
			return []string{standard}, nil
		case len(known) < 2:
			return known, nil
		}
		return nil, failFile(file, "%s has several references and none is %s; choose among %s", of, standard, quotedNames(known))
	}
	for i, name := range want {
		if !slices.Contains(known, name) {
			return nil, failFile(file, "%s has no reference %s%s; it has %s",
				of, text.Quote(name), didYouMean(name, known), quotedNames(known))
		}
		if slices.Contains(want[:i], name) {
			return nil, failFile(file, "reference %s is chosen twice", text.Quote(name))
		}
	}
	return want, nil
}

// openScores reads the human scores.
func (f *folder) openScores(p *parallel, o Options) error {
	chosen := f.humans
	if o.JudgementNames != nil {
		chosen = o.JudgementNames
	}
	for i, name := range chosen {
		if slices.Contains(chosen[:i], name) {
			continue
		}
		scores, err := readScores(filepath.Join(f.root, "human-scores", f.lp+"."+name+".seg.score"), f.systems.names, p.n, o.Warn)
		if err != nil {
			return err
		}
		slices.SortFunc(scores, func(a, b SystemScores) int { return cmp.Compare(a.System, b.System) })
		p.humans = append(p.humans, humanScores{name, scores})
	}
	return nil
}

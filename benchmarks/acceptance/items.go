package acceptance

import (
	"embed"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/refract-eval/refract/internal/yamlfile"
)

// The parts of the benchmark.
const (
	Tuning = "tuning" // may be looked at
	Second = "second" // measured alone what rules 3 had made of the first; rules 4 are made with it too
)

//go:embed tuning.yaml second.yaml
var files embed.FS

// Base is a reference and rewritings of it.
type Base struct {
	Name      string `yaml:"name"`
	Language  string `yaml:"language"` // ISO 639-1
	Reference string `yaml:"reference"`
	Answer    string `yaml:"answer"`
	Second    string `yaml:"second"` // another rewriting; "" for none
}

// Item is an answer and what should become of it.
type Item struct {
	Name     string // part, family, number of the wording, and base
	Family   string
	Language string // of the reference
	// Reference is what the model was given, Raw what it said, and Finish the
	// finish reason, "" where unknown.
	Reference, Raw, Finish string
	Usable                 bool
	Want                   string   // what should come out, where it is usable
	Also                   []string // texts that are right as well
}

// Set is a part of the benchmark.
type Set struct {
	part     string
	bases    []Base
	families []family
}

type family struct {
	Name     string    `yaml:"family"`
	Wordings []wording `yaml:"wordings"`
}

// wording is a way to present an answer.
type wording struct {
	Text     string `yaml:"text"`
	Want     string `yaml:"want"`
	Unusable bool   `yaml:"unusable"`
	Finish   string `yaml:"finish"`
	For      string `yaml:"for"`  // languages of bases, with spaces between; "" for all
	Base     string `yaml:"base"` // the only base, "" for all
	// Reference and Language make an item without a base.
	Reference string `yaml:"reference"`
	Language  string `yaml:"language"`
	// Every fills the wording with all bases.
	Every bool `yaml:"every"`
	// Sentence wants a reference that ends in a full stop or the like.
	Sentence bool `yaml:"sentence"`
}

// Read reads a part.
func Read(part string) (*Set, error) {
	name := part + ".yaml"
	in, err := files.Open(name)
	if err != nil {
		return nil, fmt.Errorf("there is no part %q; it is %s or %s", part, Tuning, Second)
	}
	defer in.Close()
	f, err := yamlfile.Read(name, in)
	if err != nil {
		return nil, err
	}
	var content struct {
		Bases    []Base   `yaml:"bases"`
		Families []family `yaml:"families"`
	}
	if err := f.Decode(&content, "have bases and families of wordings"); err != nil {
		return nil, err
	}
	s := &Set{part: part, bases: content.Bases, families: content.Families}
	if err := s.check(); err != nil {
		return nil, f.At(err)
	}
	return s, nil
}

func (s *Set) check() error {
	for i, b := range s.bases {
		if b.Name == "" || b.Language == "" || b.Reference == "" || b.Answer == "" {
			return yamlfile.Wrong(fmt.Sprintf("bases[%d]", i), "a base has a name, a language, a reference and an answer")
		}
	}
	for i, f := range s.families {
		for k, w := range f.Wordings {
			field := fmt.Sprintf("families[%d].wordings[%d]", i, k)
			if _, err := w.fill(Base{}, Base{}); err != nil {
				return yamlfile.Wrong(field, "%w", err)
			}
			if w.Base != "" && !slices.ContainsFunc(s.bases, func(b Base) bool { return b.Name == w.Base }) {
				return yamlfile.Wrong(field, "there is no base %q", w.Base)
			}
			if (w.Reference == "") != (w.Language == "") {
				return yamlfile.Wrong(field, "a wording with a reference of its own says its language, and no other does")
			}
		}
	}
	return nil
}

// Families returns the names of the families, in order.
func (s *Set) Families() []string {
	var names []string
	for _, f := range s.families {
		names = append(names, f.Name)
	}
	return names
}

// Items fills every wording with at most each of the bases that it may have,
// which are the same in every run. Nil means the part's own bases, and adds what
// needs these: answers in other languages, and references that look like
// wrappings. Names of bases are different ones.
func (s *Set) Items(bases []Base, each int) ([]Item, error) {
	own := bases == nil
	if own {
		bases = s.bases
	}
	if len(bases) == 0 {
		return nil, errors.New("no base to fill the wordings with")
	}
	var items []Item
	for _, f := range s.families {
		for k, w := range f.Wordings {
			name := fmt.Sprintf("%s/%s/%d", s.part, f.Name, k+1)
			may := []Base{{Name: "own", Language: w.Language, Reference: w.Reference, Answer: w.Reference}}
			if w.Reference == "" {
				may = w.bases(name, bases, each)
			}
			if !own && (w.Reference != "" || w.Base != "") {
				continue
			}
			for _, b := range may {
				item, err := w.fill(b, another(b, bases))
				if err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
				item.Name, item.Family = name+"/"+b.Name, f.Name
				items = append(items, item)
			}
		}
	}
	return items, nil
}

// bases returns those that a wording is filled with.
func (w wording) bases(name string, all []Base, each int) []Base {
	var may []Base
	for _, b := range all {
		switch {
		case w.Base != "" && w.Base != b.Name,
			w.For != "" && !slices.Contains(strings.Fields(w.For), b.Language),
			w.Sentence && !strings.ContainsAny(lastRune(b.Reference), ".!?。！？…"),
			strings.Contains(w.Text, "{second") && b.Second == "":
			continue
		}
		may = append(may, b)
	}
	if w.Every {
		return may
	}
	slices.SortFunc(may, func(a, b Base) int {
		return strings.Compare(shuffled(name, a.Name), shuffled(name, b.Name))
	})
	return may[:min(len(may), each)]
}

func shuffled(wording, base string) string {
	h := fnv.New128a()
	h.Write([]byte(wording + "\n" + base))
	return string(h.Sum(nil))
}

func lastRune(s string) string {
	r := []rune(s)
	return string(r[max(0, len(r)-1):])
}

// another returns the base after b that has the same language.
func another(b Base, all []Base) Base {
	i := slices.IndexFunc(all, func(o Base) bool { return o.Name == b.Name })
	for k := range all {
		if o := all[(i+1+k)%len(all)]; o.Language == b.Language && o.Reference != b.Reference {
			return o
		}
	}
	return b
}

// Wordings returns the texts of the wordings by family.
func (s *Set) Wordings() map[string][]string {
	texts := map[string][]string{}
	for _, f := range s.families {
		for _, w := range f.Wordings {
			texts[f.Name] = append(texts[f.Name], w.Text)
		}
	}
	return texts
}

package dataset

import (
	"bytes"
	"context"
	"io"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/internal/text"
)

// levelSuffix ends the names of the files with scores of a level, as
// mt-metrics-eval spells it.
func levelSuffix(l correlate.Level) string {
	return "." + [...]string{"seg", "doc", "domain", "sys"}[l] + ".score"
}

// Grouping says which document and which domain each segment of a folder
// belongs to. Both are indices into the names.
type Grouping struct {
	Documents, Domains   []string // documents in their order, domains sorted
	DocumentOf, DomainOf []int    // of each segment
}

// Groups reads the documents and domains of an "mtme:DIR/TESTSET/LP" dataset,
// which [correlate.DocumentLevel] and [correlate.DomainLevel] refer to. The segments of a document
// must follow each other. A folder without documents is an error.
func Groups(spec string) (*Grouping, error) {
	f, err := openStored(spec)
	if err != nil {
		return nil, err
	}
	return f.groups()
}

func (f *folder) groups() (*Grouping, error) {
	in, err := f.documents()
	if err != nil {
		return nil, err
	}
	if in == nil {
		return nil, failFile(f.root, "%s has no documents/%s.docs, which says what the documents and domains are", f.lp, f.lp)
	}
	l, err := in.lines(context.Background(), func(Warning) {})
	if err != nil {
		return nil, err
	}
	defer l.close()
	g := &Grouping{}
	documents, domains := map[string]int{}, map[string]int{}
	var perSegment []string
	for {
		line, err := l.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		domain, document, err := splitDocument(line, l.pos())
		if err != nil {
			return nil, err
		}
		i, ok := documents[string(document)]
		switch {
		case !ok:
			i = len(g.Documents)
			documents[string(document)] = i
			g.Documents = append(g.Documents, string(document))
		case i != len(g.Documents)-1:
			return nil, failAt(l.pos(), 0, "document %s has segments before other documents; the segments of a document must follow each other", text.Quote(string(document)))
		case perSegment[len(perSegment)-1] != string(domain):
			return nil, failAt(l.pos(), 0, "document %s is in the domain %s and in %s; a document has one domain",
				text.Quote(string(document)), text.Quote(perSegment[len(perSegment)-1]), text.Quote(string(domain)))
		}
		g.DocumentOf = append(g.DocumentOf, i)
		domains[string(domain)] = 0
		perSegment = append(perSegment, string(domain))
	}
	g.Domains = slices.Sorted(maps.Keys(domains))
	for i, d := range g.Domains {
		domains[d] = i
	}
	for _, d := range perSegment {
		g.DomainOf = append(g.DomainOf, domains[d])
	}
	return g, nil
}

// items returns the names of what the scores of a level belong to, and their
// number. Segments and the whole have no names.
func (f *folder) items(level correlate.Level) (names []string, n int, err error) {
	switch level {
	case correlate.SystemLevel:
		return nil, 1, nil
	case correlate.SegmentLevel:
		n, err = f.source.countLines()
		return nil, n, err
	}
	g, err := f.groups()
	if err != nil {
		return nil, 0, err
	}
	if names = g.Documents; level == correlate.DomainLevel {
		names = g.Domains
	}
	return names, len(names), nil
}

// scanDomainScores reads the lines "DOMAIN<tab>SYSTEM<tab>SCORE" of a file,
// which may be in any order. A domain of which a system has no line is a
// missing score, as in mt-metrics-eval.
func scanDomainScores(l *lineReader, systems, domains []string) ([]SystemScores, error) {
	var all []SystemScores
	lineOf := map[[2]string]int{}
	for {
		line, err := l.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		first, rest, ok := cutField(line)
		system, field, isScore := splitScore(rest)
		if !ok || !isScore {
			return nil, failAt(l.pos(), 0, "want a domain, a system and a score, parted by tabs, not %s", text.Quote(string(line)))
		}
		domain := slices.Index(domains, string(first))
		if domain < 0 {
			return nil, failAt(l.pos(), 0, "unknown domain %s%s; there are %s", text.Quote(string(first)), didYouMean(string(first), domains), quotedNames(domains))
		}
		if !slices.Contains(systems, string(system)) {
			return nil, failAt(l.pos(), 0, "unknown system %s%s: the test set has no outputs of it", text.Quote(string(system)), didYouMean(string(system), systems))
		}
		score, valid, ok := parseScore(field)
		if !ok {
			return nil, badScore(l.pos(), string(system), field)
		}
		key := [2]string{string(first), string(system)}
		if n, again := lineOf[key]; again {
			return nil, failAt(l.pos(), 0, "system %s has a score for the domain %s on line %d already", text.Quote(key[1]), text.Quote(key[0]), n)
		}
		lineOf[key] = l.line
		i := slices.IndexFunc(all, func(s SystemScores) bool { return s.System == key[1] })
		if i < 0 {
			i = len(all)
			all = append(all, SystemScores{key[1], make([]float64, len(domains)), make([]bool, len(domains))})
		}
		all[i].Values[domain], all[i].Valid[domain] = score, valid
	}
	if len(all) == 0 {
		return nil, failFile(l.file, "has no scores")
	}
	return all, nil
}

// cutField cuts the first field of a line, up to a tab, or to white space
// where there is no tab.
func cutField(line []byte) (field, rest []byte, ok bool) {
	line = text.Trim(line)
	if before, after, ok := bytes.Cut(line, []byte{'\t'}); ok {
		return text.Trim(before), after, true
	}
	i := bytes.IndexFunc(line, text.IsSpace)
	if i < 0 {
		return nil, nil, false
	}
	_, size := utf8.DecodeRune(line[i:])
	return line[:i], line[i+size:], true
}

// splitDocument reads a line of domain and document, parted by a tab or other
// white space.
func splitDocument(line []byte, pos refract.Position) (domain, document []byte, err error) {
	fields := bytes.Fields(line)
	if tabs := bytes.Split(text.Trim(line), []byte{'\t'}); len(tabs) == 2 {
		fields = tabs
	}
	if len(fields) != 2 {
		return nil, nil, failAt(pos, 0, "want a domain, a tab and a document, not %s", text.Quote(string(line)))
	}
	return fields[0], fields[1], nil
}

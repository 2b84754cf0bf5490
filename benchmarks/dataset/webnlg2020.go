package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/packed"
	"github.com/refract-eval/refract/internal/text"
)

// webnlg2020 is a copy of the repository of the challenge. Entry k of the
// references, line k of a submission and the key "k" of the scores belong
// together.
type webnlg2020 struct {
	dir, language string
	references    string // a file, "" for that of the repository
	judged        bool   // only the segments that people judged
}

func (w *webnlg2020) path(parts ...string) string {
	return filepath.Join(append([]string{w.dir}, parts...)...)
}

func (w *webnlg2020) read(warn func(Warning)) ([]*refract.Segment, error) {
	path := w.references
	if path == "" {
		path = w.path("evaluation", "references", "references-"+w.language+".json")
	}
	var segments []*refract.Segment
	var err error
	if strings.EqualFold(filepath.Ext(packed.Name(path)), ".xml") {
		segments, err = readWebNLGXML(path, w.language, warn)
	} else {
		segments, err = w.readEntries(path, warn)
	}
	if err != nil {
		return nil, err
	}
	if err := w.addSubmissions(segments, path, warn); err != nil {
		return nil, err
	}
	judged, err := w.addScores(segments, warn)
	if err != nil {
		return nil, err
	}
	if w.judged {
		segments = slices.DeleteFunc(segments, func(s *refract.Segment) bool { return !judged[s] })
	}
	warnNoReferences(path, segments, "the language may be another one", warn)
	return segments, nil
}

// readEntries reads {"entries":[{"1":{"category":"…","lexicalisations":
// [{"lex":"…","lang":"en"}],"modifiedtripleset":[{"subject":"…","property":
// "…","object":"…"}]}}]}. What else an entry has is not read.
func (w *webnlg2020) readEntries(path string, warn func(Warning)) ([]*refract.Segment, error) {
	var segments []*refract.Segment
	found := false
	err := scanFile(path, warn, func(r reader) error {
		return r.Members("field", func(name []byte) error {
			if string(name) != "entries" {
				return r.Skip()
			}
			found = true
			return r.Elements(func(i int) error {
				return r.Members("entry", func(id []byte) error {
					if len(segments) > i || string(id) != ordinal(i) {
						return jsonline.Fault(r.Name(), "entry %s where %q should be", text.Quote(string(id)), ordinal(len(segments)))
					}
					line, _ := r.Position(r.Name())
					s := &refract.Segment{ID: string(id), Pos: refract.Position{File: path, Line: line}}
					segments = append(segments, s)
					return w.entry(r, s)
				})
			})
		})
	})
	if err == nil && !found {
		err = failFile(path, `there is no "entries"`)
	}
	return segments, err
}

var triple = []string{"subject", "property", "object"}

func (w *webnlg2020) entry(r reader, s *refract.Segment) error {
	return r.Members("field", func(name []byte) (err error) {
		switch string(name) {
		case "category":
			s.Domain, err = r.StringOrEmpty()
		case "lexicalisations":
			err = r.Elements(func(int) error {
				var lex refract.Text
				var lang string
				err := r.Members("field", func(name []byte) (err error) {
					switch string(name) {
					case "lex":
						lex, err = r.text()
					case "lang":
						lang, err = r.StringOrEmpty()
					default:
						err = r.Skip()
					}
					return err
				})
				if lang == "" || lang == w.language {
					s.References = append(s.References, lex)
				}
				return err
			})
		case "modifiedtripleset":
			var lines []string
			err = r.Elements(func(int) error {
				var parts [3]string
				err := r.Members("field", func(name []byte) (err error) {
					if k := slices.Index(triple, string(name)); k >= 0 {
						parts[k], err = r.String()
					} else {
						err = r.Skip()
					}
					return err
				})
				lines = append(lines, strings.Join(parts[:], " | "))
				return err
			})
			s.Source = refract.NewText(strings.Join(lines, "\n"))
		default:
			err = r.Skip()
		}
		return err
	})
}

// teams lists the folders of a folder that have a file, in byte order.
func teams(dir, file string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fileError(dir, err)
	}
	var all []string
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		switch _, err := os.Stat(filepath.Join(dir, e.Name(), file)); {
		case err == nil:
			all = append(all, e.Name())
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fileError(filepath.Join(dir, e.Name(), file), err)
		}
	}
	slices.Sort(all)
	return all, nil
}

// addSubmissions adds the texts of submissions/rdf2text/LANGUAGE/TEAM/
// primary.LANGUAGE. Other submissions of a team were not judged, and are not
// read.
func (w *webnlg2020) addSubmissions(segments []*refract.Segment, references string, warn func(Warning)) error {
	dir := w.path("submissions", "rdf2text", w.language)
	file := "primary." + w.language
	all, err := teams(dir, file)
	if err != nil {
		return err
	}
	for _, team := range all {
		path := filepath.Join(dir, team, file)
		lines, err := readLines(path, warn, text.TrimRight[[]byte])
		if err != nil {
			return err
		}
		if len(lines) != len(segments) {
			return failFile(path, "has %s, but %s has %s; line k must belong to entry k", english.Count(len(lines), "line"), text.Path(references), english.Count(len(segments), "segment"))
		}
		for i, line := range lines {
			segments[i].Hypotheses = append(segments[i].Hypotheses, refract.Hypothesis{System: team, Text: refract.NewText(line)})
		}
	}
	return nil
}

// addScores adds the means of the raters' scores from evaluation/
// human-evaluation/results/LANGUAGE/TEAM/primary.json, and tells which
// segments have some. Scores of a team without texts, such as that of the
// references, cannot be used: it warns of them.
func (w *webnlg2020) addScores(segments []*refract.Segment, warn func(Warning)) (map[*refract.Segment]bool, error) {
	dir := w.path("evaluation", "human-evaluation", "results", w.language)
	all, err := teams(dir, "primary.json")
	if err != nil {
		return nil, err
	}
	judged := map[*refract.Segment]bool{}
	for _, team := range all {
		path := filepath.Join(dir, team, "primary.json")
		without := 0
		err := scanFile(path, warn, func(r reader) error {
			return r.Members("segment", func(id []byte) error {
				n, err := strconv.Atoi(string(id))
				if err != nil || n < 1 || n > len(segments) {
					return jsonline.Fault(r.Name(), "there is no segment %s; there are 1 to %d", text.Quote(string(id)), len(segments))
				}
				s := segments[n-1]
				if slices.ContainsFunc(s.Judgements, func(j refract.Judgement) bool { return j.System == team }) {
					return jsonline.Fault(r.Name(), "segment %s is there twice", text.Quote(string(id)))
				}
				var scores average
				// {"worker":{"Fluency":90,…},…}, perhaps with a remark
				err = r.Members("rater", func([]byte) error { return r.aspects(&scores, "feedback") })
				if err != nil {
					return err
				}
				if !slices.ContainsFunc(s.Hypotheses, func(h refract.Hypothesis) bool { return h.System == team }) {
					without++
					return nil
				}
				s.Judgements = scores.judgements(s.Judgements, "", team, mean)
				judged[s] = true
				return nil
			})
		})
		if err != nil {
			return nil, err
		}
		if without > 0 {
			warn(Warning{refract.Position{File: path}, fmt.Sprintf("the scores of %s are not used: there is no submission of %s", english.Count(without, "segment"), text.Quote(team))})
		}
	}
	return judged, nil
}

package dataset

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/packed"
	"github.com/refract-eval/refract/internal/text"
)

// openCommonGen reads CommonGen (Lin et al., Findings of EMNLP 2020) in three
// forms: the data set in JSON Lines (concept_set, scene); its authors' outputs
// for people to rank (input, sentences, references); and, where the name ends
// in ".txt" or ".tsv", the ranked pairs that InstructScore was evaluated on
// (Xu et al., EMNLP 2023), whose references come from the data set.
func openCommonGen(place string, o Options) (*set, error) {
	path, options, err := splitSpec("commongen", place, []string{"references"}, nil)
	if err != nil {
		return nil, err
	}
	scenes := options.get("references")
	pairs := slices.Contains([]string{".txt", ".tsv"}, strings.ToLower(filepath.Ext(packed.Name(path))))
	if scenes != "" && !pairs {
		return nil, specError("dataset %s: references= belongs to the ranked pairs (FILE.txt or FILE.tsv); rows in JSON Lines have their own", text.Quote("commongen:"+place))
	}
	return openHeld(path, o, func(warn func(Warning)) ([]*refract.Segment, error) {
		if !pairs {
			return readConcepts(path, warn)
		}
		references := map[string][]refract.Text{}
		if scenes != "" {
			rows, err := readConcepts(scenes, warn)
			if err != nil {
				return nil, err
			}
			for _, s := range rows {
				key := conceptKey(s.Source.Value)
				references[key] = append(references[key], s.References...)
			}
		}
		segments, err := readRankedPairs(path, references, warn)
		if err == nil {
			warnNoReferences(path, segments, "name the data set with references=commongen.dev.jsonl", warn)
		}
		return segments, err
	})
}

// conceptKey is the same for concepts in any order.
func conceptKey(concepts string) string {
	return strings.Join(slices.Sorted(slices.Values(strings.FieldsFunc(concepts, func(r rune) bool { return r == ',' || text.IsSpace(r) }))), " ")
}

func readConcepts(path string, warn func(Warning)) (segments []*refract.Segment, err error) {
	err = eachLine(path, warn, func(line []byte, pos refract.Position) error {
		s, err := parseConcepts(line, pos)
		segments = append(segments, s)
		return err
	})
	return segments, err
}

func parseConcepts(line []byte, pos refract.Position) (*refract.Segment, error) {
	s := &refract.Segment{ID: ordinal(pos.Line - 1), Pos: pos}
	has, err := scanFields(line, pos, nil, "row", "", func(r reader) []jsonline.Field {
		return []jsonline.Field{
			jsonline.With("concept_set", func() error {
				set, err := r.String()
				s.Source = refract.NewText(concepts(set))
				return err
			}),
			jsonline.To("scene", &s.References, r.texts),
			r.none("reason"), // people's remarks on the scenes
			jsonline.With("input", func() error {
				var words []string
				err := r.OrNull(func() error {
					return r.Elements(func(int) error {
						word, err := r.String()
						words = append(words, word)
						return err
					})
				})
				s.Source = refract.NewText(strings.Join(words, " "))
				return err
			}),
			jsonline.To("references", &s.References, r.texts),
			jsonline.With("sentences", func() error { return r.sentences(s) }),
		}
	})
	if err == nil && has["concept_set"] == has["input"] {
		err = failAt(pos, 0, `the row must have either "concept_set" or "input"`)
	}
	if err == nil && has["scene"] && has["references"] {
		err = failAt(pos, 0, `the row has both "scene" and "references"; remove one`)
	}
	return s, err
}

// concepts turns "field_N#look_V" into "field look": the parts of speech are
// not what a system is given.
func concepts(set string) string {
	words := strings.Split(set, "#")
	for i, w := range words {
		for _, pos := range []string{"_N", "_V"} {
			if cut, ok := strings.CutSuffix(w, pos); ok {
				words[i] = cut
				break
			}
		}
	}
	return strings.Join(words, " ")
}

// sentences reads [["model","output"],…].
func (r reader) sentences(s *refract.Segment) error {
	return r.Elements(func(i int) error {
		at := r.Offset()
		pair, err := r.texts()
		switch {
		case err != nil:
			return err
		case len(pair) != 2 || !pair[0].Valid || pair[0].Value == "":
			return jsonline.Fault(at, "sentences[%d] must be the name of a model and its output", i)
		case slices.ContainsFunc(s.Hypotheses, func(h refract.Hypothesis) bool { return h.System == pair[0].Value }):
			return jsonline.Fault(at, "sentences has two outputs of %s", text.Quote(pair[0].Value))
		}
		s.Hypotheses = append(s.Hypotheses, refract.Hypothesis{System: pair[0].Value, Text: pair[1]})
		return nil
	})
}

// readRankedPairs reads lines "N<tab>first|second<tab>concepts<tab>output<tab>
// score". The two lines of a pair follow each other and have the same score,
// above 0 where the first is better, and below where the second is.
func readRankedPairs(path string, references map[string][]refract.Text, warn func(Warning)) ([]*refract.Segment, error) {
	var segments []*refract.Segment
	var first []string
	var score float64
	err := eachLine(path, warn, func(line []byte, pos refract.Position) error {
		f := strings.Split(string(line), "\t")
		want := "first"
		if first != nil {
			want = "second"
		}
		switch {
		case len(f) != 5:
			return failAt(pos, 0, "want five fields parted by tabs (a number, first or second, concepts, an output, a score), not %d", len(f))
		case f[1] != want:
			return failAt(pos, 0, "the second field is %s; want %q: the two lines of a pair follow each other", text.Quote(f[1]), want)
		}
		v, valid, ok := parseScore([]byte(strings.TrimSpace(f[4])))
		if !ok || !valid {
			return failAt(pos, 0, "the score is %s; want a number", text.Quote(f[4]))
		}
		if first == nil {
			first, score = f, v
			return nil
		}
		if first[0] != f[0] || first[2] != f[2] || score != v {
			return failAt(pos, 0, "the number, concepts and score of the second output are not those of the first, on the line before")
		}
		s := &refract.Segment{ID: ordinal(len(segments)), Source: refract.NewText(f[2]), References: slices.Clone(references[conceptKey(f[2])]), Pos: pos}
		setPreference(s, refract.NewText(first[3]), refract.NewText(f[3]), v, 0, true)
		segments = append(segments, s)
		first = nil
		return nil
	})
	if err == nil && first != nil {
		err = failFile(path, "pair %s has no second output: the file ends after %s of pairs", text.Quote(first[0]), english.Count(2*len(segments)+1, "line"))
	}
	return segments, err
}

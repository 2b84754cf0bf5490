package language

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// The defaults of Config.
const (
	DefaultMinLetters = 20
	DefaultShare      = 0.9
	DefaultMargin     = 0.5
)

// Config says between which languages to decide, and how sure to be.
type Config struct {
	// Languages are ISO 639-1 codes, such as "de" and "zh". Repeated ones count
	// once; two different ones are the least.
	Languages []string
	// MinLetters is how many letters a text must have; shorter ones are
	// undecided. A Chinese character, and one of another script without an
	// alphabet, counts as three. 0 means DefaultMinLetters.
	MinLetters int
	// Share is the share of letters that must be of a script, for the text to
	// be in a language of that script. 0 means DefaultShare.
	Share float64
	// Margin is by how much the probability of a language, which is between 0
	// and 1, must exceed that of the next one, where models decide. 0 means
	// DefaultMargin.
	Margin float64
}

// Detector tells the language of texts. It is safe for concurrent use.
type Detector struct {
	cfg     Config
	scripts [][]string // the languages of each script, in the order of Scripts
	models  []func() model
}

// model decides between languages of one script.
type model interface {
	// detect returns the most probable language, and its probability less that
	// of the next one.
	detect(text string) (code string, margin float64)
}

// script is a way of writing, and the languages written so.
type script struct {
	name   string
	tables []*unicode.RangeTable
	weight int // letters that a character counts for
	codes  string
}

func scripts() []script {
	return []script{
		{"Latin", []*unicode.RangeTable{unicode.Latin}, 1, "af sq az eu bs ca hr cs da nl en eo et fi fr lg de hu is id ga it la lv lt ms mi nb nn pl pt ro sn sk sl so st es sw sv tl ts tn tr vi cy xh yo zu"},
		{"Cyrillic", []*unicode.RangeTable{unicode.Cyrillic}, 1, "be bg kk mk mn ru sr uk"},
		{"Han", []*unicode.RangeTable{unicode.Han}, 3, "zh"},
		{"Japanese", []*unicode.RangeTable{unicode.Hiragana, unicode.Katakana}, 3, "ja"},
		{"Hangul", []*unicode.RangeTable{unicode.Hangul}, 3, "ko"},
		{"Arabic", []*unicode.RangeTable{unicode.Arabic}, 1, "ar fa ur"},
		{"Devanagari", []*unicode.RangeTable{unicode.Devanagari}, 1, "hi mr"},
		{"Greek", []*unicode.RangeTable{unicode.Greek}, 1, "el"},
		{"Hebrew", []*unicode.RangeTable{unicode.Hebrew}, 1, "he"},
		{"Thai", []*unicode.RangeTable{unicode.Thai}, 1, "th"},
		{"Armenian", []*unicode.RangeTable{unicode.Armenian}, 1, "hy"},
		{"Bengali", []*unicode.RangeTable{unicode.Bengali}, 1, "bn"},
		{"Georgian", []*unicode.RangeTable{unicode.Georgian}, 1, "ka"},
		{"Gujarati", []*unicode.RangeTable{unicode.Gujarati}, 1, "gu"},
		{"Gurmukhi", []*unicode.RangeTable{unicode.Gurmukhi}, 1, "pa"},
		{"Tamil", []*unicode.RangeTable{unicode.Tamil}, 1, "ta"},
		{"Telugu", []*unicode.RangeTable{unicode.Telugu}, 1, "te"},
	}
}

// Codes returns the known ISO 639-1 codes, sorted.
func Codes() []string {
	var codes []string
	for _, s := range scripts() {
		codes = append(codes, strings.Fields(s.codes)...)
	}
	slices.Sort(codes)
	return codes
}

// ErrNoModels is the cause of New's error where languages share a script and
// the program was built without lingua's models.
var ErrNoModels = errors.New("this program was built without language models (build tag nolingua), which languages of one script need")

// New returns a Detector. It loads no model. Errors: fewer than two languages,
// an unknown one, thresholds out of range, or ErrNoModels.
func New(cfg Config) (*Detector, error) {
	var codes []string
	for _, c := range cfg.Languages {
		c = strings.ToLower(c)
		if !slices.Contains(Codes(), c) {
			return nil, fmt.Errorf("language: unknown language %q; known are the ISO 639-1 codes %s", c, strings.Join(Codes(), ", "))
		}
		if !slices.Contains(codes, c) {
			codes = append(codes, c)
		}
	}
	if len(codes) < 2 {
		return nil, fmt.Errorf("language: %d language to tell apart (%s); there must be two", len(codes), strings.Join(codes, ", "))
	}
	slices.Sort(codes)
	cfg.Languages = codes
	if cfg.MinLetters == 0 {
		cfg.MinLetters = DefaultMinLetters
	}
	if cfg.Share == 0 {
		cfg.Share = DefaultShare
	}
	if cfg.Margin == 0 {
		cfg.Margin = DefaultMargin
	}
	switch {
	case cfg.MinLetters < 0:
		return nil, fmt.Errorf("language: MinLetters is %d; it must be at least 1", cfg.MinLetters)
	case math.IsNaN(cfg.Share) || cfg.Share < 0.5 || cfg.Share > 1:
		return nil, fmt.Errorf("language: Share is %v; it must be in [0.5, 1]", cfg.Share)
	case math.IsNaN(cfg.Margin) || cfg.Margin < 0 || cfg.Margin > 1:
		return nil, fmt.Errorf("language: Margin is %v; it must be in (0, 1]", cfg.Margin)
	}
	d := &Detector{cfg: cfg}
	for _, s := range scripts() {
		var here []string
		for _, c := range strings.Fields(s.codes) {
			if slices.Contains(codes, c) {
				here = append(here, c)
			}
		}
		var m func() model
		if len(here) > 1 {
			if modelSource == "" {
				return nil, fmt.Errorf("language: %s: %w", strings.Join(here, " and "), ErrNoModels)
			}
			m = sync.OnceValue(func() model { return newModel(here) })
		}
		d.scripts = append(d.scripts, here)
		d.models = append(d.models, m)
	}
	return d, nil
}

// Detect returns the language of a text, and whether it is sure of it: there
// are enough letters, nearly all of one script, which only one of the
// languages has or of which one is clearly the most probable. Otherwise it
// returns "" and false.
func (d *Detector) Detect(text string) (code string, sure bool) {
	s := d.script(text)
	if s < 0 || len(d.scripts[s]) == 0 {
		return "", false
	}
	if len(d.scripts[s]) == 1 {
		return d.scripts[s][0], true
	}
	code, margin := d.models[s]().detect(text)
	if margin < d.cfg.Margin {
		return "", false
	}
	return code, true
}

// script returns the index of the script of a text, or -1.
func (d *Detector) script(text string) int {
	table := scripts()
	counts := make([]int, len(table))
	total := 0
	for _, r := range text {
		if r < 0x80 {
			if 'a' <= r|0x20 && r|0x20 <= 'z' {
				counts[0]++
				total++
			}
			continue
		}
		if !unicode.IsLetter(r) {
			continue
		}
		weight := 1
		for i := range table {
			if unicode.In(r, table[i].tables...) {
				weight = table[i].weight
				counts[i] += weight
				break
			}
		}
		total += weight
	}
	if total < d.cfg.MinLetters {
		return -1
	}
	// Japanese is written with Chinese characters too.
	const han, japanese = 2, 3
	if counts[japanese] > 0 {
		counts[japanese], counts[han] = counts[japanese]+counts[han], 0
	}
	for i, n := range counts {
		if float64(n) >= d.cfg.Share*float64(total) {
			return i
		}
	}
	return -1
}

// Signature states the languages, thresholds and models.
func (d *Detector) Signature() string {
	by := "script"
	for _, m := range d.models {
		if m != nil {
			by = modelSource
		}
	}
	f := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	return fmt.Sprintf("%s(%s;letters=%d;share=%s;margin=%s)", by, strings.Join(d.cfg.Languages, ","), d.cfg.MinLetters, f(d.cfg.Share), f(d.cfg.Margin))
}

package language

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
)

const (
	// minLetters is the minimum number of letters in a text; shorter ones are undecided. A
	// character of Chinese, or of another script without an alphabet, counts as three.
	minLetters = 12
	// minShare is the share of letters that must belong to a script for the text to be in it.
	minShare = 0.9
	// threshold is a probability: if an answer is in its reference's language with a lower
	// one, it is taken to be in another language.
	threshold = 0.005
)

// Config says what is known about the references. In its zero value nothing is known.
type Config struct {
	// Language is the language of the references, as an ISO 639-1 code such as "de". If it
	// is "", it is detected from each reference and those given to Learn. A language not in
	// Codes is distinguished from others only by its script.
	Language string
	// Source is the language of the sources, "" if unknown. Answers are often in it by
	// mistake.
	Source string
	// Models uses the models of lingua-go for languages of the same script. Without them,
	// as in a program built with the tag lean, scripts and frequent words decide.
	Models bool
}

// Detector tells whether answers are in the language of their reference. It is safe
// for concurrent use.
type Detector struct {
	cfg     Config
	scripts []script
	known   bool // whether the models may know the references' language
	models  models
	priors  []func() []float64 // prior probabilities of languages, for each script
	usual   func() int         // the script of most references
	sample  []string
}

// script is a script and the languages written in it.
type script struct {
	name   string
	tables []*unicode.RangeTable
	weight int // number of letters that a character counts as
	codes  []string
}

// Indexes into scripts.
const (
	han      = 2
	japanese = 3
)

func scripts() []script {
	of := func(name string, weight int, codes string, tables ...*unicode.RangeTable) script {
		return script{name, tables, weight, strings.Fields(codes)}
	}
	all := []script{
		of("Latin", 1, "af sq az eu bs ca hr cs da nl en eo et fi fr lg de hu is id ga it la lv lt ms mi nb nn pl pt ro sn sk sl so st es sw sv tl ts tn tr vi cy xh yo zu", unicode.Latin),
		of("Cyrillic", 1, "be bg kk mk mn ru sr uk", unicode.Cyrillic),
		of("Han", 3, "zh", unicode.Han),
		of("Japanese", 3, "ja", unicode.Hiragana, unicode.Katakana),
		of("Hangul", 3, "ko", unicode.Hangul),
		of("Arabic", 1, "ar fa ur", unicode.Arabic),
		of("Devanagari", 1, "hi mr", unicode.Devanagari),
	}
	for other := range strings.FieldsSeq("Greek:el Hebrew:he Thai:th Armenian:hy Bengali:bn Georgian:ka Gujarati:gu Gurmukhi:pa Tamil:ta Telugu:te " +
		"Ethiopic Kannada Khmer Lao Malayalam Myanmar Sinhala") {
		name, code, _ := strings.Cut(other, ":")
		all = append(all, of(name, 1, code, unicode.Scripts[name]))
	}
	return all
}

const (
	// likely lists languages in which models often answer by mistake. The prior
	// probability of all others is lower by the factor unlikely.
	likely   = "en de fr es it pt nl pl ru tr id vi sv da nb fi cs sk ro hu uk hr sl bg be ms ar fa hi"
	unlikely = 0.005
	// surprise is the probability that a reference is not in the dataset's known
	// language. doubt is the probability that every language keeps, whatever the models
	// say about a reference.
	surprise = 0.05
	doubt    = 0.002
	// The models read excerptLetters of a text. Below fullLetters the threshold falls
	// with the number of letters, so the models must be more certain.
	excerptLetters = 60
	fullLetters    = 40
	// inTwoScripts lists languages that are also written in another script than scripts says.
	inTwoScripts = "sr az kk mn pa ms"
)

// Codes returns the ISO 639-1 codes of the languages that can be told apart, sorted.
func Codes() []string {
	var codes []string
	for _, s := range scripts() {
		codes = append(codes, s.codes...)
	}
	slices.Sort(codes)
	return codes
}

// New returns a Detector. It loads no models.
func New(cfg Config) *Detector {
	cfg.Language, cfg.Source = strings.ToLower(cfg.Language), strings.ToLower(cfg.Source)
	d := &Detector{cfg: cfg, scripts: scripts()}
	d.usual = sync.OnceValue(d.usualScript)
	d.known = cfg.Models && ModelsName != "" && (cfg.Language == "" || slices.Contains(Codes(), cfg.Language))
	for i := range d.scripts {
		d.priors = append(d.priors, sync.OnceValue(func() []float64 { return d.prior(i) }))
	}
	return d
}

// Learn uses some references of the dataset to estimate in which languages the others
// are. It must be called before the first Beside or not at all, and does nothing if
// Config.Language is set.
func (d *Detector) Learn(references []string) {
	if d.cfg.Language == "" && d.sample == nil {
		d.sample = references
	}
}

// fewest is the number of texts of a known language that may settle that a stated one is wrong.
const fewest = 5

// Contradicts says how most texts differ from the stated language, such as "9 of 10 references are
// en, not de", where they do; else it is "". nearly is set if nearly all of them do. The texts are
// what is named; what the detector was made for does not matter.
func (d *Detector) Contradicts(stated, what string, texts []string) (found string, nearly bool) {
	stated, _, _ = strings.Cut(strings.ToLower(stated), "_") // as in pt_BR
	own := slices.IndexFunc(d.scripts, func(s script) bool { return slices.Contains(s.codes, stated) })
	if own < 0 {
		return "", false
	}
	counts, known, contrary := map[string]int{}, 0, 0
	for _, t := range texts {
		s, other := d.script(t, minShare), ""
		switch {
		case s < 0:
			continue
		case s != own:
			other = fmt.Sprintf("written in %s, not %s", d.scripts[s].name, d.scripts[own].name)
		default:
			other = d.otherThan(stated, own, t)
		}
		if known++; other != "" {
			contrary++
			counts[other]++
		}
	}
	most := slices.MaxFunc(append(slices.Sorted(maps.Keys(counts)), ""), func(a, b string) int { return counts[a] - counts[b] })
	byScript := strings.HasPrefix(most, "written")
	if 2*contrary <= known || !byScript && known < fewest {
		return "", false
	}
	nearly = known >= fewest && 10*contrary >= 9*known && !(byScript && strings.Contains(inTwoScripts, stated))
	return fmt.Sprintf("%d of %s are %s", counts[most], english.Count(known, what), most), nearly
}

// otherThan says in which language a text is that is in the script of the stated one, if it is
// surely another: "en, not de"; else "".
func (d *Detector) otherThan(stated string, script int, t string) string {
	codes := d.scripts[script].codes
	if len(codes) > 1 && d.cfg.Models && ModelsName != "" {
		t, _ = excerpt(t)
		p := d.models.probabilities(t, codes)
		if i := place(p); p[i] > 0.5 && p[slices.Index(codes, stated)] < threshold {
			return codes[i] + ", not " + stated
		}
		return ""
	}
	f := frequentWords()
	if i, own, n := slices.Index(f.codes, stated), uint64(0), 0; i >= 0 {
		if own, n = f.most(t); n >= surely && own&(1<<i) == 0 {
			return Of(t) + ", not " + stated
		}
	}
	return ""
}

// usualScript returns the index of the script of most references, or -1. A reference
// with names in another script may seem to be written in that script.
func (d *Detector) usualScript() int {
	if d.cfg.Language != "" {
		return slices.IndexFunc(d.scripts, func(s script) bool { return slices.Contains(s.codes, d.cfg.Language) })
	}
	counts := make([]int, len(d.scripts))
	for _, text := range d.sample {
		if s := d.script(text, minShare); s >= 0 {
			counts[s]++
		}
	}
	if s := place(counts); counts[s] > 0 {
		return s
	}
	return -1
}

// prior returns the probabilities of a script's languages for a reference before it is
// read.
func (d *Detector) prior(s int) []float64 {
	codes := d.scripts[s].codes
	p := make([]float64, len(codes))
	if i := slices.Index(codes, d.cfg.Language); i >= 0 {
		p[i] = 1
	}
	for _, text := range d.sample {
		if d.script(text, minShare) == s {
			text, _ := excerpt(text)
			for i, v := range d.models.probabilities(text, codes) {
				p[i] += v
			}
		}
	}
	normalize(p)
	for i := range p {
		p[i] = (1-surprise)*p[i] + surprise/float64(len(p))
	}
	normalize(p)
	return p
}

// Beside returns a function that tells whether an answer to a reference is in another
// language. The function gets the answer without the words that it shares with the
// reference, and the whole answer; both must be in another language. It returns a
// sentence about the language, or "". Beside is safe for concurrent use, the function is
// not.
func (d *Detector) Beside(reference string) func(rest, answer string) string {
	b := &besides{Detector: d, reference: reference, own: d.script(reference, ownShare)}
	// A short reference may be a name in a script other than the dataset's.
	b.certain = d.cfg.Language == "" && d.script(reference, minShare) == b.own &&
		utf8.RuneCountInString(reference)*d.scripts[max(b.own, 0)].weight >= fullLetters
	words := sync.OnceValue(b.byWords)
	return func(rest, answer string) string {
		found := b.byModels(rest, answer)
		if found != "" || words() == 0 {
			return found
		}
		if code := frequentWords().other(words(), rest); code != "" && (d.known || !frequentWords().close(words(), code)) {
			return "its words are of another language than the reference: " + code
		}
		return ""
	}
}

// ownShare is the least share of a text's letters that its own script has.
const ownShare = 0.5

// besides compares the languages of answers with that of their reference.
type besides struct {
	*Detector
	reference     string
	own           int       // script of the reference; -1 for none
	certain       bool      // the reference is long enough to be in another script than the dataset
	probabilities []float64 // of the languages of a script, for the reference; nil until an answer needs them
}

// byWords returns the languages, as bits, that the frequent words of the reference are of; 0 if
// they do not say.
func (b *besides) byWords() uint64 {
	f := frequentWords()
	tongues, n := f.most(b.reference)
	switch i := slices.Index(f.codes, b.cfg.Language); {
	case i >= 0:
		return tongues | 1<<i
	case b.cfg.Language != "", n < surely, n*leastOf < len(text.LetterRuns(b.reference)):
		return 0 // its language has no words here, or seems to have none
	}
	return tongues
}

// byModels returns a sentence if scripts or models say that an answer is in another language.
func (b *besides) byModels(rest, answer string) string {
	s := b.script(rest, minShare)
	switch {
	case b.own < 0 || s < 0 || s != b.script(answer, ownShare) || s != b.own && s == b.usual() && !b.certain:
		return ""
	case s != b.own:
		return fmt.Sprintf("it is written in %s, not %s", b.scripts[s].name, b.scripts[b.own].name)
	case !b.known || len(b.scripts[s].codes) < 2:
		return ""
	}
	codes, prior := b.scripts[s].codes, b.priors[s]()
	var found []float64
	for _, text := range []string{rest, answer} {
		text, letters := excerpt(text)
		found = b.models.probabilities(text, codes)
		if i := place(prior); prior[i] > 0.9 && found[i] > 0.5 {
			return "" // the reference need not be read
		}
		if b.probabilities == nil {
			b.readReference(codes, prior)
		}
		if b.same(found, codes) >= threshold*min(1, float64(letters)/fullLetters) || slices.Max(found) == 0 {
			return ""
		}
	}
	return fmt.Sprintf("it is %s, not %s", codes[place(found)], codes[place(b.probabilities)])
}

// readReference computes the probabilities of languages for the reference.
func (b *besides) readReference(codes []string, prior []float64) {
	text, _ := excerpt(b.reference)
	b.probabilities = b.models.probabilities(text, codes)
	for i := range b.probabilities {
		b.probabilities[i] = (b.probabilities[i] + doubt) * prior[i]
	}
	normalize(b.probabilities)
}

// same returns the probability that an answer has the language of the reference. It weighs the
// probabilities of the answer by how likely its languages are.
func (b *besides) same(answer []float64, codes []string) (same float64) {
	for i, code := range codes {
		if code != b.cfg.Source && !strings.Contains(likely, code) {
			answer[i] *= max(unlikely, b.probabilities[i])
		}
	}
	normalize(answer)
	for i := range answer {
		same += b.probabilities[i] * answer[i]
	}
	return same
}

// excerpt returns the beginning of a text for the models, in whole words and valid
// UTF-8, and the number of its characters.
func excerpt(text string) (string, int) {
	letters, end := 0, 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		if end > 0 && letters+n > excerptLetters {
			break
		}
		letters += n
		end += strings.Index(text[end:], word) + len(word)
	}
	return strings.ToValidUTF8(text[:end], "\uFFFD"), letters
}

// place returns the index of the greatest value.
func place[T int | float64](p []T) int { return slices.Index(p, slices.Max(p)) }

// normalize scales values so that their sum is 1, unless it is 0.
func normalize(p []float64) {
	sum := 0.0
	for _, v := range p {
		sum += v
	}
	if sum > 0 {
		for i := range p {
			p[i] /= sum
		}
	}
}

// script returns the index of the script to which at least a share of a text's letters
// belong, or -1.
func (d *Detector) script(text string, share float64) int {
	counts := make([]int, len(d.scripts))
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
		for i := range d.scripts {
			if unicode.In(r, d.scripts[i].tables...) {
				weight = d.scripts[i].weight
				counts[i] += weight
				break
			}
		}
		total += weight
	}
	if total < minLetters {
		return -1
	}
	// Japanese also uses Chinese characters, and a Chinese text may contain a
	// Japanese name.
	to := japanese
	if 20*counts[japanese] < counts[han] {
		to = han
	}
	counts[to], counts[han+japanese-to] = counts[han]+counts[japanese], 0
	for i, n := range counts {
		if float64(n) >= share*float64(total) {
			return i
		}
	}
	return -1
}

// Signature states the languages, thresholds and models.
func (d *Detector) Signature() string {
	h := fnv.New32a()
	for _, text := range d.sample {
		h.Write([]byte(text + "\x00"))
	}
	return fmt.Sprintf("%s(%s;from=%s;sample=%08x;letters=%d;share=%v;below=%v)", d.cfg.Name(), d.cfg.Language, d.cfg.Source, h.Sum32(), minLetters, minShare, threshold)
}

// Name names what tells languages apart: scripts, and the models if they are used.
func (c *Config) Name() string {
	if c.Models && ModelsName != "" {
		return "script+" + ModelsName
	}
	return "script"
}

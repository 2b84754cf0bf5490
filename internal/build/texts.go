package build

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/metrics/analysis"
)

// Steps that make texts.
const (
	stepDomains   = "domains"
	stepTopics    = "topics"
	stepSentences = "sentences"
)

// Text is a correct text, or a name that texts are asked for by.
type Text struct {
	ID, Text, Source string
	From             map[string]string
}

// ListCount counts the lists of a step.
type ListCount struct {
	Step    string `json:"step"`
	Asked   int    `json:"asked"`          // entries that were asked for
	Got     int    `json:"got"`            // different ones
	Lost    int    `json:"lost"`           // lists that have no answer, are cut, or have no entry
	Foreign int    `json:"wrong_language"` // sentences in another language than the task's
	Refused int    `json:"refusals"`       // lists and sentences that are refusals
}

// Source says where correct texts come from: a teacher lists domains, topics of each
// domain, and sentences about each topic, one of which is drawn (InstructScore,
// appendix A).
type Source struct {
	Domains, Topics, Sentences int
	Most                       int // texts, drawn by the seed; 0 for all
}

// Texts asks the teacher for correct texts. unknown is how many a dry run does not
// know yet.
func (s *Set) Texts(ctx context.Context, task *Task, n Source) (texts []Text, unknown int, err error) {
	names, unknown := []Text{{}}, 0
	for _, step := range []struct {
		name   string
		number int
	}{{stepDomains, n.Domains}, {stepTopics, n.Topics}} {
		var found []Text
		seen := map[string]bool{}
		unknown, err = s.lists(ctx, task, step.name, names, unknown, step.number, func(of Text, list []string, count *ListCount) error {
			for _, name := range list {
				if key := folded(name); !seen[key] {
					seen[key] = true
					count.Got++
					found = append(found, Text{Text: name, From: map[string]string{"domain": of.Text}})
				}
			}
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
		names, unknown = found, unknown*step.number
	}
	if known := some(s.Seed, "texts", names, n.Most); len(known) < len(names) {
		names, unknown = known, 0
	} else if n.Most > 0 {
		unknown = min(unknown, n.Most-len(names))
	}
	unknown, err = s.lists(ctx, task, stepSentences, names, unknown, n.Sentences, func(topic Text, list []string, count *ListCount) error {
		kept, err := s.inLanguage(task, list, count)
		if count.Got += len(kept); len(kept) > 0 {
			text := kept[newDraw(s.Seed, "sentence", topic.Text).IntN(len(kept))]
			texts = append(texts, Text{ID: strconv.Itoa(len(texts) + 1), Text: text, From: map[string]string{"domain": topic.From["domain"], "topic": topic.Text}})
		}
		return err
	})
	return texts, unknown, err
}

// inLanguage returns the sentences that are in the task's language and no refusals.
func (s *Set) inLanguage(task *Task, sentences []string, count *ListCount) (kept []string, err error) {
	for _, sentence := range sentences {
		why, err := s.otherLanguage(task.Sample, sentence)
		switch {
		case err != nil:
			return nil, err
		case refusal(sentence) != "":
			count.Refused++
		case why != "":
			count.Foreign++
		default:
			kept = append(kept, sentence)
		}
	}
	return kept, nil
}

// lists asks for a list about each of the given names, of which unknown more are not
// known yet, and calls done with what is found in each. It returns how many lists are
// not known.
func (s *Set) lists(ctx context.Context, task *Task, step string, about []Text, unknown, number int, done func(Text, []string, *ListCount) error) (int, error) {
	var dialogues []*Dialogue
	for i, t := range about {
		p, err := s.Recipe.listPrompt(step, task, t.Text, number)
		if err != nil {
			return 0, err
		}
		dialogues = append(dialogues, &Dialogue{index: i, about: strconv.Quote(t.Text), prompts: []string{p}})
	}
	count := ListCount{Step: step}
	left := len(about) + unknown
	st, err := s.ask(ctx, s.Teacher, step, dialogues, func(d *Dialogue) error {
		left--
		count.Asked += number
		found := count.read(d)
		if len(found) == 0 {
			count.Lost++
		}
		return done(about[d.index], found[:min(len(found), number)], &count)
	})
	st.Unknown = unknown
	s.Lists = append(s.Lists, count)
	return left, err
}

// read reads the list of an answer, unless it is a refusal.
func (c *ListCount) read(d *Dialogue) []string {
	switch {
	case d.Rule != "":
		return nil
	case refusal(d.last()) != "":
		c.Refused++
		return nil
	case c.Step == stepSentences:
		return readSentences(d.last())
	}
	return readNames(d.last())
}

func (r *Recipe) listPrompt(step string, task *Task, about string, number int) (string, error) {
	return r.Prompt(step, task, map[string]any{"Number": number, "Domain": about, "Topic": about, "Language": task.Words["language"], "Words": task.Words})
}

// TextsOf returns the first references of segments, at most most of them, drawn by
// the seed; 0 means all.
func (s *Set) TextsOf(segments []*refract.Segment, most int) (texts []Text) {
	for _, segment := range segments {
		i := slices.IndexFunc(segment.References, func(r refract.Text) bool { return r.Valid && strings.TrimSpace(r.Value) != "" })
		if i >= 0 {
			texts = append(texts, Text{ID: segment.ID, Text: segment.References[i].Value, Source: segment.Source.Value})
		}
	}
	return some(s.Seed, "texts", texts, most)
}

var (
	quotedName = regexp.MustCompile(`"([^"\n]{1,120})"`)
	listNumber = regexp.MustCompile(`(?:^|\s)\d{1,3}[.)]\s+`)
	bullet     = regexp.MustCompile(`^\s*(?:\d{1,3}[.):]|[-*•])\s+`)
)

// readNames reads a list of names, such as the answer in table 25 of InstructScore:
// quoted, with numbers or bullets, or separated by commas.
func readNames(text string) []string {
	var names []string
	if quoted := quotedName.FindAllStringSubmatch(text, -1); len(quoted) > 1 {
		for _, m := range quoted {
			names = append(names, m[1])
		}
	} else if parts := listNumber.Split(text, -1); len(parts) > 2 {
		names = parts[1:] // talk comes before the first number
	} else if lines := readLines(text); len(lines) > 1 {
		names = lines
	} else {
		names = strings.Split(text, ",")
	}
	return distinct(names, func(s string) string { return strings.Trim(s, " \t\r\n,;.\"“”*") })
}

// readSentences reads sentences, each on a line or after a number.
func readSentences(text string) []string {
	lines := readLines(text)
	if parts := listNumber.Split(text, -1); len(lines) == 1 && len(parts) > 2 {
		lines = parts[1:]
	}
	return distinct(lines, analysis.Unquote)
}

// readLines reads the items of a list. If some lines have numbers or bullets, the
// others are talk.
func readLines(text string) []string {
	var all, items []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		all = append(all, line)
		if mark := bullet.FindString(line); mark != "" {
			items = append(items, line[len(mark):])
		}
	}
	if len(items) > 0 {
		return items
	}
	return all
}

// distinct cleans texts, and drops empty and repeated ones.
func distinct(texts []string, clean func(string) string) []string {
	var out []string
	seen := map[string]bool{}
	for _, t := range texts {
		t = clean(strings.TrimSpace(t))
		if key := folded(t); t != "" && !seen[key] {
			seen[key] = true
			out = append(out, t)
		}
	}
	return out
}

// folded is a text without differences of case, white space and Unicode form.
func folded(s string) string {
	return strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(s))), " ")
}

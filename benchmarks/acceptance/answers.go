package acceptance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/refract-eval/refract"
)

// released are the texts of a segment that join counts.
func released(s *refract.Segment) []string {
	out := []string{s.Source.Value}
	for _, r := range s.References {
		out = append(out, r.Value)
	}
	for _, v := range s.Variants {
		out = append(out, v.Text.Value)
	}
	return out
}

// join puts a text together that may hold parts of released ones, which are not in the
// project: it is a JSON string, or a list of strings and of [pair, segment, text,
// begin, end], bytes of a text of released. texts gives those of the pairs.
func join(raw json.RawMessage, texts func() (map[string][][]string, error)) (string, error) {
	if len(raw) == 0 || raw[0] != '[' {
		var whole string
		err := json.Unmarshal(raw, &whole)
		return whole, err
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range list {
		if p[0] != '[' {
			s, err := join(p, texts)
			if err != nil {
				return "", err
			}
			b.WriteString(s)
			continue
		}
		var pair string
		var n, k, begin, end int
		if err := json.Unmarshal(p, &[]any{&pair, &n, &k, &begin, &end}); err != nil {
			return "", err
		}
		known, err := texts()
		if err != nil {
			return "", err
		}
		if n >= len(known[pair]) || k >= len(known[pair][n]) || begin < 0 || end < begin || end > len(known[pair][n][k]) {
			return "", fmt.Errorf("there are no bytes %d to %d of text %d of segment %d of %s", begin, end, k, n, pair)
		}
		b.WriteString(known[pair][n][k][begin:end])
	}
	return b.String(), nil
}

// ReadAnswers reads a file of answers: want is null where one is unusable, and
// {"any": [...]} where several texts would be right. The released sets lie below dir;
// without them a file that holds parts of these is ErrNoData.
func ReadAnswers(ctx context.Context, path, dir string) ([]Item, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	texts := sync.OnceValues(func() (map[string][][]string, error) {
		all := map[string][][]string{}
		err := eachReleased(ctx, dir, func(pair string, _ int, s *refract.Segment) { all[pair] = append(all[pair], released(s)) })
		return all, err
	})
	name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	var items []Item
	for line := range strings.Lines(string(text)) {
		item, err := readAnswer(line, texts)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, len(items)+1, err)
		}
		item.Name = fmt.Sprintf("%s/%s/%d", name, item.Family, len(items)+1)
		items = append(items, item)
	}
	return items, nil
}

func readAnswer(line string, texts func() (map[string][][]string, error)) (item Item, err error) {
	var row struct {
		Family, Language        string
		Reference, Answer, Want json.RawMessage
	}
	if err := json.Unmarshal([]byte(line), &row); err != nil {
		return item, err
	}
	if len(row.Want) == 0 {
		return item, errors.New(`it has no "want"`)
	}
	item = Item{Family: row.Family, Language: row.Language, Usable: string(row.Want) != "null"}
	if item.Reference, err = join(row.Reference, texts); err != nil {
		return item, err
	}
	if item.Raw, err = join(row.Answer, texts); err != nil || !item.Usable {
		return item, err
	}
	several := struct{ Any []json.RawMessage }{[]json.RawMessage{row.Want}}
	if row.Want[0] == '{' {
		if err := json.Unmarshal(row.Want, &several); err != nil {
			return item, err
		}
	}
	for i, w := range several.Any {
		text, err := join(w, texts)
		if err != nil {
			return item, err
		}
		if i == 0 {
			item.Want = text
		} else {
			item.Also = append(item.Also, text)
		}
	}
	return item, nil
}

// HeldOut are the sets in testdata that nothing is fitted on or tuned by.
func HeldOut() []string { return []string{"heldout4", "heldout6", "heldout7"} }

package answer

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"
)

// ReadText returns the text in an answer that should be a JSON object with one string, under a
// name. In other JSON it is the only string under this name at any depth, or else the only
// string. Of a schema that was repeated, only the properties count.
func ReadText(completion, name string) (string, error) {
	docs, err := documentsOf(completion, "{")
	if err != nil {
		return "", err
	}
	var named, all []string
	repaired := false
	for _, d := range docs {
		d.root.collect(name, false, &named, &all)
		repaired = repaired || d.repaired
	}
	if len(named) == 0 {
		named = all
	}
	slices.Sort(named)
	switch named = slices.Compact(named); {
	case len(named) == 0:
		return "", errors.New("the answer's JSON has no text")
	case len(named) > 1:
		return "", errors.New("the answer's JSON has several texts")
	case strings.ContainsRune(named[0], utf8.RuneError):
		return "", errors.New("the text is not valid Unicode")
	}
	text := named[0]
	if repaired && strings.Count(text, `"`)%2 == 1 { // a doubled quotation mark
		text = strings.TrimSuffix(text, `"`)
		text = strings.TrimPrefix(text, strings.Repeat(`"`, strings.Count(text, `"`)%2))
	}
	return text, nil
}

// Strings returns the strings in the JSON documents of a text, except the names of members; nil if
// it has none that can be read.
func Strings(text string) (all []string) {
	docs, err := documentsIn(text, "{[")
	if err != nil {
		return nil
	}
	var named []string
	for _, d := range docs {
		d.root.collect("", false, &named, &all)
	}
	return all
}

// collect adds all strings in a value to all, and those under a name to named.
func (n *node) collect(name string, under bool, named, all *[]string) {
	if n.kind == 's' {
		if *all = append(*all, n.text); under {
			*named = append(*named, n.text)
		}
	}
	properties, _ := n.member(func(m string) bool { return m == "properties" || m == "schema" })
	if properties != nil && properties.kind == '{' {
		own, _ := n.member(func(m string) bool { return m == name }) // written into the schema
		n = &node{names: []string{"", name}, kids: []*node{properties, cmp.Or(own, &node{})}}
	}
	typed, _ := n.member(func(m string) bool { return m == "type" })
	for i, kid := range n.kids {
		switch {
		case n.names == nil: // a list
			kid.collect(name, under, named, all)
		case typed == nil || !slices.Contains([]string{"type", "title", "description"}, n.names[i]): // else of a property
			kid.collect(name, under || strings.EqualFold(n.names[i], name), named, all)
		}
	}
}

// ReadList returns the values of some members, as text, of each object in a list: the one under a
// name in the first document that has it, or a document that is a list.
func ReadList(completion, name string, members ...string) ([][]string, error) {
	docs, err := documentsOf(completion, "{[")
	if err != nil {
		return nil, err
	}
	for _, d := range docs {
		list := d.root
		if list.kind == '{' {
			list, _ = list.follow(name)
		}
		if list == nil || list.kind != '[' {
			continue
		}
		var rows [][]string
		for _, kid := range list.kids {
			var row []string
			for _, m := range members {
				value, _ := kid.member(named(m))
				row = append(row, textOf(value))
			}
			rows = append(rows, row)
		}
		return rows, nil
	}
	return nil, errors.New("the answer's JSON has no list of " + name)
}

// documentsOf returns the JSON documents in a model's answer; see documentsIn.
func documentsOf(completion, brackets string) ([]document, error) {
	text, why, ok := answerText(completion)
	if !ok {
		return nil, errors.New(why)
	}
	return documentsIn(text, brackets)
}

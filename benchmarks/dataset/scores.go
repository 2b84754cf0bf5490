package dataset

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
)

// SystemScores are a system's scores, in the order of the segments; a single one at system
// level. If Valid is false there is no score, and the value is meaningless.
type SystemScores struct {
	System string
	Values []float64
	Valid  []bool
}

// readScores reads a file of lines "SYSTEM<tab>SCORE". All lines of a system are adjacent,
// in the order of the segments, and their number must be items. SCORE is a decimal number,
// or None for no score. The systems are in the file's order.
func readScores(path string, systems []string, items int, warn func(Warning)) (all []SystemScores, err error) {
	var first []int // first line of each system
	check := func() error {
		if n := len(all) - 1; n >= 0 && len(all[n].Values) != items {
			return failAt(refract.Position{File: path, Line: first[n]}, 0, "system %s has %s of scores, but there should be %d",
				text.Quote(all[n].System), english.Count(len(all[n].Values), "line"), items)
		}
		return nil
	}
	err = eachLine(path, warn, func(line []byte, pos refract.Position) error {
		name, field, ok := splitScore(line)
		if !ok {
			return failAt(pos, 0, "want a system, a tab and a score, not %s", text.Quote(string(line)))
		}
		if n := len(all) - 1; n < 0 || all[n].System != string(name) {
			system := string(name)
			if !slices.Contains(systems, system) {
				return failAt(pos, 0, "unknown system %s%s: the test set has no outputs of it", text.Quote(system), didYouMean(system, systems))
			}
			if err := check(); err != nil {
				return err
			}
			if i := slices.IndexFunc(all, func(s SystemScores) bool { return s.System == system }); i >= 0 {
				return failAt(pos, 0, "system %s has scores from line %d already; the scores of a system must follow each other", text.Quote(system), first[i])
			}
			all = append(all, SystemScores{system, make([]float64, 0, items), make([]bool, 0, items)})
			first = append(first, pos.Line)
		}
		s := &all[len(all)-1]
		value, valid, ok := parseScore(field)
		if !ok {
			return failAt(pos, 0, "the score of system %s is not a number: %s; write None if there is no score", text.Quote(s.System), text.Quote(string(field)))
		}
		s.Values, s.Valid = append(s.Values, value), append(s.Valid, valid)
		return nil
	})
	if err == nil && len(all) == 0 {
		err = failFile(path, "has no scores")
	}
	if err == nil {
		err = check()
	}
	return all, err
}

// splitScore splits a line at its last tab or, without a tab, at its last white space,
// because a system's name may contain white space. At the levels that are read there is no
// third column.
func splitScore(line []byte) (system, score []byte, ok bool) {
	line = bytes.TrimFunc(line, text.IsSpace)
	i := bytes.LastIndexByte(line, '\t')
	if i >= 0 {
		return bytes.TrimFunc(line[:i], text.IsSpace), bytes.TrimFunc(line[i+1:], text.IsSpace), bytes.IndexByte(line[:i], '\t') < 0
	}
	if i = bytes.LastIndexFunc(line, text.IsSpace); i < 0 {
		return nil, nil, false
	}
	_, size := utf8.DecodeRune(line[i:])
	return bytes.TrimFunc(line[:i], text.IsSpace), line[i+size:], true
}

// parseScore reads a decimal number, or None as a score that is not valid. Infinities, NaN
// and hexadecimal numbers are refused.
func parseScore(field []byte) (score float64, valid, ok bool) {
	if string(field) == "None" {
		return 0, false, true
	}
	for _, c := range field {
		if (c < '0' || c > '9') && strings.IndexByte("+-.eE", c) < 0 {
			return 0, false, false
		}
	}
	score, err := strconv.ParseFloat(string(field), 64)
	return score, err == nil, err == nil
}

package ptb

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"sort"
	"sync"
	"unicode/utf8"
)

// program is the rules as one automaton, which is not deterministic.
type program struct {
	rules []rule
	cut   []*regexp.Regexp // of rules with a context: the token is its first group
	insts []inst
	start []int32
	// Characters that no instruction tells apart have one class: those from
	// bounds[i] up to the next bound have classes[i].
	bounds  []rune
	classes []uint16
	ascii   [utf8.RuneSelf]uint16
	number  int
}

// inst reads a character of one of some classes, or ends a rule.
type inst struct {
	of    map[uint16]bool // nil at an end
	after []int32
	rule  int
}

var compiled = sync.OnceValue(func() *program { return compile(rules()) })

func compile(rules []rule) *program {
	p := &program{rules: rules}
	var code []syntax.Inst
	var starts []uint32
	var ends []int
	for i, r := range rules {
		pattern := "(?:" + r.what + ")"
		p.cut = append(p.cut, nil)
		if r.before != "" {
			p.cut[i] = regexp.MustCompile(`\A(` + r.what + `)(?:` + r.before + `)\z`)
			pattern += "(?:" + r.before + ")"
		}
		parsed, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			panic(err) // the rules are part of the program
		}
		prog, err := syntax.Compile(parsed.Simplify())
		if err != nil {
			panic(err)
		}
		base := uint32(len(code))
		starts = append(starts, base+uint32(prog.Start))
		for _, in := range prog.Inst {
			in.Out += base
			if in.Op == syntax.InstAlt {
				in.Arg += base
			}
			code, ends = append(code, in), append(ends, i)
		}
	}
	p.classify(code)
	at := map[uint32]int32{}
	var add func(pc uint32, to []int32) []int32
	add = func(pc uint32, to []int32) []int32 { // follows what reads nothing
		switch in := &code[pc]; in.Op {
		case syntax.InstAlt:
			return add(in.Arg, add(in.Out, to))
		case syntax.InstCapture, syntax.InstNop:
			return add(in.Out, to)
		case syntax.InstFail:
			return to
		}
		if k, ok := at[pc]; ok {
			return append(to, k)
		}
		k := int32(len(p.insts))
		at[pc] = k
		p.insts = append(p.insts, inst{rule: ends[pc]})
		if in := &code[pc]; in.Op != syntax.InstMatch {
			of := map[uint16]bool{}
			for i, r := range p.bounds {
				if in.MatchRune(r) {
					of[p.classes[i]] = true
				}
			}
			after := add(in.Out, nil)
			p.insts[k].of, p.insts[k].after = of, after
		}
		return append(to, k)
	}
	for _, s := range starts {
		p.start = add(s, p.start)
	}
	return p
}

// classify finds the classes of characters.
func (p *program) classify(code []syntax.Inst) {
	p.bounds = nil
	for r := range rune(utf8.RuneSelf + 1) {
		p.bounds = append(p.bounds, r) // a literal may stand for both cases
	}
	distinct := map[string]*syntax.Inst{}
	for i := range code {
		in := &code[i]
		if in.Op < syntax.InstRune {
			continue
		}
		distinct[fmt.Sprint(in.Op, in.Arg, in.Rune)] = in
		for k, r := range in.Rune {
			p.bounds = append(p.bounds, r+rune(k%2))
			if len(in.Rune) == 1 {
				p.bounds = append(p.bounds, r+1)
			}
		}
	}
	slices.Sort(p.bounds)
	p.bounds = slices.Compact(p.bounds)
	numbers := map[string]uint16{}
	signature := make([]byte, len(distinct))
	insts := make([]*syntax.Inst, 0, len(distinct))
	for _, in := range distinct {
		insts = append(insts, in)
	}
	for _, r := range p.bounds {
		for k, in := range insts {
			signature[k] = 0
			if in.MatchRune(r) {
				signature[k] = 1
			}
		}
		n, ok := numbers[string(signature)]
		if !ok {
			n = uint16(len(numbers))
			numbers[string(signature)] = n
		}
		p.classes = append(p.classes, n)
	}
	p.number = len(numbers)
	for c := range p.ascii {
		p.ascii[c] = p.class(rune(c))
	}
}

func (p *program) class(r rune) uint16 {
	return p.classes[sort.Search(len(p.bounds), func(i int) bool { return p.bounds[i] > r })-1]
}

// state is a set of instructions that are reached together.
type state struct {
	insts []int32
	rule  int      // the first one that ends here, or -1
	next  []*state // by class; nil where it is not known yet
}

// automaton is a program that is made deterministic where it goes. It is not
// safe for concurrent use.
type automaton struct {
	*program
	states map[string]*state
	first  *state
	mark   []bool
	// dead are places of the text at hand from which no rule comes to its end,
	// so that looking far ahead in vain takes a time linear in the text (Reps,
	// 1998). Only some are kept.
	dead map[place]bool
	way  []place
}

// place is a state before the last so many bytes of a text.
type place struct {
	state *state
	left  int
}

// apart is how many bytes lie between places that are kept.
const apart = 32

// most is how many states are kept.
const most = 1 << 13

func newAutomaton(p *program) *automaton {
	a := &automaton{program: p, mark: make([]bool, len(p.insts)), dead: map[place]bool{}}
	a.reset()
	return a
}

func (a *automaton) reset() {
	a.states = map[string]*state{}
	a.first = a.state(slices.Clone(a.start)) // the program is shared
}

// state is that of a set of instructions, which it sorts.
func (a *automaton) state(insts []int32) *state {
	slices.Sort(insts)
	key := make([]byte, 0, 4*len(insts))
	for _, k := range insts {
		key = binary.LittleEndian.AppendUint32(key, uint32(k))
	}
	s := a.states[string(key)]
	if s == nil {
		s = &state{insts: slices.Clone(insts), rule: -1, next: make([]*state, a.number)}
		for _, k := range insts {
			if in := &a.insts[k]; in.of == nil && (s.rule < 0 || in.rule < s.rule) {
				s.rule = in.rule
			}
		}
		a.states[string(key)] = s
	}
	return s
}

func (a *automaton) step(s *state, class uint16) *state {
	var to []int32
	for _, k := range s.insts {
		if in := &a.insts[k]; in.of[class] {
			for _, next := range in.after {
				if !a.mark[next] {
					a.mark[next] = true
					to = append(to, next)
				}
			}
		}
	}
	for _, k := range to {
		a.mark[k] = false
	}
	s.next[class] = a.state(to)
	return s.next[class]
}

// begin says that a new text begins.
func (a *automaton) begin() { clear(a.dead) }

// match is the rule with the longest match at the beginning of the rest of a
// text, and the length of the match, context included; -1 where none matches.
func (a *automaton) match(text string) (rule, length int) {
	if len(a.states) > most {
		a.reset()
	}
	rule, a.way = -1, a.way[:0]
	s := a.first
	for i := 0; i < len(text); {
		c, n := uint16(0), 1
		if b := text[i]; b < utf8.RuneSelf {
			c = a.ascii[b]
		} else {
			var r rune
			r, n = utf8.DecodeRuneInString(text[i:])
			c = a.class(r)
		}
		next := s.next[c]
		if next == nil {
			next = a.step(s, c)
		}
		if len(next.insts) == 0 {
			break
		}
		i += n
		if s = next; s.rule >= 0 {
			rule, length, a.way = s.rule, i, a.way[:0]
		}
		if left := len(text) - i; left/apart != (left+n)/apart && s.rule < 0 {
			at := place{s, left}
			if a.dead[at] {
				break
			}
			a.way = append(a.way, at)
		}
	}
	for _, at := range a.way {
		a.dead[at] = true
	}
	return rule, length
}

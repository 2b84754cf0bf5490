package command

import (
	"cmp"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/refract-eval/refract/internal/english"
)

// The values that a flag may have are set where it is registered, and checked whenever
// it is set: on the command line, in the environment or in a configuration file.

// values are all values of the flag.
func (k *known) values() []string {
	if list, ok := k.Value.(interface{ GetSlice() []string }); ok {
		return list.GetSlice()
	}
	return []string{k.String()}
}

// Set implements pflag.Value.
func (k *known) Set(s string) error {
	err := k.Value.Set(s)
	for _, check := range k.checks {
		if err == nil {
			err = check(k.String())
		}
	}
	return err
}

// absolute is a value from a file in a folder, where a relative path starts there.
func (k *known) absolute(folder, value string) string {
	if k.files != nil && !filepath.IsAbs(value) && slices.ContainsFunc(k.files(value), func(u usedPath) bool { return u.path == value }) {
		return filepath.Join(folder, value)
	}
	return value
}

// unwantedError says which values a flag takes instead.
type unwantedError struct{ value, want string }

func (e *unwantedError) Error() string { return e.value + ": want " + e.want }

// checked refuses values that fail a check.
func checked(check func(set string) error) fact {
	return func(k *known) { k.checks = append(k.checks, check) }
}

// fits refuses values that are not as wanted.
func fits(want string, ok func(set string) bool) fact {
	return checked(func(s string) error {
		if !ok(s) {
			return &unwantedError{strconv.Quote(s), want}
		}
		return nil
	})
}

// inRange limits a number or a time.
func inRange(want string, ok func(float64) bool) fact {
	return checked(func(s string) error {
		n, err := strconv.ParseFloat(s, 64)
		if err != nil {
			d, _ := time.ParseDuration(s)
			n = d.Seconds()
		}
		if !ok(n) { // NaN never is
			return &unwantedError{s, want}
		}
		return nil
	})
}

// atLeast limits a number or a time from below.
func atLeast(least int) fact {
	return inRange(fmt.Sprintf("%d or more", least), func(v float64) bool { return v >= float64(least) })
}

// aboveZero limits a bound, of which 0 would be none.
var aboveZero = inRange("more than 0, or leave it out for no limit; --offline makes no calls", func(v float64) bool { return v > 0 })

// isShare limits a number to those above 0 and below 1.
var isShare = inRange("a share between 0 and 1", func(v float64) bool { return v > 0 && v < 1 })

// notEmpty refuses an empty text, such as the value of an unset variable, which would
// mean the default.
func notEmpty(want string) fact { return fits(want, func(s string) bool { return s != "" }) }

// isAddress refuses what is no host and port.
var isAddress = fits("HOST:PORT with a port up to 65535, such as 127.0.0.1:0", func(s string) bool {
	_, port, err := net.SplitHostPort(s)
	_, no := strconv.ParseUint(port, 10, 16)
	return err == nil && no == nil
})

// oneOf limits a text to some words, and offers them to the shell.
func oneOf(words ...string) fact {
	return func(k *known) {
		offers(words...)(k)
		fits(english.List(words, "or"), func(s string) bool { return slices.Contains(words, s) })(k)
	}
}

// wordOf reads one of some words.
func wordOf(words ...string) func(string) (string, error) {
	return func(s string) (string, error) {
		if !slices.Contains(words, s) {
			return "", &unwantedError{strconv.Quote(s), english.List(words, "or")}
		}
		return s, nil
	}
}

// plain is the value of a text, a number, a time or several texts.
func plain[T any](to *T, def T) pflag.Value {
	var f pflag.FlagSet
	const name = "value"
	switch to, def := any(to), any(def); to := to.(type) {
	case *string:
		f.StringVar(to, name, def.(string), "")
	case *bool:
		f.BoolVar(to, name, def.(bool), "")
	case *int:
		f.IntVar(to, name, def.(int), "")
	case *uint64:
		f.Uint64Var(to, name, def.(uint64), "")
	case *float64:
		f.Float64Var(to, name, def.(float64), "")
	case *time.Duration:
		v := valueOf(to, def.(time.Duration).String(), timeOf)
		v.kind = "duration"
		return v
	case *[]string:
		f.StringArrayVar(to, name, def.([]string), "")
	case *[]int:
		f.IntSliceVar(to, name, def.([]int), "")
	}
	return f.Lookup(name).Value
}

// timeOf reads a time.
func timeOf(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, &unwantedError{s, "a time of 0 or more, such as 90s or 30m"}
	}
	return d, nil
}

// parsed is the value of a flag that a function reads.
type parsed[T any] struct {
	to    *T
	text  string
	parse func(string) (T, error)
	kind  string // as help shows it; "" for a text
}

// tableType is the kind of a flag whose value may be a table, as JSON.
const tableType = "table"

// valueOf returns a value that parse reads, as it does the default.
func valueOf[T any](to *T, def string, parse func(string) (T, error)) *parsed[T] {
	v := &parsed[T]{to: to, parse: parse}
	setDefault(v, def)
	return v
}

// numberOf returns a value that is a number.
func numberOf[T any](to *T, def string, parse func(string) (T, error)) *parsed[T] {
	v := valueOf(to, def, parse)
	v.kind = fmt.Sprintf("%T", *to)
	return v
}

func setDefault(v pflag.Value, def string) {
	if def == "" {
		return
	}
	if err := v.Set(def); err != nil {
		panic(err) // a bug: the default is not a value
	}
}

// Set implements pflag.Value.
func (p *parsed[T]) Set(s string) (err error) {
	p.text = s
	*p.to, err = p.parse(s)
	return err
}

func (p *parsed[T]) String() string { return p.text }

// Type implements pflag.Value.
func (p *parsed[T]) Type() string { return cmp.Or(p.kind, "string") }

// listed is the value of a flag with several values, each of them once.
type listed[T any] struct {
	to    *[]T
	names []string
	set   bool // instead of the default
	parse func(string) (T, error)
	name  func(T) string
	none  bool // the word none stands for no value
}

// listOf returns a value that is set once for each element, or to several separated by
// commas. Two elements of the same name are an error.
func listOf[T any](to *[]T, def string, parse func(string) (T, error), name func(T) string) *listed[T] {
	v := &listed[T]{to: to, parse: parse, name: name}
	setDefault(v, def)
	v.set = false
	return v
}

// orNone lets the word none stand for an empty list.
func (l *listed[T]) orNone() *listed[T] {
	l.none = true
	return l
}

// settable are values by the names that flags and the parameters of requests have in
// common: both fill a plan of what to do.
type settable map[string]pflag.Value

// strs is a value with as many texts as it is set to.
type strs []string

// Set implements pflag.Value.
func (s *strs) Set(text string) error {
	*s = append(*s, text)
	return nil
}

// GetSlice returns the texts.
func (s *strs) GetSlice() []string { return *s }

func (s *strs) String() string { return strings.Join(*s, ",") }

// Type implements pflag.Value.
func (*strs) Type() string { return "strings" }

// asIs accepts any text.
func asIs(s string) (string, error) { return s, nil }

// upTo reads a whole number of a range.
func upTo(most int) func(string) (int, error) {
	return func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil {
			s, n = strconv.Quote(s), -1
		}
		if n < 0 || n > most {
			err = &unwantedError{s, fmt.Sprintf("0 to %d", most)}
		}
		return n, err
	}
}

// Set implements pflag.Value.
func (l *listed[T]) Set(s string) error {
	if !l.set {
		*l.to, l.names, l.set = nil, nil, true
	}
	if l.none && s == listNone {
		return nil
	}
	for text := range strings.SplitSeq(s, ",") {
		v, err := l.parse(strings.TrimSpace(text))
		if err != nil {
			return err
		}
		if slices.Contains(l.names, l.name(v)) {
			return fmt.Errorf("%s is given twice", l.name(v))
		}
		*l.to, l.names = append(*l.to, v), append(l.names, l.name(v))
	}
	return nil
}

func (l *listed[T]) String() string { return strings.Join(l.names, ",") }

// Type implements pflag.Value.
func (*listed[T]) Type() string { return "strings" }

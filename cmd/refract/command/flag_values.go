package command

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refract-eval/refract/internal/english"
)

// The values that a flag may have are set where it is registered, and checked whenever
// it is set: on the command line, in the environment or in a configuration file.

// flagValues are all values of a flag.
func flagValues(f *pflag.Flag) []string {
	v := f.Value
	if known, ok := v.(*knownValue); ok {
		v = known.Value
	}
	if list, ok := v.(interface{ GetSlice() []string }); ok {
		return list.GetSlice()
	}
	return []string{v.String()}
}

// knownValue is the value of a flag with its limits, and the files that it names.
type knownValue struct {
	pflag.Value
	checks []func(set string) error
	files  func(value string) []usedPath // nil for none
}

// know returns the value of a flag, perhaps one of the root, to add what is known of it.
func know(cmd *cobra.Command, flag string) *knownValue {
	f := cmd.Flag(flag)
	if _, ok := f.Value.(*knownValue); !ok {
		f.Value = &knownValue{Value: f.Value}
	}
	return f.Value.(*knownValue)
}

// Set implements pflag.Value.
func (k *knownValue) Set(s string) error {
	if err := k.Value.Set(s); err != nil {
		return err
	}
	for _, check := range k.checks {
		if err := check(k.Value.String()); err != nil {
			return err
		}
	}
	return nil
}

// limit refuses values of flags that fail a check.
func limit(cmd *cobra.Command, check func(set string) error, flags ...string) {
	for _, name := range flags {
		k := know(cmd, name)
		k.checks = append(k.checks, check)
	}
}

// namesFiles says which files a value of some flags names.
func namesFiles(cmd *cobra.Command, files func(value string) []usedPath, flags ...string) {
	for _, name := range flags {
		know(cmd, name).files = files
	}
}

// absolute is a value from a file in a folder, where a relative path starts there.
func (k *knownValue) absolute(folder, value string) string {
	if k.files != nil && !filepath.IsAbs(value) && slices.ContainsFunc(k.files(value), func(u usedPath) bool { return u.path == value }) {
		return filepath.Join(folder, value)
	}
	return value
}

// unwantedError says which values a flag takes instead.
type unwantedError struct{ value, want string }

func (e *unwantedError) Error() string { return e.value + ": want " + e.want }

// inRange limits flags that are numbers or times.
func inRange(cmd *cobra.Command, want string, ok func(float64) bool, flags ...string) {
	limit(cmd, func(s string) error {
		n, err := strconv.ParseFloat(s, 64)
		if err != nil {
			d, _ := time.ParseDuration(s)
			n = d.Seconds()
		}
		if !ok(n) { // NaN never is
			return &unwantedError{s, want}
		}
		return nil
	}, flags...)
}

// atLeast limits flags from below.
func atLeast(cmd *cobra.Command, least int, flags ...string) {
	inRange(cmd, fmt.Sprintf("%d or more", least), func(v float64) bool { return v >= float64(least) }, flags...)
}

// isShare limits flags to numbers above 0 and below 1.
func isShare(cmd *cobra.Command, flags ...string) {
	inRange(cmd, "a share between 0 and 1", func(v float64) bool { return v > 0 && v < 1 }, flags...)
}

// isNamed refuses an empty name, such as the value of an unset variable, which would
// mean the default.
func isNamed(cmd *cobra.Command, flags ...string) {
	limit(cmd, func(s string) error {
		if s == "" {
			return &unwantedError{`""`, "a name"}
		}
		return nil
	}, flags...)
}

// oneOf limits a flag, perhaps one of the root, to some words, and offers them to the
// shell.
func oneOf(cmd *cobra.Command, flag string, words ...string) {
	complete(cmd, flag, words...)
	parse := wordOf(words...)
	limit(cmd, func(s string) error {
		_, err := parse(s)
		return err
	}, flag)
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

// addFlag registers a flag by a name such as "format" or "format,f", and offers words to
// the shell.
func addFlag(cmd *cobra.Command, name string, v pflag.Value, usage string, words ...string) {
	name, short, _ := strings.Cut(name, ",")
	cmd.Flags().VarP(v, name, short, usage)
	if len(words) > 0 {
		complete(cmd, name, words...)
	}
}

// parsedFlag registers a flag that parse reads.
func parsedFlag[T any](cmd *cobra.Command, to *T, name, def string, parse func(string) (T, error), usage string, words ...string) {
	addFlag(cmd, name, valueOf(to, def, parse), usage, words...)
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
		if err == nil && (n < 0 || n > most) {
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

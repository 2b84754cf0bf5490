package metrics

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/redact"
)

// Factory makes a metric from a spec such as "bleu:tokenize=intl,smooth=floor".
type Factory struct {
	Name    string   // the part of a spec before the colon
	Summary string   // one line of help
	Runs    string   // where the metric computes, such as "LLM server"; "" means in this process
	Source  string   // who published the metric: authors, year and title
	Licence string   // SPDX identifier of the code and the model; "" if none is known
	Options []Option // all options that New reads, in the order of the help
	// Tail describes, for help, the text after the colon if it is not a list of options, such
	// as "PROGRAM ARG…". New reads it by Values.Tail.
	Tail     string
	Unlisted bool // whether help and errors omit the name
	// Info is what the metric declares, without its name; nil if it follows from New at once.
	Info *Info
	// New reads its options from v. The caller checks v's error, so New need not. The context
	// ends when the metric is no longer used or waited for.
	New func(ctx context.Context, v *Values) (Metric, error)
}

// Option documents one option of a Factory.
type Option struct {
	Key     string
	Default string // as shown in help
	Values  string // as shown in help, such as "yes|no"
	Doc     string // what the option does, in a few words
	File    bool   // whether its value names a file that is read
	Saves   bool   // whether it names a file that is written
	// Signed lists the option's names in signatures; Words maps values to their words there.
	Signed []string
	Words  map[string]string
}

// Registry is a list of factories. There is no global one: each program lists the metrics
// it offers.
type Registry []Factory

// Names lists the metrics in the registry's order, without the unlisted ones.
func (r Registry) Names() []string {
	var names []string
	for _, f := range r {
		if !f.Unlisted {
			names = append(names, f.Name)
		}
	}
	return names
}

// Find returns the metric with a name, ignoring case.
func (r Registry) Find(name string) (Factory, bool) {
	i := slices.IndexFunc(r, func(f Factory) bool { return f.Name == name })
	if i < 0 {
		i = slices.IndexFunc(r, func(f Factory) bool { return strings.EqualFold(f.Name, name) })
	}
	if i < 0 {
		return Factory{}, false
	}
	return r[i], true
}

// Parse makes the metric that a spec names: "name", "name:option=value,option=value" or,
// for a Factory with a Tail, "name:" and any text. A bare option means option=yes. The
// error is a *SpecError, or what a Factory with a Tail reports itself (see Values.Wrong).
func (r Registry) Parse(ctx context.Context, spec string) (Metric, error) {
	name, rest, more := strings.Cut(spec, ":")
	f, known := r.Find(name)
	if !known {
		return nil, &SpecError{spec, english.Unknown("metric", name, r.Names())}
	}
	v := &Values{spec: spec, set: map[string]string{}, tail: rest}
	if more && f.Tail == "" {
		if err := v.parse(rest, f.Options); err != nil {
			return nil, &SpecError{spec, err}
		}
	}
	m, err := f.New(ctx, v)
	if len(v.errs) > 0 { // an error of New would be about defaults
		return nil, v.Wrong(v.Err())
	}
	switch {
	case err == nil:
		return m, nil
	case f.Tail != "":
		return nil, err
	}
	return nil, v.Wrong(err)
}

// SpecError says what is wrong with a spec that a user wrote.
type SpecError struct {
	Spec string
	Err  error
}

// Error quotes the spec, without passwords in addresses, followed by the cause. The name of
// an unknown metric is quoted once.
func (e *SpecError) Error() string {
	if english.IsUnknown(e.Err, "metric") {
		return redact.Text(e.Err.Error())
	}
	return fmt.Sprintf("metric %q: %v", redact.Text(e.Spec), e.Err)
}

// Unwrap returns the cause.
func (e *SpecError) Unwrap() error { return e.Err }

// Values are the options of one spec. The getters return the default if an option is not
// set, and collect what they could not read.
type Values struct {
	spec string
	set  map[string]string
	tail string
	errs []error
}

func (v *Values) parse(s string, options []Option) error {
	return EachOption(s, func(key, value string, bare bool) error {
		if bare {
			if key, value, bare = strings.Cut(key, ":"); !bare { // else it is written as in a signature
				value = "yes"
			}
		}
		return v.Set(key, value, options)
	})
}

// Set sets an option, by its key or as signatures name it.
func (v *Values) Set(key, value string, options []Option) error {
	i := slices.IndexFunc(options, func(o Option) bool { return o.Key == key })
	if i < 0 {
		if i = slices.IndexFunc(options, func(o Option) bool { return slices.Contains(o.Signed, key) }); i < 0 {
			known := make([]string, len(options))
			for i, o := range options {
				known[i] = o.Key
			}
			return english.Unknown("option", key, known)
		}
		value = cmp.Or(options[i].Words[value], value)
	}
	if _, twice := v.set[options[i].Key]; twice {
		return fmt.Errorf("option %q is given twice", options[i].Key)
	}
	v.set[options[i].Key] = value
	return nil
}

// EachOption calls set with each option of a text such as "smooth=floor,lowercase", of
// which the second is bare. An option given twice is an error unless it is among repeats.
func EachOption(text string, set func(key, value string, bare bool) error, repeats ...string) error {
	seen := map[string]bool{}
	for option := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(option, "=")
		if seen[key] && !slices.Contains(repeats, key) {
			return fmt.Errorf("option %q is given twice", key)
		}
		seen[key] = true
		if err := set(key, value, !ok); err != nil {
			return err
		}
	}
	return nil
}

// Tail returns the text after the colon of the spec, as written.
func (v *Values) Tail() string { return v.tail }

// Err returns what the getters could not read. A New that takes long looks at it first.
func (v *Values) Err() error { return errors.Join(v.errs...) }

// Wrong makes a *SpecError.
func (v *Values) Wrong(err error) error { return &SpecError{v.spec, err} }

// String returns the option's text.
func (v *Values) String(key, def string) string {
	if s, ok := v.set[key]; ok {
		return s
	}
	return def
}

// Has reports whether the option was given.
func (v *Values) Has(key string) bool { _, ok := v.set[key]; return ok }

// Bool reads yes/no, true/false or 1/0.
func (v *Values) Bool(key string, def bool) bool {
	s, ok := v.set[key]
	if !ok {
		return def
	}
	switch strings.ToLower(s) {
	case "yes", "true", "1":
		return true
	case "no", "false", "0":
		return false
	}
	v.fail(key, s, "yes or no")
	return def
}

// Int reads an integer in [lo, hi].
func (v *Values) Int(key string, def, lo, hi int) int {
	s, ok := v.set[key]
	if !ok {
		return def
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < lo || n > hi {
		v.fail(key, s, fmt.Sprintf("a whole number from %d to %d", lo, hi))
		return def
	}
	return n
}

// Float reads a finite number in [lo, hi].
func (v *Values) Float(key string, def, lo, hi float64) float64 {
	s, ok := v.set[key]
	if !ok {
		return def
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || f < lo || f > hi {
		want := fmt.Sprintf("a number from %g to %g", lo, hi)
		if hi == math.MaxFloat64 {
			want = fmt.Sprintf("a number of %g or more", lo)
			if lo == math.SmallestNonzeroFloat64 {
				want = "a number above 0"
			}
		}
		v.fail(key, s, want)
		return def
	}
	return f
}

// Enum reads one of the allowed words.
func (v *Values) Enum(key, def string, allowed ...string) string {
	s, ok := v.set[key]
	if !ok {
		return def
	}
	for _, a := range allowed {
		if s == a {
			return s
		}
	}
	v.errs = append(v.errs, english.Unknown("value for "+key, s, allowed))
	return def
}

func (v *Values) fail(key, value, want string) {
	v.errs = append(v.errs, fmt.Errorf("option %s=%q: want %s", key, value, want))
}

// Canonical spells a spec from its name and the options that differ from
// their defaults, given as alternating keys and values.
func Canonical(name string, keyValues ...string) string {
	sep := ":"
	for pair := range slices.Chunk(keyValues, 2) {
		name += sep + pair[0] + "=" + pair[1]
		sep = ","
	}
	return name
}

// Given returns the key and the value of an option for Canonical, or nothing if the value is
// the default.
func Given[T comparable](key string, value, def T) []string {
	if value == def {
		return nil
	}
	switch v := any(value).(type) {
	case bool:
		return []string{key, YesNo(v)}
	case float64:
		return []string{key, strconv.FormatFloat(v, 'g', -1, 64)}
	}
	return []string{key, fmt.Sprint(value)}
}

package yamlfile

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestErrorsSayWhere(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", "f.yaml: the file is empty; it should list names"},
		{"names: [a]\nname: b\n", `f.yaml:2: unknown field "name"; did you mean "names"?`},
		{"of:\n  names: [a]\n", `f.yaml:2: unknown field "names"; it belongs elsewhere in the file`},
		{"of:\n  man: 3\n", `f.yaml:2: unknown field "man"; did you mean "many"?`},
		{"of:\n  else: 3\n", `f.yaml:2: unknown field "else"; known: many`},
		{"names: [a\n", "f.yaml:1: "},
		{"names: [a]\n---\nnames: [b]\n", "f.yaml: the file has more than one YAML document; it may have only one, which should list names"},
		{"names: a\n", "f.yaml:1: names: a text where a list is expected"},
		{"names:\n  - a\n  - {b: c}\n", "f.yaml:3: names[1]: a mapping where a text is expected"},
		{"other:\n  - a\n", "f.yaml:2: other: a list where a text is expected"},
		{"of: {many: 2.9}\n", "f.yaml:1: of.many: 2.9 where a whole number is expected"},
		{"of: 3\n", "f.yaml:1: of: a number where a mapping is expected"},
		{"of:\n  many: x\n", "f.yaml:2: of.many: a text where a number is expected"},
		{"of:\n  many: -1\n", "f.yaml:2: of.many: -1 is out of range"},
		{"names: [a]\nb: [\xff]\n", "f.yaml:2: the line is not valid UTF-8"},
		{strings.Repeat("#", MaxSize+1), "f.yaml: the file is larger than 1048576 bytes"},
		{"other: x\nnames:\n  - a\n  - ''\n", "f.yaml:4: names[1]: is empty"},
		{"\ufeffother: x\nnames: []\n", "f.yaml:2: names.first: is missing"},
	} {
		var v struct {
			Other string   `yaml:"other"`
			Names []string `yaml:"names"`
			Of    struct {
				Many uint64 `yaml:"many"`
			} `yaml:"of"`
		}
		err := func() error {
			f, err := Read("f.yaml", strings.NewReader(test.text))
			if err != nil {
				return err
			}
			if err := f.Decode(&v, "list names"); err != nil {
				return err
			}
			for i, n := range v.Names {
				if n == "" {
					return f.At(Wrong(fmt.Sprintf("names[%d]", i), "is empty"))
				}
			}
			return f.At(Wrong("names.first", "is missing"))
		}()
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%.40q: %v, want %s", test.text, err, test.want)
		}
	}
}

// Files for which the parser would need memory quadratic in their size, or more, are refused
// before parsing.
func TestBounds(t *testing.T) {
	var aliases strings.Builder
	for i := range 9 {
		fmt.Fprintf(&aliases, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", max(0, i-1)), 9), ","))
	}
	bomb := strings.Replace(aliases.String(), strings.TrimSuffix(strings.Repeat("*a0,", 9), ","), "x,x,x,x,x,x,x,x,x", 1)
	const n = 40_000
	for name, test := range map[string]struct{ text, want string }{
		"lists":        {strings.Repeat("[", n) + strings.Repeat("]", n), "f.yaml:1: lists and mappings are nested more than 64 deep"},
		"open lists":   {strings.Repeat("[", n), "f.yaml:1: lists and mappings"},
		"mappings":     {strings.Repeat("{a: ", n) + strings.Repeat("}", n), "f.yaml:1: lists and mappings"},
		"dashes":       {strings.Repeat("- ", n) + "x\n", "f.yaml:1: lists and mappings"},
		"questions":    {strings.Repeat("? ", n) + "x\n", "f.yaml:1: lists and mappings"},
		"indented":     {indented(100), "f.yaml:65: lists and mappings"},
		"aliases":      {bomb, "f.yaml: the file has more than 200000 keys and values, those that its aliases repeat included"},
		"own alias":    {"a: &a [*a]\n", ""},
		"deep enough":  {strings.Repeat("[", 64) + strings.Repeat("]", 64), ""},
		"indented, 60": {indented(60), ""},
		"long":         {strings.Repeat("- a: x\n", 20_000), ""},
		"used twice":   {"a: &a {x: 1}\nb: *a\nc: *a\n", ""},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f, err := Read("f.yaml", strings.NewReader(test.text))
		if err == nil {
			var v any
			err = f.Decode(&v, "be read")
			assert.False(t, test.want == "" && name != "own alias" && err != nil, "%s: %v", name, err)
		}
		runtime.ReadMemStats(&after)
		if test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
		used := (after.TotalAlloc - before.TotalAlloc) >> 20
		assert.True(t, used <= 100, "%s: %d MB", name, used)
	}
}

func indented(depth int) string {
	var b strings.Builder
	for i := range depth {
		fmt.Fprintf(&b, "%sa:\n", strings.Repeat(" ", i))
	}
	return b.String()
}

// A panic of the library becomes an error.
func TestPanicsAreErrors(t *testing.T) {
	for _, text := range []string{"datasets:\n !x ", "a: !x\n"} {
		f, err := Read("f.yaml", strings.NewReader(text))
		if err == nil {
			var v struct{ Datasets, A []string }
			err = f.Decode(&v, "test")
		}
		assert.True(t, err != nil && strings.HasPrefix(err.Error(), "f.yaml: a tag"), "%q: %v", text, err)
	}
}

package dataset

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
)

// However JSON stands in a file, its segments are those of JSON Lines.
func TestObjects(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		var want []*refract.Segment
		var rows []json.RawMessage
		for i := range rapid.IntRange(1, 5).Draw(t, "rows") {
			s := &refract.Segment{ID: string(rune('a' + i)), Source: textOf(drawPointer(t, "source")), References: []refract.Text{textOf(drawPointer(t, "ref"))}}
			want = append(want, s)
			rows = append(rows, bytes.TrimSpace([]byte(encode(t, s))))
		}
		var value any = rows
		switch rapid.IntRange(0, 2).Draw(t, "around") {
		case 1:
			value = map[string]any{wrappers[rapid.IntRange(0, len(wrappers)-1).Draw(t, "name")]: rows, "a": []int{1}, "version": map[string]any{"data": 1}}
		case 2:
			value = rows[0]
		}
		b, err := json.Marshal(value)
		if rapid.Bool().Draw(t, "indented") {
			b, err = json.MarshalIndent(value, "", " ")
		}
		require.NoError(t, err)
		if _, ok := value.(json.RawMessage); ok { // objects over several lines
			b = nil
			for _, row := range rows {
				var spread bytes.Buffer
				json.Indent(&spread, row, "", "\t")
				b = append(append(b, spread.Bytes()...), '\n')
			}
		}
		path := filepath.Join(dir, "d.json")
		if rapid.Bool().Draw(t, "mark") {
			b = append([]byte("\ufeff"), b...)
		}
		require.NoError(t, os.WriteFile(path, b, 0o666))
		ds, err := Open(path, Options{})
		got, err := openAndCollect(ds, err)
		require.NoError(t, err, "%s", b)
		for i, s := range got {
			assert.Equal(t, i+1, s.Pos.Line, "segment %d is at %v", i, s.Pos)
			s.Pos = refract.Position{}
		}
		require.Empty(t, cmp.Diff(want, got), "%s", b)
		n, known := Len(ds)
		assert.False(t, known && n != len(want), "%d segments, want %d", n, len(want))
	})
}

func TestObjectsErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"cut off", `[{"id":"1"},{"id":"2"`, "after 1 object: bad JSON: unexpected EOF"},
		{"more", "[{\"id\":\"1\"}]\n[]", "after 1 object: there is more after the array"},
		{"another array", `{"data":[{"id":"1"}],"n":1,"test":[{"id":"2"}]}`, `after 1 object: field "test" has objects beside those of the array`},
		{"an array before", `{"test":[ {"id":"2"}],"data":[{"id":"1"}]}`, `field "test" has objects beside`},
		{"no comma", `[{"id":"1"} {"id":"2"}]`, "d.json:2: after 1 object: bad JSON: invalid character '{' after array element (expecting ',' or ']')"},
		{"a field", "{\"id\":\"1\",\"data\":[{}]}\n{\"id\":\"2\"}\n", `unknown field "data"`},
		{"same id", `[{"id":"1"},{"id":1}]`, `d.json:2: id "1" is already used by line 1; ids must be unique`},
		{"endless", `[` + strings.Repeat(" ", maxLine+1<<20), "d.json:1: the object has more than 32 MiB"},
	} {
		dir := folderOf(t, map[string]string{"d.json": c.text})
		_, err := openAndCollect(Open(filepath.Join(dir, "d.json"), Options{}))
		assert.ErrorContains(t, err, c.want, c.name)
	}
}

//go:build unix

package dataset

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe cannot be counted beforehand.
func TestLinesOfPipes(t *testing.T) {
	for _, c := range []struct{ name, source, pipe, want string }{
		{"equal", "a\nb\n", "c\nd\n", ""},
		{"pipe is short", "a\nb\nc\n", "d\n", "FILE: has 3 lines, but PIPE has 1; line k of each file must belong to segment k"},
		{"pipe is long", "a\n", "d\ne\nf", "PIPE: has 3 lines, but FILE has 1; line k of each file must belong to segment k"},
		{"pipe is empty", "a\n", "", "FILE: has 1 line, but PIPE has 0; line k of each file must belong to segment k"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := folderOf(t, map[string]string{"FILE": c.source})
			pipe := filepath.Join(dir, "PIPE")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Skip("no named pipes:", err)
			}
			ds, err := OpenLines(LinesSpec{Source: filepath.Join(dir, "FILE"), Hypotheses: []NamedFile{{"p", pipe}}}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			go os.WriteFile(pipe, []byte(c.pipe), 0o600)
			got, err := collect(ds)
			if c.want != "" {
				wantError(t, dir, err, c.want)
			} else if err != nil || len(got) != 2 || got[1].Hypotheses[0].Text.Value != "d" {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

// A pipe of outputs does not hinder div-ref:, which goes over the references
// only. A pipe of references does, and so does one of the lists where these
// are needed out of turn.
func TestDivRefOfPipes(t *testing.T) {
	const spec = `references "div-ref:lists" need a pass over the first references beforehand, but refs can be read only once; ` +
		`store it in a file, or write div-ref-lines:FILE to have the variants line by line`
	for _, c := range []struct{ name, pipe, refs, want string }{
		{"outputs", "out", "x\nx\n", ""},
		{"references", "refs", "x\nx\n", spec},
		{"lists", "lists", "x\ny\n", ""},
		{"lists out of turn", "lists", "x\nx\n", `lists: is a stream and can be read only once, but the segments with the same first reference need a line ahead of it; ` +
			`store it in a file, or write div-ref-lines:FILE to have the variants line by line`},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"refs": c.refs, "out": "h\ni\n", "lists": "['1']\n['2']\n"}
			content := files[c.pipe]
			delete(files, c.pipe)
			dir := folderOf(t, files)
			at := func(name string) string { return filepath.Join(dir, name) }
			if err := syscall.Mkfifo(at(c.pipe), 0o600); err != nil {
				t.Skip("no named pipes:", err)
			}
			ds, err := OpenLines(LinesSpec{References: []string{at("refs")}, Hypotheses: []NamedFile{{"p", at("out")}}}, Options{})
			if err == nil {
				ds, err = WithReferences(ds, "div-ref:"+at("lists"), Options{})
			}
			if err == nil && c.want == "" {
				go os.WriteFile(at(c.pipe), []byte(content), 0o600)
			}
			got, err := openAndCollect(ds, err)
			switch {
			case c.want != "":
				wantError(t, dir, err, c.want)
			case err != nil || len(got) != 2:
				t.Errorf("got %v, %v", got, err)
			default:
				first := got[0].Variants[0].Text.Value
				if (first == "2") != (c.refs == "x\nx\n") {
					t.Errorf("the first variant is %q", first)
				}
			}
		})
	}
}

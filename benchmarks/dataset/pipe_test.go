//go:build unix

package dataset

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A pipe cannot be counted beforehand.
func TestLinesFromPipes(t *testing.T) {
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
			require.NoError(t, err)
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

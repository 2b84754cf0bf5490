package helptext

import (
	"testing"

	"github.com/spf13/cobra"
)

// What roff reads as a request, an escape or a hyphen is text in a page.
func TestMan(t *testing.T) {
	root := &cobra.Command{Use: "tool"}
	cmd := &cobra.Command{
		Use: "run FILE", Short: `Run "it"`, Long: ".5 of all\n'tis C:\\dir and --all",
		Example: "  tool run x", Run: func(*cobra.Command, []string) {},
	}
	root.AddCommand(cmd)
	cmd.Flags().IntP("number", "n", 3, "how many")
	page := Page{Width: 72, All: true, Sections: []string{"Own"}, Own: "Own", Common: "Own", See: []string{"tool help x"}}
	want := `.TH "TOOL\-RUN" 1 "" "tool 1.2"
.SH NAME
tool\-run \- Run \(dqit\(dq
.SH "SYNOPSIS"
.nf
  tool run FILE [flags]
.fi
.SH "DESCRIPTION"
.nf
\&.5 of all 'tis C:\edir and \-\-all
.fi
.SH "EXAMPLES"
.nf
  tool run x
.fi
.SH "OWN"
.nf
  \-n, \-\-number N  how many (default 3)
  \-h, \-\-help      help for run
.fi
.SH "SEE ALSO"
.nf
tool help x
.fi
`
	if got := page.Man(cmd, "tool 1.2"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := roff("'a\n.b"); got != "\\&'a\n\\&.b" {
		t.Errorf("got %q", got)
	}
}

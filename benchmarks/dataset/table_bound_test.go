package dataset_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refract-eval/refract/benchmarks/dataset"
)

// A quote that is left open ends the reading within the bound of a row, and the error
// names the line where the row begins.
func TestOpenQuote(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	line := strings.Repeat("x", 1<<20) + "\n"
	if err := os.WriteFile(path, []byte("id,ref,out\n1,a,b\n2,\"a\nb\",c\n3,\"a,b\n"+strings.Repeat(line, 40)), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Open("table:"+path+",id=id,reference=ref,system:s=out", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for s, err := range d.Segments(context.Background()) {
		if err != nil {
			if want := path + ":5: the row that begins here has more than 32 MiB; is a quote left open?"; !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
			break
		}
		ids = append(ids, s.ID)
	}
	if strings.Join(ids, " ") != "1 2" {
		t.Errorf("segments %v", ids)
	}
}

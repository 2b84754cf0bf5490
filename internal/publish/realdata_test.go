package publish_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/internal/publish"
)

// realData returns the folder of the real data, or skips.
func realData(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("REFRACT_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(dir, "div-ref")); errors.Is(err, os.ErrNotExist) {
		t.Skipf("no real data in %s; set REFRACT_DATA to its folder", dir)
	}
	return dir
}

// The released expansion of a test set survives every format as it is.
func TestReleasedSet(t *testing.T) {
	data := realData(t)
	ds, err := dataset.Open("mtme:"+filepath.Join(data, "mt-metrics-eval-v2", "wmt22", "zh-en"), dataset.Options{})
	if err == nil {
		ds, err = dataset.WithReferences(ds, "div-ref-lines:"+filepath.Join(data, "div-ref", "wmt22.zh-en.refA.diversified"), dataset.Options{})
	}
	want, err := collect(ds, err)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range dataset.Formats() {
		dir := filepath.Join(t.TempDir(), "set")
		res, err := publish.Publish(t.Context(), ds, dir, options(format))
		if err != nil {
			t.Fatal(err)
		}
		if res.Manifest.Set != hashOf(want) || res.Manifest.Variants != 18750 {
			t.Errorf("%s: %+v", format, res.Manifest)
		}
		for way, read := range readers(dir, &res.Manifest) {
			got, err := read()
			if err != nil {
				t.Fatalf("%s, %s: %v", format, way, err)
			}
			if hashOf(got) != hashOf(want) {
				t.Errorf("%s, %s: another set", format, way)
			}
		}
	}
}

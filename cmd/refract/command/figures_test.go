package command

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"
)

// dataDirectory is where real data may be.
func dataDirectory() string {
	return cmp.Or(os.Getenv("REFRACT_DATA"), filepath.Join("..", "..", "..", "..", "shared", "data"))
}

// realData returns the folder of real data, or skips.
func realData(t *testing.T) string {
	t.Helper()
	dir := dataDirectory()
	if _, err := os.Stat(filepath.Join(dir, "mt-metrics-eval-v2", "wmt22")); err != nil {
		t.Skip("the WMT22 data is not there; set REFRACT_DATA to its folder")
	}
	return dir
}

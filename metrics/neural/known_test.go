package neural_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/metrics/neural"
)

// The table has every metric that metrics/neural/server serves.
func TestKnown(t *testing.T) {
	var names []string
	for _, k := range neural.Unserved() {
		names = append(names, k.Name)
	}
	modules, err := filepath.Glob("server/refract_metrics/*.py")
	require.NoError(t, err)
	served := 0
	for _, path := range modules {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		if name := strings.TrimSuffix(filepath.Base(path), ".py"); strings.Contains(string(text), "checkpoint = Checkpoint(") {
			served++
			assert.Contains(t, names, name)
		}
	}
	assert.NotEqual(t, 0, served, "no served metric found")
}

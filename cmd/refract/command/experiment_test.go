package command

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The file that docs/how-to/experiments.md shows is the one that its commands run.
func TestDocumentedExperiment(t *testing.T) {
	doc, err := os.ReadFile(repository + "/docs/how-to/experiments.md")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(doc), "```yaml\n")
	shown, _, _ := strings.Cut(rest, "```")
	file, err := os.ReadFile(textFolder + "/experiment.yaml")
	require.NoError(t, err)
	assert.Equal(t, string(file), shown, "the document shows\n%s\nand the file is\n%s", shown, file)
}

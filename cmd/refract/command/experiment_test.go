package command

import (
	"os"
	"strings"
	"testing"
)

// The file that docs/how-to/experiments.md shows is the one that its commands run.
func TestDocumentedExperiment(t *testing.T) {
	doc, err := os.ReadFile(repository + "/docs/how-to/experiments.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(doc), "```yaml\n")
	shown, _, _ := strings.Cut(rest, "```")
	file, err := os.ReadFile(textFolder + "/experiment.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if shown != string(file) {
		t.Errorf("the document shows\n%s\nand the file is\n%s", shown, file)
	}
}

package command

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
)

// What the manifests of deploy/kubernetes run are command lines that the program
// takes, and as many shards are run as a Job has completions.
func TestManifests(t *testing.T) {
	files, err := filepath.Glob(repository + "/deploy/kubernetes/*.yaml")
	require.True(t, err == nil && len(files) != 0, "no manifest: %v", err)
	ran := map[string]int{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		for docs := yaml.NewDecoder(bytes.NewReader(content)); ; {
			var doc struct {
				Metadata struct{ Name string }
				Spec     struct {
					Completions int
					Template    struct {
						Spec struct {
							Containers []struct {
								Name string
								Args []string
							}
						}
					}
				}
			}
			if err := docs.Decode(&doc); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			for _, c := range doc.Spec.Template.Spec.Containers {
				if c.Name != "refract" {
					continue
				}
				t.Run(doc.Metadata.Name, func(t *testing.T) {
					ran[c.Args[0]]++
					checkCommandLine(t, c.Args)
					if n := doc.Spec.Completions; n > 0 && !slices.Contains(c.Args, "--shard=auto/16") || n != 0 && n != 16 {
						t.Errorf("%d completions of %s", n, c.Args)
					}
				})
			}
		}
	}
	for _, name := range []string{"expand", "score", "merge"} {
		if ran[name] != 1 {
			t.Errorf("%d manifests run refract %s", ran[name], name)
		}
	}
}

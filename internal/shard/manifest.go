// Package shard stores the parts of a run that several processes did, and merges them.
//
// A file consists of chunks, followed by the Manifest as a line of JSON. A chunk is a
// byte for its kind, a length in four bytes (little-endian), and that many bytes
// compressed with S2, which takes a third of Zstandard's time. Index chunks hold the ids
// of the segments and the hashed form of their references, body chunks the output of
// the command, totals chunks its counts. The last member of the manifest is the SHA-256
// of everything before its digits, so that any damage is detected. Equal work makes equal
// files.
package shard

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/internal/text"
)

// format names the file format and its version.
const format = "refract shard 2"

// Manifest describes the contents of a file.
type Manifest struct {
	Format   string              `json:"format"`
	Version  string              `json:"version"` // of the program
	Command  string              `json:"command"`
	Index    int                 `json:"index"` // from 1
	Of       int                 `json:"of"`
	Input    dataset.Input       `json:"input"`
	Settings map[string][]string `json:"settings"` // everything that changes results, by flag
	Segments int                 `json:"segments"`
	Details  json.RawMessage     `json:"details"` // of the command; the same in all shards
	Status   string              `json:"status"`  // always "complete"
	SHA256   string              `json:"sha256"`
}

const complete = "complete"

// Name returns the name of the file for a shard of an output.
func Name(output string, index, of int) string {
	return fmt.Sprintf("%s.%d-of-%d.shard", output, index, of)
}

// Differences lists how two manifests differ, apart from their place among the shards;
// nil if both belong to one run.
func (m *Manifest) Differences(o *Manifest) []string {
	var out []string
	differ := func(what, mine, other string) {
		if mine != other {
			out = append(out, fmt.Sprintf("%s is %s, and %s in the other", what, text.Quote(mine), text.Quote(other)))
		}
	}
	differ("the version of refract", m.Version, o.Version)
	differ("the command", m.Command, o.Command)
	differ("the number of shards", fmt.Sprint(m.Of), fmt.Sprint(o.Of))
	if m.Input.Unit != o.Input.Unit || m.Input.Size != o.Input.Size || m.Input.Whole != o.Input.Whole {
		out = append(out, "the input is different")
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(m.Settings)), maps.Keys(o.Settings))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		differ(name, shown(m.Settings[name]), shown(o.Settings[name]))
	}
	if len(out) == 0 && string(m.Details) != string(o.Details) && m.Details != nil && o.Details != nil {
		out = append(out, "the metrics or models are not the same")
	}
	return out
}

// Same lists how two shards for the same place differ; nil if they did the same work.
func (m *Manifest) Same(o *Manifest) []string {
	out := m.Differences(o)
	if len(out) == 0 && (m.Index != o.Index || m.Input != o.Input) {
		out = append(out, "the input is different")
	}
	return out
}

func shown(values []string) string { return cmp.Or(strings.Join(values, " "), "not given") }

// Package shard stores the part of a run that one of several processes did, and
// merges the parts of all.
//
// A file begins with chunks and ends with the Manifest as a line of JSON. A chunk
// is a byte for its kind, the length of what follows in four bytes, the lowest
// first, and as many bytes packed with S2, which takes a third of Zstandard's time. Index chunks have the ids of
// the segments, and what is hashed of their references; body chunks have what the
// command wrote, others what stands beside it and what was counted. The last member of the manifest is the SHA-256 of all that
// stands before its digits. So a file is damaged or whole, and equal work makes
// equal files.
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

// format is the form of the files. It changes when the form does.
const format = "refract shard 2"

// Manifest says what is in a file.
type Manifest struct {
	Format   string              `json:"format"`
	Version  string              `json:"version"` // of the program
	Command  string              `json:"command"`
	Index    int                 `json:"index"` // from 1
	Of       int                 `json:"of"`
	Input    dataset.Input       `json:"input"`
	Settings map[string][]string `json:"settings"` // all that changes results, by flag
	Segments int                 `json:"segments"`
	Details  json.RawMessage     `json:"details"` // of the command; the same in all shards
	Status   string              `json:"status"`  // complete
	SHA256   string              `json:"sha256"`
}

const complete = "complete"

// Name is the file of a shard of an output.
func Name(output string, index, of int) string {
	return fmt.Sprintf("%s.%d-of-%d.shard", output, index, of)
}

// Differences says what tells the work of two manifests apart, but for their
// place among the shards; nothing where it is of one run.
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
		out = append(out, "the input is another one")
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

// Same says what tells the work of a shard from that of another one in the same
// place.
func (m *Manifest) Same(o *Manifest) []string {
	out := m.Differences(o)
	if len(out) == 0 && (m.Index != o.Index || m.Input != o.Input) {
		out = append(out, "the input is another one")
	}
	return out
}

func shown(values []string) string { return cmp.Or(strings.Join(values, " "), "not given") }

package command

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

// partForm names the form of the line that ends a part, and its version.
const partForm = "part 4"

// part is the line that ends a part of a run. It says which part of what the lines before
// it are: segments of expand, or rows or cells of score. Scores of systems have no such
// lines; their sums are in the line itself.
type part struct {
	Form     string              `json:"refract"`
	Version  string              `json:"version"`
	Command  string              `json:"command"`
	Per      string              `json:"per,omitempty"`   // of score: system, segment or cell
	Shard    int                 `json:"shard,omitempty"` // from 1; 0 for a part of a pipe
	Of       int                 `json:"of,omitempty"`
	Input    dataset.Extent      `json:"input,omitzero"`
	Settings map[string][]string `json:"settings"` // everything that changes results, by flag
	Scored   []partSetting       `json:"scored,omitempty"`
	Segments int                 `json:"segments"`
	IDs      string              `json:"ids"`             // SHA-256 of their ids
	Lines    bool                `json:"lines,omitempty"` // there are some before this one
	Systems  json.RawMessage     `json:"systems,omitempty"`
	// Set is the set of references of the whole input. Only the first shard of scores of
	// systems has it, so that the others need not parse the whole.
	Set     *refract.Identity `json:"set,omitempty"`
	Reports json.RawMessage   `json:"reports,omitempty"` // what judges say, see audit.Trust
	SHA256  string            `json:"sha256"`            // of the lines before, and of this one up to here

	file, place string // where it was read, and that for messages
}

// partTail follows the digits of a part's SHA256.
const partTail = "\"}\n"

// differences lists how two parts are not of one run, apart from their place in it.
func (p *part) differences(o *part) (out []string) {
	facts := func(p *part) map[string][]string {
		all := map[string][]string{"the version of refract": {p.Version}, "the command": {p.Command}, "--per": {p.Per}, "the number of shards": {fmt.Sprint(p.Of)}}
		maps.Copy(all, p.Settings)
		return all
	}
	mine, others := facts(p), facts(o)
	names := slices.AppendSeq(slices.Collect(maps.Keys(mine)), maps.Keys(others))
	slices.Sort(names)
	given := func(values []string) string { return cmp.Or(strings.Join(values, " "), "not given") }
	for _, name := range slices.Compact(names) {
		if a, b := given(mine[name]), given(others[name]); a != b {
			out = append(out, fmt.Sprintf("%s is %s, and %s in the other", name, text.Quote(a), text.Quote(b)))
		}
	}
	if p.Input.Differs(o.Input) {
		out = append(out, "the input is different")
	}
	if len(out) == 0 && p.Scored != nil && o.Scored != nil && !slices.Equal(p.Scored, o.Scored) {
		out = append(out, "the metrics or models are not the same")
	}
	return out
}

// partWriter writes the lines of a part, and ends it with the line about it.
type partWriter struct {
	part
	to       io.Writer
	sum, ids hash.Hash
}

func newPart(command string, settings map[string][]string) *partWriter {
	return &partWriter{part: part{Form: partForm, Version: refract.Version, Command: command, Settings: settings}, sum: sha256.New(), ids: sha256.New()}
}

// Write writes what the line about the part follows.
func (w *partWriter) Write(b []byte) (int, error) {
	w.Lines = w.Lines || len(b) > 0
	w.sum.Write(b)
	return w.to.Write(b)
}

// segment counts a segment of the part, if there is one.
func (w *partWriter) segment(id string) {
	if w != nil {
		w.Segments++
		fmt.Fprintf(w.ids, "%d:%s", len(id), id)
	}
}

// end writes the line about the part.
func (w *partWriter) end() error {
	w.IDs = hex.EncodeToString(w.ids.Sum(nil))
	line, err := json.Marshal(&w.part)
	if err != nil {
		return err
	}
	line = jsonline.Escape(line[:len(line)-len(partTail)+1])
	w.sum.Write(line)
	_, err = fmt.Fprintf(w.to, "%s%x%s", line, w.sum.Sum(nil), partTail)
	return err
}

// errNoPart says that something is not a whole part.
var errNoPart = errors.New("it is cut off, damaged or not a part: run its command again")

// longestLine bounds a line of a part, in bytes.
const longestLine = 256 << 20

// readParts reads parts that follow one another. It copies their lines to a writer, except
// those about the parts, and calls each at the end of every part.
func readParts(ctx context.Context, in io.Reader, to io.Writer, each func(*part) error) error {
	lines, sum, some := bufio.NewScanner(in), sha256.New(), false
	lines.Buffer(make([]byte, 64<<10), longestLine)
	lines.Split(func(data []byte, end bool) (int, []byte, error) {
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			return i + 1, data[:i+1], nil
		}
		if end && len(data) > 0 {
			return 0, nil, errNoPart
		}
		return 0, nil, nil
	})
	for lines.Scan() {
		line := lines.Bytes()
		if !bytes.HasPrefix(line, []byte(dataset.PartHead)) {
			some = true
			sum.Write(line)
			if _, err := to.Write(line); err != nil {
				return err
			}
			continue
		}
		p, err := parsePart(line, sum)
		if err = cmp.Or(err, ctx.Err()); err == nil {
			err = each(p)
		}
		if err != nil {
			return err
		}
		sum.Reset()
		some = false
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong), err == nil && some:
		return errNoPart
	default:
		return err
	}
}

// parsePart reads the line about a part, and verifies it and, by their sum, those before it.
func parsePart(line []byte, sum hash.Hash) (*part, error) {
	at := len(line) - len(partTail) - 2*sha256.Size
	if at < 0 {
		return nil, errNoPart
	}
	sum.Write(line[:at])
	if string(line[at:]) != fmt.Sprintf("%x%s", sum.Sum(nil), partTail) {
		return nil, errNoPart
	}
	p := &part{}
	if err := json.Unmarshal(line, p); err != nil {
		return nil, err
	}
	if p.Form != partForm || p.Version != refract.Version {
		return nil, fmt.Errorf("it is of refract %s, and this is refract %s: merge it with that", text.Quote(p.Version), refract.Version)
	}
	return p, nil
}

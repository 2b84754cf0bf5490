package command

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
)

// statistics are the line that 'refract stage score' writes of its segments, and
// 'refract stage merge' adds up.
type statistics struct {
	Form     string              `json:"refract"`
	Version  string              `json:"version"`
	Settings map[string][]string `json:"settings"` // all that changes results, by flag
	Details  scoreDetails        `json:"details"`
	Sample   idSample            `json:"sample"`
	Systems  json.RawMessage     `json:"systems"`
	SHA256   string              `json:"sha256"` // of the line with "" in its place
}

// digest is the SHA256 of a line.
func (s statistics) digest() (string, error) {
	s.SHA256 = ""
	line, err := json.Marshal(s)
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:]), err
}

const statisticsForm = "statistics 2"

// idSample is the smallest hashes of the ids of a part: all of up to mostSampled.
// Two parts that share many segments share some of these.
type idSample []uint64

const mostSampled = 512

func (s *idSample) add(id string) {
	sum := sha256.Sum256([]byte(id))
	if *s = append(*s, binary.LittleEndian.Uint64(sum[:])); len(*s) >= 2*mostSampled {
		s.trim()
	}
}

func (s *idSample) trim() {
	slices.Sort(*s)
	*s = (*s)[:min(len(*s), mostSampled)]
}

// MarshalText writes the hashes in base64.
func (s idSample) MarshalText() ([]byte, error) {
	b, err := binary.Append(nil, binary.LittleEndian, []uint64(s))
	return base64.StdEncoding.AppendEncode(nil, b), err
}

// UnmarshalText reads what MarshalText wrote.
func (s *idSample) UnmarshalText(text []byte) error {
	b, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return err
	}
	*s = make(idSample, len(b)/8)
	_, err = binary.Decode(b, binary.LittleEndian, []uint64(*s))
	return err
}

// statistics is the sink of a stage that writes them.
func (s *scorer) statistics(eng *refract.Engine, out io.Writer) *sink {
	acc, ids := eng.Systems(), idSample{}
	add := func(seg *refract.SegmentScores) error {
		ids.add(seg.Segment.ID)
		return acc.Add(seg)
	}
	return &sink{add, func(_ context.Context, ended *refract.Incomplete) error {
		if ended != nil {
			return ended // the part is scored again
		}
		ids.trim()
		line := statistics{
			Form: statisticsForm, Version: refract.Version, Settings: s.shardFlag.settings(), Details: s.details(eng), Sample: ids,
		}
		var err error
		if line.Systems, err = acc.MarshalJSON(); err != nil {
			return err
		}
		if line.SHA256, err = line.digest(); err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(line)
	}}
}

func (e *env) stageMergeCommand() *cobra.Command {
	v := &scoreView{}
	cmd := &cobra.Command{
		Use:   "merge",
		Short: "Add the statistics on standard input up to scores of systems",
		Long: `Add up the statistics that 'refract stage score' wrote of each part, in any order,
and show the scores of systems. They are those of one process to the last bit, as
sums are exact. The signatures leave out the set of references, which no part
knows. A part that is there twice, shares many segments with another, or is of
other settings is an error; one that is missing is not noticed.`,
		Example: `  refract stage merge -f csv < statistics.jsonl`,
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			acc, eng, err := e.addUp(ctx)
			if acc == nil {
				return err
			}
			out, err := e.create(v.path)
			if err != nil {
				return err
			}
			return v.showSystems(ctx, acc, eng.Settings(), out, e.verbose, nil)
		},
	}
	v.output.register(cmd)
	return cmd
}

// addUp reads statistics and adds them up; nil where there are none.
func (e *env) addUp(ctx context.Context) (all *refract.Systems, eng *refract.Engine, err error) {
	parts, first, lines := map[uint64]int{}, statistics{}, json.NewDecoder(e.stdin)
	for n := 1; ; n++ {
		var line statistics
		switch err := lines.Decode(&line); {
		case err == io.EOF:
			return all, eng, nil
		case err != nil:
			return nil, nil, fmt.Errorf("part %d of standard input: %w; the stage that wrote it did not end well: run it again", n, err)
		case line.Form != statisticsForm:
			return nil, nil, fmt.Errorf("part %d of standard input has no statistics: they are what 'refract stage score' writes without --per", n)
		case line.Version != refract.Version:
			return nil, nil, fmt.Errorf("part %d of standard input is of refract %s, and this is refract %s: merge it with that", n, line.Version, refract.Version)
		}
		if digest, err := line.digest(); err != nil || digest != line.SHA256 || len(line.Sample) == 0 {
			return nil, nil, fmt.Errorf("part %d of standard input is damaged: run the stage that wrote it again", n)
		}
		for _, id := range line.Sample {
			if parts[id] > 0 {
				return nil, nil, fmt.Errorf("part %d of standard input has segments of part %d: give each once", n, parts[id])
			}
			parts[id] = n
		}
		systems := line.Systems
		if line.Sample, line.Systems, line.SHA256 = nil, nil, ""; n == 1 {
			first = line
			if eng, err = line.Details.engine(ctx, e, nil); err != nil {
				return nil, nil, err
			}
			all = eng.Systems()
		}
		if !reflect.DeepEqual(line, first) {
			return nil, nil, fmt.Errorf("part %d of standard input was scored with other metrics or flags than part 1", n)
		}
		one := eng.Systems()
		if err := errors.Join(json.Unmarshal(systems, one), ctx.Err()); err != nil {
			return nil, nil, fmt.Errorf("part %d of standard input: %w", n, err)
		}
		all.Merge(one)
	}
}

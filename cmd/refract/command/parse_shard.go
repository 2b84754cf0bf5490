package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/internal/audit"
	"github.com/refract-eval/refract/internal/shard"
	"github.com/refract-eval/refract/metrics/analysis"
)

// parseShard reads a part of a file of answers. Its lines are counted from its
// own first one.
func (p *parsing) parseShard(ctx context.Context, e *env, reading *audit.Reading, metric, file string) error {
	if file == "-" {
		return usagef("--shard cuts a file, and standard input can be read once: store it in a file first")
	}
	if err := p.locate(e, p.path); err != nil {
		return err
	}
	part, err := dataset.CutLines(ctx, file, p.manifest.Index, p.manifest.Of)
	if err == nil && part == nil {
		err = usagef("--shard: %s is packed, and parts are cut out of plain lines: unpack it first", file)
	}
	if err != nil {
		return err
	}
	p.manifest.Input, p.manifest.Settings["the judge"] = part.Input, []string{metric}
	if done, err := p.begin(ctx, e); done || err != nil {
		return err
	}
	in, err := part.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	sum, err := reading.Copy(ctx, p.writer, part.Name(), in)
	if err != nil && !errors.Is(err, audit.ErrNoRow) { // which another shard may have
		return part.Placed(err)
	}
	value, _ := reading.Policy.Counts(analysis.Unparseable)
	details := parseDetails{reading.Metric, value, p.maxUnparsed}
	if err := p.end(e, details); err != nil || sum == nil {
		return err
	}
	details.MaxUnparsed = 1 // which is a share of all
	return details.summarize(e, sum)
}

// rows merges rows of answers, which get the lines that they have in the whole.
func (m *mergeRun) rows(ctx context.Context, e *env, set *shard.Set, out io.Writer) error {
	var d parseDetails
	if err := json.Unmarshal(set.Manifest.Details, &d); err != nil {
		return err
	}
	sum, head := &audit.Totals{}, []byte(`{"line":`)
	err := set.Each(ctx, func(body io.Reader) error {
		before := sum.Rows
		for r := bufio.NewReader(body); ; {
			line, err := r.ReadBytes('\n')
			if err == io.EOF && len(line) == 0 {
				return nil
			}
			if err != nil {
				return err
			}
			var row audit.Row
			if err := json.Unmarshal(line, &row); err != nil {
				return err
			}
			rest, ok := bytes.CutPrefix(line, strconv.AppendInt(head[:len(head):len(head)], int64(row.Line), 10))
			if !ok {
				return shard.ErrDamaged
			}
			if _, err := out.Write(append(strconv.AppendInt(head[:len(head):len(head)], int64(before+row.Line), 10), rest...)); err != nil {
				return err
			}
			sum.Add(&row)
		}
	})
	if err == nil && sum.Rows == 0 {
		err = audit.ErrNoRow
	}
	if err == nil {
		err = e.commit()
	}
	if err != nil {
		return err
	}
	return d.summarize(e, sum)
}

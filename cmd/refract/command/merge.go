package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/cmd/refract/internal/audit"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/files"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/judge"
)

// mergeRun is one run of refract merge.
type mergeRun struct {
	scoreView
	parts  []*part        // in order
	failed map[string]int // scores that failed, by metrics without a number; -1 of others
}

func (e *env) mergeCommand() *cobra.Command {
	m := &mergeRun{}
	cmd := e.newCommand(&cobra.Command{
		Use:   "merge PART… | -",
		Short: "Put the parts of a run together",
		Long: `Put together, in any order, what --shard I/N of score and expand wrote, or what
'refract score --per statistics' wrote in the parts of a pipe.

Scores of systems are added up; segments, rows and cells are joined. The output is
what one process writes with the same flags, byte for byte. Parts that are missing,
there twice, damaged, or of another run are named; then nothing is written. Parts of
a pipe do not tell how many they are, so that a missing one is not noticed, and
signatures of their scores leave out the set of references.`,
		Example: `  refract score jsonl:sample.jsonl -m chrf --shard 1/2 -o scores.csv
  refract score jsonl:sample.jsonl -m chrf --shard 2/2 -o scores.csv
  refract merge scores.csv.*.jsonl -o scores.csv
  cat *.statistics | refract merge - -f csv`,
	}, cobra.MinimumNArgs(1), m.run)
	m.registerFormat(cmd, "", "; without it, by the extension of -o")
	m.registerPath(cmd)
	m.parquet = true
	return cmd
}

func (m *mergeRun) run(ctx context.Context, e *env, args []string) error {
	files, err := partFiles(args)
	if err != nil {
		return err
	}
	e.paths.add("a part", used(false, files...)...)
	if err := e.paths.check(); err != nil {
		return err
	}
	for _, name := range files {
		if err := m.read(ctx, e, name); err != nil {
			return err
		}
	}
	if err := m.check(); err != nil {
		return err
	}
	segments := 0
	for _, p := range m.parts {
		segments += p.Segments
	}
	if segments == 0 {
		return fmt.Errorf("the parts have no segment: %w", dataset.ErrEmpty)
	}
	if err := m.chooseFormat(); err != nil {
		return err
	}
	out, err := e.create(m.path)
	if err != nil {
		return err
	}
	switch m.parts[0].Per {
	case "system":
		err = m.add(ctx, e, out)
	case "cell":
		err = m.cells(ctx, out)
	default:
		err = m.join(ctx, out)
	}
	switch {
	case err != nil:
		return err
	case m.parts[0].Command == "score":
		return m.conclude(e, out)
	}
	if err := e.commit(); err != nil {
		return err
	}
	e.note("%s, %s", english.Count(len(m.parts), "part"), english.Count(segments, "segment"))
	return nil
}

// chooseFormat takes the format of the output from its name, where the parts leave a choice.
func (m *mergeRun) chooseFormat() error {
	switch per := m.parts[0].Per; {
	case per == "system" && filepath.Ext(m.path) == ".parquet":
		return usagef("only the matrix is stored as Parquet, and the parts have no cells: choose another name for -o")
	case per == "system" || per == "cell":
		return m.byExtension()
	case m.formatGiven && m.format != report.JSONLines:
		return usagef("--format: what is joined is JSON Lines: leave it out")
	}
	m.format = report.JSONLines
	return m.isLines()
}

// conclude reports what the judges of all parts say, once the scores are written. It fails
// for metrics that failed.
func (m *mergeRun) conclude(e *env, out io.Writer) error {
	trust, policy := &audit.Trust{}, judge.Policy{}
	for _, p := range m.parts {
		if p.Reports == nil {
			continue
		}
		if err := trust.UnmarshalJSON(p.Reports); err != nil {
			return err
		}
	}
	if err := m.explain(e, trust, out); err != nil {
		return err
	}
	if given := m.parts[0].Settings["--unparseable"]; given != nil {
		var err error
		if policy, err = judge.ParsePolicy(given[0]); err != nil {
			return err
		}
	}
	return errors.Join(allFailed(m.failed), covered(trust, policy))
}

// partFiles are the files that arguments name. They may be patterns, as no shell reads
// the command lines of Kubernetes.
func partFiles(args []string) ([]string, error) {
	var out []string
	for _, arg := range args {
		found := []string{arg}
		if _, err := os.Lstat(arg); err != nil && strings.Contains(arg, "*") {
			if found, err = filepath.Glob(arg); err != nil || len(found) == 0 {
				return nil, fmt.Errorf("no file matches %q: no task of the run has written a part", arg)
			}
		}
		out = append(out, found...)
	}
	return out, nil
}

// read reads and verifies the parts in a file, or in standard input for "-", without their
// lines.
func (m *mergeRun) read(ctx context.Context, e *env, name string) error {
	in, of := e.stdin, "standard input"
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("%s: %w", text.Path(name), files.Cause(err))
		}
		defer f.Close()
		in, of = f, text.Path(name)
	}
	n := 0
	place := func() string {
		if n++; n > 1 || name == "-" {
			return fmt.Sprintf("part %d of %s", n, of)
		}
		return of
	}
	err := readParts(ctx, in, io.Discard, func(p *part) error {
		p.file, p.place = name, place()
		m.parts = append(m.parts, p)
		return nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", place(), err)
	case n == 0 && name == "-":
		return errors.New("standard input has no part: there is nothing to merge")
	case n == 0:
		return fmt.Errorf("%s: %w", of, errNoPart)
	}
	return nil
}

// check puts the parts in order. Its errors name parts that are of another run, there
// twice or missing.
func (m *mergeRun) check() error {
	first, places := m.parts[0], map[string]string{}
	for _, p := range m.parts {
		if diff := p.differences(first); len(diff) > 0 {
			return fmt.Errorf("%s: not of the same run as %s: %s", p.place, first.place, strings.Join(diff, "; "))
		}
		key, what := p.SHA256, "the same part"
		if p.Of > 0 {
			key, what = strconv.Itoa(p.Shard), fmt.Sprintf("shard %d of %d", p.Shard, p.Of)
		}
		if before := places[key]; before != "" {
			return fmt.Errorf("%s: %s, as %s is too: give each once", p.place, what, before)
		}
		places[key] = p.place
	}
	var missing []string
	for i := range first.Of {
		if shard := strconv.Itoa(i + 1); places[shard] == "" {
			missing = append(missing, shard)
		}
	}
	if n := len(missing); n > 0 {
		if n > mostNamed {
			missing = append(missing[:mostNamed], "…")
		}
		return fmt.Errorf("%s of %d missing: %s; run them, and then merge", english.Count(n, "shard"), first.Of, strings.Join(missing, ", "))
	}
	slices.SortStableFunc(m.parts, func(a, b *part) int { return cmp.Compare(a.Shard, b.Shard) })
	var inputs []dataset.Extent
	for _, p := range m.parts {
		inputs = append(inputs, p.Input)
	}
	if first.Of > 0 && !dataset.Whole(inputs) {
		return errors.New("the parts are not of one input: the dataset was changed between the shards; remove them, and run all again")
	}
	return nil
}

const mostNamed = 20 // of missing shards

// add adds up scores of systems, and shows them.
func (m *mergeRun) add(ctx context.Context, e *env, out io.Writer) error {
	eng, err := m.parts[0].engine(ctx, e)
	if err != nil {
		return err
	}
	all := eng.Systems()
	for _, p := range m.parts {
		if err := all.UnmarshalJSON(p.Systems); err != nil {
			return fmt.Errorf("%s: %w", p.place, err)
		}
	}
	all.Identify(m.parts[0].Set)
	scores := all.Scores()
	if len(scores) == 0 {
		return dataset.ErrNoSystems
	}
	m.failed = map[string]int{}
	for _, s := range scores {
		name := eng.Settings()[s.Setting].Metric.Info().Name
		switch {
		case s.OK:
			m.failed[name] = -1
		case m.failed[name] >= 0 && s.Status == metrics.Failed:
			m.failed[name] += s.Missing
		}
	}
	return m.showSystems(ctx, all, eng.Settings(), out, e.verbose, nil)
}

// join writes the lines of all parts.
func (m *mergeRun) join(ctx context.Context, out io.Writer) error {
	ids := &uniqueIDs{to: out, seen: text.NewSeen(), parts: m.parts}
	for i, p := range m.parts {
		to := out
		if p.Per == "" {
			to, ids.part = ids, i
		}
		if err := p.copyTo(ctx, to); err != nil {
			return err
		}
	}
	return nil
}

// uniqueIDs writes lines of segments, and fails at an id that an earlier one has.
type uniqueIDs struct {
	to    io.Writer
	seen  *text.Seen // with the index of the part
	parts []*part
	part  int // whose lines are written
}

func (u *uniqueIDs) Write(line []byte) (int, error) {
	var id string
	d := jsontext.NewDecoder(bytes.NewReader(line))
	for range 3 { // an object, whose first member is "id"
		token, err := d.ReadToken()
		if err != nil {
			return 0, err
		}
		id = token.String()
	}
	if before, again := u.seen.Add(id, int64(u.part)); again {
		return 0, fmt.Errorf("id %s is already used by a segment of %s; ids must be unique", text.Quote(id), u.parts[before].place)
	}
	return u.to.Write(line)
}

// copyTo writes the lines of a part, which are verified again.
func (p *part) copyTo(ctx context.Context, out io.Writer) error {
	if !p.Lines {
		return nil
	}
	alone := fmt.Errorf("%s: parts with lines are joined from files, with a part in each", p.place)
	if info, err := os.Stat(p.file); p.file == "-" || err == nil && !info.Mode().IsRegular() {
		return alone
	}
	f, err := os.Open(p.file)
	if err != nil {
		return fmt.Errorf("%s: %w", p.place, files.Cause(err))
	}
	defer f.Close()
	again := ""
	err = readParts(ctx, f, out, func(now *part) error {
		again += now.SHA256
		return nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", p.place, err)
	case len(again) > len(p.SHA256):
		return alone
	case again != p.SHA256:
		return fmt.Errorf("%s: the file changed while it was read: merge again", p.place)
	}
	return nil
}

// cells joins matrices.
func (m *mergeRun) cells(ctx context.Context, out io.Writer) error {
	w, err := m.matrixWriter(out)
	if err != nil {
		return err
	}
	for _, p := range m.parts {
		r, in := io.Pipe()
		go func() { in.CloseWithError(p.copyTo(ctx, in)) }()
		err := w.Copy(ctx, r, p.place)
		r.Close()
		if err != nil {
			return err
		}
	}
	if w.Rows() == 0 {
		return dataset.ErrNoSystems
	}
	return w.Close()
}

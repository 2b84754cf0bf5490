package conclusions_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/cmd/refract/internal/conclusions"
	"github.com/refract-eval/refract/cmd/refract/internal/page"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/bleu"
	"github.com/refract-eval/refract/metrics/chrf"
	"github.com/refract-eval/refract/metrics/ter"
)

var update = flag.Bool("update", false, "rewrite golden files")

// inputs has the plans and data of the tests of package experiment.
const inputs = "../../../../benchmarks/experiment/testdata/"

func plan(t *testing.T, name string) *experiment.Plan {
	t.Helper()
	f, err := os.Open(inputs + name)
	require.NoError(t, err)
	defer f.Close()
	p, err := experiment.Parse(f.Name(), f)
	require.NoError(t, err)
	return p
}

func run(t *testing.T, p *experiment.Plan) *conclusions.Result {
	t.Helper()
	metrics := metrics.Registry{bleu.Factory(), chrf.Factory(), ter.Factory()}
	res, err := (&experiment.Runner{Metric: metrics.Parse}).Run(t.Context(), p)
	require.NoError(t, err)
	return conclusions.Of(res)
}

func TestGolden(t *testing.T) {
	res := run(t, plan(t, "golden.yaml"))
	var text bytes.Buffer
	require.NoError(t, res.WriteMarkdown(&text))
	data, err := json.MarshalIndent(res, "", " ")
	require.NoError(t, err)
	for name, got := range map[string][]byte{"golden.md": text.Bytes(), "golden.json": append(data, '\n')} {
		path := filepath.Join("testdata", name)
		if *update {
			require.NoError(t, os.WriteFile(path, got, 0o644))
		}
		if want, err := os.ReadFile(path); err != nil || string(want) != string(got) {
			t.Errorf("%s differs (%v); run with -update and read the diff. Got:\n%s", path, err, got)
		}
	}
}

// All tables can be shown in all formats, and no two columns of a table have the same heading.
func TestTables(t *testing.T) {
	p := plan(t, "sample.yaml")
	p.Labels = &experiment.Labels{Always: true}
	p.Tasks = []experiment.Task{{Dataset: p.Datasets[0].Name, Statistic: p.Statistics[0], Weight: 1}}
	res := run(t, p)
	for _, name := range conclusions.TableNames() {
		table, err := res.Table(name)
		if err != nil || len(table.Rows) == 0 && !slices.Contains([]string{"pairs", "ranks", "worth"}, name) || table.Coverage == "" {
			t.Errorf("table %s: %v", name, err)
			continue
		}
		headings := map[string]bool{}
		for _, c := range table.Columns {
			if h := c.Heading(); !c.Hide && headings[h] {
				t.Errorf("table %s has two columns %q", name, h)
			} else {
				headings[h] = headings[h] || !c.Hide
			}
		}
		for _, f := range report.Formats() {
			assert.NoError(t, table.Write(io.Discard, f, true), "table %s as %s", name, f)
		}
	}
	assert.NotEqual(t, 0, len(res.Figures()), "there is no figure")
}

// If a test has too few resamples, or judged segments or documents to exchange, for any
// significant p-value, and the interval excludes 0, the difference is undecided, and says so.
// Three segments give p-values down to 1/4; those that nobody judged add nothing.
func TestTooFewAreUndecided(t *testing.T) {
	text, err := os.ReadFile(inputs + "sample.jsonl")
	require.NoError(t, err)
	lines := strings.SplitAfter(string(text), "\n")[:8]
	unjudged := slices.Clone(lines)
	for i := 3; i < len(unjudged); i++ {
		line, _, _ := strings.Cut(unjudged[i], `, "human"`)
		unjudged[i] = line + "}\n"
	}
	var claims []string
	for _, c := range []struct {
		resamples int
		few       string
		lines     []string
		by        string
	}{{19, "resamples", lines, ""}, {2000, "segments", lines[:3], "segment"}, {2000, "segments", unjudged, "segment"}, {2000, "segments", unjudged, ""}} {
		e := plan(t, "golden.yaml")
		path := filepath.Join(t.TempDir(), "some.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(c.lines, "")), 0o644))
		e.Test.Resamples, e.Curves, e.Prompts, e.Datasets[0].Spec, e.Bootstrap.By = c.resamples, nil, false, "jsonl:"+path, c.by
		res := run(t, e)
		undecided := 0
		for _, d := range res.Differences {
			if d.Undecided && (d.Significant || d.Interval.Contains(0)) {
				t.Errorf("%d resamples: %+v", c.resamples, d)
			}
			if d.Undecided {
				undecided++
			}
		}
		said := slices.ContainsFunc(res.Verdicts, func(v conclusions.Verdict) bool {
			return v.Outcome == page.Unclear && strings.HasPrefix(v.Text, "undecided: too few "+c.few)
		})
		claim := res.Claim().Text
		if (undecided > 0) != said || !strings.Contains(claim, "too few "+c.few) {
			t.Errorf("%d resamples: %d undecided, said %v, %q", c.resamples, undecided, said, claim)
		}
		if claims = append(claims, claim); c.few == "segments" && claim != claims[1] {
			t.Errorf("%q, and with the judged segments only %q", claim, claims[1])
		}
	}
}

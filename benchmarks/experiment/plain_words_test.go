package experiment_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/benchmarks/experiment"
)

// sixSegments writes a dataset of six segments with the given references, outputs and other
// fields, and returns a plan for it.
func sixSegments(t *testing.T, references, outputs, human, plan string) *experiment.Plan {
	t.Helper()
	var b strings.Builder
	for i := range 6 {
		fmt.Fprintf(&b, `{"id":"s%d","references":[%s],"hypotheses":{%s},"human":{"mqm":{%s}}}`+"\n", i, references, outputs, human)
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "d.jsonl"), []byte(b.String()), 0o600))
	p := parseText(t, "datasets: [{name: d, dataset: 'jsonl:d.jsonl'}]\nmetrics: [chrf]\nbootstrap: {resamples: 0}\nsignificance: {resamples: 0}\n"+plan)
	p.Dir = dir
	return p
}

// A judged system without outputs does not change the ranks of others.
func TestRankingOfSilentSystem(t *testing.T) {
	p := sixSegments(t, `"a small ferry"`, `"A":"a small ferry","B":"a ferry"`, `"A":5,"B":3,"silent":9`, "aggregators: [single]\nanalyses: [ranking]\n")
	r := runner(p)
	var warnings []string
	r.Warn = func(m string) { warnings = append(warnings, m) }
	res, err := r.Run(t.Context(), p)
	require.NoError(t, err)
	if len(warnings) != 1 || !strings.Contains(warnings[0], "not one output: silent") {
		t.Errorf("warnings: %q", warnings)
	}
	k := res.Rankings[0]
	if len(k.Systems) != 2 || !strings.HasSuffix(k.Without(), ": silent") {
		t.Errorf("systems %v, %q", k.Systems, k.Without())
	}
	for i, s := range k.Systems {
		assert.True(t, s.First.Rank == float64(i+1) && s.Under[0].Rank == s.First.Rank, "%s is moved: %+v", s.Name, s)
	}
}

// Errors of an experiment say what to write in its file.
func TestErrorsNameTheKey(t *testing.T) {
	for _, c := range []struct{ references, plan, want string }{
		{`null`, "", "write allow_no_reference: true at the dataset"},
		{`"a ferry"`, "references: [original, {prompts: [nope]}]\n", `references, prompts: dataset d has no variants, so there is no prompt "nope"`},
	} {
		p := sixSegments(t, c.references, `"A":"a small ferry","B":"a ferry"`, `"A":5,"B":3`, c.plan)
		_, err := runner(p).Run(t.Context(), p)
		assert.ErrorContains(t, err, c.want)
	}
}

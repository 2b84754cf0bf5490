package experiment_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The shipped experiments are read as they are.
func TestRecipes(t *testing.T) {
	files, err := filepath.Glob("../recipes/*/*.yaml")
	require.True(t, err == nil && len(files) == 5, "%v, %v", files, err)
	tasks := map[string]int{"wmt22/tasks.yaml": 40, "wmt25/experiment.yaml": 32}
	for _, f := range files {
		e := parse(t, f)
		name := filepath.ToSlash(strings.TrimPrefix(f, filepath.FromSlash("../recipes/")))
		assert.Len(t, e.Tasks, tasks[name], "%s: %d tasks", name, len(e.Tasks))
		_, err := os.Stat(filepath.Join(filepath.Dir(f), "README.md"))
		assert.NoError(t, err)
	}
}

// Made-up data for the sixteen pairs of WMT25 in the format of mt-metrics-eval: some
// without a reference, and with missing scores and judgements.
func TestWMT25Recipe(t *testing.T) {
	e := parse(t, "../recipes/wmt25/experiment.yaml")
	dir := t.TempDir()
	for i, d := range e.Datasets {
		lp := filepath.Base(d.Spec)
		hasReference := !slices.Contains([]string{"en-bho_IN", "en-it_IT", "en-mas_KE"}, lp)
		files := map[string]*strings.Builder{}
		write := func(name, format string, args ...any) {
			name = strings.ReplaceAll(name, "LP", lp)
			if files[name] == nil {
				files[name] = &strings.Builder{}
			}
			fmt.Fprintf(files[name], format+"\n", args...)
		}
		systems := []string{"Online-A", "Online-B", "refA", "tower_plus"}
		for seg := range 8 {
			write("sources/LP.txt", "source %d", seg)
			write("documents/LP.docs", "%s doc_%d", []string{"news", "social"}[seg/4], seg/2)
			if hasReference {
				write("references/LP.refA.txt", "reference %d", seg)
			}
		}
		for k, system := range systems {
			if system == "refA" && !hasReference {
				continue
			}
			for seg := range 8 {
				write("system-outputs/LP/"+system+".txt", "output %d", seg)
				gold := fmt.Sprint(-(k*3+seg*i)%7 - k)
				if seg == 5 && k != 1 || system == "refA" {
					gold = "None"
				}
				write("human-scores/LP."+d.Human+".seg.score", "%s\t%s", system, gold)
				write("human-scores/LP.esa-human2.seg.score", "%s\tNone", system)
				write("metric-scores/LP/good-src.seg.score", "%s\t%d", system, -(k*3+seg*i)%7-k)
				if name := "metric-scores/LP/bad-refA.seg.score"; hasReference {
					write(name, "%s\t%d", system, (k*5+seg)%4)
				} else {
					write("metric-scores/LP/bad-src.seg.score", "%s\t%d", system, (k*5+seg)%4)
				}
			}
			write("metric-scores/LP/good-src.sys.score", "%s\t%d", system, -k)
		}
		for name, text := range files {
			path := filepath.Join(dir, "wmt25", name)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o600))
		}
		e.Datasets[i].Spec = "mtme:" + filepath.Join(dir, "wmt25", lp)
	}
	e.Dir, e.Test.Resamples = "", 20
	res := run(t, e)
	if len(res.Tasks) != 32 || len(res.Standings) != 2 || res.Standings[0].Setting.Metric != "good" {
		t.Fatalf("%d tasks, %+v", len(res.Tasks), res.Standings)
	}
	for _, task := range res.Tasks {
		if len(task.Entries) != 2 || task.Entries[0].Missing+task.Entries[1].Missing > 0 || !task.Entries[0].Value.Defined() {
			t.Errorf("%s: %+v", task.Label, task.Entries)
		}
	}
	for _, d := range res.Datasets {
		assert.True(t, d.Segments == 8 && len(d.Systems) == 3 && d.Cells == 7*3+1, "%+v", d)
	}
}

func TestPascalRecipe(t *testing.T) {
	e := parse(t, "../recipes/pascal50s/experiment.yaml")
	e.Dir, e.Bootstrap.Resamples, e.Test.Resamples = "../dataset/testdata", 20, 100
	e.Datasets = e.Datasets[:1] // the sample has no pair of some kinds
	e.Datasets[0].Spec = "table:pairs.jsonl,id=id,references=references,system:a=a,system:b=b,human:preference:a=votes.a,human:preference:b=votes.b,domain=category"
	for i := range e.Curves {
		e.Curves[i].Resamples, e.Curves[i].Seeds = 10, 2
	}
	res := run(t, e)
	assert.NotEqual(t, 0, len(res.Rows), "no rows")
	for _, r := range res.Rows {
		if r.Statistic != "acc23-uncalibrated by segment" || r.Value < 0 || r.Value > 1 {
			t.Errorf("%s: %s %v", r.Setting, r.Statistic, r.Value)
		}
	}
}

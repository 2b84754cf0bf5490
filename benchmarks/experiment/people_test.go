package experiment_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/experiment"

	"github.com/stretchr/testify/require"
)

// ofRaters are a test set with two raters and a plan, whose file of scores has the first one's.
func ofRaters(t *testing.T) (refract.InMemory, *experiment.Plan) {
	random := rand.New(rand.NewPCG(1, 2))
	scores := "id,system,score\n"
	var all refract.InMemory
	for i := range 12 {
		s := &refract.Segment{ID: fmt.Sprint(i), References: refract.Texts("a b"), Document: fmt.Sprint(i / 3)}
		for k := range 4 {
			system, truth := fmt.Sprint(k), random.NormFloat64()+float64(k)/2
			s.Hypotheses = append(s.Hypotheses, refract.Hypothesis{System: system, Text: refract.NewText(fmt.Sprintf("a %d %d", i, k))})
			a, b := truth+random.NormFloat64(), truth+random.NormFloat64()
			s.Judgements = append(s.Judgements, refract.Judgement{Name: "h", System: system, Score: (a + b) / 2, Valid: true, Ratings: []refract.Rating{{Rater: "x", Score: a}, {Rater: "y", Score: b}}})
			scores += fmt.Sprintf("%d,%d,%g\n", i, k, a)
		}
		all = append(all, s)
	}
	p := parseText(t, "datasets: [{name: d, dataset: x, scores: [{name: first, file: first.csv}]}]\nbootstrap: {resamples: 50}\nmetrics: [chrf]\nstatistics:\n- kendall\n- accuracy\n"+
		"- {statistic: kendall, group: segment}\n- {statistic: spearman, group: system}\n- {statistic: pearson, level: document}\n- {statistic: pearson, level: system}\n")
	p.Dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(p.Dir, "first.csv"), []byte(scores), 0o600))
	return all, p
}

func ran(t *testing.T, p *experiment.Plan, ds refract.Dataset) *experiment.Result {
	r := runner(p)
	r.Open = func(experiment.Dataset) (refract.Dataset, error) { return ds, nil }
	res, err := r.Run(t.Context(), p)
	require.NoError(t, err)
	return res
}

// With two raters the ceiling is their agreement, at every level and with the same resamples as a
// metric. Scores that are one rater's own are this against the other, and perfect against
// themselves: halfway above.
func TestTwoRaters(t *testing.T) {
	all, p := ofRaters(t)
	res := ran(t, p, all)
	for _, s := range all {
		for i := range s.Judgements {
			j := &s.Judgements[i]
			j.Score, j.Ratings = j.Ratings[1].Score, nil
		}
	}
	var want []experiment.Row // of the scores against the second rater
	second := ran(t, p, all)
	for _, row := range second.Rows {
		if row.Setting.Metric == "first" {
			want = append(want, row)
		}
	}
	if len(second.People) != 0 || len(res.People) != len(want) || len(want) != 6 {
		t.Fatalf("%d ceilings for %d statistics, %d without raters", len(res.People), len(want), len(second.People))
	}
	near := func(a, b experiment.Number) bool { return math.Abs(float64(a-b)) < 1e-12 }
	for i, got := range res.People {
		if got.About != want[i].About || !near(got.Value, want[i].Value) || !near(got.Interval.Low, want[i].Interval.Low) || !near(got.Interval.High, want[i].Interval.High) {
			t.Errorf("%s: %v %v, want %v %v", got.Statistic, got.Value, got.Interval, want[i].Value, want[i].Interval)
		}
	}
	for _, row := range res.Rows {
		for _, people := range res.People {
			if row.Setting.Metric == "first" && row.About == people.About && (!near(row.People.Value, (1+people.Value)/2) || !near(row.People.Above, (1-people.Value)/2)) {
				t.Errorf("%s: %+v beside people at %v", row.Statistic, row.People, people.Value)
			}
		}
	}
	if notes := strings.Join(res.Notes, "\n"); !strings.Contains(notes, experiment.Ceiling) || !strings.Contains(notes, "above people: first (kendall)") {
		t.Errorf("%s", notes)
	}
}

// Raters who rate different outputs draw the same units, and a crowd counts by the order of its
// ratings.
func TestRatersWithGaps(t *testing.T) {
	all, p := ofRaters(t)
	full := ran(t, p, all)
	for i, s := range all {
		for k := range s.Judgements {
			for of := range s.Judgements[k].Ratings {
				s.Judgements[k].Ratings[of].Rater = fmt.Sprintf("%d of %d", of, i)
			}
		}
	}
	if crowd := ran(t, p, all); !reflect.DeepEqual(crowd.People[0].Value, full.People[0].Value) || len(crowd.People[0].Raters) != 2 {
		t.Errorf("crowd: %+v, want %+v", crowd.People[0], full.People[0])
	}
	for i, s := range all {
		for k := range s.Judgements {
			for of := range s.Judgements[k].Ratings {
				s.Judgements[k].Ratings[of].Rater = fmt.Sprint(i/6, of)
			}
		}
	}
	res := ran(t, p, all)
	got := res.People[0]
	if len(got.Raters) != 4 || got.Raters[0].N != 24 || got.Raters[0].Value != got.Raters[1].Value || math.Abs(float64(got.Value-(got.Raters[0].Value+got.Raters[2].Value)/2)) > 1e-12 {
		t.Errorf("four raters: %+v", got)
	}
	if a := res.Datasets[0].Agreement; a.Outputs != 48 || a.Ratings != 96 || a.Alpha[0].Value != full.Datasets[0].Agreement.Alpha[0].Value {
		t.Errorf("%+v", a)
	}
	if w, f := *got.Interval, *full.People[0].Interval; w.Undefined > 0 || w.High-w.Low > 2*(f.High-f.Low) {
		t.Errorf("interval %+v, of all together %+v", w, f)
	}
}

// The figures of DialSummEval are those of SciPy and krippendorff.
func TestRatersOfDialSummEval(t *testing.T) {
	dir := filepath.Join(realData(t), "dialsummeval")
	p := parseText(t, "datasets: [{name: d, dataset: x}]\nmetrics: [chrf]\naggregators: [single]\nstatistics: [kendall, {statistic: pearson, level: system}]\nbootstrap: {resamples: 20}\n")
	for _, c := range []struct {
		name              string
		kendall, pearson  []float64
		interval, ordinal float64
	}{
		{"relevance", []float64{0.5535149883710065, 0.5228492594223334, 0.37870888405794195}, []float64{0.979, 0.964, 0.937}, 0.38577608904308625, 0.31828527130511197},
		{"consistency", []float64{0.4696597358851586, 0.4406488315103508, 0.3935234668389435}, nil, 0.49016986776007576, 0.4097952226473842},
	} {
		p.Datasets[0].Human = "rated"
		ds, err := dataset.Open("jsonl:"+filepath.Join(dir, "dialsummeval.jsonl"), dataset.Options{})
		if err == nil {
			ds, err = dataset.WithJudgements(ds, []dataset.NamedFile{{Name: "rated", Path: filepath.Join(dir, "ratings.csv") + ":" + c.name}}, dataset.Options{})
		}
		require.NoError(t, err)
		res := ran(t, p, ds)
		for k, r := range res.People[0].Raters {
			if math.Abs(float64(r.Value)-c.kendall[k]) > 1e-12 {
				t.Errorf("%s: rater %s %v, want %v", c.name, r.Name, r.Value, c.kendall[k])
			}
			if c.pearson != nil && math.Abs(float64(res.People[1].Raters[k].Value)-c.pearson[k]) > 5e-4 {
				t.Errorf("%s: systems of rater %s %v, want %v", c.name, r.Name, res.People[1].Raters[k].Value, c.pearson[k])
			}
		}
		for k, want := range []float64{c.interval, c.ordinal} {
			if a := res.Datasets[0].Agreement.Alpha[k]; math.Abs(float64(a.Value)-want) > 1e-12 || !a.Interval.Contains(want) {
				t.Errorf("%s: alpha %+v, want %v", c.name, a, want)
			}
		}
	}
}

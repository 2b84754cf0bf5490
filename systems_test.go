package refract_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/bleu"
	"github.com/refract-eval/refract/metrics/chrf"
)

// accumulate scores segments and returns the accumulator.
func accumulate(t testing.TB, segs []*refract.Segment, settings []refract.Setting, scope refract.Scope, p aggregate.Policy) (*refract.Systems, error) {
	t.Helper()
	e, err := refract.NewEngine(settings, refract.Options{Scope: scope, Missing: p, AllowNoReferences: true})
	require.NoError(t, err)
	s := e.Systems()
	s.Keep()
	return s, e.Run(t.Context(), list(segs), s.Add)
}

func cross(t testing.TB, ms []metrics.Metric, aggs ...string) []refract.Setting {
	var out []refract.Setting
	for _, m := range ms {
		for _, a := range aggs {
			out = append(out, refract.Setting{Metric: m, Aggregator: aggregator(t, a)})
		}
	}
	return out
}

func TestSystems(t *testing.T) {
	m, means := prepared{sized(false, true)}, prepared{sized(false, true)}
	late := segment("c", 1, []int{4, 5, 6}, []int{1})
	late.Hypotheses[2].System, late.Hypotheses[2].Human = "late", true
	segs := []*refract.Segment{
		segment("a", 1, []int{1, 2}, []int{1, 2}),
		segment("b", 1, []int{3, -1}, []int{3, -1, 5}),
		late,
		segment("d", 1, []int{7}, nil),
	}
	s, err := accumulate(t, segs, append(cross(t, []metrics.Metric{means}, "max"), cross(t, []metrics.Metric{m}, "single", "native")...), refract.Auto, aggregate.Exclude)
	require.NoError(t, err)
	type score = refract.SystemScore
	want := []score{
		// The means of the best pairs.
		{System: "sys0", Setting: 0, Value: (102 + 305 + 401) / 3., OK: true, Segments: 3, Missing: 1, MinReferences: 1, MaxReferences: 2, MissingReferences: 1},
		{System: "sys1", Setting: 0, Value: (202 + 501) / 2., OK: true, Segments: 2, Missing: 2, MinReferences: 1, MaxReferences: 2},
		{System: "late", Setting: 0, Value: 601, OK: true, Segments: 1, Missing: 3, MinReferences: 1, MaxReferences: 1, Human: true},
		// The corpus score of the fake is the negative sum.
		{System: "sys0", Setting: 1, Value: -(101 + 303 + 401), OK: true, Pooled: true, Segments: 3, Missing: 1, MinReferences: 1, MaxReferences: 1},
		{System: "sys1", Setting: 1, Value: -(201 + 501), OK: true, Pooled: true, Segments: 2, Missing: 2, MinReferences: 1, MaxReferences: 1},
		{System: "late", Setting: 1, Value: -601, OK: true, Pooled: true, Segments: 1, Missing: 3, MinReferences: 1, MaxReferences: 1, Human: true},
		{System: "sys0", Setting: 2, Value: -(203 + 608 + 401), OK: true, Pooled: true, Segments: 3, Missing: 1, MinReferences: 1, MaxReferences: 2, MissingReferences: 1},
		{System: "sys1", Setting: 2, Value: -(403 + 501), OK: true, Pooled: true, Segments: 2, Missing: 2, MinReferences: 1, MaxReferences: 2},
		{System: "late", Setting: 2, Value: -601, OK: true, Pooled: true, Segments: 1, Missing: 3, MinReferences: 1, MaxReferences: 1, Human: true},
	}
	got := s.Scores()
	require.Len(t, got, len(want), "%d scores", len(got))
	for i := range want {
		assert.Equal(t, got[i].Pooled, got[i].Statistics != nil, "score %d: statistics %v", i, got[i].Statistics)
		rows, value := s.Samples(&got[i])
		sum := make([]float64, len(rows[0]))
		for _, row := range rows {
			for k, v := range row {
				sum[k] += v
			}
		}
		if v := value(sum); v != got[i].Value || len(rows) != got[i].Segments {
			t.Errorf("score %d: %v of all samples, want %v", i, v, got[i].Value)
		}
		by := s.BySegment(&got[i])
		for k, segment := range map[string][]int{"sys0": {0, 1, 2}, "sys1": {0, 2}, "late": {2}}[got[i].System] {
			assert.Equal(t, rows[k], by[segment], "score %d, segment %d", i, segment)
		}
		got[i].Statistics = nil
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("score %d\n%+v, want\n%+v", i, got[i], want[i])
		}
	}
	single := s.Signature(&got[3])
	if set := single[len(single)-2]; set.Key != "set" || set.Value == s.Set() {
		t.Errorf("single is of %v, and all references of %s", set, s.Set())
	}
	for i, sig := range map[int]string{
		0: "nrefs:var|fake:sized|agg:max|system:mean|set:" + s.Set() + "|version:" + refract.Version,
		2: "nrefs:1|fake:sized|agg:max|system:mean|set:" + s.Set() + "|version:" + refract.Version,
		6: "nrefs:var|fake:sized|agg:native|system:corpus|set:" + s.Set() + "|version:" + refract.Version,
	} {
		assert.Equal(t, sig, s.Signature(&got[i]).String(), "signature of score %d", i)
	}
}

func TestScopes(t *testing.T) {
	corpus := prepared{sized(false, true)}
	for _, c := range []struct {
		m      metrics.Metric
		agg    string
		scope  refract.Scope
		pooled bool
		fails  bool
	}{
		{corpus, "single", refract.Auto, true, false},
		{corpus, "native", refract.Auto, true, false},
		{corpus, "max", refract.Auto, false, false},
		{corpus, "single", refract.Averaged, false, false},
		{corpus, "native", refract.Averaged, false, false},
		{corpus, "single", refract.Pooled, true, false},
		{corpus, "native", refract.Pooled, true, false},
		{corpus, "max", refract.Pooled, false, true},
		{sized(false, true), "single", refract.Auto, false, false},
		{sized(false, true), "single", refract.Pooled, false, true},
		// A corpus metric that needs no references is pooled, too.
		{prepared{sized(true, false)}, "single", refract.Auto, true, false},
		{prepared{sized(true, false)}, "native", refract.Pooled, true, false},
	} {
		e, err := refract.NewEngine(cross(t, []metrics.Metric{c.m}, c.agg), refract.Options{Scope: c.scope, AllowNoReferences: true})
		if c.fails {
			assert.ErrorContains(t, err, "sized with the aggregator "+c.agg+" has no corpus score", "%s pooled", c.agg)
			continue
		}
		require.NoError(t, err)
		s := e.Systems()
		ds := list{segment("a", 1, []int{1, -1}, []int{1}), segment("b", 1, []int{2, 3}, []int{-1}), segment("c", 1, []int{2, 3}, nil)}
		require.NoError(t, e.Run(t.Context(), ds, s.Add))
		for _, score := range s.Scores() {
			if score.Pooled != c.pooled || score.OK && score.Value < 0 != c.pooled {
				t.Errorf("scope %d of %s: %+v", c.scope, c.agg, score)
			}
		}
	}
}

// Under Auto, the settings of a metric are either all pooled or all averaged.
func TestAutoPoolsAllOrNone(t *testing.T) {
	a, b := prepared{sized(false, true)}, prepared{sized(false, true)}
	settings := slices.Concat(cross(t, []metrics.Metric{a}, "single", "native"), cross(t, []metrics.Metric{b}, "single", "native", "max"), cross(t, []metrics.Metric{sized(false, true)}, "single"))
	for scope, want := range map[refract.Scope][]bool{refract.Auto: {true, true, false, false, false, false}, refract.Averaged: make([]bool, 6)} {
		e, err := refract.NewEngine(settings, refract.Options{Scope: scope})
		require.NoError(t, err)
		for k := range settings {
			assert.Equal(t, want[k], e.Pools(k), "scope %d: setting %d pools", scope, k)
		}
	}
}

// stored is a metric with stored scores and their signatures.
type stored struct{ *fake }

func (s stored) Signed(of refract.Scored) metrics.Signature {
	return metrics.Signature{{Key: "stored", Value: of.References + "/" + of.Aggregator + "/" + of.Set}}
}

func TestSignatures(t *testing.T) {
	set := func(m metrics.Metric, agg string) refract.Setting {
		return refract.Setting{Metric: m, Aggregator: aggregator(t, agg)}
	}
	real := realMetrics(t)[0]
	for _, c := range []struct {
		set   refract.Setting
		level metrics.Level
		refs  string
		want  string
	}{
		{set(real, "max"), metrics.Sentence, "11", "nrefs:11|case:mixed|eff:yes|tok:13a|smooth:exp|agg:max|set:abc|version:" + refract.Version},
		{set(real, "single"), metrics.Corpus, "1", "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|agg:single|set:abc|version:" + refract.Version},
		{set(real, "best:k=3"), metrics.Sentence, "var", "nrefs:var|case:mixed|eff:yes|tok:13a|smooth:exp|agg:best:k=3|set:abc|version:" + refract.Version},
		{set(sized(true, false), "max"), metrics.Sentence, "0", "nrefs:0|fake:sized|version:" + refract.Version},
		{set(stored{sized(false, true)}, "max"), metrics.Sentence, "3", "stored:3/max/abc"},
		{set(stored{sized(false, false)}, "max"), metrics.Sentence, "0", "stored:0//"},
	} {
		assert.Equal(t, c.want, refract.SettingSignature(c.set, c.level, c.refs, "abc").String(), "signature")
	}
	for _, c := range []struct {
		lo, hi int
		want   string
	}{{0, 0, "0"}, {11, 11, "11"}, {1, 2, "var"}} {
		assert.Equal(t, c.want, refract.ReferenceCount(c.lo, c.hi), "ReferenceCount(%d, %d)", c.lo, c.hi)
	}
	// The given signature is not changed.
	given := make(metrics.Signature, 0, 8).With("k", "v")
	a := refract.FullSignature(given, refract.Scored{References: "1", Aggregator: "max"})
	b := refract.FullSignature(given, refract.Scored{References: "2", Aggregator: "min"})
	if fmt.Sprint(a) != "nrefs:1|k:v|agg:max|version:"+refract.Version || a.String() == b.String() || given.String() != "k:v" {
		t.Errorf("%s, %s, %s", a, b, given)
	}
}

// Systems that are written, read and merged have the same scores, to the last bit, as a
// single accumulator, and their references the same identity.
func TestSystemsState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.StringMatching(`([a-e]{1,3} ){0,9}[a-e]`)
		var segments refract.InMemory
		for i := range rapid.IntRange(1, 12).Draw(t, "segments") {
			s := &refract.Segment{ID: fmt.Sprint(i)}
			for range rapid.IntRange(1, 3).Draw(t, "references") {
				s.References = append(s.References, refract.Text{Value: words.Draw(t, "reference"), Valid: len(s.References) == 0 || rapid.Bool().Draw(t, "there")})
			}
			for _, name := range []string{"x", "y", "z"} {
				if rapid.Bool().Draw(t, name) {
					s.Hypotheses = append(s.Hypotheses, refract.Hypothesis{System: name, Text: refract.Text{Value: words.Draw(t, "text"), Valid: rapid.Bool().Draw(t, "given")}})
				}
			}
			segments = append(segments, s)
		}
		b, err := bleu.New(bleu.Options{})
		require.NoError(t, err)
		c, err := chrf.New(chrf.Defaults())
		require.NoError(t, err)
		eng, err := refract.NewEngine([]refract.Setting{
			{Metric: b, Aggregator: aggregate.Native}, {Metric: c, Aggregator: aggregate.Mean}, {Metric: c, Aggregator: aggregate.Single},
		}, refract.Options{})
		require.NoError(t, err)
		whole, merged, id := eng.Systems(), eng.Systems(), refract.NewIdentity()
		part := eng.Systems()
		flush := func() {
			written, err := json.Marshal(part)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(written, merged))
			part = eng.Systems()
		}
		err = eng.Run(context.Background(), segments, func(s *refract.SegmentScores) error {
			if rapid.Bool().Draw(t, "cut") {
				flush()
			}
			id.Add(s.Segment)
			return errors.Join(whole.Add(s), part.Add(s))
		})
		require.NoError(t, err)
		flush()
		written, err := json.Marshal(id)
		require.NoError(t, err)
		id = new(refract.Identity)
		require.NoError(t, json.Unmarshal(written, id))
		merged.Identify(id)
		if !reflect.DeepEqual(merged.Scores(), whole.Scores()) || merged.Set() != whole.Set() {
			t.Fatalf("merged:\n%+v %s\nwhole:\n%+v %s", merged.Scores(), merged.Set(), whole.Scores(), whole.Set())
		}
		for _, a := range []string{"single", "max"} {
			want := refract.NewIdentity()
			for _, s := range segments {
				want.Add(s)
			}
			require.Equal(t, want.Of(aggregate.Must(a)), id.Of(aggregate.Must(a)), "another set of %s", a)
		}
	})
}

// What cannot be a state is refused.
func TestBadState(t *testing.T) {
	b, err := bleu.New(bleu.Options{})
	require.NoError(t, err)
	eng, err := refract.NewEngine([]refract.Setting{{Metric: b, Aggregator: aggregate.Must("native")}}, refract.Options{})
	require.NoError(t, err)
	for _, state := range []string{
		`{"segments":1,"systems":[{"name":"s","sums":[]}]}`,
		`{"segments":1,"systems":[{"name":"s","sums":[{"n":1}]}]}`,
		`{"segments":1,"systems":[{"name":"s","sums":[{"n":-1,"sum":[[1]]}]}]}`,
		`{"segments":1,"systems":[{"name":"s","sums":[{"n":1,"sum":[["1"]]}]}]}`,
		`{"segments":2,"systems":[{"name":"s","sums":[{"n":1,"sum":[[1],[2]]}]},{"name":"s","sums":[{"n":1,"sum":[[1]]}]}]}`,
	} {
		assert.Error(t, json.Unmarshal([]byte(state), eng.Systems()), "%s is taken", state)
	}
	err = json.Unmarshal([]byte(`{"references":"AA==","first":"AA=="}`), new(refract.Identity))
	assert.Error(t, err, "an identity without hashes is taken")
}

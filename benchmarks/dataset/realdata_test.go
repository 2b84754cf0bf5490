package dataset

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/correlate"
)

func TestWMT22(t *testing.T) {
	dir := realData(t)
	spec := "mtme:" + filepath.Join(dir, "mt-metrics-eval-v2", "wmt22", "zh-en")
	var w warnings
	ds, err := Open(spec, Options{References: []string{"refA", "refB"}, Warn: w.add})
	require.NoError(t, err)
	ds, err = WithReferences(ds, "div-ref:"+filepath.Join(dir, "div-ref", "wmt22.zh-en.refA.diversified"), Options{Warn: w.add})
	require.NoError(t, err)
	segments, err := collect(ds)
	require.NoError(t, err)
	// One output is blank, and three pairs of segments have the same refA but different variants.
	if len(w.all) != 2 || !strings.Contains(w.all[0], `system "Online-W": blank outputs: 1 of 1875;`) || !strings.Contains(w.all[1], ": 3 of 1875 segments have the variants of a later line") {
		t.Errorf("warnings %q", w.all)
	}
	require.Len(t, segments, 1875, "%d segments", len(segments))
	none := map[string]int{}
	valid := map[string]int{}
	domains := map[string]int{}
	sum := 0.0 // of the MQM scores of refA
	for i, s := range segments {
		if s.ID != strconv.Itoa(i+1) || len(s.Hypotheses) != 20 || len(s.References) != 2 || len(s.Variants) != 10 || len(s.Judgements) != 2*20 {
			t.Fatalf("segment %d: id %s, %d systems, %d references, %d variants, %d judgements",
				i, s.ID, len(s.Hypotheses), len(s.References), len(s.Variants), len(s.Judgements))
		}
		domains[s.Domain]++
		for k, h := range s.Hypotheses {
			require.Equal(t, h.System == "refA" || h.System == "refB", h.Human, "system %s: Human", h.System)
			// The references are also listed as systems.
			if h.System == "refA" && h.Text != s.References[0] || h.System == "refB" && h.Text != s.References[1] {
				t.Fatalf("segment %d: %s differs", i, h.System)
			}
			require.False(t, k > 0 && s.Hypotheses[k-1].System >= h.System, "the systems are not sorted")
		}
		for _, j := range s.Judgements {
			if j.Valid {
				valid[j.Name]++
			} else {
				none[j.Name]++
			}
			if j.Name == "mqm" && j.System == "refA" {
				sum += j.Score
			}
		}
	}
	// The expected numbers come from wc and grep on the files.
	if valid["mqm"] != 30000 || none["mqm"] != 7500 || valid["wmt-appraise"]+none["wmt-appraise"] != 37500 {
		t.Errorf("judgements: %v valid, %v not", valid, none)
	}
	assert.True(t, len(domains) == 4 && domains["news"] != 0, "domains %v", domains)
	// The folder's system-level score of refA.
	if mean := sum / 1875; mean < -1.22326 || mean > -1.22325 {
		t.Errorf("the mean MQM of refA is %v", mean)
	}
}

// Most of the segments with the same refA also have the same variants.
func TestWMT22DivRef(t *testing.T) {
	dir := realData(t)
	variants := func(scheme string) []*refract.Segment {
		ds, err := Open("mtme:"+filepath.Join(dir, "mt-metrics-eval-v2", "wmt22", "zh-en"), Options{})
		if err == nil {
			ds, err = WithReferences(ds, scheme+":"+filepath.Join(dir, "div-ref", "wmt22.zh-en.refA.diversified"), Options{})
		}
		segments, err := openAndCollect(ds, err)
		require.NoError(t, err)
		return segments
	}
	lines, texts := variants("div-ref-lines"), variants("div-ref")
	last := map[refract.Text]int{}
	for i, s := range lines {
		last[s.References[0]] = i
	}
	assert.NotEqual(t, len(lines), len(last), "no refA occurs twice")
	changed := 0
	for i := range lines {
		own := cmp.Equal(lines[i].Variants, texts[i].Variants)
		if !own {
			changed++
		}
		if !cmp.Equal(lines[last[lines[i].References[0]]].Variants, texts[i].Variants) {
			t.Errorf("segment %s has not the variants of the last one with its reference", texts[i].ID)
		}
	}
	assert.Equal(t, 3, changed)
}

func TestWMT22StoredMetrics(t *testing.T) {
	dir := realData(t)
	spec := "mtme:" + filepath.Join(dir, "mt-metrics-eval-v2", "wmt22", "zh-en")
	metrics, err := StoredMetrics(spec, correlate.SegmentLevel)
	require.NoError(t, err)
	var names []string
	for _, m := range metrics {
		names = append(names, m.Name)
		want := 19
		if len(m.References) == 0 || m.Name == "GEMBA-Dav3-DA" || m.Name == "GEMBA-GPT4-DA" {
			want = 20 // refA is scored too
		}
		assert.Len(t, m.Systems, want, "%s: %d systems", m.Name, len(m.Systems))
	}
	want := []string{"BERTScore", "BLEU", "BLEURT-20", "COMET-22", "COMETKiwi", "GEMBA-Dav3-DA", "GEMBA-GPT4-DA", "chrF", "f200spBLEU", "metricx_xxl_MQM_2020"}
	assert.Empty(t, cmp.Diff(want, names))
	metrics, err = StoredMetrics(spec, correlate.SystemLevel)
	if err != nil || len(metrics) != 2 || len(metrics[0].Systems) != 20 {
		t.Errorf("system level: %d metrics, %v", len(metrics), err)
	}
}

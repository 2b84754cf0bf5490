package review_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify/review"
)

// segments is a dataset in memory.
type segments = refract.InMemory

func variant(sample int, text, verdict string) refract.Variant {
	return refract.Variant{Prompt: "p", Sample: sample, Model: "m", Text: refract.NewText(text), Verdict: verdict}
}

func sample() segments {
	text := refract.NewText
	doubtful, blocked := variant(1, "It is blue.", refract.Accepted), variant(2, "", "blocked")
	doubtful.Alarms, blocked.Text = []string{"added: blue"}, refract.Text{}
	return segments{
		{ID: "1", References: []refract.Text{text("It is red.")},
			Variants: []refract.Variant{variant(0, "Red it is.", refract.Accepted), doubtful},
			Rejected: []refract.Variant{blocked, variant(3, "It is", "cut")}},
		{ID: "2", References: []refract.Text{text("It is hot.")}, Variants: []refract.Variant{variant(0, "Hot it is.", refract.Accepted)}},
	}
}

func write(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "d.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o666))
	return path
}

func line(t *testing.T, d review.Decision) string {
	t.Helper()
	b, err := json.Marshal(d)
	require.NoError(t, err)
	return string(b)
}

func collect(ds refract.Dataset) (out []*refract.Segment, err error) {
	for s, err := range ds.Segments(context.Background()) {
		if err != nil {
			return out, err
		}
		out = append(out, s)
	}
	return out, nil
}

func TestApply(t *testing.T) {
	ds := sample()
	one := ds[0]
	key := func(v *refract.Variant) string { return review.Key(one, v) }
	path := write(t,
		line(t, review.Decision{Answer: key(&one.Variants[0]), Segment: "1", Choice: review.Reject, Drawn: true}),
		line(t, review.Decision{Answer: key(&one.Variants[1]), Segment: "1", Choice: review.Reject}),
		"",
		line(t, review.Decision{Answer: key(&one.Variants[1]), Segment: "1", Choice: review.Undo}),
		line(t, review.Decision{Answer: key(&one.Rejected[0]), Segment: "1", Choice: review.Edit, Text: "Its colour is red."}),
		line(t, review.Decision{Answer: key(&one.Rejected[1]), Segment: "1", Choice: review.Accept}),
	)
	d, err := review.Read(path)
	require.NoError(t, err)
	got, err := collect(d.Apply(ds))
	require.NoError(t, err)
	rejected, edited, accepted := one.Variants[0], one.Rejected[0], one.Rejected[1]
	rejected.Review, rejected.Verdict, rejected.Detail, rejected.Audit = review.Reject, review.Verdict, "a person rejected it", refract.AuditSampled
	edited.Review, edited.Verdict, edited.Text = review.Edit, refract.Accepted, refract.NewText("Its colour is red.")
	edited.Origin = &refract.Origin{Cleaned: []string{"review"}}
	accepted.Review, accepted.Verdict = review.Accept, refract.Accepted
	want := *one
	want.Variants = []refract.Variant{one.Variants[1], edited, accepted}
	want.Rejected = []refract.Variant{rejected}
	assert.Empty(t, cmp.Diff([]*refract.Segment{&want, ds[1]}, got))
	again, err := collect(d.Apply(segments(got)))
	if d := cmp.Diff(got, again); d != "" || err != nil {
		t.Error("carrying out the decisions again changes something:", d, err)
	}
	assert.Empty(t, cmp.Diff(sample(), ds), "the dataset itself has changed")
}

// A decision cannot add a text that the segment already has.
func TestApplyAddsNoRepeatedText(t *testing.T) {
	one := &refract.Segment{ID: "1", References: []refract.Text{refract.NewText("It is red.")},
		Variants: []refract.Variant{variant(0, "Red it is.", refract.Accepted), variant(1, "Its colour: red.", refract.Accepted)},
		Rejected: []refract.Variant{variant(2, "Red it is.", "duplicate"), variant(3, "It is red.", "copy"), variant(4, "Red, it is.", "duplicate"), variant(5, "It is", "cut")}}
	var lines []string
	decide := func(v *refract.Variant, choice, text string) {
		lines = append(lines, line(t, review.Decision{Answer: review.Key(one, v), Segment: "1", Choice: choice, Text: text}))
	}
	decide(&one.Variants[1], review.Accept, "")
	decide(&one.Rejected[0], review.Accept, "")
	decide(&one.Rejected[1], review.Accept, "")
	decide(&one.Rejected[2], review.Accept, "")
	decide(&one.Rejected[3], review.Edit, "Its colour: red.")
	d, err := review.Read(write(t, lines...))
	require.NoError(t, err)
	got, err := collect(d.Apply(segments{one}))
	require.NoError(t, err)
	again, err := collect(d.Apply(segments(got)))
	if d := cmp.Diff(got, again); d != "" || err != nil {
		t.Error("carrying out the decisions again changes something:", d, err)
	}
	var all []string
	for _, v := range slices.Concat(got[0].Variants, got[0].Rejected) {
		all = append(all, fmt.Sprintf("%d %s %s", v.Sample, v.Verdict, v.Detail))
	}
	want := []string{"0 accepted ", "1 accepted ", "4 accepted ",
		"2 duplicate a person's decision is accept, but the segment has the same text",
		"3 copy a person's decision is accept, but the segment has the same text",
		"5 duplicate a person's decision is edit, but the segment has the same text"}
	assert.Empty(t, cmp.Diff(want, all))
	assert.Equal(t, 3, d.Repeats())
}

func TestApplyErrors(t *testing.T) {
	ds := sample()
	blocked := review.Key(ds[0], &ds[0].Rejected[0])
	for _, c := range []struct {
		name string
		d    review.Decision
		want string
	}{
		{"other data", review.Decision{Answer: "00", Segment: "9", Prompt: "p", Choice: review.Accept}, `1 decision about answers that the dataset does not have, such as one of segment "9", prompt "p"`},
		{"a line too many", review.Decision{Answer: blocked, Segment: "1", Choice: review.Edit, Text: "It is red.\nIt is."}, `segment "1", prompt "p": the text has a line break, and its reference is one line`},
		{"another segment", review.Decision{Answer: review.Key(ds[1], &ds[1].Variants[0]), Segment: "1", Prompt: "p", Choice: review.Reject}, `segment "2", prompt "p": the decision names an answer of segment "1", prompt "p"`},
		{"no text", review.Decision{Answer: blocked, Segment: "1", Choice: review.Accept}, `segment "1", prompt "p": the decision is accept, but the answer has no text`},
	} {
		d, err := review.Read(write(t, line(t, c.d)))
		require.NoError(t, err)
		_, err = collect(d.Apply(ds))
		assert.ErrorContains(t, err, c.want, "%s", c.name)
	}
	// If a word of the reference or the answer changes, the decision no longer applies.
	d, err := review.Read(write(t, line(t, review.Decision{Answer: review.Key(ds[1], &ds[1].Variants[0]), Segment: "2", Choice: review.Reject})))
	require.NoError(t, err)
	ds[1].References[0] = refract.NewText("It is not.")
	_, err = collect(d.Apply(ds))
	assert.Error(t, err, "a decision about another reference is carried out")
}

func TestReadErrors(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`{`, "d.jsonl:2: "},
		{`{"answer":"a","decision":"maybe"}`, `unknown decision "maybe"`},
		{`{"answer":"a","decision":"edit"}`, "the text is empty"},
		{`{"answer":"a","decision":"accept","text":"x"}`, "only edit has one"},
		{`{"decision":"accept"}`, "names no answer"},
		{`{"answer":"a","decision":"accept","by":"x"}`, `"by"`},
		{`{"answer":"a","decision":"accept"} {}`, "d.jsonl:2: "},
	} {
		if _, err := review.Read(write(t, "", c.line)); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "d.jsonl:2") {
			t.Errorf("%s: %v; want %s", c.line, err, c.want)
		}
	}
	_, err := review.Read(filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

func TestOpenRemovesAnUnfinishedLine(t *testing.T) {
	path := write(t, `{"answer":"a","segment":"","decision":"accept"}`, `{"answer":"b","decis`)
	b, _ := os.ReadFile(path)
	require.NoError(t, os.WriteFile(path, b[:len(b)-1], 0o666))
	f, _, torn, err := review.Open(path)
	require.True(t, err == nil && torn, "%v %v", torn, err)
	f.Close()
	_, err = review.Read(path)
	assert.NoError(t, err)
}

func TestPick(t *testing.T) {
	var ds segments
	for i := range 200 {
		s := &refract.Segment{ID: fmt.Sprint(i), References: []refract.Text{refract.NewText("r")}}
		v := variant(0, fmt.Sprint("text ", i), refract.Accepted)
		if i%10 == 0 {
			v.Alarms = []string{"negation: not"}
		}
		r := variant(1, "x", "length")
		r.Detail = fmt.Sprintf("%d characters", i)
		s.Variants, s.Rejected = append(s.Variants, v), append(s.Rejected, r)
		ds = append(ds, s)
	}
	w := review.Wanted{Drawn: 20, Alarmed: 5, Rejected: 2, Seed: 1}
	items, err := review.Pick(context.Background(), ds, w, nil)
	require.NoError(t, err)
	groups := map[string]int{}
	for _, it := range items {
		groups[it.Group]++
		assert.Equal(t, strings.Contains(it.Group, "random"), it.Drawn, "segment %s of %q: drawn", it.Segment, it.Group)
	}
	want := map[string]int{"accepted, drawn at random": 20, "accepted, with alarms": 5, "rejected, length: … characters (200 answers)": 2}
	assert.Empty(t, cmp.Diff(want, groups))
	slices.Reverse(ds)
	again, err := review.Pick(context.Background(), ds, w, nil)
	d := cmp.Diff(items, again)
	assert.True(t, d == "" && err == nil, "the order of segments changes the choice: %v %v", d, err)
	for i := range 30 { // answers that a run has drawn replace the draw
		ds[i].Variants[0].Audit = "kept"
	}
	items, err = review.Pick(context.Background(), ds, w, nil)
	drawn := 0
	for _, it := range items {
		if it.Drawn {
			drawn++
		}
	}
	assert.True(t, drawn == 30 && err == nil, "%d are drawn, %v; want the 30 that a run has drawn", drawn, err)
}

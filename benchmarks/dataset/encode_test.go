package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
)

func encode(t rapid.TB, segments ...*refract.Segment) string {
	var b bytes.Buffer
	e := NewEncoder(&b)
	for _, s := range segments {
		require.NoError(t, e.Encode(s))
	}
	return b.String()
}

func decode(text string) ([]*refract.Segment, error) {
	ds, err := Open("jsonl:-", Options{Stdin: strings.NewReader(text)})
	if err != nil {
		return nil, err
	}
	got, err := collect(ds)
	for _, s := range got {
		s.Pos = refract.Position{}
	}
	return got, err
}

func TestEncode(t *testing.T) {
	text := refract.NewText
	s := &refract.Segment{
		ID: "1", Source: text(""), References: []refract.Text{text("<a&b>\u2028\"\\\n\r\t\x01\x7f"), {}},
		Variants: []refract.Variant{
			{Reference: 1, Prompt: "p", Sample: 2, Model: "m", Text: text("v"), Finish: "stop", Verdict: "accepted", Alarms: []string{"negation: not"}, Review: "edit", Audit: "sampled", Origin: &refract.Origin{
				Revision: "r", ServedModel: "m-1", Sampling: `{"seed":1, "stop":["\u00e9",{}]}`, Form: "json", Raw: text("v"), Cleaned: []string{"quotes", "notes"},
				PromptTokens: 7, CompletionTokens: 9, Created: time.Date(2024, 2, 29, 14, 0, 0, 120_000_000, time.FixedZone("", 3600)),
			}},
			{},
			{Origin: &refract.Origin{}},
			{Text: text(""), Origin: &refract.Origin{}},
			{Text: text("v"), Origin: &refract.Origin{Raw: text("v")}},
			{Text: text("v"), Origin: &refract.Origin{PromptTokens: 1}},
		},
		Rejected:   []refract.Variant{{Verdict: "duplicate", Detail: "of variant 1", Text: text("v"), Origin: &refract.Origin{Revision: "r", Raw: text("1. v")}}},
		Hypotheses: []refract.Hypothesis{{System: "z"}, {System: "a", Text: text("h"), Human: true}},
		Judgements: []refract.Judgement{{Name: "n", System: "z", Score: 1e21, Valid: true}, {Name: "m", System: "z"}, {Name: "n", System: "a", Score: -.5, Valid: true}},
		Document:   "d", Domain: "e", Language: "fr",
		Judged: &refract.Judged{Model: "j", Asked: 3, Flagged: 1, Planted: []refract.Planted{{Kind: "role", Caught: true}}, Human: 1},
	}
	want := `{"id":"1","source":"","references":["<a&b>\u2028\"\\\n\r\t\u0001\u007f",null],` +
		`"variants":[{"reference":1,"prompt":"p","sample":2,"model":"m","text":"v","finish":"stop",` +
		`"revision":"r","served_model":"m-1","sampling":{"seed":1, "stop":["\u00e9",{}]},"form":"json","cleaned":["quotes","notes"],` +
		`"prompt_tokens":7,"completion_tokens":9,"created":"2024-02-29T13:00:00.12Z","verdict":"accepted","alarms":["negation: not"],"review":"edit","audit":"sampled"},` +
		`{"reference":0,"prompt":"","sample":0,"text":null},` +
		`{"reference":0,"prompt":"","sample":0,"text":null,"raw":null},` +
		`{"reference":0,"prompt":"","sample":0,"text":"","raw":null},` +
		`{"reference":0,"prompt":"","sample":0,"text":"v","raw":"v"},` +
		`{"reference":0,"prompt":"","sample":0,"text":"v","raw":null,"prompt_tokens":1}],` +
		`"rejected":[{"reference":0,"prompt":"","sample":0,"text":"v","revision":"r","raw":"1. v","verdict":"duplicate","detail":"of variant 1"}],` +
		`"hypotheses":{"z":null,"a":"h"},"human_systems":["a"],"human":{"n":{"z":1e+21,"a":-0.5},"m":{"z":null}},"document":"d","domain":"e","language":"fr","judged":{"model":"j","asked":3,"flagged":1,"planted":[{"kind":"role","caught":true}],"human":1}}` + "\n" +
		`{"id":"2","references":[]}` + "\n"
	assert.Empty(t, cmp.Diff(want, encode(t, s, &refract.Segment{ID: "2"})))
}

func TestEncodeErrors(t *testing.T) {
	bad := refract.NewText("\xff")
	for _, c := range []struct {
		s    refract.Segment
		want string
	}{
		{refract.Segment{}, `cannot write segment "": it has no id`},
		{refract.Segment{ID: "1", Source: bad}, `cannot write segment "1": it has "\xff", which is not UTF-8`},
		{refract.Segment{ID: "1", References: []refract.Text{{}}, Variants: []refract.Variant{{Model: "\xff"}}}, `cannot write segment "1": variants[0] is not UTF-8`},
		{refract.Segment{ID: "1", References: []refract.Text{{}}, Variants: []refract.Variant{{Sample: -1}}}, `cannot write segment "1": variants[0] has the sample -1`},
		{refract.Segment{ID: "1", References: []refract.Text{{}}, Variants: []refract.Variant{{}, {Origin: &refract.Origin{Sampling: "[]"}}}}, `cannot write segment "1": variants[1] has the sampling parameters "[]", which are not a JSON object on one line`},
		{refract.Segment{ID: "1", References: []refract.Text{{}}, Variants: []refract.Variant{{Origin: &refract.Origin{Sampling: "{\n}"}}}}, `cannot write segment "1": variants[0] has the sampling parameters "{\n}", which are not a JSON object on one line`},
		{refract.Segment{ID: "1", References: []refract.Text{{}}, Variants: []refract.Variant{{Origin: &refract.Origin{CompletionTokens: -1}}}}, `cannot write segment "1": variants[0] has -1 tokens`},
		{refract.Segment{ID: "1", References: []refract.Text{{}}, Variants: []refract.Variant{{Origin: &refract.Origin{Created: time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC)}}}}, `cannot write segment "1": variants[0] was created in the year 12345, which RFC 3339 cannot hold`},
		{refract.Segment{ID: "1", References: []refract.Text{{}}, Rejected: []refract.Variant{{Origin: &refract.Origin{Cleaned: []string{"\xff"}}}}}, `cannot write segment "1": rejected[0] is not UTF-8`},
		{refract.Segment{ID: "1", Rejected: []refract.Variant{{}}}, `cannot write segment "1": segment "1": rejected[0] is of reference 0, but the segment has 0 references (the first is 0)`},
		{refract.Segment{ID: "1", Variants: []refract.Variant{{}}}, `cannot write segment "1": segment "1": variants[0] is of reference 0, but the segment has 0 references (the first is 0)`},
		{refract.Segment{ID: "1", Hypotheses: []refract.Hypothesis{{System: "s", Text: bad}}}, `cannot write segment "1": it has "\xff", which is not UTF-8`},
		{refract.Segment{ID: "1", Hypotheses: []refract.Hypothesis{{System: "s"}, {System: "s"}}}, `cannot write segment "1": system "s" has two hypotheses`},
		{refract.Segment{ID: "1", Judgements: []refract.Judgement{{Name: "n", System: "s"}, {Name: "n", System: "s"}}}, `cannot write segment "1": system "s" has two scores "n"`},
		{refract.Segment{ID: "1", Judgements: []refract.Judgement{{Name: "n", System: "\xff"}}}, `cannot write segment "1": it has "\xff", which is not UTF-8`},
		{refract.Segment{ID: "1", Judgements: []refract.Judgement{{Name: "n", System: "s", Score: math.NaN(), Valid: true}}}, `cannot write segment "1": the score "n" of system "s" is NaN, which JSON cannot hold`},
	} {
		var b bytes.Buffer
		wantError(t, "DIR", NewEncoder(&b).Encode(&c.s), c.want)
		assert.True(t, b.Len() == 0, "written in spite of the error: %s", &b)
	}
	// A score that is not valid has no value.
	s := refract.Segment{ID: "1", Judgements: []refract.Judgement{{Name: "n", System: "s", Score: math.NaN()}}}
	assert.Contains(t, encode(t, &s), `{"s":null}`)
}

type fullDisk struct{}

var errFull = errors.New("no space left")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func drawText(t *rapid.T) refract.Text {
	if rapid.IntRange(0, 4).Draw(t, "missing") == 0 {
		return refract.Text{}
	}
	return refract.NewText(drawString(t))
}

func drawString(t *rapid.T) string {
	return rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("ab\"\\\n\x00\u2028😀\ufeff\ufffd{}[],:")), 0, 12, -1)).Draw(t, "text")
}

func drawSegment(t *rapid.T, id string) *refract.Segment {
	s := &refract.Segment{ID: id + drawString(t), Source: drawText(t), Document: drawString(t), Domain: drawString(t), Language: rapid.SampledFrom([]string{"", "en", "zh-en", "pt_BR"}).Draw(t, "language"), Extra: rapid.SampledFrom([]string{"", `{"topic": "news", "year":2024}`}).Draw(t, "extra")}
	if rapid.Bool().Draw(t, "judged") {
		s.Judged = &refract.Judged{Model: drawString(t), Asked: 2, Flagged: rapid.IntRange(0, 2).Draw(t, "flagged")}
	}
	for range rapid.IntRange(0, 4).Draw(t, "references") {
		s.References = append(s.References, drawText(t))
	}
	if n := len(s.References); n > 0 {
		for range rapid.IntRange(0, 3).Draw(t, "variants") {
			s.Variants = append(s.Variants, drawVariant(t, n))
		}
		for range rapid.IntRange(0, 2).Draw(t, "rejected") {
			s.Rejected = append(s.Rejected, drawVariant(t, n))
		}
	}
	for i, system := range rapid.SliceOfNDistinct(rapid.StringN(1, -1, -1), 0, 50, rapid.ID).Draw(t, "systems") {
		s.Hypotheses = append(s.Hypotheses, refract.Hypothesis{System: system, Text: drawText(t), Human: i%3 == 1})
	}
	for _, name := range rapid.SliceOfNDistinct(rapid.StringN(1, -1, -1), 0, 3, rapid.ID).Draw(t, "names") {
		for _, system := range rapid.SliceOfNDistinct(rapid.StringN(1, -1, -1), 1, 40, rapid.ID).Draw(t, "scored") {
			j := refract.Judgement{Name: name, System: system}
			if j.Valid = rapid.Bool().Draw(t, "valid"); j.Valid {
				j.Score = rapid.Float64().Draw(t, "score")
				for k := range rapid.SampledFrom([]int{0, 0, 2, 3}).Draw(t, "raters") { // one alone is not kept
					j.Ratings = append(j.Ratings, refract.Rating{Rater: fmt.Sprint(s.ID, k), Score: rapid.Float64().Draw(t, "rating")})
				}
			}
			s.Judgements = append(s.Judgements, j)
		}
	}
	return s
}

func drawVariant(t *rapid.T, references int) refract.Variant {
	v := refract.Variant{
		Reference: rapid.IntRange(0, references-1).Draw(t, "reference"), Prompt: drawString(t),
		Sample: rapid.IntRange(0, 1<<40).Draw(t, "sample"), Model: drawString(t), Text: drawText(t), Finish: drawString(t),
		Verdict: rapid.SampledFrom([]string{"", refract.Accepted, "cut"}).Draw(t, "verdict"), Detail: drawString(t),
		Review: rapid.SampledFrom([]string{"", "accept", "edit"}).Draw(t, "review"),
		Audit:  rapid.SampledFrom([]string{"", refract.AuditSampled, "lost"}).Draw(t, "audit"),
	}
	if rapid.Bool().Draw(t, "alarmed") {
		v.Alarms = rapid.SliceOfN(rapid.String(), 1, 3).Draw(t, "alarms")
	}
	if rapid.Bool().Draw(t, "origin") {
		o := &refract.Origin{Raw: v.Text}
		v.Origin = o
		if rapid.Bool().Draw(t, "other raw text") {
			o.Raw = drawText(t)
		}
		if rapid.Bool().Draw(t, "more") {
			o.Revision, o.ServedModel, o.Form = drawString(t), drawString(t), drawString(t)
			o.Sampling = rapid.SampledFrom([]string{"", "{}", `{ "a":[1e-7,null,{"b":"\u0000"}],"b":true}`}).Draw(t, "sampling")
			o.Cleaned = rapid.SliceOfN(rapid.String(), 1, 3).Draw(t, "cleaned")
			o.PromptTokens = rapid.IntRange(0, 3).Draw(t, "prompt tokens")
			o.CompletionTokens = rapid.IntRange(0, 1<<40).Draw(t, "completion tokens")
		}
		if rapid.Bool().Draw(t, "created") {
			o.Created = time.Unix(rapid.Int64Range(-62167219200, 253402300799).Draw(t, "second"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanosecond")).UTC()
		}
	}
	return v
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []*refract.Segment
		for i := range rapid.IntRange(1, 3).Draw(t, "segments") {
			want = append(want, drawSegment(t, fmt.Sprint(i, "-")))
		}
		text := encode(t, want...)
		for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			require.True(t, json.Valid([]byte(line)), "not JSON: %s", line)
		}
		got, err := decode(text)
		require.NoError(t, err, "%s", text)
		require.Empty(t, cmp.Diff(want, got))
		require.Equal(t, text, encode(t, got...), "written again")
	})
}

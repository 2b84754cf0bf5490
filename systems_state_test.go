package refract_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/metrics/bleu"
	"github.com/refract-eval/refract/metrics/chrf"
)

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
		if err != nil {
			t.Fatal(err)
		}
		c, err := chrf.New(chrf.Defaults())
		if err != nil {
			t.Fatal(err)
		}
		eng, err := refract.NewEngine([]refract.Setting{
			{Metric: b, Aggregator: aggregate.Native}, {Metric: c, Aggregator: aggregate.Mean}, {Metric: c, Aggregator: aggregate.Single},
		}, refract.Options{})
		if err != nil {
			t.Fatal(err)
		}
		whole, merged, id := eng.Systems(), eng.Systems(), refract.NewIdentity()
		part := eng.Systems()
		flush := func() {
			written, err := json.Marshal(part)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(written, merged); err != nil {
				t.Fatal(err)
			}
			part = eng.Systems()
		}
		err = eng.Run(context.Background(), segments, func(s *refract.SegmentScores) error {
			if rapid.Bool().Draw(t, "cut") {
				flush()
			}
			id.Add(s.Segment)
			return errors.Join(whole.Add(s), part.Add(s))
		})
		if err != nil {
			t.Fatal(err)
		}
		flush()
		written, err := json.Marshal(id)
		if err != nil {
			t.Fatal(err)
		}
		id = new(refract.Identity)
		if err := json.Unmarshal(written, id); err != nil {
			t.Fatal(err)
		}
		merged.Identify(id)
		if !reflect.DeepEqual(merged.Scores(), whole.Scores()) || merged.Set() != whole.Set() {
			t.Fatalf("merged:\n%+v %s\nwhole:\n%+v %s", merged.Scores(), merged.Set(), whole.Scores(), whole.Set())
		}
		for _, a := range []string{"single", "max"} {
			want := refract.NewIdentity()
			for _, s := range segments {
				want.Add(s)
			}
			if id.Of(aggregate.Must(a)) != want.Of(aggregate.Must(a)) {
				t.Fatalf("another set of %s", a)
			}
		}
	})
}

// What cannot be a state is refused.
func TestBadState(t *testing.T) {
	b, err := bleu.New(bleu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	eng, err := refract.NewEngine([]refract.Setting{{Metric: b, Aggregator: aggregate.Must("native")}}, refract.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{
		`{"segments":1,"systems":[{"name":"s","sums":[]}]}`,
		`{"segments":1,"systems":[{"name":"s","sums":[{"n":1}]}]}`,
		`{"segments":1,"systems":[{"name":"s","sums":[{"n":-1,"sum":[[1]]}]}]}`,
		`{"segments":1,"systems":[{"name":"s","sums":[{"n":1,"sum":[["1"]]}]}]}`,
		`{"segments":2,"systems":[{"name":"s","sums":[{"n":1,"sum":[[1],[2]]}]},{"name":"s","sums":[{"n":1,"sum":[[1]]}]}]}`,
	} {
		if err := json.Unmarshal([]byte(state), eng.Systems()); err == nil {
			t.Errorf("%s is taken", state)
		}
	}
	if err := json.Unmarshal([]byte(`{"references":"AA==","first":"AA=="}`), new(refract.Identity)); err == nil {
		t.Error("an identity without hashes is taken")
	}
}

package diversify_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/judge"
)

// refusing answers 400 to requests with a schema.
func refusing(r *llmtest.Request) llmtest.Fault {
	if len(r.ResponseFormat) > 0 {
		return llmtest.Status(400, "Unrecognized request argument supplied: response_format")
	}
	return nil
}

// FormAuto asks for JSON if the server gives it. It finds this out once, and the texts are
// the same in both forms.
func TestFormAuto(t *testing.T) {
	ds := numbered(3)
	want, _ := mustRun(t, newExpander(t, config(client(t, llmtest.NewServer(t, nil)))), ds)
	for _, c := range []struct {
		name    string
		handler *llmtest.Handler
		form    string
		probes  int // number of first questions
		stored  int // how many of their answers are stored
	}{
		{"gives", &llmtest.Handler{JSON: true}, "json", 1, 1},
		{"ignores", &llmtest.Handler{}, "", 2, 2},
		{"refuses", &llmtest.Handler{Decide: refusing}, "", 2, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := llmtest.NewServer(t, c.handler)
			cfg := config(client(t, server))
			cfg.Form = diversify.FormAuto
			found := 0
			cfg.FormFound = func(why error) {
				if found++; (why == nil) != (c.form == "json") {
					t.Errorf("found %v", why)
				}
			}
			asked := server.Calls
			for _, calls := range []int{c.probes + 60, 0} {
				before := asked()
				out, s := mustRun(t, newExpander(t, cfg), ds)
				if n := asked() - before; n != calls || s.Calls+s.Cached != 60 || s.Calls > n || found != 1 {
					t.Errorf("%d calls, want %d; %+v; found %d times", n, calls, s, found)
				}
				for i := range out {
					for _, v := range out[i].Variants {
						if v.Origin.Form != c.form || strings.Contains(v.Origin.Sampling, `"form":"json:`) != (c.form == "json") {
							t.Fatalf("%+v", v.Origin)
						}
					}
					require.Empty(t, cmp.Diff(want[i].Variants, out[i].Variants, withoutOrigin), "variants (-text +auto)")
				}
			}
			// All forms send the same user message; the text form sends no other.
			var body struct{ Messages []llm.Message }
			last := server.Requests()[server.Calls()-1]
			if err := json.Unmarshal(last.Raw, &body); err != nil || len(body.Messages) != map[string]int{"": 1, "json": 2}[c.form] {
				t.Errorf("%s: %v", last.Raw, err)
			}
			if c.form == "json" {
				return
			}
			// For the next dataset the first question is asked again only if its answer could not be
			// stored.
			before := asked()
			cfg.FormFound = nil
			mustRun(t, newExpander(t, cfg), segments{{ID: "new", References: []refract.Text{refract.NewText("A new one.")}}})
			assert.Equal(t, 10+c.probes-c.stored, asked()-before)
		})
	}
}

// FormAuto uses a stored JSON answer, or else a stored answer of the text form, and asks for
// neither again.
func TestFormAutoTakesWhatIsStored(t *testing.T) {
	server := llmtest.NewServer(t, &llmtest.Handler{JSON: true})
	cfg := config(client(t, server))
	ds, all := numbered(4), cfg.Prompts
	cfg.Prompts = all[:6]
	mustRun(t, newExpander(t, cfg), ds)
	cfg.Prompts, cfg.Form = all[4:8], diversify.FormJSON
	mustRun(t, newExpander(t, cfg), ds)
	before := server.Calls()
	cfg.Prompts, cfg.Form = all, diversify.FormAuto
	offline := cfg
	offline.Client = nil
	_, _, err := run(t.Context(), newExpander(t, offline), ds)
	assert.ErrorIs(t, err, diversify.ErrNotStored)
	plan, err := newExpander(t, offline).Plan(t.Context(), ds, nil)
	assert.True(t, err == nil && plan.Stored == 4*2*8 && plan.Needed == 4*2*2, "%+v, %v", plan, err)
	out, s := mustRun(t, newExpander(t, cfg), ds)
	n := server.Calls() - before
	assert.True(t, n == 1+4*2*2 && s.Cached == 4*2*8, "%d calls; %+v", n, s)
	for _, v := range out[0].Variants {
		want := "json"
		for _, p := range all[:4] {
			if v.Prompt == p.Name {
				want = ""
			}
		}
		assert.Equal(t, want, v.Origin.Form, "%s: form", v.Prompt)
	}
	offline.Prompts = all
	again, _ := mustRun(t, newExpander(t, offline), ds)
	assert.Empty(t, cmp.Diff(lines(out), lines(again)))
}

// The text is taken out of the object; anything else has no text.
func TestJSONAnswers(t *testing.T) {
	for _, c := range []struct {
		raw, finish   string
		text, verdict string
		calls         int
	}{
		{`{"text": "The \"two\"\u0021"}`, "stop", `The "two"!`, check.Accepted, 1},
		{" {\"text\":\"Two.\"}\n \n ", "length", "Two.", check.Accepted, 1},
		{"<think>One or {two}?</think>\n{\"text\": \"Two.\"}", "stop", "Two.", check.Accepted, 1},
		{"One?</think>{\"text\": \"Two.\"}", "stop", "Two.", check.Accepted, 1},
		{`{"text": "Two </think> three."}`, "stop", "Two </think> three.", check.Accepted, 1},
		{`{"text": "Two`, "length", `{"text": "Two`, check.ReasonCut, 2},
		{``, "length", "", check.ReasonCut, 2},
		{`{"text": ""}`, "stop", "", check.ReasonEmpty, 1},
		{`{"text": "Two`, "stop", `{"text": "Two`, diversify.NotJSON, 1},
		{`Two.`, "stop", `Two.`, diversify.NotJSON, 1},
		{"```json\n{\"text\": \"Two.\"}\n```", "stop", "Two.", check.Accepted, 1},
		{"<think>{one}</think>\n{\"text\": \"Two.\"}", "stop", "Two.", check.Accepted, 1},
		{`{"text": "Two."} and so on`, "stop", "Two.", check.Accepted, 1},
		{`{"text": null}`, "stop", `{"text": null}`, diversify.NotJSON, 1},
		{`{"text": ["Two."]}`, "stop", "Two.", check.Accepted, 1},
		{`{"text": ["Two.", "Three."]}`, "stop", `{"text": ["Two.", "Three."]}`, diversify.NotJSON, 1},
		{`{{"text": "Two."}}`, "stop", "Two.", check.Accepted, 1},
		{`{{"text": "Two."}`, "stop", "Two.", check.Accepted, 1},
		{`{'text': 'It's two.'}`, "stop", "It's two.", check.Accepted, 1},
		{`{"text": "The "two" of us."}`, "stop", `The "two" of us.`, check.Accepted, 1},
		{`{"text": "Two.""}`, "stop", "Two.", check.Accepted, 1},
		{`{"text": ""Two."}`, "stop", "Two.", check.Accepted, 1},
		{`{"text: "Two."}`, "stop", "Two.", check.Accepted, 1},
		{`{text": "Two."}`, "stop", "Two.", check.Accepted, 1},
		{`{"Text": "Two."}`, "stop", "Two.", check.Accepted, 1},
		{`{"paraphrase": "Two."}`, "stop", "Two.", check.Accepted, 1},
		{`{"paraphrase": "Two.", "note": "Done."}`, "stop", `{"paraphrase": "Two.", "note": "Done."}`, diversify.NotJSON, 1},
		{`{"answer": {"text": "Two.", "note": "Done."}}`, "stop", "Two.", check.Accepted, 1},
		{"Here it is:\n\n```json\n{\"text\": \"Two.\"}\n```\nI hope it helps.", "stop", "Two.", check.Accepted, 1},
		{`{"text": "Two."} {"text": "Two."}`, "stop", "Two.", check.Accepted, 1},
		{`{"text": "Two."} {"note": "Done."}`, "stop", "Two.", check.Accepted, 1},
		{`{"text": "One."} {"text": "Two."}`, "stop", `{"text": "One."} {"text": "Two."}`, diversify.NotJSON, 1},
		{`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`, "stop", `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`, diversify.NotJSON, 1},
		{`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}` + "\n" + `{"text": "Two."}`, "stop", "Two.", check.Accepted, 1},
		{`{"type":"object","properties":{"text":"Two."},"required":["text"]}`, "stop", "Two.", check.Accepted, 1},
		{`{"type":"object","properties":{"text":{"type":"string","value":"Two."}},"required":["text"]}`, "stop", "Two.", check.Accepted, 1},
		{`{"name":"answer","schema":{"type":"object","properties":{"text":{"type":"string","title":"Text"}}},"text":"Two."}`, "stop", "Two.", check.Accepted, 1},
		{`{}`, "stop", `{}`, diversify.NotJSON, 1},
		{`{"text": "Two.", "note": "Done."}`, "stop", "Two.", check.Accepted, 1},
		{`{"text": "One.", "text": "Two."}`, "stop", `{"text": "One.", "text": "Two."}`, diversify.NotJSON, 1},
		{`{"text": "half \ud83d"}`, "stop", `{"text": "half \ud83d"}`, diversify.NotJSON, 1},
		{`{"text": "Two."}`, "content_filter", "", check.ReasonBlocked, 1},
	} {
		server := llmtest.NewServer(t, nil)
		server.Fail(llmtest.Repeat(2, llmtest.Finish(c.finish, c.raw))...)
		cfg := config(client(t, server))
		cfg.Prompts, cfg.Form, cfg.Enlarge = cfg.Prompts[:1], diversify.FormJSON, 1
		checker, err := check.New(check.Config{Checks: []string{check.ReasonCut}})
		require.NoError(t, err)
		cfg.Check = checker
		out, _ := mustRun(t, newExpander(t, cfg), segments{{ID: "a", References: []refract.Text{refract.NewText("One.")}}})
		all := append(out[0].Variants, out[0].Rejected...)
		v := all[len(all)-1]
		if v.Text.Value != c.text || v.Verdict != c.verdict || server.Calls() != c.calls || v.Origin.Form != "json" {
			t.Errorf("%s (%s): %d calls, %+v", c.raw, c.finish, server.Calls(), v)
		}
		if c.verdict != check.ReasonBlocked && v.Origin.Raw.Value != c.raw {
			t.Errorf("%s: raw %q", c.raw, v.Origin.Raw.Value)
		}
		// Checking the stored answers again gives the same verdicts.
		judged := diversify.NewCounts(checker).Add(out[0])
		for _, w := range append(judged.Variants, judged.Rejected...) {
			assert.True(t, w.Verdict == v.Verdict && w.Text == v.Text, "%s: checked again %+v, want %+v", c.raw, w, v)
		}
	}
}

// Requests that cannot be made as JSON are refused by FormJSON and made as text by FormAuto.
func TestImpossibleForms(t *testing.T) {
	for _, c := range []struct {
		change func(*diversify.Config)
		json   string // error of FormJSON
	}{
		{func(c *diversify.Config) { c.Endpoint = llm.Completions }, `the endpoint "completions" gives no answers as JSON`},
		{func(c *diversify.Config) { c.Extra = map[string]any{"response_format": 1} }, `"response_format"`},
	} {
		server := llmtest.NewServer(t, &llmtest.Handler{JSON: true})
		cfg := config(nil)
		c.change(&cfg)
		cfg.Client = client(t, server, func(l *llm.Config) { l.Endpoint = cfg.Endpoint })
		cfg.Form = diversify.FormJSON
		_, err := diversify.New(cfg)
		assert.ErrorContains(t, err, c.json, "error")
		cfg.Form = diversify.FormAuto
		_, s := mustRun(t, newExpander(t, cfg), numbered(1))
		assert.True(t, s.Calls == 20 && server.Calls() == 20, "%d calls, %+v", server.Calls(), s)
	}
	cfg := config(nil)
	cfg.Form = "xml"
	_, err := diversify.New(cfg)
	assert.ErrorContains(t, err, `unknown form "xml"`, "error")
}

// A server failure that has nothing to do with the form ends the run, and the error says
// where.
func TestFormAutoFails(t *testing.T) {
	server := llmtest.NewServer(t, &llmtest.Handler{JSON: true})
	server.Fail(llmtest.Status(http.StatusUnauthorized, "no"))
	cfg := config(client(t, server))
	cfg.Form = diversify.FormAuto
	_, _, err := run(t.Context(), newExpander(t, cfg), numbered(2))
	var at *diversify.Error
	if errors.As(err, &at) || !errors.Is(err, llm.ErrAuth) || server.Calls() != 1 {
		t.Errorf("%v after %d calls", err, server.Calls())
	}
}

// refusals are ways in which servers refuse a schema.
var refusals = map[string]llmtest.Fault{
	"422 as text":       llmtest.Body(422, "text/plain", "Failed to deserialize the JSON body into the target type: response_format"),
	"400 unavailable":   llmtest.Status(400, "This response_format type is unavailable now"),
	"400 model":         llmtest.Status(400, "This model does not support response format `json_schema`."),
	"400 grammar":       llmtest.Status(400, "Failed to initialize samplers: failed to parse grammar"),
	"400 no word of it": llmtest.Status(400, "Bad request."),
	"500 names it":      llmtest.Status(500, "response_format type must be one of \"text\" or \"json_object\", but got: json_schema"),
	"500 xgrammar":      llmtest.Status(500, "The provided JSON schema contains features not supported by xgrammar."),
	"500 without words": llmtest.Body(500, "application/json", ""),
	"501":               llmtest.Status(501, "structured output is not implemented"),
	"404 parameters":    llmtest.Status(404, "No endpoints found that can handle the requested parameters."),
	"422 detail":        llmtest.Body(422, "application/json", `{"detail":[{"type":"extra_forbidden","loc":["body","response_format"],"msg":"Extra inputs are not permitted"}]}`),
	"422 TGI":           llmtest.Body(422, "application/json", `{"error":"Input validation error: grammar is not valid","error_type":"validation"}`),
	"200 with 400":      llmtest.ErrorBody(400, "Provider returned error"),
}

// A refused schema is followed by the same question without it, in expand and in judges, and by
// the same answers the next time.
func TestRefusedSchemas(t *testing.T) {
	for name, fault := range refusals {
		server := llmtest.NewServer(t, &llmtest.Handler{
			Decide: func(r *llmtest.Request) llmtest.Fault {
				if len(r.ResponseFormat) > 0 {
					return fault
				}
				return nil
			},
			Answer: func(r *llmtest.Request) string {
				if strings.Contains(r.Prompt, "JSON") {
					return `{"errors": []}`
				}
				return llmtest.Answer(r.Model, r.Prompt, 0)
			},
		})
		store, found := cache.NewMemory(), 0
		for range 2 {
			cfg := config(client(t, server))
			cfg.Prompts, cfg.Form, cfg.Store = cfg.Prompts[:2], diversify.FormAuto, store
			cfg.FormFound = func(why error) {
				if found++; why == nil {
					t.Errorf("%s: JSON", name)
				}
			}
			_, s := mustRun(t, newExpander(t, cfg), numbered(3))
			assert.True(t, s.Variants == 12 && found == 1, "%s: %d variants, found %d times", name, s.Variants, found)
			told := 0
			env := judge.Environment{Model: "any", Hardened: true, Asker: ask.New(ask.Config{Client: client(t, server), Store: store, OtherForm: func(string, error) { told++ }})}
			d, err := judge.Find("xgptscore")
			require.NoError(t, err)
			before := server.Calls()
			m, err := metrics.Registry{d.Factory(env)}.Parse(t.Context(), "xgptscore:task=translation")
			require.NoError(t, err)
			out, err := m.Score(t.Context(), []metrics.Block{{Source: "a", References: []string{"b"}, Hypotheses: []string{"c", "d", "e"}}})
			if err != nil || out[0].Status[2] != metrics.Scored || told > 1 || told == 0 && server.Calls() > before {
				t.Errorf("%s: judge: %v, %+v, told %d times", name, err, out, told)
			}
		}
	}
}

// If more than half of the first answers cannot be read as JSON, all are asked for as text, whatever
// the order in which they come.
func TestUnreadJSON(t *testing.T) {
	for _, share := range []int{1, 3} { // of 4 answers are unreadable
		want := ""
		store := cache.NewMemory()
		for round := range 3 {
			server := llmtest.NewServer(t, &llmtest.Handler{Answer: func(r *llmtest.Request) string {
				said := llmtest.Answer(r.Model, r.Prompt, 0)
				b, _ := json.Marshal(said)
				switch {
				case len(r.ResponseFormat) == 0:
					return said
				case len(said)%4 < share:
					return `{"text": ` + string(b) + `} {"text": "Another."}`
				}
				return `{"text": ` + string(b) + `}`
			}})
			cfg := config(client(t, server))
			if cfg.Form, cfg.Concurrency = diversify.FormAuto, 1+7*round; round < 2 {
				store = cache.NewMemory()
			}
			cfg.Store = store
			found := 0
			cfg.FormFound = func(why error) {
				if why != nil {
					found++
				}
			}
			out, s := mustRun(t, newExpander(t, cfg), numbered(4))
			if got := lines(out); want == "" {
				want = got
			} else if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("share %d, round %d:\n%s", share, round, diff)
			}
			if text := share == 3; found != map[bool]int{true: 1}[text] || text != (s.Variants == 80) || round == 2 && server.Calls() > 0 {
				t.Errorf("share %d, round %d: %d calls, told %d times, %+v", share, round, server.Calls(), found, s)
			}
		}
	}
}

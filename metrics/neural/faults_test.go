package neural_test

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/neural"
)

// body answers with a status and a body.
func body(status int, kind, text string) func(w http.ResponseWriter, r *llmtest.OIPRequest) {
	return func(w http.ResponseWriter, r *llmtest.OIPRequest) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		fmt.Fprint(w, strings.NewReplacer("ID", r.ID, "FACTS", strconv.Quote(llmtest.OIPFacts)).Replace(text))
	}
}

// output makes an answer with one output.
func output(text string) func(w http.ResponseWriter, r *llmtest.OIPRequest) {
	return body(http.StatusOK, "application/json", `{"id":"ID","model_name":"fake","model_version":"1","outputs":[`+text+`]}`)
}

// In TestFaults servers answer the probe correctly, and the first request after it, of one
// block, in every wrong way.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		fault func(w http.ResponseWriter, r *llmtest.OIPRequest)
		want  string
	}{
		"the model's error, Triton":   {body(400, "text/plain", `{"error":"model says no"}`), "refused the request (400): model says no"},
		"the model's error, MLServer": {body(400, "application/json", `{"error":"model says no"}`), "refused the request (400): model says no"},
		"exception, Triton":           {body(500, "text/plain", `{"error":"Traceback\n  File \"model.py\"\nZeroDivisionError"}`), `failed (500) after 4 attempts: Traceback\n  File "model.py"\nZeroDivisionError`},
		"control characters":          {body(400, "text/plain", "{\"error\":\"\\u001b[2Jgone\"}\r\n"), `(400): \x1b[2Jgone`},
		"an endless error":            {body(400, "text/plain", `{"error":"`+strings.Repeat("no ", 5000)+`"}`), "(400): no no"},
		"no JSON":                     {body(200, "application/json", `certainly!`), "gave an answer that is not JSON (200)"},
		"a web page":                  {body(200, "text/html", `<html>login</html>`), "gave a web page instead of an answer"},
		"an error in a 200":           {body(200, "application/json", `{"error":"cannot"}`), `failed (500) after 4 attempts: "cannot"`},
		"invalid UTF-8":               {body(200, "application/json", "{\"id\":\"\xff\"}"), "gave an answer that is not valid UTF-8"},
		"texts":                       {output(`{"name":"score","shape":[9],"datatype":"FP32","data":["0.5"]}`), "that are not all FP32"},
		"object":                      {output(`{"name":"score","shape":[9],"datatype":"FP32","data":{"a":1}}`), "that are not all FP32"},
		"no output":                   {output(``), `gave no output "score"`},
		"another type":                {output(`{"name":"score","shape":[9],"datatype":"BYTES","data":[0,0,0,0,0,0,0,0,0]}`), `gave "score" as "BYTES" instead of FP32`},
		"binary":                      {output(`{"name":"score","shape":[9],"datatype":"FP32","parameters":{"binary_data_size":36}}`), `gave no values of "score" as JSON`},
		"rows of two":                 {output(`{"name":"score","shape":[9,1],"datatype":"FP32","data":[[0,0],[0],[0],[0],[0],[0],[0],[0],[]]}`), "that are not all FP32"},
		"another shape":               {output(`{"name":"score","shape":[3,3],"datatype":"FP32","data":[0,0,0,0,0,0,0,0,0]}`), `gave "score" of the shape [3 3] for 9 rows`},
		"fewer than its shape":        {output(`{"name":"score","shape":[9],"datatype":"FP32","data":[0,0,0,0]}`), `gave 4 values of "score" for 9 rows`},
		"twice": {output(`{"name":"score","shape":[9],"datatype":"FP32","data":[0,0,0,0,0,0,0,0,0]},` +
			`{"name":"score","shape":[9],"datatype":"FP32","data":[0,0,0,0,0,0,0,0,0]}`), `gave the output "score" twice`},
		"another request's": {body(200, "application/json", `{"id":"other","outputs":[]}`), `gave an answer to another request: its id is "other"`},
		"no facts":          {output(`{"name":"score","shape":[9],"datatype":"FP32","data":[0,0,0,0,0,0,0,0,0]}`), `gave no output "facts"`},
		"facts that are none": {output(`{"name":"score","shape":[9],"datatype":"FP32","data":[0,0,0,0,0,0,0,0,0]},{"name":"facts","shape":[1],"datatype":"BYTES","data":["{}"]}`),
			"gave facts without a name and a version"},
		"another model": {body(200, "application/json", `{"id":"ID","model_name":"other","outputs":[]}`), `gave an answer of the model "other" instead of "fake"`},
		"too long":      {body(200, "application/json", strings.Repeat(" ", 1<<20)), "gave an answer of more than"},
		"beyond its bounds": {output(`{"name":"score","shape":[9],"datatype":"FP32","data":[0,0,0,0,0,0,0,1.5,0]},{"name":"facts","shape":[1],"datatype":"BYTES","data":[FACTS]}`),
			"gave 1.5 as score 8 of 9, where its bounds are 0 and 1"},
		"limits": {body(429, "application/json", `{"error":"queue is full"}`), "limits the rate of requests (429) after 4 attempts: queue is full"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &llmtest.OIP{Fault: func(n int, w http.ResponseWriter, r *llmtest.OIPRequest) bool {
				if n > 1 {
					c.fault(w, r)
				}
				return n > 1
			}}
			_, err := must(t, "", s).Score(t.Context(), []metrics.Block{block})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "server http://127.0.0.1:") {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if err != nil && (len(err.Error()) > 1000 || strings.ContainsAny(err.Error(), "\n\x1b")) {
				t.Errorf("an error that no terminal should see: %q", err)
			}
		})
	}
}

// A row that the server fails at, or gives no number for, costs its own score if the server still scores
// others.
func TestOneRow(t *testing.T) {
	blocks := many(50)
	want := scores(t, must(t, "", &llmtest.OIP{}), blocks)
	for _, bad := range []string{"null", "NaN", "-Infinity", "1e39", "1e999", `"NaN"`, `"inf"`, "500", "400", "reset", "short", "dead"} {
		s := &llmtest.OIP{}
		s.Fault = func(n int, w http.ResponseWriter, r *llmtest.OIPRequest) bool {
			at := slices.IndexFunc(r.Rows, func(r llmtest.Row) bool { return r.Hypothesis == blocks[17].Hypotheses[0] })
			status, _ := strconv.Atoi(bad)
			var list []string
			for i, row := range r.Rows {
				if list = append(list, fmt.Sprint(row.Score())); i == at {
					list[i] = bad
				}
			}
			switch {
			case bad == "dead" && n > 1:
				llmtest.OIPFail(w, 500, "no")
			case at < 0:
				return false
			case status > 0:
				llmtest.OIPFail(w, status, "no")
			case bad == "reset":
				panic(http.ErrAbortHandler)
			default:
				if bad == "short" {
					list = slices.Delete(list, at, at+1)
				}
				output(fmt.Sprintf(`{"name":"score","shape":[%d],"datatype":"FP32","data":[%s]},{"name":"facts","shape":[1],"datatype":"BYTES","data":[FACTS]}`,
					len(list), strings.Join(list, ",")))(w, r)
			}
			return true
		}
		failed := 0
		env := neural.Environment{Client: quick.Client, Failed: func(error) bool { failed++; return true }}
		m, err := open(t, "", s, env)
		require.NoError(t, err)
		got, err := m.Score(t.Context(), blocks)
		if bad == "dead" {
			assert.True(t, err != nil && failed == 0, "a server that is down: %v, %d failed", err, failed)
			continue
		}
		if err != nil || failed != 1 {
			t.Errorf("%s: %v, %d failed", bad, err, failed)
			continue
		}
		for i, g := range got {
			if ok := g.Status[0] == metrics.Scored && g.Values[0] == want[i]; ok == (i == 17) || i == 17 && g.Reports[0].Detail == "" {
				t.Errorf("%s: segment %d has %+v", bad, i, g)
			}
		}
		_, err = must(t, "", s).Score(t.Context(), blocks)
		assert.Error(t, err, "%s is tolerated although nothing is", bad)
	}
}

// In TestChangedAnswers an answer after the probe differs.
func TestChangedAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		change func(a *llmtest.OIPAnswer)
		want   string
	}{
		"version": {func(a *llmtest.OIPAnswer) { a.Version = "2" }, `gave an answer of version "2" of the model, and of version "1" at first`},
		"model":   {func(a *llmtest.OIPAnswer) { a.Model = "other" }, `gave an answer of the model "other" instead of "fake"`},
		"facts": {func(a *llmtest.OIPAnswer) {
			a.Outputs[2].Data = []string{`{"name":"other","version":"1","direction":"lower"}`}
		}, `gave other facts than at first:`},
		"spans":    {func(a *llmtest.OIPAnswer) { a.Outputs[1].Data.([]string)[2] = "none" }, "gave error spans that are not a list"},
		"severity": {func(a *llmtest.OIPAnswer) { a.Outputs[1].Data.([]string)[2] = `[{"text":"a","severity":"bad"}]` }, `the severity "bad" instead of`},
		"short":    {func(a *llmtest.OIPAnswer) { a.Outputs[0].Data = a.Outputs[0].Data.([]float32)[1:] }, `gave 8 values of "score" for 9 rows`},
		"type":     {func(a *llmtest.OIPAnswer) { a.Outputs[0].Datatype = "INT8" }, `"INT8"`},
	} {
		t.Run(name, func(t *testing.T) {
			s := &llmtest.OIP{Spans: true}
			s.Change = func(n int, a *llmtest.OIPAnswer) {
				if n > 1 {
					c.change(a)
				}
			}
			_, err := must(t, "", s).Score(t.Context(), []metrics.Block{block})
			assert.ErrorContains(t, err, c.want)
		})
	}
}

// In TestModelsThatAreNotMetrics the models are not metrics.
func TestModelsThatAreNotMetrics(t *testing.T) {
	for name, c := range map[string]struct {
		server  *llmtest.OIP
		options string
		want    string
	}{
		"another model":  {&llmtest.OIP{Model: "comet"}, "", `unknown model`},
		"version":        {&llmtest.OIP{}, ",version=7", `unknown model`},
		"output":         {&llmtest.OIP{}, ",output=recall", `states no output "recall"; its outputs are "score", "facts"`},
		"its own facts":  {&llmtest.OIP{}, ",direction=lower", `leave out direction`},
		"texts":          {&llmtest.OIP{Datatype: "BYTES"}, "", `tensor "score" is "BYTES" instead of FP32`},
		"a key":          {&llmtest.OIP{Key: "sesame"}, "", "wants a key (401): no access with; set OIP_API_KEY"},
		"no JSON facts":  {&llmtest.OIP{Facts: "none"}, "", "gave facts that are not JSON"},
		"strange bounds": {&llmtest.OIP{Facts: `{"name":"a","version":"1","direction":"higher","lower":2,"upper":1}`}, "", "gave facts with the bounds 2 and 1"},
		"needs a source": {&llmtest.OIP{NoSource: true}, "", `facts say that it needs ["source" "reference"], and its inputs are "hypothesis", "reference"`},
		"needs none":     {&llmtest.OIP{Facts: `{"name":"a","version":"1","direction":"higher","needs":["reference"]}`}, "", `facts say that it needs ["reference"], and its inputs are "hypothesis", "source"`},
		"strange key":    {&llmtest.OIP{Facts: `{"name":"a","version":"1","direction":"higher","signature":{"a|b":1}}`}, "", `gave facts whose signature has the key "a|b"`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := open(t, c.options, c.server, quick); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "oip:fake") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// many returns blocks with one hypothesis and one reference each.
func many(n int) []metrics.Block {
	blocks := make([]metrics.Block, n)
	for i := range blocks {
		text := fmt.Sprintf("The weather in town %d.", i)
		blocks[i] = metrics.Block{Source: "Das Wetter", Hypotheses: []string{text}, References: []string{text[:len(text)/2]}}
	}
	return blocks
}

// scores returns the values of the first cells.
func scores(t *testing.T, m metrics.Metric, blocks []metrics.Block) (out []float64) {
	t.Helper()
	all, err := m.Score(t.Context(), blocks)
	require.NoError(t, err)
	for _, s := range all {
		out = append(out, s.Values[0])
	}
	return out
}

func TestTooLarge(t *testing.T) {
	blocks := many(50)
	want := scores(t, must(t, "", &llmtest.OIP{}), blocks)
	for status, said := range map[int]string{
		http.StatusRequestEntityTooLarge: "too large",
		500:                              "Traceback" + strings.Repeat(" in model.py", 100) + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB",
	} {
		s := &llmtest.OIP{Fault: func(n int, w http.ResponseWriter, r *llmtest.OIPRequest) bool {
			if len(r.Rows) > 7 {
				llmtest.OIPFail(w, status, said)
			}
			return len(r.Rows) > 7
		}}
		got := scores(t, must(t, "", s), blocks)
		assert.True(t, slices.Equal(got, want), "got %v, want %v", got, want)
	}
	none := &llmtest.OIP{Fault: func(n int, w http.ResponseWriter, r *llmtest.OIPRequest) bool {
		if n > 1 {
			llmtest.OIPFail(w, http.StatusRequestEntityTooLarge, "too large")
		}
		return n > 1
	}}
	_, err := must(t, "", none).Score(t.Context(), blocks)
	assert.ErrorIs(t, err, llm.ErrTooLarge, "one row that is too large")
}

func TestTwoServers(t *testing.T) {
	blocks := many(500)
	want := scores(t, must(t, "", &llmtest.OIP{}), blocks)
	broken := func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }
	for name, c := range map[string]struct {
		other    http.Handler
		warnings int
	}{
		"both well": {&llmtest.OIP{}, 0}, "down": {http.HandlerFunc(broken), 1},
		"short": {&llmtest.OIP{Change: func(n int, a *llmtest.OIPAnswer) { a.Outputs = a.Outputs[1:] }}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			warnings := 0
			env := neural.Environment{Client: quick.Client, Warn: func(error) { warnings++ }}
			m, err := open(t, ",batch=2000", &llmtest.OIP{}, env, c.other)
			require.NoError(t, err)
			if got := scores(t, m, blocks); !slices.Equal(got, want) || warnings != c.warnings {
				t.Errorf("other scores than of one server, or %d warnings", warnings)
			}
		})
	}
	_, err := open(t, "", &llmtest.OIP{}, quick, &llmtest.OIP{NoSource: true})
	assert.ErrorContains(t, err, "servers have different models of this name", "different models")
}

// The blocks that were answered before a fault keep their scores.
func TestKeepsScoresBeforeFault(t *testing.T) {
	one := quick
	one.Client.MaxInFlight = 1
	m, err := open(t, ",batch=1", &llmtest.OIP{Fault: func(n int, w http.ResponseWriter, _ *llmtest.OIPRequest) bool {
		if n >= 5 { // after the probe and 3 blocks: a call may begin before the fault of another ends all
			llmtest.OIPFail(w, http.StatusBadRequest, "no")
		}
		return n >= 5
	}}, one)
	require.NoError(t, err)
	_, err = m.Score(t.Context(), many(9))
	var part *metrics.BlocksError
	require.True(t, errors.As(err, &part), "got %v", err)
	assert.Len(t, slices.DeleteFunc(part.Scores, func(s metrics.Scores) bool { return s.Values == nil }), 3)
}

// restarting is a server that is down for a number of requests.
type restarting struct {
	*llmtest.OIP
	down atomic.Int64
}

func (r *restarting) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if r.down.Add(-1) >= 0 {
		panic(http.ErrAbortHandler)
	}
	r.OIP.ServeHTTP(w, q)
}

func TestRestart(t *testing.T) {
	blocks := many(400)
	want := scores(t, must(t, "", &llmtest.OIP{}), blocks)
	r := &restarting{OIP: &llmtest.OIP{}}
	r.Change = func(n int, _ *llmtest.OIPAnswer) {
		if n == 5 {
			r.down.Store(6)
		}
	}
	env := neural.Environment{Client: llm.Config{MaxRetryWait: 10 * time.Millisecond, MaxRetries: 50}}
	m, err := open(t, ",batch=1000", r, env)
	require.NoError(t, err)
	assert.True(t, slices.Equal(scores(t, m, blocks), want), "other scores than without a restart")
	r.down.Store(math.MaxInt64)
	env.Client.MaxRetries = -1
	_, err = open(t, "", r, env)
	assert.ErrorIs(t, err, llm.ErrUnavailable, "a server that is down gave %v", err)
}

func TestManyRows(t *testing.T) {
	s := &llmtest.OIP{}
	m := must(t, "", s)
	blocks := many(2000)
	got := scores(t, m, blocks)
	for i, b := range blocks {
		row := llmtest.Row{Source: b.Source, Hypothesis: b.Hypotheses[0], Reference: b.References[0]}
		if got[i] != float64(row.Score()) {
			t.Fatalf("score %d is %v, want %v", i, got[i], row.Score())
		}
	}
	if s.Rows() != len(blocks)+1 || s.Calls() > 100 {
		t.Errorf("%d rows in %d requests", s.Rows(), s.Calls())
	}
	// Equal rows are requested once, and each text is sent once.
	before, texts := s.Rows(), s.Texts()
	scores(t, m, slices.Repeat(blocks[:10], 20))
	if s.Rows()-before != 10 || s.Texts()-texts != 12 {
		t.Errorf("%d rows and %d texts, want 10 and 12", s.Rows()-before, s.Texts()-texts)
	}
}

// anyVersion serves the same model under any version.
type anyVersion struct{ *llmtest.OIP }

func (s anyVersion) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.URL.Path = regexp.MustCompile("/versions/[^/]+").ReplaceAllString(r.URL.Path, "")
	s.OIP.ServeHTTP(w, r)
}

// A server that ignores the requested version is found out.
func TestVersion(t *testing.T) {
	for name, c := range map[string]struct {
		server  *llmtest.OIP
		version string
		want    string
	}{
		"right":             {&llmtest.OIP{}, "1", ""},
		"not on the server": {&llmtest.OIP{}, "9", `the model has no version "9": the server has 1`},
		"another answers":   {&llmtest.OIP{Change: func(_ int, a *llmtest.OIPAnswer) { a.Version = "2" }}, "1", `gave an answer of version "2" of the model instead of "1"`},
	} {
		_, err := open(t, ",version="+c.version, anyVersion{c.server}, quick)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Requests after the probe count against the budget.
func TestBudget(t *testing.T) {
	for name, limits := range map[string]ask.Limits{"calls": {Calls: 2}, "time": {Time: 1}} {
		b := ask.NewBudget(limits, nil)
		m, err := open(t, ",batch=1", &llmtest.OIP{}, neural.Environment{Client: quick.Client, Budget: b})
		require.NoError(t, err)
		_, err = m.Score(t.Context(), many(9))
		assert.ErrorIs(t, err, ask.ErrSpent, "%s", name)
		assert.Equal(t, limits.Calls, b.Spent().Calls, name)
	}
}

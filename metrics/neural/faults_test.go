package neural_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

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

// output makes an answer of one output.
func output(text string) func(w http.ResponseWriter, r *llmtest.OIPRequest) {
	return body(http.StatusOK, "application/json", `{"id":"ID","model_name":"fake","model_version":"1","outputs":[`+text+`]}`)
}

// TestFaults has servers answer the first request after the probe, of one block,
// in every wrong way. The probe is right.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		fault func(w http.ResponseWriter, r *llmtest.OIPRequest)
		want  string
	}{
		"the model's error, Triton":   {body(400, "text/plain", `{"error":"model says no"}`), "refused the request (400): model says no"},
		"the model's error, MLServer": {body(400, "application/json", `{"error":"model says no"}`), "refused the request (400): model says no"},
		"a wrong request":             {body(422, "application/json", `{"detail":[{"msg":"Input should be a list"}]}`), `(422): [{"msg":"Input should be a list"}]`},
		"exception, Triton":           {body(500, "text/plain", `{"error":"Traceback\n  File \"model.py\"\nZeroDivisionError"}`), `failed (500) after 4 attempts: Traceback\n  File "model.py"\nZeroDivisionError`},
		"a long trace":                {body(500, "text/plain", `{"error":"Traceback`+strings.Repeat(`\n  File model.py`, 300)+`\nKeyError: it"}`), `model.py\nKeyError: it;`},
		"exception, MLServer":         {body(500, "text/plain", "Internal Server Error"), "failed (500) after 4 attempts: it sent `Internal Server Error`"},
		"model gone":                  {body(404, "text/plain", `{"error":"Request for unknown model: 'fake' is not found"}`), "unknown model: 'fake' is not found; check the model name \"fake\" and the address"},
		"control characters":          {body(400, "text/plain", "{\"error\":\"\\u001b[2Jgone\"}\r\n"), `(400): \x1b[2Jgone`},
		"an endless error":            {body(400, "text/plain", `{"error":"`+strings.Repeat("no ", 5000)+`"}`), "(400): …no no"},
		"no JSON":                     {body(200, "application/json", `certainly!`), "gave an answer that is not JSON (200)"},
		"a web page":                  {body(200, "text/html", `<html>login</html>`), "gave a web page in place of an answer"},
		"nothing":                     {body(200, "application/json", ``), "gave an empty answer"},
		"cut":                         {body(200, "application/json", `{"outputs":[{"name":"score","shape":[9]`), "gave an answer that is not JSON"},
		"no object":                   {body(200, "application/json", `[1,2]`), "gave an answer of an unexpected shape"},
		"an error in a 200":           {body(200, "application/json", `{"error":"cannot"}`), `failed (500) after 4 attempts: "cannot"`},
		"invalid UTF-8":               {body(200, "application/json", "{\"id\":\"\xff\"}"), "gave an answer that is not valid UTF-8"},
		"NaN":                         {output(`{"name":"score","shape":[9],"datatype":"FP32","data":[0,0,0,0,NaN,0,0,0,0]}`), "gave NaN, which is no number of JSON"},
		"infinite":                    {output(`{"name":"score","shape":[9],"datatype":"FP32","data":[0,0,0,0,0,0,0,0,1e39]}`), "gave 1e+39 as score 9 of 9"},
		"too large a number":          {output(`{"name":"score","shape":[1],"datatype":"FP32","data":[1e999]}`), `gave "1e999" among the values of "score"`},
		"null":                        {output(`{"name":"score","shape":[1],"datatype":"FP32","data":[null]}`), "gave null among the values"},
		"texts":                       {output(`{"name":"score","shape":[1],"datatype":"FP32","data":["0.5"]}`), `gave "0.5" among the values of "score", which is "FP32"`},
		"object":                      {output(`{"name":"score","shape":[1],"datatype":"FP32","data":{"a":1}}`), "among the values"},
		"no output":                   {output(``), `gave no output "score"`},
		"another type":                {output(`{"name":"score","shape":[9],"datatype":"FP64","data":[0,0,0,0,0,0,0,0,0]}`), `gave "score" as "FP64" in place of FP32`},
		"another shape":               {output(`{"name":"score","shape":[3,3],"datatype":"FP32","data":[0,0,0,0,0,0,0,0,0]}`), `gave "score" of the shape [3 3] for 9 rows`},
		"too few":                     {output(`{"name":"score","shape":[8],"datatype":"FP32","data":[0,0,0,0,0,0,0,0]}`), `gave "score" of the shape [8] for 9 rows`},
		"fewer than its shape":        {output(`{"name":"score","shape":[9],"datatype":"FP32","data":[0,0,0,0]}`), `gave 4 values of "score" for 9 rows`},
		"twice": {output(`{"name":"score","shape":[9],"datatype":"FP32","data":[0,0,0,0,0,0,0,0,0]},` +
			`{"name":"score","shape":[9],"datatype":"FP32","data":[0,0,0,0,0,0,0,0,0]}`), `gave the output "score" twice`},
		"another request's": {body(200, "application/json", `{"id":"other","outputs":[]}`), `gave an answer to another request: its id is "other"`},
		"no facts":          {output(`{"name":"score","shape":[9],"datatype":"FP32","data":[0,0,0,0,0,0,0,0,0]}`), `gave no output "facts"`},
		"facts that are none": {output(`{"name":"score","shape":[9],"datatype":"FP32","data":[0,0,0,0,0,0,0,0,0]},{"name":"facts","shape":[1],"datatype":"BYTES","data":["{}"]}`),
			"gave facts without a name and a version"},
		"another model": {body(200, "application/json", `{"id":"ID","model_name":"other","outputs":[]}`), `gave an answer of the model "other" in place of "fake"`},
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
			var at *metrics.BlocksError
			if !errors.As(err, &at) || at.First != 0 || at.Last != 0 {
				t.Errorf("%v names no block", err)
			}
		})
	}
}

// TestChanges has one answer after the probe differ.
func TestChanges(t *testing.T) {
	for name, c := range map[string]struct {
		change func(a *llmtest.OIPAnswer)
		want   string
	}{
		"version": {func(a *llmtest.OIPAnswer) { a.Version = "2" }, `gave an answer of version "2" of the model, where http://127.0.0.1:`},
		"model":   {func(a *llmtest.OIPAnswer) { a.Model = "other" }, `gave an answer of the model "other" in place of "fake"`},
		"facts": {func(a *llmtest.OIPAnswer) {
			a.Outputs[2].Data = []string{`{"name":"other","version":"1","direction":"lower"}`}
		}, `gave other facts than http://127.0.0.1:`},
		"spans":    {func(a *llmtest.OIPAnswer) { a.Outputs[1].Data.([]string)[2] = "none" }, "gave error spans that are no list"},
		"severity": {func(a *llmtest.OIPAnswer) { a.Outputs[1].Data.([]string)[2] = `[{"text":"a","severity":"bad"}]` }, `the severity "bad" in place of`},
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
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestStart has models that are no metric.
func TestStart(t *testing.T) {
	for name, c := range map[string]struct {
		server  *llmtest.OIP
		options string
		want    string
	}{
		"another model":  {&llmtest.OIP{Model: "comet"}, "", `unknown model`},
		"version":        {&llmtest.OIP{}, ",version=7", `unknown model`},
		"output":         {&llmtest.OIP{}, ",output=recall", `states no output "recall"; its outputs are "score", "facts"`},
		"its own facts":  {&llmtest.OIP{}, ",direction=lower", `leave out direction`},
		"a key":          {&llmtest.OIP{Key: "sesame"}, "", "wants a key (401): no access with; set OIP_API_KEY"},
		"no JSON facts":  {&llmtest.OIP{Facts: "none"}, "", "gave facts that are no JSON"},
		"strange bounds": {&llmtest.OIP{Facts: `{"name":"a","version":"1","direction":"higher","lower":2,"upper":1}`}, "", "gave facts with the bounds 2 and 1"},
		"needs a source": {&llmtest.OIP{NoSource: true}, "", `facts say that it needs ["source" "reference"], and its inputs are "hypothesis", "reference"`},
		"needs none":     {&llmtest.OIP{Facts: `{"name":"a","version":"1","direction":"higher","needs":["reference"]}`}, "", `facts say that it needs ["reference"], and its inputs are "hypothesis", "source"`},
		"strange key":    {&llmtest.OIP{Facts: `{"name":"a","version":"1","direction":"higher","signature":{"a|b":1}}`}, "", `gave facts whose signature has the key "a|b"`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := open(t, c.options, c.server); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "oip:fake") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// many are blocks with one hypothesis and one reference each.
func many(n int) []metrics.Block {
	blocks := make([]metrics.Block, n)
	for i := range blocks {
		text := fmt.Sprintf("The weather in town %d.", i)
		blocks[i] = metrics.Block{Source: "Das Wetter", Hypotheses: []string{text}, References: []string{text[:len(text)/2]}}
	}
	return blocks
}

// scores are the values of the first cells.
func scores(t *testing.T, m metrics.Metric, blocks []metrics.Block) (out []float64) {
	t.Helper()
	all, err := m.Score(t.Context(), blocks)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		out = append(out, s.Values[0])
	}
	return out
}

func TestTooLarge(t *testing.T) {
	blocks := many(50)
	want := scores(t, must(t, "", &llmtest.OIP{}), blocks)
	memory := &llmtest.OIP{Fault: func(n int, w http.ResponseWriter, r *llmtest.OIPRequest) bool {
		if len(r.Rows) > 7 {
			llmtest.OIPFail(w, 500, "Traceback"+strings.Repeat(" in model.py", 100)+"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB")
		}
		return len(r.Rows) > 7
	}}
	for _, s := range []*llmtest.OIP{{MaxRows: 7}, memory} {
		if got := scores(t, must(t, "", s), blocks); !slices.Equal(got, want) {
			t.Errorf("%v in place of %v", got, want)
		}
	}
	none := &llmtest.OIP{Fault: func(n int, w http.ResponseWriter, r *llmtest.OIPRequest) bool {
		if n > 1 {
			llmtest.OIPFail(w, http.StatusRequestEntityTooLarge, "too large")
		}
		return n > 1
	}}
	if _, err := must(t, "", none).Score(t.Context(), blocks); !errors.Is(err, llm.ErrTooLarge) {
		t.Errorf("one row that is too large gave %v", err)
	}
}

// environment is one that notes warnings.
func environment(t *testing.T) (env neural.Environment, warnings func() []string) {
	var mu sync.Mutex
	var said []string
	env = neural.Environment{Client: quick, Warn: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, err.Error())
	}}
	return env, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(said)
	}
}

func TestTwoServers(t *testing.T) {
	blocks := many(2000)
	want := scores(t, must(t, "", &llmtest.OIP{}), blocks)
	broken := func(status int) *llmtest.OIP {
		return &llmtest.OIP{Fault: func(n int, w http.ResponseWriter, _ *llmtest.OIPRequest) bool {
			llmtest.OIPFail(w, status, "this server is broken")
			return true
		}}
	}
	for name, c := range map[string]struct {
		other    *llmtest.OIP
		warnings int
	}{
		"both well": {&llmtest.OIP{Delay: time.Millisecond}, 0}, "down": {nil, 1}, "500": {broken(500), 0}, "400": {broken(400), 0}, "short": {&llmtest.OIP{
			Change: func(n int, a *llmtest.OIPAnswer) { a.Outputs = a.Outputs[1:] }}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			well := &llmtest.OIP{Delay: time.Millisecond}
			urls := serve(t, well)
			if c.other == nil {
				h := httptest.NewServer(&llmtest.OIP{})
				h.Close()
				urls = append(urls, h.URL)
			} else {
				urls = append(urls, serve(t, c.other)...)
			}
			spec, err := neural.ParseSpec(urls[0] + "/fake,also=" + urls[1] + "/fake,batch=2000")
			if err != nil {
				t.Fatal(err)
			}
			env, warnings := environment(t)
			if c.other == nil {
				env.Client.MaxRetries = -1 // what cannot be reached costs none
			}
			m, err := neural.New(t.Context(), spec, env)
			if err != nil {
				t.Fatal(err)
			}
			if got := scores(t, m, blocks); !slices.Equal(got, want) {
				t.Errorf("other scores than of one server")
			}
			if got := warnings(); len(got) != c.warnings {
				t.Errorf("%d warnings: %q", len(got), got)
			}
			if name == "both well" && (well.Calls() < 5 || c.other.Calls() < 5) {
				t.Errorf("one server had %d requests, the other %d", well.Calls(), c.other.Calls())
			}
		})
	}
	if _, err := open(t, "", &llmtest.OIP{}, &llmtest.OIP{NoSource: true}); err == nil || !strings.Contains(err.Error(), `Inputs:[{Name:hypothesis Datatype:BYTES Shape:[-1]} {Name:source`) {
		t.Errorf("different models gave %v", err)
	}
}

// restarting is a server that can be down.
type restarting struct {
	*llmtest.OIP
	mu   sync.Mutex
	down bool
}

func (r *restarting) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	down := r.down
	r.mu.Unlock()
	if down {
		panic(http.ErrAbortHandler)
	}
	r.OIP.ServeHTTP(w, q)
}

func (r *restarting) set(down bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = down
}

func TestRestart(t *testing.T) {
	blocks := many(400)
	want := scores(t, must(t, "", &llmtest.OIP{}), blocks)
	r := &restarting{OIP: &llmtest.OIP{}}
	r.Change = func(n int, _ *llmtest.OIPAnswer) {
		if n == 5 {
			r.set(true)
			time.AfterFunc(30*time.Millisecond, func() { r.set(false) })
		}
	}
	h := httptest.NewServer(r)
	defer h.Close()
	spec, err := neural.ParseSpec(h.URL + "/fake,batch=1000")
	if err != nil {
		t.Fatal(err)
	}
	env, _ := environment(t)
	env.Client = llm.Config{MaxRetryWait: 100 * time.Millisecond, MaxRetries: 50}
	m, err := neural.New(t.Context(), spec, env)
	if err != nil {
		t.Fatal(err)
	}
	if got := scores(t, m, blocks); !slices.Equal(got, want) {
		t.Error("other scores than without a restart")
	}
	r.set(true)
	env.Client.MaxRetries = -1
	if _, err := neural.New(context.Background(), spec, env); !errors.Is(err, llm.ErrUnavailable) {
		t.Errorf("a server that is down gave %v", err)
	}
}

func TestTenThousand(t *testing.T) {
	s := &llmtest.OIP{}
	m := must(t, "", s)
	blocks := many(10_000)
	got := scores(t, m, blocks)
	for i, b := range blocks {
		row := llmtest.Row{Source: b.Source, Hypothesis: b.Hypotheses[0], References: b.References}
		if got[i] != float64(row.Score()) {
			t.Fatalf("score %d is %v in place of %v", i, got[i], row.Score())
		}
	}
	if s.Rows() != len(blocks)+1 || s.Calls() > 100 {
		t.Errorf("%d rows in %d requests", s.Rows(), s.Calls())
	}
	// Equal rows are asked for once, and each text is sent once.
	before, texts := s.Rows(), s.Texts()
	scores(t, m, slices.Repeat(blocks[:10], 20))
	if s.Rows()-before != 10 || s.Texts()-texts != 12 {
		t.Errorf("%d rows and %d texts in place of 10 and 12", s.Rows()-before, s.Texts()-texts)
	}
}

// anyVersion serves a model that a request names with any version.
type anyVersion struct{ *llmtest.OIP }

func (s anyVersion) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.URL.Path = regexp.MustCompile("/versions/[^/]+").ReplaceAllString(r.URL.Path, "")
	s.OIP.ServeHTTP(w, r)
}

// TestVersion has a server that heeds no version be told from the one that is asked for.
func TestVersion(t *testing.T) {
	for name, c := range map[string]struct {
		server  *llmtest.OIP
		version string
		want    string
	}{
		"right":             {&llmtest.OIP{}, "1", ""},
		"not on the server": {&llmtest.OIP{}, "9", `the model has no version "9": the server has 1`},
		"another answers":   {&llmtest.OIP{Change: func(_ int, a *llmtest.OIPAnswer) { a.Version = "2" }}, "1", `gave an answer of version "2" of the model in place of "1"`},
	} {
		h := httptest.NewServer(anyVersion{c.server})
		t.Cleanup(h.Close)
		_, err := neural.New(t.Context(), neural.Spec{URLs: []string{h.URL}, Model: "fake", Version: c.version, Output: "score"}, neural.Environment{Client: quick})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestBudget has requests after the probe count.
func TestBudget(t *testing.T) {
	for name, limits := range map[string]ask.Limits{"calls": {Calls: 2}, "time": {Time: 1}} {
		s := &llmtest.OIP{}
		h := httptest.NewServer(s)
		t.Cleanup(h.Close)
		b := ask.NewBudget(limits, nil)
		m, err := neural.New(t.Context(), neural.Spec{URLs: []string{h.URL}, Model: "fake", Output: "score", Bytes: 1}, neural.Environment{Client: quick, Budget: b})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Score(t.Context(), many(9)); !errors.Is(err, ask.ErrSpent) {
			t.Errorf("%s: %v", name, err)
		}
		if got := b.Spent().Calls; got != limits.Calls {
			t.Errorf("%s: %d calls", name, got)
		}
	}
}

// TestKeepsWhatCame has the blocks that were answered before a fault keep their scores.
func TestKeepsWhatCame(t *testing.T) {
	h := httptest.NewServer(&llmtest.OIP{Fault: func(n int, w http.ResponseWriter, _ *llmtest.OIPRequest) bool {
		if n >= 5 { // behind the probe and 3 blocks: a call may begin before the fault of another ends all
			llmtest.OIPFail(w, http.StatusBadRequest, "no")
		}
		return n >= 5
	}})
	t.Cleanup(h.Close)
	one := quick
	one.MaxInFlight = 1
	m, err := neural.New(t.Context(), neural.Spec{URLs: []string{h.URL}, Model: "fake", Output: "score", Bytes: 1}, neural.Environment{Client: one})
	if err != nil {
		t.Fatal(err)
	}
	blocks := many(9)
	want, err := must(t, "", &llmtest.OIP{}).Score(t.Context(), blocks)
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Score(t.Context(), blocks)
	var at *metrics.BlocksError
	if !errors.As(err, &at) || len(at.Scores) != len(blocks) {
		t.Fatalf("got %v", err)
	}
	kept := 0
	for i, s := range at.Scores {
		if s.Values == nil {
			continue
		}
		if kept++; !slices.Equal(s.Values, want[i].Values) || i == at.First {
			t.Errorf("block %d: %v, want %v", i, s.Values, want[i].Values)
		}
	}
	if kept != 3 {
		t.Errorf("%d blocks kept their scores", kept)
	}
}

package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// cmdServed scores a file of JSON Lines with some metrics (parted by blanks) and
// aggregators, by requests to refract serve and by refract score, and compares: numbers
// as they are written, statuses, and signatures. Copies of the request, and others that
// fail, go with it.
func cmdServed(ts *testscript.TestScript, args []string) {
	file, specs, aggregators := args[0], strings.Fields(args[1]), strings.Split(args[2], ",")
	for i, spec := range specs {
		specs[i] = strings.ReplaceAll(spec, "_", " ")
	}
	program := func(stdin string, args ...string) []byte {
		cmd := exec.Command(filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], "refract"), append(args, "-q")...)
		cmd.Dir, cmd.Stdin = ts.MkAbs("."), strings.NewReader(stdin)
		for _, name := range []string{"PATH", "HOME", "OPENAI_BASE_URL", "GORACE", "GOGC", "GOMEMLIMIT"} {
			cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
		}
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			ts.Fatalf("refract %s: %v: %s%s", args, err, out, stderr.Bytes())
		}
		return out
	}
	request := func(id int, per string, metrics []string) string {
		params, err := json.Marshal(map[string]any{"metrics": metrics, "aggregate": aggregators, "per": []string{per}})
		ts.Check(err)
		segments := strings.Join(slices.Collect(strings.Lines(strings.TrimSpace(ts.ReadFile(file)))), ",")
		return fmt.Sprintf(`{"id":%d,"method":"score","params":{"segments":[%s],%s}`+"\n", id, strings.ReplaceAll(segments, "\n", ""), params[1:])
	}
	levels := []string{"system", "segment", "cell"}
	var requests strings.Builder
	for range 3 {
		for _, per := range levels {
			requests.WriteString(request(strings.Count(requests.String(), "\n"), per, specs))
		}
		requests.WriteString(`{"id":"none","method":"score","params":{"segments":[{"hypotheses":{"a":"x"},"references":[null]}],"metrics":["chrf"]}}` + "\n")
	}
	answers := map[string]json.RawMessage{}
	for line := range bytes.Lines(program(requests.String(), "serve")) {
		var a struct{ ID, Result json.RawMessage }
		ts.Check(json.Unmarshal(line, &a))
		answers[string(a.ID)] = a.Result
	}
	for i, per := range levels {
		score := []string{"score", "jsonl:" + file, "--per", per, "-f", "jsonl", "-a", args[2]}
		for _, spec := range specs {
			score = append(score, "-m", spec)
		}
		var rows []servedRow
		for line := range bytes.Lines(program("", score...)) {
			var row servedRow
			if ts.Check(json.Unmarshal(line, &row)); row.Status != "" { // and not the digest at the end
				rows = append(rows, row)
			}
		}
		var expected []string
		for _, r := range rows {
			if r.Score == nil {
				r.Score = new(json.Number("null"))
			}
			if per == "cell" && r.Aggregate != "" {
				continue // native scores, which are not of cells
			}
			expected = append(expected, r.String())
		}
		slices.Sort(expected)
		for at := i; at < 12; at += 4 {
			got := servedRows(ts, per, answers[fmt.Sprint(at)])
			if slices.Sort(got); len(got) == 0 || !slices.Equal(expected, got) {
				ts.Fatalf("--per %s, request %d:\n%s\nwant\n%s", per, at, strings.Join(got, "\n"), strings.Join(expected, "\n"))
			}
		}
	}
}

// servedRow is a row of refract score, and of an answer.
type servedRow struct {
	ID, System, Metric, Aggregate string
	Reference                     *int
	Score                         *json.Number
	Status, Signature             string
}

// String leaves out how many references a segment has, which an answer states of all.
func (r *servedRow) String() string {
	reference := -1
	if r.Reference != nil {
		reference = *r.Reference
	}
	return fmt.Sprint(r.ID, " ", r.System, " ", r.Metric, " ", r.Aggregate, " ", reference, " ", *r.Score, " ", r.Status, " ", references.ReplaceAllString(r.Signature, "nrefs:N"))
}

// absent are the systems that a segment of the test does not have.
var absent = map[string]bool{"s0 late": true, "s1 c": true, "s2 b": true}

var references = regexp.MustCompile(`^nrefs:\w+`)

// servedRows are the rows that an answer stands for, but for hypotheses that are not there.
func servedRows(ts *testscript.TestScript, per string, result json.RawMessage) (out []string) {
	type scores[T any] map[string][]T
	var a struct {
		Settings []struct {
			Metric, Aggregator, Signature string
			Systems                       map[string]struct {
				Score             *json.Number
				Status, Signature string
			}
			Segments scores[*json.Number]
			Status   scores[string]
		}
		Cells []struct {
			Metric, Signature string
			Scores            scores[[]*json.Number]
			Status            scores[[]string]
		}
	}
	d := json.NewDecoder(bytes.NewReader(result))
	d.UseNumber()
	ts.Check(d.Decode(&a))
	add := func(r servedRow, absent bool) {
		if r.Status == "" {
			r.Status = "scored"
		}
		if r.Score == nil {
			r.Score = new(json.Number("null"))
		}
		if !absent {
			out = append(out, r.String())
		}
	}
	for _, s := range a.Settings {
		for name, sys := range s.Systems {
			if sys.Signature == "" {
				sys.Signature = s.Signature
			}
			add(servedRow{System: name, Metric: s.Metric, Aggregate: s.Aggregator, Score: sys.Score, Status: sys.Status, Signature: sys.Signature}, false)
		}
		for name, all := range s.Segments {
			for i, score := range all {
				r := servedRow{ID: fmt.Sprint("s", i), System: name, Metric: s.Metric, Aggregate: s.Aggregator, Score: score, Signature: s.Signature}
				if s.Status != nil {
					r.Status = s.Status[name][i]
				}
				add(r, absent[fmt.Sprint("s", i, " ", name)])
			}
		}
	}
	if per != "cell" {
		return out
	}
	for _, m := range a.Cells {
		for name, all := range m.Scores {
			for i, row := range all {
				for c, score := range row {
					r := servedRow{ID: fmt.Sprint("s", i), System: name, Metric: m.Metric, Reference: &c, Score: score, Signature: m.Signature}
					if m.Status != nil {
						r.Status = m.Status[name][i][c]
					}
					add(r, absent[fmt.Sprint("s", i, " ", name)])
				}
			}
		}
	}
	return out
}

// Requests that docs/reference/protocols.md shows have the answers that it shows, where "…" stands for
// what it leaves out.
func TestServeDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(repository + "/docs/reference/protocols.md")
	require.NoError(t, err)
	var requests []string
	expected := map[string]string{}
	for line := range strings.Lines(string(text)) {
		var a struct {
			ID                     json.RawMessage
			Method                 string
			Result, Error, Methods json.RawMessage
		}
		switch err := json.Unmarshal([]byte(line), &a); {
		case err != nil:
		case a.Method != "":
			requests = append(requests, line)
		case a.Result != nil || a.Error != nil || a.Methods != nil:
			expected[string(a.ID)] = line
		}
	}
	cmd := exec.Command("refract", "serve")
	cmd.Env, cmd.Stdin = append(os.Environ(), "GORACE="+raceOptions), strings.NewReader(strings.Join(requests, ""))
	out, err := cmd.Output()
	require.True(t, err == nil && len(expected) >= 3, "%v %v", err, expected)
	for line := range bytes.Lines(out) {
		var a struct{ ID json.RawMessage }
		require.NoError(t, json.Unmarshal(line, &a))
		var shown bytes.Buffer
		require.NoError(t, json.Compact(&shown, []byte(expected[string(a.ID)])), "%s", line)
		pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(shown.String())), "…", ".*")
		if ok, err := regexp.Match("^"+pattern+"\n$", line); err != nil || !ok {
			t.Errorf("docs/reference/protocols.md has %s\nand the answer is %s", expected[string(a.ID)], line)
		}
	}
}

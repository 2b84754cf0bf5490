package servers_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/refract-eval/refract/metrics/judge"
)

// Random weights give garbage, which no judge takes for a score. Where the
// server is asked for structured output it gives what keeps to the schema: a
// judgement if it is whole, though a senseless one, and else the beginning of
// one.
func TestVLLMJudges(t *testing.T) {
	url, dir, program := vLLM(t), t.TempDir(), program(t)
	in := invented(t, dir)
	structured, whole := 0, 0
	for _, d := range judge.Builtin() {
		if d.Likelihood != nil {
			continue // another check's
		}
		for _, hardened := range []bool{false, true} {
			resolved, err := d.Resolve(options(t, d.Name))
			if err == nil && hardened {
				resolved, err = resolved.Hardened()
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Run(resolved.Name(), func(t *testing.T) {
				reports := resolved.Name() + ".jsonl"
				args := []string{"score", in, "-m", d.Name + ":" + judgeOptions[d.Name] + ",samples=1,model=" + model,
					"--base-url", url, "--cache", "judges.sqlite", "--reports", reports, "-f", "jsonl"}
				if hardened {
					args[3] += ",hardened=yes"
				}
				out, said, code := run(t, dir, program, args...)
				if out == "" {
					t.Fatalf("exit code %d\n%s", code, said)
				}
				all := readJudged(t, filepath.Join(dir, reports))
				if len(all) < 4 {
					t.Fatalf("%d reports (exit code %d):\n%s", len(all), code, said)
				}
				schema := asksFor(t, resolved)
				lacking, counts, scores := 0, map[string]int{}, map[string]int{}
				for _, j := range all {
					counts[j.Status]++
					if j.Raw == nil || *j.Raw == "" {
						t.Fatalf("%+v", j)
					}
					conforms := errors.New("nothing was asked for")
					if schema != nil {
						structured++
						conforms = keepsTo(schema, []byte(*j.Raw))
					}
					switch {
					case conforms == nil:
						whole++
						scores[j.System]++
						if j.Score == nil || j.Status != "scored" && j.Status != "no-error" {
							t.Errorf("structured output is no judgement: %+v", j)
						}
						t.Logf("%v of %s", *j.Score, *j.Raw)
						continue
					case schema != nil && (j.Status != "cut" || !errors.Is(conforms, io.ErrUnexpectedEOF)):
						t.Errorf("the server did not keep to the schema: %v: %q", conforms, *j.Raw)
					case j.Score != nil || j.Status != "unparseable" && j.Status != "cut":
						t.Errorf("%s, %v: %q", j.Status, j.Score, *j.Raw)
					}
					lacking++
				}
				t.Logf("%d answers: %v", len(all), counts)
				if want := fmt.Sprintf("%d of %d answers have no score", lacking, len(all)); lacking > 0 && (code != 1 || !strings.Contains(said, want)) || lacking == 0 && code != 0 {
					t.Errorf("exit code %d; want it to say: %s\n%s", code, want, said)
				}
				for line := range strings.Lines(out) {
					var row struct {
						System string
						Score  *float64
					}
					if err := json.Unmarshal([]byte(line), &row); err != nil {
						t.Fatal(err)
					}
					if (row.Score != nil) != (scores[row.System] > 0) {
						t.Errorf("%d judgements, but: %s", scores[row.System], line)
					}
				}
			})
		}
	}
	if !t.Failed() && whole == 0 {
		t.Error("no structured answer is whole: nothing is shown")
	}
	t.Logf("%d of %d structured answers are whole", whole, structured)
}

// asksFor is the schema of the answer to a judge's last turn, nil if the
// server is asked for none.
func asksFor(t *testing.T, r *judge.Resolved) map[string]any {
	t.Helper()
	last := r.Turns() - 1
	b, err := json.Marshal(r.Request(model, last, judge.Fields{Source: "a", Reference: "a", Hypothesis: "a"}, make([]string, last)).Extra)
	if err != nil {
		t.Fatal(err)
	}
	var extra struct {
		Format struct {
			Schema struct {
				Schema map[string]any `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	if err := json.Unmarshal(b, &extra); err != nil {
		t.Fatal(err)
	}
	return extra.Format.Schema.Schema
}

// keepsTo is nil for a whole answer that keeps to a schema, with properties in
// the order of the required ones, and io.ErrUnexpectedEOF for one that ends too
// early.
func keepsTo(schema map[string]any, raw []byte) error {
	var value any
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&value); err != nil {
		return err
	}
	switch schema["type"] {
	case "object":
		properties := schema["properties"].(map[string]any)
		d := json.NewDecoder(bytes.NewReader(raw))
		if start, err := d.Token(); err != nil || start != json.Delim('{') {
			return fmt.Errorf("%v is no object (%w)", start, err)
		}
		var names []any
		for d.More() {
			name, err := d.Token()
			var member json.RawMessage
			if err == nil {
				err = d.Decode(&member)
			}
			if err != nil {
				return err
			}
			property, ok := properties[name.(string)].(map[string]any)
			if !ok {
				return fmt.Errorf("the schema has no %q", name)
			}
			if err := keepsTo(property, member); err != nil {
				return err
			}
			names = append(names, name)
		}
		if want := schema["required"].([]any); !slices.Equal(names, want) {
			return fmt.Errorf("members %v, want %v of %v", names, want, slices.Sorted(maps.Keys(properties)))
		}
	case "array":
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &items); err != nil {
			return err
		}
		for _, item := range items {
			if err := keepsTo(schema["items"].(map[string]any), item); err != nil {
				return err
			}
		}
	case "string":
		text, ok := value.(string)
		if enum, of := schema["enum"].([]any); !ok || of && !slices.Contains(enum, any(text)) {
			return fmt.Errorf("%v is not one of %v", value, enum)
		}
	default:
		if _, ok := value.(float64); !ok {
			return fmt.Errorf("%v is no number", value)
		}
	}
	return nil
}

// A text that the model cannot hold has no answer, and the run goes on.
func TestVLLMLongText(t *testing.T) {
	url, dir := vLLM(t), t.TempDir()
	var in bytes.Buffer
	for id, hypothesis := range []string{"The river is silent.", strings.Repeat("The river is silent. ", vllmContext/4)} {
		err := json.NewEncoder(&in).Encode(invention{fmt.Sprint(id), "Der Fluss ist still.", []string{"The river is quiet."}, map[string]string{"A": hypothesis}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "in.jsonl"), in.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	_, said, code := run(t, dir, program(t), "score", "jsonl:in.jsonl", "-m", "tigerscore:"+judgeOptions["tigerscore"]+",model="+model,
		"--base-url", url, "--reports", "reports.jsonl", "--concurrency", "1")
	if code != 1 {
		t.Fatalf("exit code %d\n%s", code, said)
	}
	status := map[string]string{}
	for _, j := range readJudged(t, filepath.Join(dir, "reports.jsonl")) {
		status[j.ID] = j.Status
	}
	if status["1"] != "missing" || status["0"] != "unparseable" && status["0"] != "cut" {
		t.Errorf("%v\n%s", status, said)
	}
	t.Logf("%s", said)
}

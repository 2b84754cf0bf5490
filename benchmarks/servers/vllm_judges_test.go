package servers_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/metrics/judge"
)

// Random weights give garbage, which no judge accepts as a score. If the server is asked
// for structured output, its answer follows the schema: a complete answer is a judgement,
// though a senseless one; a truncated one is only its beginning.
func TestVLLMJudges(t *testing.T) {
	url, dir, program := vLLM(t), t.TempDir(), program(t)
	in := invented(t, dir)
	structured, whole := 0, 0
	for _, d := range judge.Builtin() {
		if d.Likelihood != nil {
			continue // covered by another check
		}
		for _, hardened := range []bool{false, true} {
			resolved, err := d.Resolve(options(t, d.Name))
			if err == nil && hardened {
				resolved, err = resolved.Hardened()
			}
			require.NoError(t, err)
			t.Run(resolved.Name(), func(t *testing.T) {
				reports := resolved.Name() + ".jsonl"
				args := []string{"score", in, "-m", d.Name + ":" + judgeOptions[d.Name] + ",samples=1,model=" + model,
					"--base-url", url, "--cache", "judges.sqlite", "--reports", reports, "-f", "jsonl"}
				if hardened {
					args[3] += ",hardened=yes"
				}
				out, said, code := run(t, dir, program, args...)
				require.NotEqual(t, "", out, "exit code %d\n%s", code, said)
				all := readJudged(t, filepath.Join(dir, reports))
				require.GreaterOrEqual(t, len(all), 4, "%d reports (exit code %d):\n%s", len(all), code, said)
				schema := asksFor(t, resolved)
				lacking, counts, scores := 0, map[string]int{}, map[string]int{}
				for _, j := range all {
					counts[j.Status]++
					if j.Status == "missing" && strings.Contains(j.Detail, "too long for the model") {
						lacking++
						continue
					}
					require.True(t, j.Raw != nil && *j.Raw != "", "%+v", j)
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
					require.NoError(t, json.Unmarshal([]byte(line), &row))
					assert.Equal(t, scores[row.System] > 0, row.Score != nil, "%d judgements, but: %s", scores[row.System], line)
				}
			})
		}
	}
	if !t.Failed() && whole == 0 {
		t.Error("no structured answer is whole: nothing is shown")
	}
	t.Logf("%d of %d structured answers are whole", whole, structured)
}

// asksFor returns the schema for the answer to a judge's last turn, nil if the server is
// not asked for one.
func asksFor(t *testing.T, r *judge.Resolved) map[string]any {
	t.Helper()
	last := r.Turns() - 1
	asked := r.Request(model, last, judge.Fields{Source: "a", Reference: "a", Hypothesis: "a"}, make([]string, last)).Schema.JSON
	if asked == "" {
		return nil
	}
	var schema map[string]any
	require.NoError(t, json.Unmarshal([]byte(asked), &schema))
	return schema
}

// keepsTo returns nil for a complete answer that follows a schema, and io.ErrUnexpectedEOF
// for a truncated one.
func keepsTo(schema map[string]any, raw []byte) error {
	var value any
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&value); err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("answer.json", schema); err != nil {
		return err
	}
	compiled, err := c.Compile("answer.json")
	if err != nil {
		return err
	}
	return compiled.Validate(value)
}

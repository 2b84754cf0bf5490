package servers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// smolLM2 is the model that benchmarks/servers/smollm2.sh serves.
const smolLM2 = "smollm2-135m-instruct"

func smolLM2URL(t *testing.T) string { return started(t, "REFRACT_SMOLLM2", "smollm2.sh") }

var tenReferences = []string{
	"The council voted late on Tuesday to close the old bridge, although most residents had asked for repairs.",
	"My neighbour keeps seven hens, and she gives the eggs away.",
	"Heavy rain delayed the ferry by 40 minutes, so we missed the last bus.",
	"“Nobody told me about the meeting,” said Ana, and left the room.",
	"The museum opens at 9 and is free on the first Sunday of every month.",
	"Prices for wheat fell by 3.5 percent in March after a good harvest in Canada.",
	"He has never learned to swim, but he loves the sea.",
	"Please return the key to the reception before noon.",
	"The committee did not accept the proposal because it came without a budget.",
	"After twelve years in Lisbon, the painter moved back to her village.",
}

const tenPrompts = "order,voice,plain"

// expandedLine has the fields of an expanded segment that are checked.
type expandedLine struct {
	References         []string
	Variants, Rejected []struct {
		Text, Raw, Verdict, Form string
		Finish                   string
	}
}

func expandedLines(t *testing.T, path string) (out []expandedLine) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range bytes.Lines(b) {
		var s expandedLine
		require.NoError(t, json.Unmarshal(line, &s))
		out = append(out, s)
	}
	return out
}

// smolLM2Expansion writes the references to in.jsonl in a new folder. It returns functions that run
// the program there and expand the references; they fail the test unless the program succeeds, or
// says of an expansion that none of the model's answers was accepted.
func smolLM2Expansion(t *testing.T, references []string) (dir string, refract func(args ...string) string, expand func(cache, out string, more ...string) string) {
	t.Helper()
	url := smolLM2URL(t)
	dir, program := t.TempDir(), program(t)
	var in bytes.Buffer
	for i, r := range references {
		require.NoError(t, json.NewEncoder(&in).Encode(map[string]any{"id": strconv.Itoa(i + 1), "references": []string{r}}))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "in.jsonl"), in.Bytes(), 0o600))
	refract = func(args ...string) string {
		t.Helper()
		out, said, code := run(t, dir, program, args...)
		require.Equal(t, 0, code, "refract %s: %d\n%s", strings.Join(args, " "), code, said)
		return out + said
	}
	expand = func(cache, out string, more ...string) string {
		t.Helper()
		printed, said, code := run(t, dir, program, append([]string{"expand", "jsonl:in.jsonl", "--model", smolLM2, "--base-url", url, "--prompts", tenPrompts,
			"--resample", "0", "--max-tokens", "96", "--concurrency", "4", "--cache", cache, "-o", out}, more...)...)
		if code != 1 || !strings.Contains(said, "no answer was accepted") {
			require.Equal(t, 0, code, said)
		}
		return printed + said
	}
	return dir, refract, expand
}

// A real model, from references to a published set: no answer is lost, each has its
// verdict, and none is mistaken for something else.
func TestSmolLM2Expand(t *testing.T) {
	dir, refract, expand := smolLM2Expansion(t, tenReferences)
	for _, form := range []string{"json", "text"} {
		asked := form
		if form == "json" {
			asked = "auto" // finds out that the server supports it
		}
		cache, file := form+".sqlite", form+".jsonl"
		assert.NotContains(t, expand(cache, file, "--form", asked), "the server gives no JSON", form)
		expand(cache, "again.jsonl", "--form", "auto", "--offline")
		same(t, filepath.Join(dir, file), filepath.Join(dir, "again.jsonl"))

		verdicts, accepted := map[string]int{}, 0
		for i, s := range expandedLines(t, filepath.Join(dir, file)) {
			if n := len(s.Variants) + len(s.Rejected); n < 3 { // an answer truncated at the limit is requested once more
				t.Errorf("%s: segment %d has %d answers", form, i+1, n)
			}
			for k, v := range slices.Concat(s.Variants, s.Rejected) {
				verdicts[v.Verdict]++
				if form == "json" != (v.Form == "json") || v.Verdict == "" || k < len(s.Variants) != (v.Verdict == "accepted") {
					t.Errorf("%s: segment %d: %+v", form, i+1, v)
				}
				if v.Verdict != "accepted" {
					continue
				}
				accepted++
				if v.Finish != "stop" || strings.TrimSpace(v.Text) == "" || v.Text == s.References[0] || strings.ContainsAny(v.Text, "{}\n") {
					t.Errorf("%s: segment %d accepts %+v", form, i+1, v)
				}
				var object map[string]string
				if form == "json" && (json.Unmarshal([]byte(v.Raw), &object) != nil || len(object) != 1 || object["text"] == "") {
					t.Errorf("segment %d: the answer %s is not the object", i+1, v.Raw)
				}
			}
		}
		t.Logf("%s: %d of 30 accepted; %v", form, accepted, verdicts)
		assert.True(t, verdicts["not-json"] == 0 && accepted != 0, "%s: %v", form, verdicts)

		refract("check", "jsonl:"+file, "-o", "checked.jsonl")
		checked, kept := 0, 0
		for _, s := range expandedLines(t, filepath.Join(dir, "checked.jsonl")) {
			checked += len(s.Variants) + len(s.Rejected)
			kept += len(s.Variants)
		}
		if checked < 30 || kept != accepted {
			t.Errorf("%s: checked again, %d of %d are accepted", form, kept, checked)
		}
		refract("select", "jsonl:"+file, "-k", "2", "-o", "two.jsonl")
		chosen := 0
		for i, s := range expandedLines(t, filepath.Join(dir, "two.jsonl")) {
			if chosen += len(s.Variants); len(s.Variants) > 2 {
				t.Errorf("%s: %d variants of segment %d", form, len(s.Variants), i+1)
			}
		}
		refract("publish", "jsonl:two.jsonl", "--to", "parquet", "-o", form)
		refract("check", form)
		refract("expand", "published:"+form, "--model", "another", "--dry-run", "--cache", cache)
		assert.NotZero(t, chosen, "%s: nothing is published", form)
	}
}

// The judge of meaning says same, changed, or nothing usable, and each is reported.
func TestSmolLM2Meaning(t *testing.T) {
	dir, _, expand := smolLM2Expansion(t, tenReferences[:2])
	said := expand("text.sqlite", "judged.jsonl", "--form", "text", "--prompts", "order", "--judge", smolLM2+",plant=2")
	assert.NotContains(t, said, "meaning checked by "+smolLM2, "a model of this size is better than chance: %s", said)
	verdicts := map[string]int{}
	for _, s := range expandedLines(t, filepath.Join(dir, "judged.jsonl")) {
		for _, v := range slices.Concat(s.Variants, s.Rejected) {
			verdicts[v.Verdict]++
		}
	}
	t.Logf("judged for meaning: %v", verdicts)
}

// same checks that two files are equal.
func same(t *testing.T, a, b string) {
	t.Helper()
	x, err := os.ReadFile(a)
	require.NoError(t, err)
	y, err := os.ReadFile(b)
	assert.True(t, err == nil && bytes.Equal(x, y), "%s and %s differ (%v)", a, b, err)
}

// A judge of each answer form asks the model. Most answers are not valid reports: the run
// says so and fails, and prints no number.
func TestSmolLM2Judges(t *testing.T) {
	url := smolLM2URL(t)
	dir, program := t.TempDir(), program(t)
	one := inventions[0]
	one.Hypotheses = map[string]string{"A": one.Hypotheses["A"]}
	line, err := json.Marshal(one)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "in.jsonl"), line, 0o600))
	for _, name := range []string{"gemba-da", "gemba-stars", "tigerscore", "instructscore", "mqm"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reports := name + ".jsonl"
			_, said, code := run(t, dir, program, "score", "jsonl:in.jsonl", "-m", name+":"+judgeOptions[name]+",model="+smolLM2,
				"--base-url", url, "--cache", name+".sqlite", "--reports", reports, "-f", "jsonl")
			all := readJudged(t, filepath.Join(dir, reports))
			without := 0
			for _, j := range all {
				scored := j.Status == "scored" || j.Status == "no-error"
				if !scored {
					without++
				}
				if scored != (j.Score != nil) || j.Raw == nil || !scored && j.Status != "unparseable" && j.Status != "cut" {
					t.Errorf("%+v", j)
				}
				t.Logf("%s: %s", j.System, j.Status)
			}
			told := strings.Contains(said, fmt.Sprintf("%d of %d answer", without, len(all)))
			if len(all) != 1 || (code == 1) != (without > 0) || told != (without > 0) || code > 1 {
				t.Errorf("exit code %d for %d of %d without a score:\n%s", code, without, len(all), said)
			}
		})
	}
}

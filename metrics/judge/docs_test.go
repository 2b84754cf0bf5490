package judge

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/metrics/judge/answer"
)

func readDocs(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/reference/judges.md")
	require.NoError(t, err)
	return string(text)
}

// documented reads the example judges of the documents.
func documented(t *testing.T) (all []*Definition) {
	t.Helper()
	for _, block := range regexp.MustCompile("(?s)\n```yaml\n(.*?)```\n").FindAllStringSubmatch(readDocs(t), -1) {
		d, err := parse(block[1])
		require.NoError(t, err)
		all = append(all, d)
	}
	return all
}

// The second judge of the documents reads lists of spans.
func TestDocumentedSpans(t *testing.T) {
	r, err := documented(t)[1].Sample(nil)
	require.NoError(t, err)
	p, err := r.Parser()
	require.NoError(t, err)
	got := p.Parse("[{\"span\": \"open\", \"severity\": \"major\", \"category\": \"accuracy/mistranslation\", \"span_with_context\": \"is open on\"}, {\"span\": \"on\", \"severity\": \"minor\"}]")
	if !got.Outcome.HasScore() || *got.Score != -6 || got.Errors[0].Location != "open" || got.Errors[0].Explanation != "is open on" {
		t.Errorf("%+v", got)
	}
	if got := p.Parse("[]"); !got.Outcome.HasScore() || *got.Score != 0 {
		t.Errorf("%+v", got)
	}
}

// The documents' example judge works.
func TestDocumentedJudge(t *testing.T) {
	r, err := documented(t)[0].Resolve(map[string]string{"language": "German", "strict": "yes"})
	require.NoError(t, err)
	system, prompt := r.Render(0, placeholders)
	if system != "You judge replies of a help desk in German. Count every lapse." || !strings.HasPrefix(prompt, "Customer: S\nReply: O\n\nHow polite") {
		t.Errorf("%q\n%q", system, prompt)
	}
	p, err := r.Parser()
	require.NoError(t, err)
	got := p.Parse("6")
	assert.True(t, got.Outcome.HasScore() && *got.Score == 6, "6 is read as %+v", got)
}

// The documents name every field of a definition, every kind of answer, every judge and
// every checkpoint.
func TestDocumentedFields(t *testing.T) {
	text := readDocs(t)
	_, form, ok := strings.Cut(text, "## A judge of your own")
	require.True(t, ok, "no section on the form")
	var want []string
	for _, v := range []any{Definition{}, option{}, choice{}, sampling{}, turn{}, example{}, likelihood{}, answer.Spec{}, answer.Class{}, answer.Fields{}} {
		for field := range reflect.TypeOf(v).Fields() {
			if tag := field.Tag.Get("yaml"); tag != "" {
				want = append(want, tag)
			}
		}
	}
	want = append(want, answer.Kinds()...)
	for _, name := range want {
		assert.True(t, regexp.MustCompile("`"+name+"[`:]").MatchString(form), "the form does not explain %q", name)
	}
	for _, name := range Names() {
		if strings.HasPrefix(name, "gemba-") {
			name = strings.TrimPrefix(name, "gemba")
		}
		assert.Contains(t, text, name)
	}
	d, err := Find("instructscore")
	require.NoError(t, err)
	for _, task := range d.Options[0].values() {
		model := find(t, "instructscore", map[string]string{"task": task}).Model()
		if i := strings.LastIndex(model, "_"); i > 0 && strings.HasPrefix(task, "mt_") {
			model = model[i:] // the table abbreviates
		}
		if !strings.Contains(text, "`"+task+"`") || !strings.Contains(text, model+"`") {
			t.Errorf("task %s with %s is not documented", task, model)
		}
	}
}

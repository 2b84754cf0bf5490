package diversify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
)

// The test binary starts itself as a child process to be killed. The variable holds the
// server's address; the arguments are the child's name, its cache file, its output file and
// the form of the answers.
const childVariable = "REFRACT_DIVERSIFY_TEST_CHILD"

func TestMain(m *testing.M) {
	server := os.Getenv(childVariable)
	if server == "" {
		if err := flag.Set("rapid.checks", "40"); err != nil { // a random case takes 20 ms
			panic(err)
		}
		os.Exit(m.Run())
	}
	if err := child(server, os.Args[1], os.Args[2], os.Args[3], diversify.Form(os.Args[4])); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const (
	killSegments    = 15
	killSamples     = 2
	killConcurrency = 6
)

func killConfig(c ask.Completer, s cache.Store, form diversify.Form) diversify.Config {
	cfg := config(c)
	cfg.Prompts = cfg.Prompts[:8]
	cfg.Samples, cfg.Concurrency, cfg.Client, cfg.Store, cfg.Form = killSamples, killConcurrency, c, s, form
	return cfg
}

func child(server, name, file, output string, form diversify.Form) error {
	ctx := context.Background()
	s, err := cache.Open(ctx, file, cache.Lease(2*time.Second))
	if err != nil {
		return err
	}
	c, err := llm.New(llm.Config{BaseURL: server, UserAgent: name})
	if err != nil {
		return err
	}
	x, err := diversify.New(killConfig(c, s, form))
	if err != nil {
		return err
	}
	out, _, err := run(ctx, x, numbered(killSegments))
	if err != nil {
		return err
	}
	if err := os.WriteFile(output, []byte(lines(out)), 0o600); err != nil {
		return err
	}
	return s.Close()
}

func lines(segs []*refract.Segment) string {
	var b strings.Builder
	for _, s := range segs {
		for _, v := range slices.Concat(s.Variants, s.Rejected) {
			v.Origin.Created = time.Time{} // differs from run to run
		}
		line, err := json.Marshal(s)
		if err != nil {
			panic(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.String()
}

// stored counts the answers to each prompt in a cache file.
func stored(t *testing.T, file string) map[string]int {
	t.Helper()
	s, err := cache.Open(t.Context(), file)
	require.NoError(t, err)
	n := map[string]int{}
	for e, err := range cache.NewAnswers(s).Entries(t.Context()) {
		require.NoError(t, err)
		n[e.Request.Prompt]++
	}
	require.NoError(t, s.Close())
	return n
}

// An expansion that is killed at any moment and started again repeats no call whose answer
// was stored, and its output equals that of a run that was never killed.
func TestKill(t *testing.T) {
	for _, c := range []struct {
		form      diversify.Form
		givesJSON bool
	}{{diversify.FormText, false}, {diversify.FormAuto, true}, {diversify.FormAuto, false}} {
		t.Run(fmt.Sprintf("%s, the server gives JSON: %v", c.form, c.givesJSON), func(t *testing.T) {
			t.Parallel()
			killed(t, c.form, c.givesJSON)
		})
	}
}

func killed(t *testing.T, form diversify.Form, givesJSON bool) {
	const kills = 6
	self, err := os.Executable()
	require.NoError(t, err)
	arrived := make(chan string, 100_000)
	server := llmtest.NewServer(t, &llmtest.Handler{JSON: givesJSON, Answer: func(r *llmtest.Request) string {
		arrived <- r.UserAgent()
		time.Sleep(time.Millisecond) // so that calls overlap
		return llmtest.Answer(r.Model, r.Prompt, 0)
	}})
	file, output := cacheFile(t), filepath.Join(t.TempDir(), "out")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))

	atStart := map[string]map[string]int{} // by child, answers stored for each prompt
	start := func(name string) (*exec.Cmd, *bytes.Buffer) {
		atStart[name] = stored(t, file)
		var complaint bytes.Buffer
		cmd := exec.Command(self, name, file, output, string(form))
		cmd.Env = append(os.Environ(), childVariable+"="+server.BaseURL)
		cmd.Stderr = &complaint
		require.NoError(t, cmd.Start())
		return cmd, &complaint
	}
	dead := 0
	for i := range kills {
		name := fmt.Sprintf("child-%d", i)
		cmd, complaint := start(name)
		// Some are killed while they start, most in the middle of calls.
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		var moment <-chan time.Time
		after := rng.IntN(60)
		if i%5 == 4 {
			moment = time.After(time.Duration(rng.IntN(30)) * time.Millisecond)
		}
		for alive := true; alive; {
			select {
			case from := <-arrived:
				if from != name {
					continue
				}
				if after--; after > 0 {
					continue
				}
				time.Sleep(time.Duration(rng.IntN(1500)) * time.Microsecond)
			case <-moment:
			case err := <-ended:
				require.NoError(t, err, "%s\n%s", name, complaint)
				ended <- nil
			}
			alive = false
		}
		_ = cmd.Process.Kill() // fails if it has ended
		if err := <-ended; err != nil {
			dead++
		}
	}
	cmd, complaint := start("last")
	err = cmd.Wait()
	require.NoError(t, err, "last\n%s", complaint)
	assert.True(t, dead >= kills/2, "only %d of %d processes were killed before they ended", dead, kills)

	calls := map[string]map[string]int{} // by child, of each prompt
	for _, r := range server.Requests() {
		name := r.UserAgent()
		if calls[name] == nil {
			calls[name] = map[string]int{}
		}
		calls[name][r.Prompt]++
	}
	for name, prompts := range calls {
		for prompt, n := range prompts {
			if had := atStart[name][prompt]; n > killSamples-had {
				t.Errorf("%s: %d calls with %q, of which %d answers were stored", name, n, prompt, had)
			}
		}
	}
	asked := killSegments * 2 * 8 * killSamples
	if form == diversify.FormAuto {
		asked++ // what the server gives
		if !givesJSON {
			asked++ // no JSON may be chance
		}
	}
	total := 0
	for _, n := range stored(t, file) {
		total += n
	}
	if n := server.Calls(); total != asked || n < asked || n > asked+dead*2*killConcurrency {
		t.Errorf("%d answers stored and %d calls made; %d are asked for, %d kills with %d calls in flight, and as many answers being stored", total, n, asked, dead, killConcurrency)
	}

	got, err := os.ReadFile(output)
	require.NoError(t, err)
	calm := newExpander(t, killConfig(client(t, llmtest.NewServer(t, &llmtest.Handler{JSON: givesJSON})), cache.NewMemory(), form))
	want, _ := mustRun(t, calm, numbered(killSegments))
	assert.Equal(t, lines(want), string(got), "the output is not that of an uninterrupted run")
	t.Logf("%d killed, %d calls for %d answers", dead, server.Calls(), asked)
}

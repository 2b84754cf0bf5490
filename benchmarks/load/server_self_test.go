package load_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestParaphrase(t *testing.T) {
	const reference = "The river crosses the city of number 12."
	seen := map[string]bool{}
	for i := range 20 {
		prompt := fmt.Sprintf("Say it in way %c: %s", 'a'+i, reference)
		got := paraphrase(prompt)
		if got != paraphrase(prompt) {
			t.Errorf("%q has two answers", prompt)
		}
		if !strings.HasSuffix(got, "12.") || len(strings.Fields(got)) != len(strings.Fields(reference))+2 || strings.Contains(got, "way") {
			t.Errorf("%q is answered with %q", prompt, got)
		}
		seen[got] = true
	}
	if len(seen) < 20 {
		t.Errorf("20 prompts have %d answers", len(seen))
	}
	for _, prompt := range []string{"", " ", ": ", "no colon"} {
		paraphrase(prompt) // must not fail
	}
}

func TestSchedule(t *testing.T) {
	s := &schedule{seed: 3, rate: 0.25, first: 2, kinds: kinds()}
	other := &schedule{seed: 4, rate: 0.25, first: 2, kinds: s.kinds}
	failed, differ, used := 0, 0, map[string]int{}
	const prompts = 20_000
	for i := range prompts {
		prompt := fmt.Sprint("prompt ", i)
		k := s.pick(prompt, 0)
		if k != s.pick(prompt, 0) {
			t.Fatalf("%q fails in two ways", prompt)
		}
		if k != other.pick(prompt, 0) {
			differ++
		}
		if k != nil {
			failed++
			used[k.name]++
		}
		if s.pick(prompt, 2) != nil {
			t.Fatalf("%q fails a third time", prompt)
		}
	}
	if share := float64(failed) / prompts; share < 0.23 || share > 0.27 {
		t.Errorf("%.3f of the attempts fail, want about 0.25", share)
	}
	for _, k := range s.kinds {
		if n := used[k.name]; n < failed/len(s.kinds)/2 {
			t.Errorf("%s occurs %d times in %d failures of %d kinds", k.name, n, failed, len(s.kinds))
		}
	}
	if differ == 0 {
		t.Error("another seed fails the same attempts")
	}
}

func TestStorms(t *testing.T) {
	s := &schedule{storm: 100, storming: time.Second, kinds: kinds()}
	begin, failed := time.Unix(0, 0), map[string]int{}
	for n := range 301 { // ten calls a second
		if k := s.stormy(n, begin.Add(time.Duration(n)*time.Second/10)); k != nil {
			failed[k.name]++
		}
	}
	if len(failed) != 2 || failed["429"] != 10 || failed["429-retry-after"] != 11 {
		t.Errorf("%v", failed)
	}
}

// Every call is counted once, and is either answered or one of the failures.
func TestServerCounts(t *testing.T) {
	s := &modelServer{schedule: schedule{seed: 1, rate: 0.3, first: 1}, keep: true, attempts: map[string]int{}, injected: map[string]int{}}
	for _, k := range kinds() {
		if k.name == "500" || k.name == "wrong-type" {
			s.kinds = append(s.kinds, k)
		}
	}
	srv := httptest.NewServer(http.HandlerFunc(s.answer))
	defer srv.Close()
	const calls = 200
	var wait sync.WaitGroup
	var mu sync.Mutex
	good := 0
	for i := range calls {
		wait.Go(func() {
			body := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"Say: This is \"%d\"."}]}`, i)
			resp, err := http.Post(srv.URL, "application/json", strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			var answer struct {
				Choices json.RawMessage
			}
			if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
				t.Error(err)
			}
			if strings.Contains(string(answer.Choices), fmt.Sprintf(`\"%d\".`, i)) {
				mu.Lock()
				good++
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	bad := 0
	for _, n := range s.injected {
		bad += n
	}
	if bad == 0 || good+bad != calls || len(s.log) != calls || int(s.calls.Load()) != calls {
		t.Errorf("%d calls, %d good, %d failed, %d kept", s.calls.Load(), good, bad, len(s.log))
	}
}

package cachetest

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/refract-eval/refract/cache"
)

// many compares GetMany with what was stored, for numbers of keys around the
// sizes in which a store may read.
func many(t *testing.T, open func(*testing.T) cache.Store) {
	s := open(t)
	want := make(map[cache.Key]cache.Answer)
	var keys []cache.Key
	put := func(e cache.Entry) {
		mustPut(t, s, e)
		key := e.Request.Key()
		want[key], keys = mustGet(t, s, e.Request), append(keys, key)
	}
	hostile := Generator()
	for i := range 30 {
		put(hostile.Example(i))
	}
	var wg sync.WaitGroup
	for i := range 600 {
		e := Entry(i)
		want[e.Request.Key()], keys = e.Answer, append(keys, e.Request.Key())
		wg.Go(func() {
			if err := Put(t.Context(), s, e); err != nil {
				t.Errorf("Put: %v", err)
			}
		})
	}
	wg.Wait()
	for i := range 200 { // absent
		keys = append(keys, Entry(10_000+i).Request.Key())
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 256, 257, 700, 3000} {
		asked := make([]cache.Key, n)
		for i := range asked { // the same ones, too
			asked[i] = keys[random.IntN(len(keys))]
		}
		answers, found, err := cache.NewAnswers(s).Get(t.Context(), asked)
		if err != nil || len(answers) != n || len(found) != n {
			t.Fatalf("GetMany of %d keys = %d, %d, %v", n, len(answers), len(found), err)
		}
		for i, key := range asked {
			a, has := want[key]
			if found[i] != has || answers[i] != a {
				t.Errorf("GetMany of %d keys, the one at %d: got %+v, %v, want %+v, %v", n, i, answers[i], found[i], a, has)
			}
		}
	}
}

// manyConcurrent reads many answers while others are stored: what was stored
// before the call is found, and nothing else than what is stored.
func manyConcurrent(t *testing.T, open func(*testing.T) cache.Store) {
	s := open(t)
	const n = 100
	keys := make([]cache.Key, n)
	for i := range keys {
		keys[i] = Entry(i).Request.Key()
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := g; i < n; i += 4 {
				if err := Put(t.Context(), s, Entry(i)); err != nil {
					t.Errorf("Put: %v", err)
					return
				}
				answers, found, err := cache.NewAnswers(s).Get(t.Context(), keys)
				if err != nil || !found[i] {
					t.Errorf("GetMany after Put of %d: %v, %v", i, found, err)
					return
				}
				for j := range answers {
					if found[j] && answers[j] != Entry(j).Answer {
						t.Errorf("answer %d is %+v", j, answers[j])
					}
				}
			}
		})
	}
	wg.Wait()
}

// claimAlone tests the claims of a store that nobody else uses.
func claimAlone(t *testing.T, open func(*testing.T) cache.Store) {
	s := open(t)
	c := claimer{t, s}
	c.claim("1 2 3", "yes yes yes")
	c.claim("2 4 4", "yes yes yes")
	c.release("1 7")
	c.claim("1", "yes")
	mustPut(t, s, Entry(1))
	mustPut(t, s, Entry(5))
	c.claim("1 2 5 1", "no yes no no")
	c.claim("", "")
}

// claimer writes claims as numbers of entries.
type claimer struct {
	t     *testing.T
	store cache.Store
}

func (c claimer) claim(numbers, want string) {
	c.t.Helper()
	granted, err := c.store.Claim(c.t.Context(), keysOf(c.t, numbers))
	if err != nil {
		c.t.Fatalf("Claim of %s: %v", numbers, err)
	}
	words := make([]string, len(granted))
	for i, ok := range granted {
		words[i] = map[bool]string{true: "yes", false: "no"}[ok]
	}
	if got := strings.Join(words, " "); got != want {
		c.t.Errorf("Claim of %s: granted %s, want %s", numbers, got, want)
	}
}

func (c claimer) release(numbers string) {
	c.t.Helper()
	if err := c.store.Release(c.t.Context(), keysOf(c.t, numbers)); err != nil {
		c.t.Fatalf("Release of %s: %v", numbers, err)
	}
}

func keysOf(t *testing.T, numbers string) []cache.Key {
	t.Helper()
	var keys []cache.Key
	for _, word := range strings.Fields(numbers) {
		n, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, Entry(n).Request.Key())
	}
	return keys
}

//go:build unix

package served_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/diversify/language"
	"github.com/refract-eval/refract/diversify/language/lingua"
	"github.com/refract-eval/refract/diversify/language/served"
)

// The test binary is the program too, with real models, or with a fault that its name
// names.
func TestMain(m *testing.M) {
	fault, ok := strings.CutPrefix(filepath.Base(os.Args[0]), served.Name+"-")
	switch {
	case !ok:
		os.Exit(m.Run())
	case fault == "real":
		if err := served.Serve(os.Stdin, os.Stdout, lingua.New()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		faulty(fault)
	}
}

// program is the test binary by the name of a fault, in a folder of its own.
func program(t *testing.T, fault string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), served.Name+"-"+fault)
	if err := os.Symlink(exe, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func start(t *testing.T, fault string) (*served.Program, string) {
	t.Helper()
	path := program(t, fault)
	p, err := served.Start(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p, path
}

// starts are the ids of a faulty program's processes.
func starts(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path + ".pids")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(data))
}

// faulty answers 1/length for every code, with a fault.
func faulty(fault string) {
	f, err := os.OpenFile(os.Args[0]+".pids", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(f, os.Getpid())
	f.Close()
	pids, err := os.ReadFile(os.Args[0] + ".pids")
	if err != nil {
		panic(err)
	}
	begun := len(strings.Fields(string(pids)))
	models := "faulty"
	switch fault {
	case "protocol":
		fmt.Println(`{"refract-languages":2,"models":"faulty"}`)
	case "nameless":
		fmt.Println(`{"refract-languages":1,"models":"a|b"}`)
	case "chatty":
		fmt.Println("Loading…")
	case "mute":
		fmt.Fprintln(os.Stderr, "no \x1b[31mmodels")
		os.Exit(3)
	case "changes":
		models += strconv.Itoa(begun)
	}
	fmt.Printf(`{"refract-languages":1,"models":%q}`+"\n", models)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var r struct {
			ID    int
			Texts []struct {
				Text  string
				Codes []string
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			panic(err)
		}
		all := [][]float64{}
		for _, q := range r.Texts {
			p := make([]float64, len(q.Codes))
			for i := range p {
				p[i] = 1 / float64(len(q.Text))
			}
			all = append(all, p)
		}
		switch fault {
		case "mortal", "changes":
			if n == 3 {
				fmt.Print(`{"id":`)
				os.Exit(7)
			}
		case "dead":
			fmt.Fprintln(os.Stderr, "no memory left")
			os.Exit(9)
		case "garbage":
			fmt.Println("\x1b[2J")
		case "id":
			r.ID++
		case "few":
			all = all[1:]
		case "short":
			all[0] = all[0][1:]
		case "above":
			all[0][0] = 1.5
		case "refuses":
			fmt.Printf(`{"id":%d,"error":"no such \u001blanguage"}`+"\n", r.ID)
			continue
		}
		line, err := json.Marshal(map[string]any{"id": r.ID, "probabilities": all})
		if err != nil {
			panic(err)
		}
		fmt.Println(string(line))
	}
}

// texts are short texts in many languages.
func texts(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile("../testdata/translations.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(data)) {
		if _, text, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			out = append(out, text)
		}
	}
	return out
}

// Models in another program give the same numbers, to the bit, and with them the same
// verdicts, however many ask at a time.
func TestSame(t *testing.T) {
	there, _ := start(t, "real")
	here := lingua.New()
	if there.Name() != here.Name() {
		t.Errorf("the models are %q, not %q", there.Name(), here.Name())
	}
	same := func(t rapid.TB, text string, codes []string) {
		got, err := there.Probabilities(text, codes)
		want, err2 := here.Probabilities(text, codes)
		if err = errors.Join(err, err2); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%q among %q: %v, want %v; %v", text, codes, got, want, err)
		}
	}
	cyrillic := strings.Fields("be bg kk mk mn ru sr uk")
	few := strings.Fields("da nb sv")
	rapid.Check(t, func(t *rapid.T) {
		same(t, strings.ToValidUTF8(rapid.String().Draw(t, "text"), "\uFFFD"), rapid.SampledFrom([][]string{few, cyrillic}).Draw(t, "codes"))
	})
	all := texts(t)
	own, err := language.New(language.Config{Models: here})
	other, err2 := language.New(language.Config{Models: there})
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	own.Learn(all[:30])
	other.Learn(all[:30])
	if a, b := own.Signature(), other.Signature(); a != b {
		t.Errorf("signatures %q and %q", a, b)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := i; j < len(all); j += 8 {
				reference := all[(j+7)%len(all)]
				want, err := own.Beside(reference)(all[j], all[j])
				got, err2 := other.Beside(reference)(all[j], all[j])
				if got != want || err != nil || err2 != nil {
					t.Errorf("%q beside %q: %q, want %q; %v, %v", all[j], reference, got, want, err, err2)
				}
			}
		})
	}
	wg.Wait()
}

// A process that dies is started again, and its request asked again.
func TestDies(t *testing.T) {
	p, path := start(t, "mortal")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for n := 1; n < 20; n++ {
				got, err := p.Probabilities(strings.Repeat("a", n), []string{"de", "en"})
				if want := []float64{1 / float64(n), 1 / float64(n)}; err != nil || !cmp.Equal(got, want) {
					t.Errorf("%v, want %v; %v", got, want, err)
				}
			}
		})
	}
	wg.Wait()
	if n := len(starts(t, path)); n < 3 {
		t.Errorf("it was started %d times", n)
	}
}

// What is no answer is an error, and no other text gets an answer after that.
func TestFails(t *testing.T) {
	for fault, want := range map[string]string{
		"dead":    "the program ended before it answered (exit status 9); it last said: no memory left",
		"changes": `its models were "faulty1" before`,
		"garbage": `it wrote a line that is no answer`,
		"id":      `"id" is not the 1 of the request`,
		"few":     "it has probabilities of 0 texts for 1",
		"short":   "text 1 has no probability from 0 to 1 for each of 2 languages",
		"above":   "text 1 has no probability from 0 to 1 for each of 2 languages",
		"refuses": `it says: "no such \x1blanguage"`,
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			p, path := start(t, fault)
			var err error
			for n := 0; err == nil && n < 5; n++ {
				_, err = p.Probabilities("text", []string{"de", "en"})
			}
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), strconv.Quote(path)) {
				t.Fatalf("error %v; want one with %q", err, want)
			}
			begun := len(starts(t, path))
			if _, again := p.Probabilities("other", []string{"de", "en"}); again == nil || again.Error() != err.Error() {
				t.Errorf("then the error %v", again)
			}
			if n := len(starts(t, path)); n != begun || fault == "dead" && n != 3 {
				t.Errorf("it was started %d times, and then %d", begun, n-begun)
			}
		})
	}
}

// What says no hello is not the program.
func TestHello(t *testing.T) {
	for fault, want := range map[string]string{
		"protocol": "it speaks version 2 of the protocol, and 1 is wanted",
		"nameless": "its models have no name",
		"chatty":   `"Loading…"`,
		"mute":     `no hello line: the program ended before it answered (exit status 3); it last said: no \x1b[31mmodels`,
	} {
		p, err := served.Start(program(t, fault))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, error %v; want one with %q", p, err, want)
		}
	}
	if _, err := served.Start(filepath.Join(t.TempDir(), "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// A Program that is closed leaves no process, and answers no more.
func TestClose(t *testing.T) {
	p, path := start(t, "idle")
	if _, err := p.Probabilities("text", []string{"de", "en"}); err != nil {
		t.Fatal(err)
	}
	p.Close()
	p.Close()
	pid, err := strconv.Atoi(starts(t, path)[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the process is there still: %v", err)
	}
	if _, err := p.Probabilities("text", []string{"de", "en"}); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("error %v", err)
	}
}

// The variable comes first; a folder that PATH names relatively does not count.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, served.Name)
	if err := os.WriteFile(path, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	other := program(t, "real")
	for _, x := range []struct{ variable, path, want, fails string }{
		{"", dir, path, ""},
		{"", t.TempDir(), "", ""},
		{"", ".", "", ""},
		{"none", dir, "", ""},
		{other, dir, other, ""},
		{plain, dir, "", "REFRACT_LANGUAGES is to be the program refract-languages, or none to do without: "},
		{filepath.Join(dir, "missing"), dir, "", "no such file"},
	} {
		t.Setenv("PATH", x.path)
		t.Chdir(dir)
		got, err := served.Find(func(name string) string { return map[string]string{served.Variable: x.variable}[name] })
		if got != x.want || (err == nil) != (x.fails == "") || err != nil && !strings.Contains(err.Error(), x.fails) {
			t.Errorf("%+v: %q, %v", x, got, err)
		}
	}
}

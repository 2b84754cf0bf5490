//go:build unix

package program

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary also serves as a program: a metric that counts bytes, with a fault named
// by its argument.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv("AS_PROGRAM") != "":
		counter(os.Args[1], os.Args[2:])
	case os.Getenv("AS_REFRACT") != "":
		asRefract()
	default:
		os.Exit(m.Run())
	}
}

// once reports whether a file did not exist, and creates it.
func once(path string) bool {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		f.Close()
	}
	return err == nil
}

// counter scores 100 for each byte of the hypothesis, and 1 of the reference.
func counter(fault string, args []string) {
	if len(args) > 0 && args[0] == "pid" { // a file with the ids of all processes
		f, err := os.OpenFile(args[1], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			fmt.Fprintln(f, os.Getpid())
			f.Close()
		}
	}
	name := "counter"
	switch fault {
	case "no-hello":
		time.Sleep(time.Hour)
	case "dies-first":
		fmt.Fprintln(os.Stderr, "no \x1b[31mmodel")
		os.Exit(3)
	case "ignores":
		signal.Ignore(syscall.SIGTERM)
	case "changes":
		if !once(args[0]) {
			name = "other"
		}
	case "bad-hello":
		fmt.Println(args[0])
		select {}
	}
	needs := `"needs":["source","reference"]`
	fmt.Printf(`{"refract":1,"name":%q,"signature":{"b":"2","a":"1"},%s,"lower":0,"upper":1e6,"native":true,"batch":3}`+"\n", name, needs)
	lines := bufio.NewReader(os.Stdin)
	for {
		fault := strings.TrimSuffix(fault, "-not")
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if fault == "ignores" {
				time.Sleep(time.Hour)
			}
			return
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			panic(err)
		}
		scores := [][]any{}
		for _, s := range r.Segments {
			row := []any{}
			for _, h := range s.Hypotheses {
				sum := 0
				for _, ref := range s.References {
					if sum += len(ref); !r.Native {
						row = append(row, 100*len(h)+len(ref))
					}
				}
				if r.Native {
					row = append(row, 100*len(h)+sum)
				}
			}
			scores = append(scores, row)
		}
		answer := map[string]any{"id": r.ID, "scores": scores}
		text, at := "", [2]int{-1}
		if strings.HasSuffix(fault, "-at") { // at a hypothesis with a reference
			for i, s := range r.Segments {
				h, ref := slices.Index(s.Hypotheses, args[0]), slices.Index(s.References, args[1])
				if h >= 0 && ref >= 0 {
					at = [2]int{i, h*len(s.References) + ref}
				}
			}
			if at[0] < 0 {
				fault += "-not"
			}
		}
		switch fault {
		case "says-at":
			answer = map[string]any{"id": r.ID, "error": "IndexError"}
		case "dies-at":
			os.Exit(7)
		case "garbage-at":
			text = "Warning: index"
		case "nan-at":
			scores[at[0]][at[1]] = "NaN"
			line, _ := json.Marshal(answer)
			text = strings.Replace(string(line), `"NaN"`, "NaN", 1)
		case "garbage":
			text = "Loading model\x1b[2J…"
		case "wrong-id":
			answer["id"] = r.ID + 1
		case "short":
			answer["scores"] = [][]any{scores[0][1:]}
		case "few":
			answer["scores"] = scores[1:]
		case "unknown":
			answer["notes"] = "x"
		case "nan":
			text = fmt.Sprintf(`{"id":%d,"scores":[[NaN]]}`, r.ID)
		case "above":
			scores[0][0] = 2e6
		case "none":
			scores[0][0] = nil
		case "blocked":
			scores[0][0] = nil
			answer["status"] = [][]string{make([]string, len(scores[0]))}
			answer["status"].([][]string)[0][0] = "blocked"
		case "bad-status":
			scores[0][0] = nil
			answer["status"] = [][]string{make([]string, len(scores[0]))}
			answer["status"].([][]string)[0][0] = "scored"
		case "error":
			answer = map[string]any{"id": r.ID, "error": "out of \x1bmemory"}
		case "dies":
			fmt.Fprintln(os.Stderr, "killed by a bug")
			os.Exit(7)
		case "dies-once", "changes":
			if once(args[0] + ".died") {
				fmt.Print(`{"id":`)
				os.Exit(7)
			}
		case "hangs", "ignores":
			if r.Segments[0].Source != "" {
				time.Sleep(time.Hour)
			}
		case "child":
			if _, err := os.Stat(args[1] + ".child"); err != nil {
				c := exec.Command("sleep", "3600")
				c.Stdout, c.Stderr = os.Stdout, os.Stderr
				if err := c.Start(); err != nil {
					panic(err)
				}
				os.WriteFile(args[1]+".child", fmt.Append(nil, c.Process.Pid), 0o600)
			}
		case "floods":
			for range 100 {
				os.Stderr.WriteString(strings.Repeat(strings.Repeat("x", 999)+"\n", 1000))
			}
		}
		if text == "" {
			data, err := json.Marshal(answer)
			if err != nil {
				panic(err)
			}
			text = string(data)
		}
		fmt.Println(text)
	}
}

package command

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

var freeze = flag.String("freeze", "", "write testdata/frozen anew with the program refract in this folder")

const frozenFolder = "testdata/frozen"

// TestFrozen holds what no release may move: scores, signatures, hashes of sets,
// keys of the cache and the answers stored under them, formats of files, exit codes,
// and figures on WMT22. The expected values and the .gz files were made once, by
//
//	go test ./cmd/refract/command -run TestFrozen -freeze DIR
//
// with DIR/refract built before the change that must not move them; -update leaves
// them alone.
func TestFrozen(t *testing.T) {
	atLength(t)
	t.Parallel()
	commands := scriptCommands()
	commands["exit"] = scriptCommand("exit CODE ARG…", cmdExit)
	commands["fields"] = scriptCommand("fields FILE NAME,…", cmdFields)
	commands["unpack"] = scriptCommand("unpack FILE", cmdUnpack)
	commands["keep"] = scriptCommand("keep FILE", cmdKeep)
	folder, err := filepath.Abs(frozenFolder)
	require.NoError(t, err)
	testscript.Run(t, testscript.Params{
		Dir: frozenFolder,
		Setup: func(e *testscript.Env) error {
			e.Setenv("FROZEN", folder)
			if *freeze != "" {
				e.Setenv("PATH", *freeze+string(os.PathListSeparator)+e.Getenv("PATH"))
			}
			if data, err := filepath.Abs(dataDirectory()); err == nil {
				e.Setenv("DATA", data)
			}
			return setupScript(e)
		},
		Cmds: commands,
		Condition: func(name string) (bool, error) {
			switch name {
			case "freeze":
				return *freeze != "", nil
			case "data":
				_, err := os.Stat(filepath.Join(dataDirectory(), "mt-metrics-eval-v2", "wmt22"))
				return err == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		UpdateScripts:       *freeze != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// cmdExit wants an exit code, and an error on standard error.
func cmdExit(ts *testscript.TestScript, args []string) {
	checkExit(ts, ts.Exec("refract", args[1:]...), number(ts, args[0]))
	if !strings.Contains("\n"+ts.ReadFile("stderr"), "\nrefract: ") {
		ts.Fatalf("no error on standard error")
	}
}

// cmdFields reduces the last output, or FILE, which is JSON or JSON Lines, to these
// members of each object, as tab-separated lines. Numbers have ten digits; "a.b" is a
// member of a member, of every object where a is an array.
func cmdFields(ts *testscript.TestScript, args []string) {
	var out strings.Builder
	decoder := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	for {
		var v any
		if err := decoder.Decode(&v); err == io.EOF {
			break
		} else {
			ts.Check(err)
		}
		rows, several := v.([]any)
		if !several {
			rows = []any{v}
		}
		for _, row := range rows {
			var cells []string
			for name := range strings.SplitSeq(args[1], ",") {
				cells = append(cells, member(row, strings.Split(name, ".")))
			}
			out.WriteString(strings.Join(cells, "\t") + "\n")
		}
	}
	_, err := io.WriteString(ts.Stdout(), out.String())
	ts.Check(err)
}

func member(v any, path []string) string {
	switch v := v.(type) {
	case map[string]any:
		if len(path) > 0 {
			return member(v[path[0]], path[1:])
		}
		var all []string
		for name, value := range v {
			all = append(all, name+"="+member(value, nil))
		}
		slices.Sort(all)
		return strings.Join(all, " ")
	case []any:
		var all []string
		for _, each := range v {
			all = append(all, member(each, path))
		}
		return strings.Join(all, " | ")
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
		return strconv.FormatFloat(v, 'g', 10, 64)
	case nil:
		return "–"
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// cmdUnpack copies a file of testdata/frozen here.
func cmdUnpack(ts *testscript.TestScript, args []string) {
	f, err := os.Open(filepath.Join(ts.Getenv("FROZEN"), args[0]+".gz"))
	ts.Check(err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	ts.Check(err)
	data, err := io.ReadAll(z)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o644))
}

// cmdKeep is unpack's counterpart, for -freeze.
func cmdKeep(ts *testscript.TestScript, args []string) {
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	ts.Check(err)
	_, err = z.Write(data)
	ts.Check(err)
	ts.Check(z.Close())
	ts.Check(os.WriteFile(filepath.Join(ts.Getenv("FROZEN"), args[0]+".gz"), packed.Bytes(), 0o644))
}

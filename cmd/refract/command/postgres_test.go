package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
)

// TestPostgres runs the scripts of a cache in a database. The variables are
// set by benchmarks/servers/postgres.sh, which runs it with a server of its own:
// a URL, and the commands with which scripts kill the server and start it.
//
// Each script has a schema of its own, which $CACHE names; beside the commands
// of the other scripts there is
//
//	postgres stop|start        kills the server, or starts it again
//	postgres stop N ARG…       runs refract, and kills the server, and starts
//	                           it again 2 s later, once the model server got
//	                           N calls; refract must not fail
//	crowd N KILLED ARG…        runs refract N times at once, with the output
//	                           crowd/I.jsonl; so many of them are killed in the
//	                           middle, and started again; all outputs must be
//	                           equal, and are crowd.jsonl
//
// $POOLED names a database behind the PgBouncer of the script.
func TestPostgres(t *testing.T) { scriptsOnPostgres(t, "testdata/postgres") }

// The server stays while many use it.
func TestPostgresCrowd(t *testing.T) { scriptsOnPostgres(t, "testdata/crowd") }

func scriptsOnPostgres(t *testing.T, dir string) {
	server := os.Getenv("REFRACT_POSTGRES")
	if server == "" {
		t.Skip("$REFRACT_POSTGRES is not set: benchmarks/servers/postgres.sh runs this with a server of its own")
	}
	commands := scriptCommands()
	commands["postgres"] = scriptCommand("postgres start|stop", cmdPostgres)
	commands["crowd"] = scriptCommand("crowd N KILLED ARG…", cmdCrowd)
	var schemas atomic.Int64
	testscript.Run(t, testscript.Params{
		Dir: dir,
		Setup: func(e *testscript.Env) error {
			if err := setupScript(e); err != nil {
				return err
			}
			u, err := url.Parse(server)
			if err != nil {
				return err
			}
			schema := fmt.Sprintf("refract_script_%d_%d", os.Getpid(), schemas.Add(1))
			if err := onServer(server, "CREATE SCHEMA "+schema); err != nil {
				return err
			}
			e.Defer(func() {
				assert.NoError(t, onServer(server, "DROP SCHEMA "+schema+" CASCADE"))
			})
			q := u.Query()
			q.Set("search_path", schema)
			u.RawQuery = q.Encode()
			e.Setenv("CACHE", u.String())
			password, _ := u.User.Password()
			e.Setenv("PASSWORD", password)
			pooler, err := url.Parse(os.Getenv("REFRACT_PGBOUNCER"))
			if err != nil || pooler.Host == "" {
				return err
			}
			e.Defer(func() {
				assert.NoError(t, onServer(server, "DROP DATABASE "+schema+" WITH (FORCE)"))
			})
			pooler.Path = "/" + schema
			e.Setenv("POOLED", pooler.String())
			return onServer(server, "CREATE DATABASE "+schema)
		},
		Cmds:                commands,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

func onServer(databaseURL, statement string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)
	return err
}

// cmdPostgres starts or stops the server, or stops it once a run of ARG… has made N calls.
func cmdPostgres(ts *testscript.TestScript, args []string) {
	if len(args) == 1 {
		ts.Check(control(args[0]))
		return
	}
	n := number(ts, args[1])
	h := ts.Value(serverKey{}).(*server).Handler
	ended, restarted := make(chan struct{}), make(chan error, 1)
	go func() {
		for h.Calls() < n {
			select {
			case <-ended:
				restarted <- fmt.Errorf("refract ended after %d calls", h.Calls())
				return
			case <-time.After(time.Millisecond):
			}
		}
		err := control("stop")
		time.Sleep(2 * time.Second)
		restarted <- errors.Join(err, control("start"))
	}()
	err := ts.Exec("refract", args[2:]...)
	close(ended)
	ts.Check(errors.Join(<-restarted, err))
}

func cmdCrowd(ts *testscript.TestScript, args []string) {
	n, kills := number(ts, args[0]), number(ts, args[1])
	h := ts.Value(serverKey{}).(*server).Handler
	ts.Check(os.MkdirAll(ts.MkAbs("crowd"), 0o777))
	program := filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], "refract")
	complaints := make([]bytes.Buffer, n)
	start := func(i int) *exec.Cmd {
		complaints[i].Reset()
		cmd := exec.Command(program, append(args[2:len(args):len(args)], "-o", fmt.Sprintf("crowd/%d.jsonl", i))...)
		cmd.Dir, cmd.Stderr = ts.MkAbs("."), &complaints[i]
		for _, name := range []string{"PATH", "HOME", "OPENAI_BASE_URL", "OPENAI_API_KEY"} {
			cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
		}
		ts.Check(cmd.Start())
		return cmd
	}
	crowd := make([]*exec.Cmd, n)
	before, began := h.Calls(), time.Now()
	for i := range crowd {
		crowd[i] = start(i)
	}
	for i := range kills {
		for h.Calls() < before+20*(i+1) {
			time.Sleep(time.Millisecond)
		}
		ts.Check(crowd[i].Process.Kill())
		if crowd[i].Wait() == nil {
			ts.Fatalf("process %d ended before it was killed", i)
		}
		crowd[i] = start(i)
	}
	for i, cmd := range crowd {
		if err := cmd.Wait(); err != nil {
			ts.Fatalf("process %d: %v: %s", i, err, &complaints[i])
		}
	}
	// Only what was in flight at a kill is asked for again. On a machine so busy that the
	// crowd takes longer than claims live, a process may get too little of it to renew its own.
	const inFlight, lease = 32, 30 * time.Second
	busy := time.Since(began) > lease
	distinct := make(map[string]bool)
	for _, r := range h.Requests() {
		distinct[string(r.Raw)] = true
	}
	if again := h.Calls() - len(distinct); again > kills*inFlight && !busy {
		ts.Fatalf("%d of %d calls are asked again, after %d kills", again, h.Calls(), kills)
	} else {
		ts.Logf("%d processes, %d killed: %d calls for %d questions", n, kills, h.Calls(), len(distinct))
	}
	first := ts.ReadFile("crowd/0.jsonl")
	for i := range crowd {
		if ts.ReadFile(fmt.Sprintf("crowd/%d.jsonl", i)) != first {
			ts.Fatalf("process %d wrote something else than the first", i)
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs("crowd.jsonl"), []byte(first), 0o666))
}

// control kills or starts the server.
func control(what string) error {
	variable := map[string]string{"stop": "REFRACT_POSTGRES_STOP", "start": "REFRACT_POSTGRES_START"}[what]
	c := os.Getenv(variable)
	if c == "" {
		return fmt.Errorf("$%s is not set: benchmarks/servers/postgres.sh sets it", variable)
	}
	return exec.Command("sh", "-c", c).Run()
}

func TestStoredIn(t *testing.T) {
	for where, want := range map[string]string{
		"answers.sqlite":                    "answers.sqlite",
		"postgres://me:secret@host/answers": "postgres://USER@host:5432/answers",
	} {
		assert.Equal(t, want, (&serverFlags{cache: where}).storedIn(), "%s is shown as", where)
	}
}

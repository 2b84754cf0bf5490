package command

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestPostgres runs the scripts of a cache in a database. The variables are
// set by benchmarks/peers/postgres.sh, which runs it with a server of its own:
// a URL, and the commands with which scripts kill the server and start it.
//
// Each script has a schema of its own, which $CACHE names; beside the commands
// of the other scripts there is
//
//	postgres stop|start        kills the server, or starts it again
//	postgres stop N ARG…       runs refract, and kills the server, and starts
//	                           it again 2 s later, once the model server got
//	                           N calls; refract must not fail
func TestPostgres(t *testing.T) {
	server := os.Getenv("REFRACT_POSTGRES")
	if server == "" {
		t.Skip("$REFRACT_POSTGRES is not set: benchmarks/peers/postgres.sh runs this with a server of its own")
	}
	commands := scriptCommands()
	commands["postgres"] = cmdPostgres
	var schemas atomic.Int64
	testscript.Run(t, testscript.Params{
		Dir: "testdata/postgres",
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
				if err := onServer(server, "DROP SCHEMA "+schema+" CASCADE"); err != nil {
					t.Error(err)
				}
			})
			q := u.Query()
			q.Set("search_path", schema)
			u.RawQuery = q.Encode()
			e.Setenv("CACHE", u.String())
			password, _ := u.User.Password()
			e.Setenv("PASSWORD", password)
			return nil
		},
		Cmds:                commands,
		Condition:           scriptCondition,
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

func cmdPostgres(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 1 || len(args) > 2 && args[0] == "stop", "postgres stop|start or postgres stop N ARG…")
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

// control kills or starts the server.
func control(what string) error {
	variable := map[string]string{"stop": "REFRACT_POSTGRES_STOP", "start": "REFRACT_POSTGRES_START"}[what]
	c := os.Getenv(variable)
	if c == "" {
		return fmt.Errorf("$%s is not set: benchmarks/peers/postgres.sh sets it", variable)
	}
	return exec.Command("sh", "-c", c).Run()
}

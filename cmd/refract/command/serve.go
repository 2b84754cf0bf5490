package command

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"net"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/cmd/refract/internal/serve"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/redact"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/judge"
)

// serveRun is one run of refract serve.
type serveRun struct {
	judgeFlags
	listen string

	e       *env
	ctx     context.Context
	judging *judging
	pool    *metricPool
	work    sync.WaitGroup // of requests
}

// serveToken is the variable with the token of an HTTP server, and leastToken how long
// it is at least.
const (
	serveToken = "REFRACT_SERVE_TOKEN"
	leastToken = 16
)

func (e *env) serveCommand() *cobra.Command {
	s := &serveRun{}
	cmd := e.newCommand(&cobra.Command{
		Use:   "serve",
		Short: "Answer requests for scores, as a process that stays open",
		Long: `Answer requests for scores and comparisons, a line of JSON each, until the input
ends.

--listen answers over HTTP: the first line on standard output has the address and
the token that requests need. ` + serveToken + ` sets the token, which an
address beyond this machine requires; texts and token are not encrypted.
docs/reference/protocols.md has the protocol.`,
		Example: `  refract serve
  refract serve --listen 127.0.0.1:0`,
	}, cobra.NoArgs, s.run)
	taskFlags.of(cmd)("listen", plain(&s.listen, ""), "`HOST:PORT` to answer at over HTTP instead of standard input and output; port 0 takes a free one", shown, isAddress)
	s.judgeFlags.register(cmd)
	return cmd
}

func (s *serveRun) run(ctx context.Context, e *env, _ []string) error {
	s.e = e
	answer, err := s.transport()
	if err != nil {
		return err
	}
	if _, err := s.calls.client(s.e, llm.Chat, ""); err != nil {
		return err // now, rather than at the first request that uses a judge
	}
	s.e.collectAt(100)
	ballast := make([]byte, 16<<20) // never touched, so it takes no memory: a small heap is collected after 16 MiB, not 4
	defer runtime.KeepAlive(ballast)
	s.ctx, s.judging = ctx, s.judgeFlags.run(s.e)
	s.judging.silent = true
	s.pool = newMetricPool(ctx, mostMetrics, s.metric, func(err error) { s.e.warn("%v", err) })
	srv := serve.New(refract.Version, s.explain)
	srv.Handle("score", s.cancellable(s.score))
	srv.Handle("compare", s.cancellable(s.compare))
	srv.Handle("metrics", s.listing())
	err = answer(ctx, srv)
	s.work.Wait()
	s.pool.close()
	s.judging.close()
	s.judging.done(ctx, err)
	return err
}

// transport is how requests arrive.
func (s *serveRun) transport() (func(context.Context, *serve.Server) error, error) {
	if s.listen == "" {
		return func(ctx context.Context, srv *serve.Server) error {
			return srv.Serve(ctx, s.e.stdin, s.e.stdout, srv.Hello("", ""))
		}, nil
	}
	host, _, _ := net.SplitHostPort(s.listen)
	token := s.e.getenv(serveToken)
	if !serve.Local(host) && token == "" {
		return nil, usagef("--listen %s is reached from other machines, and nothing is encrypted: take 127.0.0.1, or set %s", s.listen, serveToken)
	}
	said := ""
	if token == "" {
		token = rand.Text()
		said = token
	}
	if token = strings.TrimSpace(token); len(token) < leastToken {
		return nil, usagef("%s is too short: take %d characters or more", serveToken, leastToken)
	}
	return func(ctx context.Context, srv *serve.Server) error {
		l, err := net.Listen("tcp", s.listen)
		if err != nil {
			return err
		}
		_, port, _ := net.SplitHostPort(l.Addr().String())
		if _, err := s.e.stdout.Write(srv.Hello("http://"+net.JoinHostPort(cmp.Or(host, "localhost"), port), said)); err != nil {
			return errors.Join(err, l.Close())
		}
		hosts := func(name string) bool { return !serve.Local(host) || serve.Local(name) }
		return srv.ServeHTTP(ctx, l, serve.Web{Token: token, Hosts: hosts})
	}, nil
}

// asMembers matches flags, which are members of requests, and commands, which stay as they are.
var asMembers = regexp.MustCompile(`'refract [^']*'|--[a-z]+(?:-[a-z]+)*|\B-m\b`)

// explain returns whether the request is at fault, and the message. Clients do not
// learn where files of the server are.
func (s *serveRun) explain(err error) (usage bool, message string) {
	refused := is[*refract.NoReferencesError](err) || is[*refract.NoSourceError](err) || is[*refract.TooLongError](err) || is[*experiment.DataError](err)
	message = asMembers.ReplaceAllStringFunc(visibleError(err), func(flag string) string {
		name := strings.TrimLeft(flag, "-")
		switch {
		case strings.HasPrefix(flag, "'"), s.e.command.Flags().Lookup(name) != nil: // a command, or a flag of this one
			return flag
		case name == "m", name == "metric":
			name = "metrics"
		}
		return strconv.Quote(strings.ReplaceAll(name, "-", "_"))
	})
	if file, ok := errors.AsType[*fs.PathError](err); ok && s.listen != "" && file.Path != "" {
		message = strings.ReplaceAll(message, file.Path, filepath.Base(file.Path))
	}
	return refused || isUsage(err), message
}

// metric makes a metric, which the pool closes, one at a time.
func (s *serveRun) metric(ctx context.Context, of pooledSpec) (metrics.Metric, error) {
	s.judging.languages = func() (string, string) { return of.from, of.to }
	m, err := s.judging.metric(ctx, of.spec)
	s.judging.metrics = nil
	return m, err
}

// listing is the method that lists metrics.
func (s *serveRun) listing() serve.Method {
	list := sync.OnceValues(func() ([]byte, error) {
		all, err := s.e.listedMetrics(s.ctx)
		if err != nil {
			return nil, err
		}
		return asJSON(metricTable(all, false))
	})
	return func(_ context.Context, params []byte) ([]byte, error) {
		if err := jsonline.Unmarshal(params, &struct{}{}, "the parameters"); err != nil {
			return nil, &serve.Usage{Err: err}
		}
		return list()
	}
}

// asJSON is a table as its command writes it in JSON, on one line.
func asJSON(t *report.NamedTable) ([]byte, error) {
	var b bytes.Buffer
	err := t.Write(&b, report.JSON, true)
	return bytes.ReplaceAll(b.Bytes(), []byte{'\n'}, nil), err // line breaks stand only between values
}

// cancellable makes a method return when its context ends. Its work may continue for a while:
// answers that are on their way are still stored.
func (s *serveRun) cancellable(m serve.Method) serve.Method {
	return func(ctx context.Context, params []byte) (result []byte, err error) {
		done := make(chan struct{})
		var made []byte
		var failed error
		s.work.Go(func() {
			defer close(done)
			made, failed = m(ctx, params)
		})
		select {
		case <-done:
			return made, failed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// check refuses metrics that may not be named over HTTP, where anyone can send
// requests: those that start programs, read or write files, or ask servers of their
// choice.
func (s *serveRun) check(specs []string) error {
	for _, spec := range specs {
		if s.listen != "" && !s.e.safeOverHTTP(spec) {
			return usagef("metric %q starts a program, or names a file or a server: only requests on standard input may, not over HTTP", redact.Text(spec))
		}
	}
	return nil
}

// safeOverHTTP reports whether a metric only computes, or asks servers that the command
// line names. A spec with an error passes: making it reports the error.
func (e *env) safeOverHTTP(spec string) bool {
	ok := true
	name, rest, _ := strings.Cut(spec, ":")
	for _, f := range e.registry() {
		ok = ok && (f.Name != name || f.Runs != "a program" && f.Runs != "OIP server")
	}
	for option := range strings.SplitSeq(rest, ",") {
		ok = ok && !strings.HasPrefix(option, judge.OptionServer+"=")
	}
	ok = ok && name != judge.FileMetric && !strings.Contains(rest, "://")
	if ok {
		e.mapFiles(spec, func(path string, _ bool) string {
			ok = false
			return path
		})
	}
	return ok
}
